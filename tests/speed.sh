#!/usr/bin/env bash
# Measures search speed in nodes per CPU second, over `engine bench` and from the start position,
# beside Stockfish's own bench (if installed) and the engine in WebAssembly with simd128 (if Node.js
# is), and the gain from a second thread. The programs alternate round by round, so that noise
# affects all alike. CPU time (user and system, all threads) is compared because wall time means
# little on a busy machine. Prints a table, and writes the same figures to --json.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=5 nodes=2000000 json=
while [ $# -gt 0 ]; do
    case $1 in
        --rounds | --nodes | --json) declare "${1#--}=${2:?a value}" ;;
        *)
            echo "usage: $0 [--rounds N] [--nodes NODES FROM THE START] [--json FILE]" >&2
            exit 2
            ;;
    esac
    shift 2
done

# The profile of releases.
cargo build --profile ship -p engine --locked
engine=${CARGO_TARGET_DIR:-target}/ship/engine
stockfish=$(PATH=$PATH:/usr/games command -v stockfish) ||
    echo "SKIPPED: stockfish is not installed" >&2
wasm=
if command -v node >/dev/null; then
    target=wasm32-unknown-unknown
    rustup target add "$target"
    # Flags as in engine/web/build.sh.
    RUSTFLAGS="-C target-feature=+simd128" \
        cargo build --profile ship --locked -p wasm --target "$target"
    wasm=${CARGO_TARGET_DIR:-target}/$target/ship/wasm.wasm
else
    echo "SKIPPED: WebAssembly, for Node.js is not installed" >&2
fi
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# measure ROW COMMAND...: runs a command, and records the node count that it prints first, and wall,
# user and system seconds: printed ones, or else those of the whole command.
TIMEFORMAT='%R %U %S'
measure() {
    local row=$1
    shift
    { time "$@" >"$work/figures"; } 2>"$work/time"
    echo "$row $(cat "$work/figures" "$work/time" | xargs)" >>"$work/runs"
}

# About as long as Stockfish's bench; the usual depth, that of the signature, takes a fraction of a
# second.
depth=15
engine_bench() { "$engine" bench "$depth" | awk 'END { print $1 }'; }
# Timed after V8 has compiled the module, during a shallower search.
wasm_bench() { node tests/wasm/bench.mjs "$wasm" "$depth"; }
stockfish_bench() { "$stockfish" bench 2>&1 | awk '/^Nodes searched/ { print $NF }'; }
# The last report of a search comes before its limit, so print the limit itself.
from_start() {
    printf 'setoption name Threads value %s\nposition startpos\ngo nodes %s\n' "$1" "$nodes" |
        "$engine" >"$work/uci"
    grep -q '^bestmove' "$work/uci"
    echo "$nodes"
}

for ((round = 1; round <= rounds; round++)); do
    [ -t 2 ] && printf '\rround %s of %s' "$round" "$rounds" >&2
    measure bench engine_bench
    [ -z "$stockfish" ] || measure stockfish stockfish_bench
    [ -z "$wasm" ] || measure wasm wasm_bench
    measure start from_start 1
    measure start-2-threads from_start 2
done
[ -t 2 ] && printf '\r\033[K' >&2

python3 - "$work/runs" "$json" <<'PYTHON'
"""Medians of the runs, and ratios between the rows."""
import json, statistics, sys

runs = {}
for line in open(sys.argv[1]):
    row, *figures = line.split()
    runs.setdefault(row, []).append([float(figure) for figure in figures[:4]])

def median(row, figure):
    return statistics.median(figure(*run) for run in runs[row])

rows = {
    row: {
        "nodes": int(runs[row][0][0]),
        "nodes_a_cpu_second": round(median(row, lambda n, wall, user, system: n / (user + system))),
        "nodes_a_second": round(median(row, lambda n, wall, user, system: n / wall)),
    }
    for row in runs
}
report = {"rounds": len(runs["bench"]), "rows": rows}
# Ratios within a round, whose runs are adjacent in time.
for name, row, other in (
    ("times_stockfish", "bench", "stockfish"),
    ("wasm_to_native", "wasm", "bench"),
):
    if {row, other} <= runs.keys():
        of_rounds = [
            (mine[0] / (mine[2] + mine[3])) / (theirs[0] / (theirs[2] + theirs[3]))
            for mine, theirs in zip(runs[row], runs[other])
        ]
        report[name] = round(statistics.median(of_rounds), 2)
# Nodes per CPU second with two threads relative to one: 1 would be twice the nodes.
one, two = (rows[row]["nodes_a_cpu_second"] for row in ("start", "start-2-threads"))
report["efficiency_of_2_threads"] = round(two / one, 2)

print(f"{'':16}{'nodes':>12}{'nodes/CPU s':>14}{'nodes/s':>14}")
for row, figures in rows.items():
    nodes, cpu, wall = figures.values()
    print(f"{row:16}{nodes:>12}{cpu:>14}{wall:>14}")
for name, figure in report.items():
    if name not in ("rounds", "rows"):
        print(f"{name.replace('_', ' ')}: {figure}")
if sys.argv[2]:
    with open(sys.argv[2], "w") as file:
        json.dump(report, file, indent=1)
PYTHON
