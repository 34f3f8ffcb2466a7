"""Command line of `kibitz-cluster`."""

import argparse
import hashlib
import json
import logging
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path, PurePosixPath

import ray

from kibitz_cluster import objects, plan, progress, tasks
from kibitz_cluster.failure import (
    CANNOT_WRITE,
    DAMAGED,
    INTERRUPTED,
    MISSING,
    REFUSED,
    USAGE,
    Failure,
)
from kibitz_cluster.run import Run, connect, failures
from kibitz_cluster.work import Work

EXIT_CODES = """\
Exit codes are those of ingest: 0 done, 1 other failure (a task died again and
again), 2 wrong usage, 3 a file or the cluster is missing, 4 a dump is damaged
(what was good in it is kept), 5 the output is there already or refused,
7 cannot write, 130 Ctrl-C. The same command goes on after 1, 3, 7 and 130."""

BUILD = f"""\
Each dump is cut into parts. Every part is a task of Ray's that runs ingest build
on one node; others merge what they made, {plan.MERGE_WIDTH} at a time. A task that dies with
its node is run again on another. Options behind -- are those of ingest build.
The last merge is one task. With --shards it is K of them, and the output a folder
of K shards, which is read as a dataset.

The cluster is the one that RAY_ADDRESS names or that this machine belongs to;
without one, this machine works alone. The work folder and files must have the
same path on all nodes, as on NFS. The program ingest travels with the job.

Dumps on S3 want boto3 here (pip install 'kibitz-cluster[s3]') and credentials on all
nodes. A dataset for S3 is made in the work folder, and then copied there; so --work
must name one.

Example:
  kibitz-cluster build /nfs/2026-05.pgn.zst /nfs/2026-06.pgn.zst --out /nfs/lichess.dataset
  kibitz-cluster build https://example.org/games.pgn.zst --out /nfs/games.dataset -- --keep quiet
  kibitz-cluster build /nfs/2026-*.pgn.zst --shards 64 --out /nfs/2026.shards
  kibitz-cluster build /nfs/2026-05.pgn.zst --work /nfs/work --out s3://datasets/lichess

{EXIT_CODES}"""


ANNOTATE = f"""\
As build, with ingest annotate in place of ingest build; all parts are joined at
once. Options behind -- are those of ingest annotate. The outcome is the file that
one ingest annotate makes.

Example:
  kibitz-cluster annotate /nfs/games.pgn.zst --engine stockfish --nodes 1000 \\
    --out /nfs/annotated.pgn.zst -- --ahead 32

{EXIT_CODES}"""


def parser() -> argparse.ArgumentParser:
    """Returns the argument parser."""
    formatter = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog="kibitz-cluster",
        description="Months of Lichess dumps into one dataset, on a Ray cluster",
        epilog=EXIT_CODES,
        formatter_class=formatter,
    )
    commands = top.add_subparsers(dest="command", required=True)

    build = commands.add_parser(
        "build", help="make a dataset", epilog=BUILD, formatter_class=formatter
    )
    build.add_argument(
        "months", nargs="+", metavar="MONTH", help="a dump: a file, or an http(s) or s3 URL"
    )
    build.add_argument(
        "-o",
        "--out",
        required=True,
        metavar="PLACE",
        help="the dataset: a folder, or s3://BUCKET/NAME",
    )
    build.add_argument(
        "--shards",
        type=count,
        metavar="K",
        help="make the dataset in K shards, merged by K parallel tasks",
    )
    add_run_arguments(build, part_megabytes=1000)
    build.set_defaults(run=run_build)

    annotate = commands.add_parser(
        "annotate", help="evaluate games", epilog=ANNOTATE, formatter_class=formatter
    )
    annotate.add_argument("games", metavar="GAMES", help="a file, or an http(s) or s3 URL")
    who = annotate.add_mutually_exclusive_group(required=True)
    who.add_argument("-e", "--engine", metavar="CMD", help="a UCI engine that every node has")
    who.add_argument(
        "-n", "--net", metavar="NET.safetensors", help="a net, at one path on all nodes"
    )
    limit = annotate.add_mutually_exclusive_group(required=True)
    limit.add_argument("--nodes", type=int, metavar="N", help="nodes to search a position")
    limit.add_argument("--depth", type=int, metavar="N", help="plies to search a position")
    annotate.add_argument("-o", "--out", required=True, metavar="FILE.pgn.zst")
    add_run_arguments(annotate, part_megabytes=10)
    annotate.set_defaults(run=run_annotate)

    status = commands.add_parser("status", help="show the progress of runs on the cluster")
    status.add_argument("--json", action="store_true", help="print JSON")
    status.set_defaults(run=run_status)
    return top


