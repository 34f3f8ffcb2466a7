"""Runs the program `ingest`, which travels with the job."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from kibitz_cluster.failure import DAMAGED, MISSING, OTHER, Failure, Lost
from kibitz_cluster.work import Report

MODULE = "kibitz_ingest"
NAME = "ingest"
"""Module that travels with the job, and the program's name in it."""


def run(arguments: list[str], threads: int) -> tuple[str, str | None]:
    """Runs `ingest`; returns its output and the damage it reported, if any.

    The process is killed when its worker ends.
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
    counts, damage = made(arguments, out, threads)
    positions = counts["positions_train"] + counts["positions_validation"]
    return Report(counts["games"], counts["labels"], positions, damage)


def annotated(arguments: list[str], out: Path, threads: int) -> Report:
    """Makes a file of games by `ingest annotate` or `ingest join`."""
    counts, damage = made(arguments, out, threads)
    positions = counts["positions"]
    return Report(counts["games"], positions, positions, damage)


def made(arguments: list[str], out: Path, threads: int) -> tuple[dict[str, int], list[str]]:
    """Makes an output; returns its counts and the damage reported."""
    printed, damage = run([*arguments, "--json", "--out", str(out)], threads)
    return json.loads(printed), [damage] if damage else []
