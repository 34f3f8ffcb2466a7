"""A cluster of several Ray nodes on this machine, and the command on it."""

import os
import subprocess
import sys
from pathlib import Path

# Ray reads it when it is imported; a busy machine takes longer than its 30 seconds.
os.environ.setdefault("RAY_raylet_start_wait_time_s", "120")

from ray._private.ray_constants import PROCESS_TYPE_RAYLET
from ray.cluster_utils import Cluster

PACKAGE = Path(__file__).resolve().parent.parent

SECONDS = 1800
"""Time limit of a command, generous for a busy machine."""


class Machines:
    """Cluster of nodes with one core each, and a head that runs no tasks."""

    def __init__(self, count: int) -> None:
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        self.nodes = [self.cluster.add_node(num_cpus=1) for _ in range(count)]

    def join(self) -> None:
        """Adds a node."""
        self.nodes.append(self.cluster.add_node(num_cpus=1))

    def kill(self) -> int:
        """Kills a node by SIGKILL to its raylet; returns the raylet's process id."""
        [raylet] = self.nodes.pop(0).all_processes[PROCESS_TYPE_RAYLET]
        raylet.process.kill()
        # Its workers end once the raylet is reaped, not while it is a zombie.
        raylet.process.wait()
        return raylet.process.pid

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """Starts `kibitz-cluster`."""
        command = [sys.executable, "-m", "kibitz_cluster", *map(str, arguments)]
        path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "RAY_ADDRESS": self.cluster.address, "PYTHONPATH": path}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Runs `kibitz-cluster` to its end."""
        return self.finish(self.start(*arguments))

    def finish(self, process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
        """Waits for a started command."""
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def stop(self) -> None:
        """Ends all nodes."""
        self.cluster.shutdown()
