"""The Ray tasks. Retries and placement are Ray's."""

from pathlib import Path

import ray

from kibitz_cluster import program
from kibitz_cluster.failure import Lost
from kibitz_cluster.plan import Merge, Part
from kibitz_cluster.work import Report, Work

RETRIES = 5
"""How often a task is run again that dies, or loses its source."""

DATASET = "dataset"
"""What a dataset is called in the folder of its output."""

again = ray.remote(max_retries=RETRIES, retry_exceptions=[Lost])


@again
def build(part: Part, filters: list[str], work: Work, threads: int) -> Report:
    """Builds a part of a dump."""
    arguments = ["build", part.source.place, *filters]
    if part.of > 1:
        arguments += ["--part", f"{part.number}/{part.of}"]
    return work.make(part.key, lambda folder: program.dataset(arguments, folder / DATASET, threads))


@again
def merge(node: Merge, work: Work, threads: int, *reports: Report) -> Report:
    """Joins datasets, and removes them: what is in them is in the one."""
    inputs = [str(work.done / child.key / DATASET) for child in node.inputs]

    def make(folder: Path) -> Report:
        report = program.dataset(["merge", *inputs], folder / DATASET, threads)
        damage = [line for part in reports for line in part.damage]
        return Report(report.games, report.labels, report.positions, damage)

    report = work.make(node.key, make)
    for child in node.inputs:
        work.forget(child.key)
    return report
