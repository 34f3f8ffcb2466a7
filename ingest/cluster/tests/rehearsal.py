"""Measures builds of up to a month of games, from 1 GB of text, by one process and by Ray, and
the use of the dataset.

    target/python/bin/python ingest/cluster/tests/rehearsal.py target/debug FOLDER --out docs

CI leaves it out: 30 million games take 25 GB of disk. The first argument is the folder of
`ingest`, `trainer` and `generate_dump`. Figures are kept in FOLDER/figures.json and not measured
again. Writes rehearsal.svg, and prints the figures.

Each dump has games with evaluations of its own. The games without, which a build counts and
skips, are the same in all dumps: it takes hours to play so many.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent

ANNOTATED, BARE = 28_000, 427_000
"""Games of a dump with and without evaluations: 1 GB of text."""

LEVEL = 3
"""Compression level of zstd; Lichess's takes twenty minutes for 1 GB."""

POLL_SECONDS = 0.25

SHARDS = 4
"""Tasks that share the last merge."""

RUNS, SMALL = 70, 2_000
"""Number of datasets to merge, and games in each."""

Figures = dict[str, float]


def main() -> None:
    """Measures missing figures, and draws all of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=30_000_000)
    parser.add_argument("--out", type=Path, default=Path())
    arguments = parser.parse_args()
    rehearsal = Rehearsal(arguments.programs.absolute(), arguments.folder.absolute())
    rehearsal.run(-(-arguments.games // (ANNOTATED + BARE)))
    (arguments.out / "rehearsal.svg").write_text(picture(rehearsal.figures))
    json.dump(rehearsal.figures, sys.stdout, indent=2)


class Rehearsal:
    """Folder and figures of the rehearsal."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.folder = folder
        self.file = folder / "figures.json"
        self.dumps = folder / "dumps"
        self.runs = folder / "runs"
        self.dumps.mkdir(parents=True, exist_ok=True)
        self.runs.mkdir(exist_ok=True)
        self.figures: dict[str, Figures] = {}
        if self.file.exists():
            self.figures = json.loads(self.file.read_text())

    def run(self, parts: int) -> None:
        """Runs all steps."""
        dumps = [self.generated(number) for number in range(1, parts + 1)]
        counts = [count for count in (1, 4, 12, 24) if count < parts] + [parts]
        for count in counts:
            self.build(dumps[:count])
        self.merge()
        self.use()
        for count in counts:
            self.ray(dumps[:count])

    def generated(self, number: int) -> Path:
        """Returns a dump: frames with evaluations, then frames without."""
        bare = self.dumps / "bare"
        self.once("generate bare", lambda: self.generate(bare, 0, BARE))
        dump = self.dumps / f"{number:03}.pgn.zst"

        def generate() -> Figures:
            figures = self.generate(dump, number, ANNOTATED)
            with open(dump, "ab") as file, open(bare, "rb") as rest:
                shutil.copyfileobj(rest, file, 1 << 20)
            return figures

        self.once(f"generate {number}", generate)
        return dump

    def generate(self, dump: Path, seed: int, games: int) -> Figures:
        """Generates a dump; all games have evaluations, except with seed 0."""
        command = [self.programs / "generate_dump", "--seed", seed, "--games", games]
        command += ["--annotated", 100 if seed else 0, "--level", LEVEL, "--out", dump]
        figures, said = self.measured(command, self.runs)
        [text] = re.findall(r"(\d+) bytes of text", said)
        return figures | {"text": int(text)}

    def text(self, dumps: list[Path]) -> float:
        """Returns the GB of text in dumps."""
        own = [self.figures[f"generate {int(dump.name[:3])}"]["text"] for dump in dumps]
        return (sum(own) + len(dumps) * self.figures["generate bare"]["text"]) / 1e9

    def build(self, dumps: list[Path]) -> None:
        """Measures one build of all dumps. The dataset of all dumps is kept."""
        out = self.runs / f"alone-{len(dumps)}"
        for old in self.runs.glob("alone-*"):
            if self.figures.get(f"build {len(dumps)}") is None:
                shutil.rmtree(old)
        command = [self.programs / "ingest", "build", *dumps, "--out", out]
        self.once(f"build {len(dumps)}", lambda: self.dataset(command, out, dumps))

    def ray(self, dumps: list[Path]) -> None:
        """Measures the build on a Ray cluster of this machine."""
        out = self.runs / "ray"
        command = [sys.executable, "-m", "kibitz_cluster", "build", *dumps, "--out", out]
        command += ["--ingest", self.programs / "ingest", "--shards", SHARDS]

        def build() -> Figures:
            shutil.rmtree(out, ignore_errors=True)
            shutil.rmtree(self.runs / "ray.work", ignore_errors=True)
            figures = self.dataset(command, out, dumps)
            shutil.rmtree(out)
            return figures

        self.once(f"ray {len(dumps)}", build)

    def merge(self) -> None:
        """Measures the merge of many datasets: at once, in groups of eight, and by shards."""
        ingest, out = self.programs / "ingest", self.runs / "merged"
        each = [self.small(number) for number in range(1, RUNS + 1)]

        def merge(datasets: list[Path], out: Path, *options: object) -> Figures:
            command = [ingest, "merge", *datasets, *options, "--out", out]
            return self.measured(command, self.runs)[0]

        def in_eights() -> Figures:
            level, total = each, {"cpu": 0.0, "memory": 0}
            while len(level) > 1:
                groups = [level[i : i + 8] for i in range(0, len(level), 8)]
                level = [self.runs / f"eights-{len(groups)}-{i}" for i in range(len(groups))]
                for group, to in zip(groups, level, strict=True):
                    figures = merge(group, to)
                    total["cpu"] += figures["cpu"]
                    total["memory"] = max(total["memory"], figures["memory"])
            total |= self.counted(level[0])
            for dataset in self.runs.glob("eights-*"):
                shutil.rmtree(dataset)
            return total

        def at_once() -> Figures:
            shutil.rmtree(out, ignore_errors=True)
            return merge(each, out) | self.counted(out)

        def by_shards() -> Figures:
            shutil.rmtree(out, ignore_errors=True)
            parts = [f"{number}/{SHARDS}" for number in range(1, SHARDS + 1)]
            figures = [merge(each, out, "--shard", part) for part in parts]
            most = {name: max(of[name] for of in figures) for name in ("cpu", "memory")}
            return {**most, "all cpu": sum(of["cpu"] for of in figures), **self.counted(out)}

        self.once(f"merge {RUNS}", at_once)
        self.once(f"merge {RUNS} in eights", in_eights)
        self.once(f"merge {RUNS} by shards", by_shards)

    def small(self, number: int) -> Path:
        """Returns a dataset of a small dump."""
        dump, dataset = self.dumps / f"small-{number}", self.runs / f"small-{number}"
        if not dataset.exists():
            self.generate(dump, 1000 + number, SMALL)
            command = [self.programs / "ingest", "build", dump, "--out", dataset]
            subprocess.run(command, capture_output=True, check=True)
        return dataset

    def use(self) -> None:
        """Measures the use of the largest dataset."""
        [dataset] = self.runs.glob("alone-*")
        ingest, trainer = self.programs / "ingest", self.programs / "trainer"
        net, export = self.runs / "net.safetensors", self.runs / "export"
        fit = [trainer, "fit", "--data", dataset, "--out", net, "--device", "cpu", "--epochs", 1]
        fit += ["--hidden", "16,8,8", "--batch", 16384]
        bench = [trainer, "bench", "--data", dataset, "--device", "cpu", "--seconds", 5, "--json"]
        for name, command in {
            "stats": [ingest, "stats", dataset],
            "read": bench,
            "export": [ingest, "export", dataset, "--format", "bullet", "--out", export],
            "fit": fit,
        }.items():
            def use(command: list[object] = command) -> Figures:
                figures, said = self.measured(command, self.runs)
                return figures | ({"bench": json.loads(said)} if command is bench else {})

            self.once(name, use)
        export.unlink(missing_ok=True)

    def dataset(self, command: list[object], out: Path, dumps: list[Path]) -> Figures:
        """Returns the cost of making a dataset, and its counts."""
        figures, _ = self.measured(command, self.runs)
        return figures | self.counted(out) | {"text": self.text(dumps)}

    def counted(self, dataset: Path) -> Figures:
        """Returns the counts of a dataset."""
        command = [self.programs / "ingest", "stats", "--json", dataset]
        stats = json.loads(subprocess.check_output(command))
        names = ["positions_train", "positions_validation", "labels", "bytes_on_disk"]
        return {name: stats[name] for name in [*names, "fingerprint"]}

    def once(self, name: str, measure: Callable[[], Figures]) -> None:
        """Measures and stores a figure unless it is stored already."""
        if name in self.figures:
            return
        self.figures[name] = measure()
        self.file.write_text(json.dumps(self.figures, indent=2))
        print(f"{time.strftime('%X')} {name}: {self.figures[name]}", file=sys.stderr, flush=True)

    def measured(self, command: list[object], disk: Path) -> tuple[Figures, str]:
        """Runs a command; returns its time, the processor time and peak memory of Kibitz's programs
        (by polling), and the peak growth of a folder."""
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "RAY_ADDRESS": "local"}
        # A busy machine takes longer than Ray's 30 seconds.
        environment["RAY_raylet_start_wait_time_s"] = "120"
        before, ended = size(disk), threading.Event()
        most, cpu = {"memory": 0, "disk": 0}, {}

        def watch() -> None:
            while not ended.wait(POLL_SECONDS):
                usages = usage(str(self.folder))
                cpu.update({process: seconds for process, (_, seconds) in usages.items()})
                memory = sum(size for size, _ in usages.values())
                most["memory"] = max(most["memory"], memory)
                most["disk"] = max(most["disk"], size(disk) - before)

        watcher = threading.Thread(target=watch)
        watcher.start()
        start = time.monotonic()
        try:
            said = subprocess.run(
                list(map(str, command)), check=True, env=environment, stdout=subprocess.PIPE, text=True
            )
        finally:
            ended.set()
            watcher.join()
        seconds = time.monotonic() - start
        return {"seconds": seconds, "cpu": sum(cpu.values()), **most}, said.stdout


