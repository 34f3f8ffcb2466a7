"""`kibitz-cluster` on several nodes: its outputs equal those of `ingest` alone.

PYTHONPATH=ingest/cluster KIBITZ_INGEST=target/debug/ingest \\
    python -m unittest discover -s ingest/cluster/tests -v
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from machines import Machines

INGEST = Path(os.environ["KIBITZ_INGEST"]).absolute()
S3_SERVER = Path(__file__).parents[3] / "tests/reference/s3_server.py"
SAMPLES = sorted(Path(__file__).parents[3].glob("datasets/samples/*.pgn.zst"))

WRAPPER = """\
#!/bin/sh
# Logs each call, and holds builds and merges until they may run.
echo "$$ $PPID $*" >> {folder}/calls
case $1 in build | merge) while [ -e {folder} ] && [ ! -e {folder}/may_$1 ]; do sleep 0.05; done ;; esac
read -r code 2> /dev/null < {folder}/fail_$1 && exit "$code"
exec {ingest} "$@"
"""


def wait_until(what: Callable[[], bool], seconds: float = 60) -> None:
    """Waits until `what` returns true."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def contents(dataset: Path) -> dict[str, object]:
    """Returns the output of `ingest stats`, which includes a fingerprint of all records, without
    the sizes that depend on when RocksDB compacts."""
    said = subprocess.check_output([INGEST, "stats", "--json", dataset], text=True)
    stats = json.loads(said)
    del stats["bytes_on_disk"], stats["bytes_per_position"]
    return stats