def add_run_arguments(command: argparse.ArgumentParser, part_megabytes: int) -> None:
    """Adds the arguments common to all runs."""
    command.add_argument(
        "--part-size",
        type=positive,
        default=part_megabytes,
        metavar="MB",
        help=f"input per task [default: {part_megabytes}]",
    )
    command.add_argument(
        "--work", type=Path, metavar="DIR", help="folder of unfinished work [default: PLACE.work]"
    )
    command.add_argument(
        "--cpus", type=int, default=1, metavar="N", help="cores per task [default: 1]"
    )
    command.add_argument(
        "--ingest", metavar="FILE", default="ingest", help="the program [default: that in PATH]"
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def positive(text: str) -> float:
    """Parses a number above zero."""
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError("must be above zero")
    return number


def count(text: str) -> int:
    """Parses a whole number above zero."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be above zero")
    return number


def run_build(arguments: argparse.Namespace, filters: list[str]) -> int:
    """Runs `kibitz-cluster build`."""
    if arguments.shards and any(option.startswith("--max-positions") for option in filters):
        why = "--max-positions counts over all shards: leave out --shards, and use ingest shard"
        raise Failure(USAGE, why)
    steps = (tasks.build, tasks.merge, tasks.DATASET)
    return make(arguments, arguments.months, filters, *steps, arguments.shards)


def run_annotate(arguments: argparse.Namespace, options: list[str]) -> int:
    """Runs `kibitz-cluster annotate`."""
    for name in ("depth", "nodes", "net", "engine"):
        if (value := getattr(arguments, name)) is not None:
            options = [f"--{name}", str(value), *options]
    steps = (tasks.annotate, tasks.join, tasks.ANNOTATED)
    return make(arguments, [arguments.games], options, *steps)


def make(
    arguments: argparse.Namespace,
    places: list[str],
    options: list[str],
    make_part: ray.remote_function.RemoteFunction,
    unite: ray.remote_function.RemoteFunction,
    name: str,
    shards: int | None = None,
) -> int:
    """Makes an output, named `name` by the tasks, or `shards` shards of it; prints a summary."""
    out, work = out_and_work(arguments)
    ingest = find_program(arguments.ingest)
    command = [version(ingest), *options]
    sources = dict.fromkeys(plan.find(place) for place in places)
    connect(ingest)
    if name == tasks.ANNOTATED:
        # The identity tells a replaced engine or net of the same name apart.
        with failures():
            command.append(ray.get(tasks.identify.remote(places[0], options)))
    size = arguments.part_size * 1e6
    parts = [part for source in sources for part in plan.parts(source, size, command)]
    cpus = arguments.cpus

    def start(node: plan.Node, reports: list[object]) -> ray.ObjectRef:
        if isinstance(node, plan.Part):
            task = make_part.options(name=node.key, scheduling_strategy="SPREAD", num_cpus=cpus)
            return task.remote(node, options, work, cpus)
        return unite.options(name=node.key, num_cpus=cpus).remote(node, work, cpus, *reports)

    # Datasets are merged in a tree, games joined all at once.
    if shards:
        roots = plan.shards(parts, shards)
    else:
        width = plan.MERGE_WIDTH if name == tasks.DATASET else max(2, len(parts))
        roots = [plan.tree(parts, width)]
    run = Run(PurePosixPath(out).name, roots, work, start)
    report = run.to_end()
    whole = work.gather([root.key for root in roots], name)
    if objects.is_object(out):
        objects.upload(whole, out)
        work.remove()
    else:
        work.deliver(whole, Path(out))
    result = {**progress.as_json(run.state), **asdict(report), "out": out}
    if arguments.json:
        tell(json.dumps(result, indent=2))
    else:
        tell(
            f"{out}: {report.positions:,} positions, {report.labels:,} labels from "
            f"{report.games:,} games; {run.state.counts()} in {run.state.seconds:.1f} s, "
            f"{run.state.rates()}"
        )
    for line in report.damage:
        print(f"kibitz-cluster: {line}", file=sys.stderr)
    return DAMAGED if report.damage else 0


def out_and_work(arguments: argparse.Namespace) -> tuple[str, Work]:
    """Returns the place of the output, and the work folder."""
    work = arguments.work
    if objects.is_object(arguments.out):
        if arguments.command != "build":
            raise Failure(USAGE, f"{arguments.out}: games are written to a file")
        if work is None:
            raise Failure(USAGE, f"{arguments.out}: --work must name a folder of all nodes")
        return arguments.out, Work(work.absolute())
    out = Path(arguments.out).absolute()
    if out.exists():
        raise Failure(REFUSED, f"{out}: is there already; ingest merge adds to a dataset")
    return str(out), Work((work or out.with_name(out.name + ".work")).absolute())


def find_program(name: str) -> Path:
    """Returns the path of `ingest`."""
    found = shutil.which(name)
    if found is None:
        raise Failure(MISSING, f"{name}: no such program; --ingest names it")
    return Path(found)


def version(ingest: Path) -> str:
    """Returns the version and digest of `ingest`: parts made by another program are not reused."""
    name = subprocess.check_output([ingest, "--version"], text=True).strip()
    return f"{name} of SHA-256 {hashlib.sha256(ingest.read_bytes()).hexdigest()}"


def run_status(arguments: argparse.Namespace, _: list[str]) -> int:
    """Runs `kibitz-cluster status`."""
    try:
        ray.init(address="auto", log_to_driver=False, logging_level="ERROR")
    except ConnectionError as error:
        raise Failure(MISSING, f"no Ray cluster: {error}") from error
    nodes = [node for node in ray.nodes() if node["Alive"]]
    lost = len(ray.nodes()) - len(nodes)
    cores = ray.cluster_resources().get("CPU", 0)
    runs = progress.runs()
    if arguments.json:
        states = [progress.as_json(state) for state in runs]
        result = {"nodes": len(nodes), "nodes_lost": lost, "cpus": cores, "runs": states}
        tell(json.dumps(result, indent=2))
        return 0
    tell(f"{len(nodes)} nodes, {cores:.0f} cores; {lost} nodes lost")
    for state in runs:
        tell(state.line())
    if not runs:
        tell("nothing is running")
    return 0


def tell(text: str) -> None:
    """Prints a result."""
    print(text, file=sys.__stdout__)


def main() -> int:
    """Runs the command; returns its exit code."""
    logging.getLogger("ray").setLevel(logging.ERROR)
    ours, ingests = split_at_dashes(sys.argv[1:])
    arguments = parser().parse_args(ours)
    # Ray reports lost nodes on standard output until it ends.
    sys.stdout = sys.stderr
    try:
        return arguments.run(arguments, ingests)
    except Failure as failure:
        print(f"kibitz-cluster: {failure.message}", file=sys.stderr)
        return failure.code
    except OSError as error:
        print(f"kibitz-cluster: {error}", file=sys.stderr)
        return CANNOT_WRITE
    except KeyboardInterrupt:
        print("kibitz-cluster: stopped; the same command goes on", file=sys.stderr)
        return INTERRUPTED


def split_at_dashes(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Returns the arguments before `--` and those after it."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]
