"""Ray tasks; Ray handles retries and placement."""

from collections.abc import Callable
from pathlib import Path

import ray

from kibitz_cluster import program
from kibitz_cluster.failure import Lost
from kibitz_cluster.plan import Merge, Part
from kibitz_cluster.work import Report, Work

RETRIES = 5
"""Retries of a task that dies or loses its source."""

DATASET = "dataset"
"""Name of a dataset in the folder of its output."""

ANNOTATED = "annotated.pgn.zst"
"""Name of a file of games in that folder."""

again = ray.remote(max_retries=RETRIES, retry_exceptions=[Lost])


@again
def build(part: Part, filters: list[str], work: Work, threads: int) -> Report:
    """Builds a part of a dump."""
    arguments = ["build", part.source.place, *filters, *which(part)]
    return work.make(part.key, lambda folder: program.dataset(arguments, folder / DATASET, threads))


@again
def merge(node: Merge, work: Work, threads: int, *reports: Report) -> Report:
    """Merges datasets, or makes one shard of their merge."""
    return unite("merge", program.dataset, DATASET, node, work, threads, reports)


@again
def annotate(part: Part, options: list[str], work: Work, threads: int) -> Report:
    """Evaluates a part of the games."""
    arguments = ["annotate", part.source.place, *options, *which(part)]
    arguments += ["--processes", str(threads)]
    return work.make(
        part.key, lambda folder: program.annotated(arguments, folder / ANNOTATED, threads)
    )


@again
def identify(games: str, options: list[str]) -> str:
    """Returns the evaluator of the nodes with its digests."""
    arguments = ["annotate", games, *options, "--identify", "--out", ANNOTATED]
    return program.run(arguments, 1)[0].strip()


@again
def join(node: Merge, work: Work, threads: int, *reports: Report) -> Report:
    """Joins the parts of annotated games."""
    return unite("join", program.annotated, ANNOTATED, node, work, threads, reports)


def which(part: Part) -> list[str]:
    """Returns the option that selects a part; none for a whole source."""
    return ["--part", f"{part.number}/{part.of}"] if part.of > 1 else []


def unite(
    command: str,
    run: Callable[[list[str], Path, int], Report],
    name: str,
    node: Merge,
    work: Work,
    threads: int,
    reports: tuple[Report, ...],
) -> Report:
    """Makes one output of several and then removes these, unless it is a shard: other shards
    need them."""
    inputs = [str(work.done / child.key / name) for child in node.inputs]
    which = ["--shard", node.shard] if node.shard else []

    def make(folder: Path) -> Report:
        report = run([command, *inputs, *which], folder / name, threads)
        damage = [line for part in reports for line in part.damage]
        return Report(report.games, report.labels, report.positions, damage)

    report = work.make(node.key, make)
    for child in node.inputs if node.shard is None else ():
        work.forget(child.key)
    return report