def usage(folder: str) -> dict[str, tuple[int, float]]:
    """Returns bytes of memory and seconds of processor time of Kibitz's programs that work in a
    folder, by process."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            program, *arguments = (process / "cmdline").read_text().split("\0")
            ours = program.endswith(("/ingest", "/trainer"))
            if ours and any(folder in argument for argument in arguments):
                pages = int((process / "statm").read_text().split()[1])
                times = (process / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
                seconds = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
                found[process.name] = (pages * os.sysconf("SC_PAGE_SIZE"), seconds)
        except OSError:
            pass  # It has ended.
    return found


def size(folder: Path) -> int:
    """Returns the bytes of the files in a folder."""
    total = 0
    for place, _, files in os.walk(folder):
        for file in files:
            try:
                total += os.lstat(os.path.join(place, file)).st_size
            except OSError:
                pass  # It has been removed.
    return total


WIDTH, HEIGHT, LEFT, TOP = 240, 180, 62, 46
"""Chart geometry in pixels: the plot, and the margins left of it and above."""

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2933 } .title { font-weight: 600 }
.paper { fill: #ffffff } .axis { stroke: #9aa5b1 }
.alone { stroke: #0072b2; fill: #0072b2 } .ray { stroke: #d55e00; fill: #d55e00 }
polyline { stroke-width: 2.5; fill: none !important } text.alone, text.ray { stroke: none }
@media (prefers-color-scheme: dark) {
text { fill: #e4e7eb } .paper { fill: #171c22 }
.alone { stroke: #4cb0ea; fill: #4cb0ea } .ray { stroke: #f59342; fill: #f59342 }
}"""


