"""Driver of a run: submits all tasks to Ray, which starts each once its inputs are ready."""

import contextlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import ray
from ray.exceptions import RayError, RayTaskError

from kibitz_cluster import program
from kibitz_cluster.failure import MISSING, OTHER, TERMINATED, Failure
from kibitz_cluster.plan import Merge, Node, Part, nodes_of
from kibitz_cluster.progress import Display, State, announce
from kibitz_cluster.work import Report, Work, of_shards

WAKE_SECONDS = 0.5


def connect(ingest: Path) -> None:
    """Joins the cluster of `RAY_ADDRESS` or of this machine, or else starts one here. The program
    and this package travel with the job."""
    with tempfile.TemporaryDirectory() as folder:
        # A module: Ray would unpack a working directory once for each node of a machine.
        module = Path(folder) / program.MODULE
        module.mkdir()
        (module / "__init__.py").touch()
        shutil.copy(ingest, module / program.NAME)
        package = Path(program.__file__).parent
        try:
            ray.init(
                runtime_env={"py_modules": [str(package), str(module)]},
                log_to_driver=False,
                logging_level="ERROR",
            )
        except ConnectionError as error:
            raise Failure(MISSING, f"no Ray cluster: {error}") from error
    # Replaces Ray's handler.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))


@contextlib.contextmanager
def failures() -> Iterator[None]:
    """Converts Ray's errors to the failures of their tasks."""
    try:
        yield
    except RayTaskError as error:
        if isinstance(error.cause, Failure):
            raise error.cause from None
        raise Failure(OTHER, str(error)) from None
    except RayError as error:
        raise Failure(OTHER, f"a task died again and again: {error}") from None


Start = Callable[[Node, list[object]], ray.ObjectRef]
"""Starts the task of a node, given reports of its inputs or references to them."""


class Run:
    """Tasks of an output, or of its shards."""

    def __init__(self, name: str, roots: list[Node], work: Work, start: Start) -> None:
        self.work = work
        self.start = start
        self.tasks: dict[ray.ObjectRef, Node] = {}
        self.promises: dict[str, object] = {}
        nodes = nodes_of(roots).values()
        parts = [node for node in nodes if isinstance(node, Part)]
        size = sum(part.size for part in parts)
        self.state = State(name, len(parts), len(nodes) - len(parts), size)
        self.roots = roots

    def submit(self, node: Node) -> object:
        """Returns the report of a node if it is done, else a reference to its task."""
        if node.key not in self.promises:
            self.promises[node.key] = self.work.report(node.key) or self.promise(node)
        return self.promises[node.key]

    def promise(self, node: Node) -> ray.ObjectRef:
        """Starts the task of a node after those of its inputs."""
        inputs = node.inputs if isinstance(node, Merge) else ()
        task = self.start(node, [self.submit(child) for child in inputs])
        self.tasks[task] = node
        return task

    def count_present(self) -> None:
        """Counts outputs of an earlier run as done, with all their inputs."""
        there = [node for node in nodes_of(self.roots).values() if self.work.report(node.key)]
        for node in nodes_of(there).values():
            if isinstance(node, Part):
                self.state.parts_done += 1
                self.state.parts_before += 1
                self.state.bytes_done += node.size
                self.state.bytes_before += node.size
            else:
                self.state.merges_done += 1

    def count_done(self, node: Node, report: Report) -> None:
        """Counts a finished task."""
        if isinstance(node, Part):
            self.state.parts_done += 1
            self.state.bytes_done += node.size
            self.state.labels += report.labels
        else:
            self.state.merges_done += 1

    def to_end(self) -> Report:
        """Runs all tasks; returns the report of the final output."""
        self.lock = self.work.begin()
        teller = announce(self.state, str(self.work.folder))
        self.count_present()
        results = [self.submit(root) for root in self.roots]
        display = Display(self.state)
        waiting = list(self.tasks)
        with failures(), contextlib.closing(display):
            while waiting:
                done, waiting = ray.wait(waiting, num_returns=1, timeout=WAKE_SECONDS)
                for task in done:
                    self.count_done(self.tasks[task], ray.get(task))
                self.state.tick()
                teller.note.remote(self.state)
                display.show(self.state)
            return of_shards([
                ray.get(result) if isinstance(result, ray.ObjectRef) else result
                for result in results
            ])
