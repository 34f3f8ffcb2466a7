#!/usr/bin/env bash
# How fast a GPU trains, measured in one call, from nothing: builds the programs,
# makes a dump of annotated games by generator and a dataset from it, runs
# `trainer bench` and `trainer fit`, and compares the device's values with the
# processor's. Writes report.json and report.md to --out. Without a GPU,
# `--device cpu --games 2000 --epochs 2 --seconds 1` shows how it goes.
. "$(dirname "$0")/setup.sh"

device=cuda games=60000 epochs=20 seconds=10 out=out/gpu
while [ $# -gt 0 ]; do
    case $1 in
        --device | --games | --epochs | --seconds | --out) declare "${1#--}=${2:?a value}" ;;
        *)
            echo "usage: $0 [--device cuda[:N,...]|cpu] [--games N] [--epochs N] [--seconds S] [--out FOLDER]" >&2
            exit 2
            ;;
    esac
    shift 2
done

step() { printf '\n== %s\n' "$*"; }
bin=${CARGO_TARGET_DIR:-target}/release
# The default for datasets of millions; one size for all, so that figures compare.
batch=16384
mkdir -p "$out"

step "build the programs"
cargo build --release --workspace --locked

step "the device"
# Ends the script, with trainer's message and exit code, where there is none.
"$bin/trainer" bench --device "$device" --batch 512 --seconds 0.1

step "a dataset of $games generated games, all of them annotated"
dump=$out/generated-$games.pgn.zst dataset=$out/generated-$games.dataset
[ -e "$dump" ] || {
    "$bin/generate_dump" --games "$games" --annotated 100 --level 3 --out "$dump.part"
    mv "$dump.part" "$dump"
}
"$bin/ingest" build "$dump" --out "$dataset"
"$bin/ingest" stats "$dataset" --json >"$out/dataset.json"

step "trainer bench: reader, device, both, and the limit"
for size in $batch $((4 * batch)); do
    "$bin/trainer" bench --data "$dataset" --device "$device" --batch "$size" \
        --seconds "$seconds" --json | tee "$out/bench-$size.json"
done

step "trainer fit: $epochs epochs"
net=$out/net.safetensors
# Of an earlier call; trainer writes over no net.
rm -f "$out"/net.*
"$bin/trainer" fit --data "$dataset" --device "$device" --batch $batch --epochs "$epochs" \
    --out "$net" --json >"$out/fit.json"

step "the device's values against the processor's"
# A GPU may multiply in TF32, whose numbers have 10 bits behind the point; the bound
# leaves room for that, and the distance itself is in the report.
"$bin/check_golden" "$net" --bound 0.01 | tee "$out/golden.json"

step "report"
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo none)
python3 tests/gpu_report.py "$out" "$batch" "$gpu" "$(git describe --always --dirty)"