class ClusterTest(unittest.TestCase):
    """Tests that share one cluster."""

    machines: Machines

    @classmethod
    def setUpClass(cls) -> None:
        if importlib.util.find_spec("moto"):
            cls.serve_objects()
        cls.machines = Machines(3)
        cls.addClassCleanup(cls.machines.stop)

    @classmethod
    def serve_objects(cls) -> None:
        """Serves a dump as an S3 object readable by this process and all nodes."""
        pipe = subprocess.PIPE
        command = [sys.executable, S3_SERVER, SAMPLES[0]]
        server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        cls.addClassCleanup(server.communicate)
        cls.addClassCleanup(server.kill)
        endpoint, key, secret = server.stdout.readline().split()
        names = {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        environment = patch.dict(os.environ, names)
        environment.start()
        cls.addClassCleanup(environment.stop)

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out"
        self.work = self.folder / "out.work"
        self.ingest = self.folder / "ingest"
        self.ingest.write_text(WRAPPER.format(folder=self.folder, ingest=INGEST))
        self.ingest.chmod(0o755)
        self.let("build", "merge")

    def let(self, *commands: str) -> None:
        """Releases `ingest build` or `merge`."""
        for command in commands:
            (self.folder / f"may_{command}").touch()

    def hold(self, *commands: str) -> None:
        """Holds these commands until released."""
        for command in commands:
            (self.folder / f"may_{command}").unlink()

    def calls(self, command: str) -> list[list[str]]:
        """Returns the calls so far that made an output: process, its parent, and arguments."""
        text = (self.folder / "calls").read_text()
        calls = [line.split() for line in text.splitlines()]
        return [call for call in calls if call[2] == command and "--identify" not in call]

    def build(self, sources: list[Path], *arguments: object) -> list[object]:
        """Returns the arguments of `kibitz-cluster build`."""
        return ["build", *sources, "--out", self.out, "--ingest", self.ingest, *arguments]

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """Starts `kibitz-cluster`, to be ended with the test."""
        process = self.machines.start(*arguments)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def alone(self, sources: list[Path]) -> Path:
        """Returns the dataset that `ingest build` makes of the sources."""
        out = self.folder / "alone"
        subprocess.run([INGEST, "build", *sources, "--out", out], capture_output=True, check=False)
        return out

    def assert_ended(
        self, process: subprocess.CompletedProcess[str], code: int, *words: str
    ) -> None:
        self.assertEqual(process.returncode, code, process.stderr)
        for word in words:
            self.assertIn(word, process.stderr)
        self.assertNotIn("Traceback", process.stderr)

    def test_a_node_dies_and_another_joins(self) -> None:
        self.hold("build")
        arguments = self.build(SAMPLES, "--part-size", 0.15, "--json")
        running = self.start(*arguments)
        calls = self.folder / "calls"
        wait_until(lambda: calls.exists() and len(self.calls("build")) == 3)

        status = json.loads(self.machines.run("status", "--json").stdout)
        self.assertEqual([run["parts_done"] for run in status["runs"]], [0])
        self.assertEqual(status["nodes"], 4)
        self.assert_ended(self.machines.run(*arguments), 5, "another run uses this folder")

        # The parent of a task is Ray's worker; the worker's parent is the raylet.
        of_node = {}
        for process, worker, *_ in self.calls("build"):
            stat = Path(f"/proc/{worker}/stat").read_text()
            of_node[int(stat.rsplit(")", 1)[1].split()[1])] = int(process)
        killed = of_node[self.machines.kill()]
        wait_until(lambda: not Path(f"/proc/{killed}").exists())
        self.machines.join()
        self.let("build")
        ended = self.machines.finish(running)
        self.assert_ended(ended, 0)

        self.assertEqual(contents(self.out), contents(self.alone(SAMPLES)))
        times = Counter(" ".join(call[3:-1]) for call in self.calls("build"))
        self.assertEqual(sorted(times.values()), [1] * (len(times) - 1) + [2])
        result = json.loads(ended.stdout)
        self.assertEqual(result["parts_done"], len(times))
        self.assertGreater(len(times), 8)
        self.assertEqual(result["merges_done"], 3)
        self.assertEqual(result["labels"], contents(self.out)["labels"])
        self.assertFalse(self.work.exists())

    def test_existing_outputs_are_not_made_again(self) -> None:
        (self.folder / "fail_merge").write_text("7\n")
        arguments = self.build(SAMPLES[:3], "--part-size", 0.2)
        self.assert_ended(self.machines.run(*arguments), 7)
        self.assertFalse(self.out.exists())
        built = len(self.calls("build"))
        (self.folder / "fail_merge").unlink()
        self.assert_ended(self.machines.run(*arguments), 0)
        self.assertEqual(len(self.calls("build")), built)
        self.assertEqual(contents(self.out), contents(self.alone(SAMPLES[:3])))
        # An existing output is not replaced.
        self.assert_ended(self.machines.run(*arguments), 5, "is there already")

    def test_shards_are_merged_by_tasks_of_their_own(self) -> None:
        arguments = self.build(SAMPLES, "--part-size", 0.15, "--shards", 3, "--json")
        ended = self.machines.run(*arguments)
        self.assert_ended(ended, 0)
        options = [call[call.index("--shard") + 1] for call in self.calls("merge")]
        self.assertEqual(sorted(options), ["1/3", "2/3", "3/3"])
        names = [f"{number}.dataset" for number in (1, 2, 3)]
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), names)
        self.assertEqual(contents(self.out), contents(self.alone(SAMPLES)))
        result = json.loads(ended.stdout)
        stats = contents(self.out)
        held = stats["positions_train"] + stats["positions_validation"]
        self.assertEqual((result["positions"], result["labels"]), (held, stats["labels"]))
        self.assertEqual((result["merges"], result["merges_done"]), (3, 3))
        self.assertFalse(self.work.exists())

    @unittest.skipUnless(importlib.util.find_spec("moto"), "moto is not there")
    def test_dumps_come_from_s3_and_the_dataset_goes_there(self) -> None:
        dumps = [f"s3://games/of june/{SAMPLES[0].name}", SAMPLES[1]]

        def build(place: str, *more: object) -> subprocess.CompletedProcess[str]:
            arguments = ["--out", place, "--ingest", self.ingest, "--part-size", 0.2]
            return self.machines.run("build", *dumps, *arguments, *more)

        missing = self.machines.run(*self.build(["s3://games/none"]))
        self.assert_ended(missing, 3, "s3://games/none")
        self.assert_ended(build("s3://games/set"), 2, "--work")
        self.assert_ended(build("s3://none/set", "--work", self.work), 3, "NoSuchBucket")
        built = len(self.calls("build"))
        ended = build("s3://games/set", "--work", self.work, "--json")
        self.assert_ended(ended, 0)
        self.assertEqual(json.loads(ended.stdout)["out"], "s3://games/set")
        self.assertEqual(len(self.calls("build")), built)
        self.assertFalse(self.work.exists())
        client = importlib.import_module("boto3").client("s3")
        for found in client.list_objects_v2(Bucket="games", Prefix="set/")["Contents"]:
            file = self.out / found["Key"].removeprefix("set/")
            file.parent.mkdir(parents=True, exist_ok=True)
            client.download_file("games", found["Key"], str(file))
        self.assertEqual(contents(self.out), contents(self.alone(SAMPLES[:2])))
        again = build("s3://games/set", "--work", self.work)
        self.assert_ended(again, 5, "a dataset is there already")

    def test_a_lost_source_is_retried_and_damage_is_reported(self) -> None:
        damaged = self.folder / "damaged.pgn.zst"
        data = bytearray(SAMPLES[0].read_bytes())
        middle = len(data) // 2
        data[middle : middle + 9] = b"\x55" * 9
        damaged.write_bytes(data[:-99])
        (self.folder / "fail_build").write_text("3\n")
        arguments = self.build([damaged, SAMPLES[1]], "--part-size", 0.2)
        running = self.start(*arguments)
        calls = self.folder / "calls"
        wait_until(lambda: calls.exists() and len(self.calls("build")) >= 3)
        (self.folder / "fail_build").unlink()
        self.assert_ended(self.machines.finish(running), 4, "damaged.pgn.zst")
        self.assertEqual(contents(self.out), contents(self.alone([damaged, SAMPLES[1]])))

    def test_annotated_games_equal_those_of_one_machine(self) -> None:
        engine = str(INGEST.with_name("fake_engine"))
        games = SAMPLES[1]
        options = ["--engine", engine, "--nodes", "3"]
        one, out = self.folder / "one.pgn.zst", self.folder / "all.pgn.zst"
        command = [INGEST, "annotate", games, *options, "--out", one]
        subprocess.run(command, check=True, capture_output=True)
        arguments = [*options, "--part-size", 0.07, "--ingest", self.ingest, "--out", out]
        self.assert_ended(self.machines.run("annotate", games, *arguments), 0)
        self.assertEqual(out.read_bytes(), one.read_bytes())
        self.assertEqual(len(self.calls("annotate")), 3)

    def test_parts_of_another_engine_are_not_reused(self) -> None:
        engine, out = self.folder / "engine", self.folder / "all.pgn.zst"
        shutil.copy2(INGEST.with_name("fake_engine"), engine)
        arguments = ["annotate", SAMPLES[1], "--engine", engine, "--nodes", 3, "--part-size", 0.07]
        arguments += ["--ingest", self.ingest, "--out", out]
        fails = self.folder / "fail_join"
        fails.write_text("7\n")
        self.assert_ended(self.machines.run(*arguments), 7)
        self.assert_ended(self.machines.run(*arguments), 7)
        made = len(self.calls("annotate"))
        with open(engine, "ab") as program:
            program.write(b"another build")
        fails.unlink()
        self.assert_ended(self.machines.run(*arguments), 0)
        self.assertEqual(len(self.calls("annotate")), 2 * made)

    def test_failures_say_why(self) -> None:
        nowhere = self.folder / "nowhere.pgn.zst"
        self.assert_ended(self.machines.run(*self.build([nowhere])), 3, "nowhere.pgn.zst")
        wrong = self.build(SAMPLES[:1], "--", "--no-such-filter")
        self.assert_ended(self.machines.run(*wrong), 2)
        self.assert_ended(self.machines.run("build", SAMPLES[0], "--out"), 2)


if __name__ == "__main__":
    unittest.main()
