"""The shared folder through which outputs travel between nodes.

    WORK/done/KEY/         an output and its report.json, whole
    WORK/unfinished/...    what is being made

A task makes its output under a name of its own and renames it into place, so that a task that
is run again, or twice at once, does no harm.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

REPORT = "report.json"


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

    def begin(self) -> None:
        """Makes the folders, and forgets what an earlier run left unfinished."""
        shutil.rmtree(self.unfinished, ignore_errors=True)
        self.done.mkdir(parents=True, exist_ok=True)
        self.unfinished.mkdir(exist_ok=True)

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
        """Moves an output to its place, and removes the rest."""
        # Beside it first: the work folder may lie on another disk.
        beside = Path(tempfile.mkdtemp(prefix=f"{out.name}.", dir=out.parent))
        try:
            shutil.move(whole, beside / out.name)
        except BaseException:
            # On another disk it is removed from its place only when all is copied.
            shutil.rmtree(beside, ignore_errors=True)
            raise
        (beside / out.name).rename(out)
        beside.rmdir()
        self.remove()

    def remove(self) -> None:
        """Removes all that is in the folder."""
        shutil.rmtree(self.done)
        shutil.rmtree(self.unfinished)
        try:
            self.folder.rmdir()
        except OSError:
            pass  # It has other things in it.
