"""Joins what tests/gpu.sh measured into report.json and report.md.

    python3 tests/gpu_report.py FOLDER "FORM ..." "BATCH ..." GPU REVISION
"""

import json
import os
import pathlib
import statistics
import sys

folder, gpu, revision = pathlib.Path(sys.argv[1]), *sys.argv[4:]
forms, batches = sys.argv[2].split(), [int(size) for size in sys.argv[3].split()]
# Samples a second that training aims at on an H200.
AIM = 20e6


def load(name):
    return json.loads((folder / name).read_text())


epochs = [json.loads(line) for line in (folder / "net.metrics.jsonl").read_text().splitlines()]
fit = load("fit.json")
report = {
    "revision": revision,
    "gpu": gpu,
    "cores": os.cpu_count(),
    "positions": load("dataset.json")["positions_train"],
    "bench": [load(f"bench-{form}-{size}.json") for form in forms for size in batches],
    "fit": fit,
    # The first epoch compiles kernels and chooses among them.
    "fit_samples_per_second_median": statistics.median(e["samples_per_second"] for e in epochs[1:]),
    "golden": load("golden.json"),
    "winchance": fit["validation"]["net"]["winchance"],
}
(folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")


def millions(rate):
    return f"{rate / 1e6:.3f}"


def name(bench):
    half = " in half precision" if bench.get("precision") == "half" else ""
    return f"{bench.get('inputs', 'cpu')}{half}, {bench['batch']}"


lines = [
    f"{report['positions']} positions, {fit['device']} ({gpu}), {report['cores']} cores, revision {revision}",
    "",
    "| million samples/s, batches of | " + " | ".join(name(b) for b in report["bench"]) + " |",
    "|---" * (1 + len(report["bench"])) + "|",
]
rows = [
    ("reader alone", lambda b: b["samples_per_second"]["reader"]),
    ("upload alone", lambda b: b["samples_per_second"]["upload"]),
    ("device alone", lambda b: b["samples_per_second"]["device"]),
    ("both", lambda b: b["samples_per_second"]["both"]),
    ("limit by arithmetic", lambda b: b["limit"]["arithmetic"]),
    ("limit by memory", lambda b: b["limit"]["memory"]),
]
for what, value in rows:
    lines.append(f"| {what} | " + " | ".join(millions(value(b)) for b in report["bench"]) + " |")
lines += ["", f"What {millions(AIM)} million samples/s take, and what the device has by measurement:", ""]
for b in report["bench"]:
    sample, measured = b["sample"], b["measured"]
    lines.append(
        f"- {name(b)}: {AIM * sample['flop'] / 1e12:.2f} of "
        f"{measured['flop_per_second'] / 1e12:.2f} Tflop/s, "
        f"{AIM * sample['memory_bytes'] / 1e9:.0f} of "
        f"{measured['memory_bytes_per_second'] / 1e9:.0f} GB/s of memory, "
        f"{AIM * sample['upload_bytes'] / 1e9:.2f} GB/s sent."
    )
lines += [
    "",
    f"`trainer fit`, batches of {batches[0]}, median of {len(epochs) - 1} epochs: "
    f"{millions(report['fit_samples_per_second_median'])} million samples/s.",
    f"Largest distance of {report['golden']['positions']} values from the processor's: "
    f"{report['golden']['largest_distance']:.1e} pawns.",
    f"Win-chance L1 on held-out games: {report['winchance']:.5f}.",
]
(folder / "report.md").write_text("\n".join(lines) + "\n")
print("\n".join(lines))
