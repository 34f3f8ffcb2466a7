"""How a task runs `ingest`, which travels with the job."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from kibitz_cluster.failure import DAMAGED, MISSING, OTHER, Failure, Lost
from kibitz_cluster.work import Report

MODULE = "kibitz_ingest"
NAME = "ingest"
"""The module that travels with the job, and what the program is called in it."""

SUMMARY = re.compile(
    r"(?P<train>\d+) positions to train on, (?P<validation>\d+) held out, "
    r"from \d+ annotated of (?P<games>\d+) games\n(?P<labels>\d+) labels"
)
"""What `ingest build` and `ingest merge` print of a dataset."""


def run(arguments: list[str], threads: int) -> tuple[str, str | None]:
    """Runs `ingest` and returns what it printed, and the damage that it told of.

    It ends with its worker, however that ends.
    """
    module = importlib.util.find_spec(MODULE)
    command = [str(Path(module.origin).with_name(NAME)), *arguments]
    if setpriv := shutil.which("setpriv"):
        command = [setpriv, "--pdeathsig", "KILL", "--", *command]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    said = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    sys.stderr.write(said.stderr)
    last = said.stderr.strip().rsplit("\n", 1)[-1]
    if said.returncode == DAMAGED and said.stdout:
        return said.stdout, last
    if said.returncode == MISSING:
        raise Lost(said.returncode, last)
    if said.returncode < 0 or said.returncode > 128:  # by a signal
        raise Lost(OTHER, f"ingest was stopped: {said.returncode}, {last}")
    if said.returncode != 0:
        raise Failure(said.returncode, last)
    return said.stdout, None


def dataset(arguments: list[str], out: Path, threads: int) -> Report:
    """Makes a dataset by `ingest build` or `ingest merge`."""
    printed, damage = run([*arguments, "--out", str(out)], threads)
    counts = SUMMARY.search(printed)
    if counts is None:
        raise Failure(OTHER, f"ingest {arguments[0]} printed no summary: {printed!r}")
    return Report(
        games=int(counts["games"]),
        labels=int(counts["labels"]),
        positions=int(counts["train"]) + int(counts["validation"]),
        damage=[damage] if damage else [],
    )


def annotated(arguments: list[str], out: Path, threads: int) -> Report:
    """Makes a file of games by `ingest annotate` or `ingest join`."""
    printed, damage = run([*arguments, "--out", str(out), "--json"], threads)
    counts = json.loads(printed)
    positions = counts["positions"]
    return Report(counts["games"], positions, positions, [damage] if damage else [])