def picture(figures: dict[str, Figures]) -> str:
    """Draws time, memory and disk against the size of the text."""
    series = {
        "alone": [of for name, of in figures.items() if re.fullmatch(r"build \d+", name)],
        "ray": [of for name, of in figures.items() if re.fullmatch(r"ray \d+", name)],
    }
    charts = [
        chart(0, "processor time, minutes", "cpu", 60, series),
        chart(1, "memory, MiB", "memory", 2**20, series),
        chart(2, "disk beside the dumps, GB", "disk", 1e9, series),
    ]
    width, height = 3 * (LEFT + WIDTH) + 20, TOP + HEIGHT + 70
    names = {"alone": (LEFT, "one ingest build"), "ray": (LEFT + 140, "kibitz-cluster")}
    legend = "".join(
        f'<text class="{kind}" x="{x}" y="{height - 12}">{name}</text>'
        for kind, (x, name) in names.items()
        if series[kind]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">\n'
        f'<style>{STYLE}</style>\n<rect class="paper" width="{width}" height="{height}"/>\n'
        + "\n".join([*charts, legend])
        + "\n</svg>\n"
    )


def chart(
    column: int, title: str, name: str, unit: float, series: dict[str, list[Figures]]
) -> str:
    """Draws a figure against GB of text."""
    points = {
        kind: [(of["text"], of[name] / unit) for of in measured]
        for kind, measured in series.items()
    }
    most_x, most_y = (max(p[i] for line in points.values() for p in line) for i in (0, 1))
    x, y = LEFT + column * (LEFT + WIDTH), TOP + HEIGHT
    drawn = [
        f'<text class="title" x="{x}" y="{TOP - 18}">{title}</text>',
        f'<path class="axis" fill="none" d="M{x} {TOP}V{y}H{x + WIDTH}"/>',
        f'<text text-anchor="end" x="{x - 6}" y="{TOP + 10}">{most_y:.4g}</text>',
        f'<text text-anchor="end" x="{x - 6}" y="{y}">0</text>',
        f'<text text-anchor="end" x="{x + WIDTH}" y="{y + 20}">{most_x:.0f} GB of text</text>',
    ]
    for kind, line in ((kind, line) for kind, line in points.items() if line):
        places = [(x + WIDTH * a / most_x, y - HEIGHT * b / most_y) for a, b in sorted(line)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        drawn.append(f'<polyline class="{kind}" points="{path}"/>')
        drawn += [f'<circle class="{kind}" cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in places]
    return "\n".join(drawn)


if __name__ == "__main__":
    main()
