"""The shared folder through which outputs travel between nodes.

    WORK/done/KEY/         a complete output and its report.json
    WORK/unfinished/...    outputs in progress

A task makes its output under a unique name and renames it into place, so that repeated or
concurrent runs of a task do no harm.
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
"""File that the run using a work folder keeps locked."""

MARK = "kibitz-cluster\n"
"""Contents of the lock file, which protect other people's folders from being emptied."""


@dataclass(frozen=True)
class Report:
    """Counts of an output."""

    games: int
    labels: int
    positions: int
    damage: list[str]
    """Damage of its sources, a line each."""


def of_shards(reports: list[Report]) -> Report:
    """Returns the report of an output from those of its shards, each of which counts all games."""
    first = reports[0]
    positions = sum(report.positions for report in reports)
    return Report(first.games, first.labels, positions, first.damage)


class Work:
    """Shared work folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done = folder / "done"
        self.unfinished = folder / "unfinished"

    def begin(self) -> TextIO:
        """Locks the folder, and removes unfinished outputs of an earlier run. The lock holds
        until the returned file is closed or the process ends."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.check_ours()
        lock = open(self.folder / LOCK, "a")
        try:
            # POSIX locks work between machines on NFS.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            # Another process holds the lock (POSIX allows both errors).
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
        """Refuses a folder in which foreign files have the names of a work folder's."""
        lock = self.folder / LOCK
        try:
            mark = lock.read_text()
        except (FileNotFoundError, UnicodeDecodeError, IsADirectoryError):
            mark = None
        # A run killed at its start leaves only an empty lock file.
        begun = self.done.exists() or self.unfinished.exists()
        fresh = not begun and (mark == "" or not lock.exists())
        if mark != MARK and not fresh:
            names = f"{self.done.name}, {self.unfinished.name} or {LOCK}"
            why = f"not a work folder, and something in it is called {names}; give another --work"
            raise Failure(REFUSED, f"{self.folder}: {why}")

    def report(self, key: str) -> Report | None:
        """Returns the report of an output, or None if it is missing."""
        try:
            return Report(**json.loads((self.done / key / REPORT).read_text()))
        except FileNotFoundError:
            return None

    def make(self, key: str, make: Callable[[Path], Report]) -> Report:
        """Makes an output by calling `make` on a folder, unless it exists; returns its report."""
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
            # Another run of the same task may have finished first.
            if report := self.report(key):
                return report
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return report

    def forget(self, key: str) -> None:
        """Removes an output; it disappears atomically."""
        folder = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=self.unfinished))
        try:
            (self.done / key).rename(folder / "forgotten")
        except FileNotFoundError:
            pass
        shutil.rmtree(folder, ignore_errors=True)

    def gather(self, keys: list[str], name: str) -> Path:
        """Returns the path of `name` in an output. Of several outputs, moves the contents of
        their folders `name` into that of the first."""
        first, *others = [self.done / key / name for key in keys]
        for shard in [shard for folder in others for shard in folder.iterdir()]:
            shard.rename(first / shard.name)
        return first

    def deliver(self, whole: Path, out: Path) -> None:
        """Copies an output to its place: synced, compared byte by byte, then renamed. Only then
        is the work folder emptied, which may be on another disk, so an interruption at any
        moment leaves a complete output in one of the two places."""
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
        """Removes the contents of the folder. Outputs are moved away first, so that a run after
        an interruption finds no partly removed output."""
        self.done.rename(self.unfinished / "delivered")
        shutil.rmtree(self.unfinished)
        (self.folder / LOCK).unlink(missing_ok=True)
        try:
            self.folder.rmdir()
        except OSError:
            pass  # It has other contents.


def place(copy: Path, out: Path) -> None:
    """Gives an output its name, unless the name is taken by now."""
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
    """Returns a file, or a folder after all its contents, the innermost first."""
    return [*sorted(place.rglob("*"), reverse=True), place]


def sync(path: Path) -> None:
    """Syncs a file or folder to disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def difference(whole: Path, copy: Path) -> Path | None:
    """Returns the first file of an output that is missing or different in its copy, or None."""
    for path in files_of(whole):
        twin = copy / path.relative_to(whole)
        same = twin.is_dir() if path.is_dir() else (
            twin.is_file() and filecmp.cmp(path, twin, shallow=False)
        )
        if not same:
            return path
    return None
