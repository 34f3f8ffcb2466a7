#!/usr/bin/env bash
# What a GPU is good for, in one call, from nothing: builds the programs, runs the tests
# that compare the device with the processor, makes a dump of annotated games by
# generator and a dataset from it, runs `trainer bench` with sparse and dense inputs and
# in half precision, and `trainer fit`, and compares the net's values with the
# processor's. Writes report.json and report.md to --out. Without a GPU, `--device vulkan`
# (in software) or `--device cpu` with `--games 300 --epochs 2 --seconds 1 --batches 512`
# shows how it goes.
. "$(dirname "$0")/setup.sh"

device=cuda games=60000 epochs=20 seconds=10 batches=16384,65536,262144 out=out/gpu
while [ $# -gt 0 ]; do
    case $1 in
        --device | --games | --epochs | --seconds | --batches | --out) declare "${1#--}=${2:?a value}" ;;
        *)
            echo "usage: $0 [--device cuda[:N,...]|vulkan[:N]|cpu] [--games N] [--epochs N] [--seconds S] [--batches N,...] [--out FOLDER]" >&2
            exit 2
            ;;
    esac
    shift 2
done

step() { printf '\n== %s\n' "$*"; }
bin=${CARGO_TARGET_DIR:-target}/release
IFS=, read -ra batches <<<"$batches"
# fit takes the first: by default, that of datasets of millions.
batch=${batches[0]}
# What the trainer is built with.
trainer=() forms=(sparse dense half)
case $device in
    cuda*) ;;
    cpu) trainer=(--no-default-features) forms=(sparse) ;;
    *) trainer=(--no-default-features --features "${device%%:*},autotune") ;;
esac
mkdir -p "$out"

step "build the programs"
cargo build --release --locked -p trainer "${trainer[@]}"
cargo build --release --locked -p ingest -p tests

step "the device"
"$bin/trainer" devices | tee "$out/devices.txt"
# Ends the script, with trainer's message and exit code, where there is none.
"$bin/trainer" bench --device "$device" --batch 512 --seconds 0.1

if [ "$device" != cpu ]; then
    step "the tests of GPUs"
    cargo test --release --locked -p trainer "${trainer[@]}" --lib against_cpu
fi

step "a dataset of $games generated games, all of them annotated"
dump=$out/generated-$games.pgn.zst dataset=$out/generated-$games.dataset
[ -e "$dump" ] || {
    "$bin/generate_dump" --games "$games" --annotated 100 --level 3 --out "$dump.part"
    mv "$dump.part" "$dump"
}
"$bin/ingest" build "$dump" --out "$dataset"
"$bin/ingest" stats "$dataset" --json >"$out/dataset.json"

step "trainer bench: reader, device, both, and the limit"
for form in "${forms[@]}"; do
    case $form in
        half) how=(--precision half) ;;
        *) how=(--inputs "$form") ;;
    esac
    for size in "${batches[@]}"; do
        "$bin/trainer" bench --data "$dataset" --device "$device" "${how[@]}" \
            --batch "$size" --seconds "$seconds" --json | tee "$out/bench-$form-$size.json"
    done
done

step "trainer fit: $epochs epochs"
net=$out/net.safetensors
# Of an earlier call; trainer writes over no net.
rm -f "$out"/net.*
"$bin/trainer" fit --data "$dataset" --device "$device" --batch "$batch" --epochs "$epochs" \
    --out "$net" --json >"$out/fit.json"

step "the device's values against the processor's"
# A GPU may multiply in TF32, whose numbers have 10 bits behind the point; the bound
# leaves room for that, and the distance itself is in the report.
"$bin/check_golden" "$net" --bound 0.01 | tee "$out/golden.json"

step "report"
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo none)
python3 tests/gpu_report.py "$out" "${forms[*]}" "${batches[*]}" "$gpu" "$(git describe --always --dirty)"
