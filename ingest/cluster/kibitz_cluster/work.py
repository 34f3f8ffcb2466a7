"""The shared folder through which outputs travel between nodes.

    WORK/done/KEY/         an output and its report.json, whole
    WORK/unfinished/...    what is being made

A task makes its output under a name of its own and renames it into place, so that a task that
is run again, or twice at once, does no harm.
"""

import fcntl
import filecmp
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from kibitz_cluster.failure import CANNOT_WRITE, REFUSED, Failure

REPORT = "report.json"

LOCK = "lock"
"""The file that the one run of a work folder holds locked."""

MARK = "kibitz-cluster\n"
"""What the lock file says, so that no folder of somebody else's is emptied."""


@dataclass(frozen=True)
class Report:
    """What is in an output."""

    games: int
    labels: int
    positions: int
    damage: list[str]
    """What was wrong with its sources, a line each."""


def of_shards(reports: list[Report]) -> Report:
    """The report of an output, of those of its shards. Each has all its games."""
    first = reports[0]
    positions = sum(report.positions for report in reports)
    return Report(first.games, first.labels, positions, first.damage)


class Work:
    """The shared folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done = folder / "done"
        self.unfinished = folder / "unfinished"

    def begin(self) -> TextIO:
        """Locks the folder, and removes what an earlier run left unfinished. The lock holds
        until the returned file is closed or the process ends, however it ends."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.check_ours()
        lock = open(self.folder / LOCK, "a")
        try:
            # POSIX locks, which NFS keeps between machines.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            # How POSIX says that another process holds the lock.
            if not isinstance(error, (BlockingIOError, PermissionError)):
                raise
            why = "another run uses this folder; wait for it, or give another --work"
            raise Failure(REFUSED, f"{self.folder}: {why}") from None
        if lock.tell() == 0:
            lock.write(MARK)
            lock.flush()
        # An orphan of the earlier run may still be about to rename its output into place,
        # which must fail rather than move half of it.
        if self.unfinished.exists():
            aside = Path(tempfile.mkdtemp(prefix="unfinished.", dir=self.folder))
            self.unfinished.rename(aside / "unfinished")
        for aside in self.folder.glob("unfinished.*"):
            shutil.rmtree(aside, ignore_errors=True)
        self.done.mkdir(exist_ok=True)
        self.unfinished.mkdir(exist_ok=True)
        return lock

    def check_ours(self) -> None:
        """Refuses a folder in which somebody else's files have the names of ours."""
        lock = self.folder / LOCK
        try:
            mark = lock.read_text()
        except (FileNotFoundError, UnicodeDecodeError, IsADirectoryError):
            mark = None
        # A run that was killed at once leaves an empty lock file, and nothing else.
        begun = self.done.exists() or self.unfinished.exists()
        fresh = not begun and (mark == "" or not lock.exists())
        if mark != MARK and not fresh:
            names = f"{self.done.name}, {self.unfinished.name} or {LOCK}"
            why = f"not a work folder, and something in it is called {names}; give another --work"
            raise Failure(REFUSED, f"{self.folder}: {why}")

    def report(self, key: str) -> Report | None:
        """The report of an output, if it is there."""
        try:
            return Report(**json.loads((self.done / key / REPORT).read_text()))
        except FileNotFoundError:
            return None

    def make(self, key: str, make: Callable[[Path], Report]) -> Report:
        """The report of an output, which `make` makes in a folder unless it is there."""
        if report := self.report(key):
            return report
        folder = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=self.unfinished))
        try:
            report = make(folder)
            with open(folder / REPORT, "w") as file:
                json.dump(asdict(report), file)
                file.flush()
                os.fsync(file.fileno())
            folder.rename(self.done / key)
        except Exception:
            # Another run of the same task may have come first.
            if report := self.report(key):
                return report
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return report

    def forget(self, key: str) -> None:
        """Removes an output, at once for those who look for it."""
        folder = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=self.unfinished))
        try:
            (self.done / key).rename(folder / "forgotten")
        except FileNotFoundError:
            pass
        shutil.rmtree(folder, ignore_errors=True)

    def gather(self, keys: list[str], name: str) -> Path:
        """What is called `name` in an output. What is in the folders of this name in several
        is put into that of the first."""
        first, *others = [self.done / key / name for key in keys]
        for shard in [shard for folder in others for shard in folder.iterdir()]:
            shard.rename(first / shard.name)
        return first

    def deliver(self, whole: Path, out: Path) -> None:
        """Copies an output to its place: synced, compared byte by byte, then renamed. The
        work folder, which may lie on another disk, is emptied only after that, so an
        interruption at any moment leaves the output whole in one of the two places."""
        beside = Path(tempfile.mkdtemp(prefix=f"{out.name}.", dir=out.parent))
        copy = beside / out.name
        try:
            if whole.is_dir():
                shutil.copytree(whole, copy)
            else:
                shutil.copy2(whole, copy)
            for path in files_of(copy):
                sync(path)
            if changed := difference(whole, copy):
                raise Failure(CANNOT_WRITE, f"{changed}: the copy in {out.parent} differs")
            place(copy, out)
            sync(out.parent)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        self.remove()

    def remove(self) -> None:
        """Removes all that is in the folder. Outputs lose their place first, so that a run
        after an interruption takes no half of one for the whole."""
        self.done.rename(self.unfinished / "delivered")
        shutil.rmtree(self.unfinished)
        (self.folder / LOCK).unlink(missing_ok=True)
        try:
            self.folder.rmdir()
        except OSError:
            pass  # It has other things in it.


def place(copy: Path, out: Path) -> None:
    """Gives an output its name, unless something has that name by now."""
    try:
        if copy.is_dir():
            copy.rename(out)  # Fails unless `out` is an empty folder.
        else:
            os.link(copy, out)
    except OSError as error:
        if not out.exists():
            raise
        raise Failure(REFUSED, f"{out} was made by another run meanwhile") from error


def files_of(place: Path) -> list[Path]:
    """A file, or a folder with all that is in it, the innermost first."""
    return [*sorted(place.rglob("*"), reverse=True), place]


def sync(path: Path) -> None:
    """Waits until a file's bytes, or a folder's names, are on the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def difference(whole: Path, copy: Path) -> Path | None:
    """The first file of an output that its copy lacks or has otherwise, if there is one."""
    for path in files_of(whole):
        twin = copy / path.relative_to(whole)
        same = twin.is_dir() if path.is_dir() else (
            twin.is_file() and filecmp.cmp(path, twin, shallow=False)
        )
        if not same:
            return path
    return None
