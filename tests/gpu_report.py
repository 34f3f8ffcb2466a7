"""Collects the measurements of tests/gpu.sh in report.json and report.md.

    python3 tests/gpu_report.py FOLDER GPU REVISION [FAILED_STEP...]
"""

import json
import os
import pathlib
import statistics
import sys

folder, gpu, revision, failed = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]


def load(path):
    """Returns the JSON of a file, or None if a failed step did not write it."""
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None


bench = [load(path) for path in sorted(folder.glob("bench-*.json"))]
bench = [measured for measured in bench if measured]
fit = load(folder / "fit.json")
metrics = folder / "net.metrics.jsonl"
epochs = metrics.read_text().splitlines() if metrics.exists() else []
rates = [json.loads(line)["samples_per_second"] for line in epochs]
report = {
    "revision": revision,
    "gpu": gpu,
    "cores": os.cpu_count(),
    "failed": failed,
    "dataset": load(folder / "dataset.json"),
    "bench": bench,
    "fit": fit,
    "fit_samples_per_second_median": statistics.median(rates) if rates else None,
}
(folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")


def name(measured):
    parts = measured["architecture"]
    sizes = [parts[layer] for layer in ("first", "second", "third") if parts.get(layer)]
    views = "2x" if parts["view"] == "both" else ""
    return f"{views}{'-'.join(map(str, sizes))}, {parts['buckets']} buckets"


PARTS = ("send", "derive", "forward", "backward", "optimizer", "step")


def milliseconds(measured, part):
    time = measured["step_milliseconds"][part]
    return "" if time is None else f"{time:.2f}"


lines = [
    f"{gpu}, {os.cpu_count()} cores, revision {revision}",
    "",
    "| network | batch | M positions/s | first step, s | " + " | ".join(f"{p}, ms" for p in PARTS) + " |",
    "|---" * (4 + len(PARTS)) + "|",
]
for measured in bench:
    times = " | ".join(milliseconds(measured, part) for part in PARTS)
    rate = measured["samples_per_second"]["device"] / 1e6
    first = measured["first_step_seconds"]
    lines.append(f"| {name(measured)} | {measured['batch']} | {rate:.2f} | {first:.1f} | {times} |")
lines.append("")
if fit and rates:
    lines += [
        f"`trainer fit`: {len(rates)} epochs of {report['dataset']['positions_train']} positions in "
        f"{fit['seconds']:.0f} s, median of the epochs {statistics.median(rates) / 1e6:.2f} M positions/s, "
        f"win-chance error on held-out games {fit['validation']['net']['winchance']:.5f}",
        "",
    ]
lines.append("failed: " + ", ".join(failed) if failed else "every step passed")
(folder / "report.md").write_text("\n".join(lines) + "\n")
print("\n".join(lines))
