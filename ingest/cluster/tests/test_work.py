"""The work folder: one run at a time, and an output that survives every interruption."""

import contextlib
import multiprocessing
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kibitz_cluster import work
from kibitz_cluster.failure import REFUSED, Failure
from kibitz_cluster.work import Report, Work

KEY = "key"
FILES = {"MANIFEST": b"manifest", "inner/000001.sst": bytes(range(256)) * 64, "inner/empty": b""}


def make(folder: Path) -> Report:
    """Makes an output of several files."""
    for name, content in FILES.items():
        path = folder / "dataset" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Report(games=1, labels=2, positions=3, damage=[])


def contents(dataset: Path) -> dict[str, bytes]:
    """Returns the files of an output, by name."""
    files = [path for path in dataset.rglob("*") if path.is_file()]
    return {str(path.relative_to(dataset)): path.read_bytes() for path in files}


def try_to_begin(folder: Path, codes: "multiprocessing.Queue[int]") -> None:
    """Begins a run in another process and queues its exit code, 0 if the folder was free."""
    try:
        Work(folder).begin()
        codes.put(0)
    except Failure as failure:
        codes.put(failure.code)


class WorkTest(unittest.TestCase):
    """Tests with a temporary folder each."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out" / "june.dataset"
        self.out.parent.mkdir()

    def begun(self) -> Work:
        """Returns a work folder with a finished output, locked until the test ends."""
        there = Work(self.folder / "work")
        self.addCleanup(there.begin().close)
        there.make(KEY, make)
        return there

    def deliver(self, there: Work) -> None:
        """Delivers the output."""
        there.deliver(there.gather([KEY], "dataset"), self.out)

    def test_an_output_is_delivered_and_the_folder_removed(self) -> None:
        there = self.begun()
        self.deliver(there)
        self.assertEqual(contents(self.out), FILES)
        self.assertEqual(list(self.out.parent.iterdir()), [self.out])
        self.assertFalse(there.folder.exists())

    def test_an_interruption_at_any_call_leaves_the_output_whole(self) -> None:
        """Interrupts with Ctrl-C at each file operation in turn."""
        for place in range(1000):
            shutil.rmtree(self.folder / "work", ignore_errors=True)
            shutil.rmtree(self.out, ignore_errors=True)
            there = Work(self.folder / "work")
            lock = there.begin()
            there.make(KEY, make)
            calls = 0

            def interrupted(operation):
                def call(*arguments, **named):
                    nonlocal calls
                    calls += 1
                    if calls == place + 1:
                        raise KeyboardInterrupt
                    return operation(*arguments, **named)

                return call

            operations = [
                (work, "difference"), (work, "sync"), (shutil, "copytree"), (shutil, "rmtree"),
                (Path, "rename"), (Path, "unlink"), (Path, "rmdir"),
            ]
            with contextlib.ExitStack() as patches:
                for owner, name in operations:
                    operation = interrupted(getattr(owner, name))
                    patches.enter_context(mock.patch.object(owner, name, operation))
                try:
                    self.deliver(there)
                    ended = True
                except KeyboardInterrupt:
                    ended = False
            lock.close()
            if self.out.exists():
                self.assertEqual(contents(self.out), FILES, place)
            else:
                # The same command resumes, and treats what is there as complete.
                with Work(self.folder / "work").begin():
                    self.assertIsNotNone(there.report(KEY), place)
                    self.assertEqual(contents(there.done / KEY / "dataset"), FILES, place)
            if ended:
                self.assertGreater(place, len(FILES), "places to interrupt")
                return
        self.fail("it never ended")

    def test_a_copy_that_differs_is_not_delivered(self) -> None:
        there = self.begun()

        def damage(path: Path) -> None:
            if path.name == "000001.sst":
                path.write_bytes(b"other")

        with mock.patch.object(work, "sync", damage), self.assertRaises(Failure) as raised:
            self.deliver(there)
        self.assertIn("000001.sst", raised.exception.message)
        self.assertEqual(list(self.out.parent.iterdir()), [])
        self.assertEqual(contents(there.done / KEY / "dataset"), FILES)

    def test_a_file_that_appeared_meanwhile_is_not_replaced(self) -> None:
        for of_user in [self.out, self.out.with_suffix(".pgn")]:
            copy = self.folder / "copy"
            if of_user is self.out:
                copy.mkdir()
                of_user.mkdir()
                (of_user / "kept").touch()
            else:
                copy.rmdir()
                copy.touch()
                of_user.write_text("kept")
            with self.assertRaises(Failure) as raised:
                work.place(copy, of_user)
            self.assertEqual(raised.exception.code, REFUSED)
        self.assertEqual(of_user.read_text(), "kept")
        self.assertTrue((self.out / "kept").exists())

    def test_a_folder_of_somebody_else_is_refused_and_not_touched(self) -> None:
        for name in ["done", "unfinished", "lock"]:
            folder = self.folder / name
            (folder / name).mkdir(parents=True)
            (folder / name / "kept").touch()
            with self.assertRaises(Failure) as raised:
                Work(folder).begin()
            self.assertEqual(raised.exception.code, REFUSED)
            self.assertEqual([path.name for path in folder.rglob("*")], [name, "kept"])

    def test_an_orphan_of_an_earlier_run_moves_nothing_into_place(self) -> None:
        there = Work(self.folder / "work")
        lock = there.begin()

        def interrupted(folder: Path) -> Report:
            report = make(folder)
            lock.close()
            self.addCleanup(Work(there.folder).begin().close)
            return report

        with mock.patch.object(shutil, "rmtree"), self.assertRaises(FileNotFoundError):
            there.make(KEY, interrupted)
        self.assertIsNone(there.report(KEY))

    def test_a_second_run_on_a_folder_is_refused_and_harms_nothing(self) -> None:
        there = Work(self.folder / "work")
        lock = there.begin()
        there.make(KEY, make)
        begun = there.unfinished / "begun"
        begun.touch()
        context = multiprocessing.get_context("spawn")
        codes = context.Queue()
        for expected in [REFUSED, 0]:
            other = context.Process(target=try_to_begin, args=(there.folder, codes))
            other.start()
            self.assertEqual(codes.get(timeout=600), expected)
            other.join()
            self.assertEqual(begun.exists(), expected == REFUSED)
            self.assertIsNotNone(there.report(KEY))
            lock.close()


if __name__ == "__main__":
    unittest.main()
