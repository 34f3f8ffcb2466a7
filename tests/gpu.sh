#!/usr/bin/env bash
# Benchmarks and tests a GPU in some minutes: `trainer bench` of three networks with three batch
# sizes, the tests against the CPU, and `trainer fit` of the default recipe's network on --data
# (or on generated games). Writes report.json and report.md to --out. A failed step is named in
# the report; the others still run.
#
#   tests/gpu.sh [--device cuda|vulkan|cpu] [--data FILE]... [--epochs N] [--batches N,N,N]
#                [--seconds S] [--games N] [--out FOLDER] [--programs FOLDER]
#   tests/gpu.sh --pack FOLDER
#
# --pack builds the programs and tests into FOLDER for a machine without Rust; give it there as
# --programs. To try this without a GPU: `--device vulkan` (in software) or `--device cpu`, with
# `--games 300 --epochs 2 --seconds 1 --batches 512`.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

device=cuda epochs=24 batches=16384,32768,65536 seconds=3 games=60000 out=out/gpu programs= pack=
data=()
while [ $# -gt 0 ]; do
    case $1 in
        --device | --epochs | --batches | --seconds | --games | --out | --programs | --pack)
            declare "${1#--}=${2:?a value}"
            ;;
        --data) data+=("${2:?a file}") ;;
        *)
            sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
            exit 2
            ;;
    esac
    shift 2
done

# build FOLDER: builds the programs, and the tests as programs.
build() {
    (
        . "$root/tests/setup.sh"
        features=(--features vulkan) kernels=cuda
        case $device in
            cpu) features=(--no-default-features) kernels=wgpu ;;
            vulkan*) features=(--no-default-features --features vulkan) kernels=wgpu ;;
        esac
        cargo build --release --locked -p trainer "${features[@]}"
        cargo build --release --locked -p ingest -p arena -p tests
        tests=$(cargo test --release --locked -p trainer "${features[@]}" --lib --no-run \
            --message-format=json)
        tests+=$(cargo test --release --locked -p gpu --features "$kernels" --test against_cpu \
            --no-run --message-format=json)
        mkdir -p "$1"
        bin=${CARGO_TARGET_DIR:-target}/release
        cp "$bin"/{trainer,ingest,arena,generate_dump,check_golden} "$1"
        printf '%s' "$tests" | python3 -c '
import json, sys
for line in sys.stdin.read().splitlines():
    made = json.loads(line)
    if made.get("executable") and made["profile"]["test"]:
        print(made["target"]["name"], made["executable"])
' | while read -r name path; do cp "$path" "$1/test-$name"; done
    )
}
if [ -n "$pack" ]; then
    build "$pack"
    exit
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
if [ -z "$programs" ]; then
    programs=$out/programs
    build "$programs"
fi
programs=$(cd "$programs" && pwd)
PATH=$programs:$PATH

failed=()
# step NAME COMMAND...: runs a command, with output to the terminal and to NAME.log.
step() {
    local name=$1 began=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    if "$@" 2>&1 | tee "$out/$name.log"; then
        echo "$name: $((SECONDS - began)) s"
    else
        failed+=("$name")
        echo "$name failed after $((SECONDS - began)) s"
    fi
}

trainer devices | tee "$out/devices.txt"
# Exits here, with the trainer's message and exit code, if the device is missing.
trainer bench --device "$device" --hidden 32,16,16 --batch 512 --seconds 0.1

networks=(
    "451,32,32 --view mover --activation clipped-relu --buckets 1"
    "512 --view both --activation squared-clipped-relu --buckets 8"
    "256,32,32 --view both --mirrored --activation pairwise-clipped-relu --buckets 8"
)
bench() {
    local at=0 batch network
    for network in "${networks[@]}"; do
        for batch in ${batches//,/ }; do
            # shellcheck disable=SC2086
            trainer bench --device "$device" --hidden $network --batch "$batch" \
                --seconds "$seconds" --json >"$out/bench-$at-$batch.json" || return
        done
        at=$((at + 1))
    done
}
step bench bench

if [ "$device" != cpu ]; then
    step tests-trainer test-trainer against_cpu
    step tests-gpu test-against_cpu --test-threads=1
fi

dataset=$out/all.dataset
if [ ! -e "$dataset" ]; then
    if [ ${#data[@]} = 0 ]; then
        data=("$out/generated-$games.pgn.zst")
        [ -e "${data[0]}" ] || {
            generate_dump --games "$games" --annotated 100 --level 3 --out "${data[0]}.part"
            mv "${data[0]}.part" "${data[0]}"
        }
    fi
    step dataset ingest build "${data[@]}" --keep quiet --validation-percent 2 --out "$dataset"
fi
ingest stats "$dataset" --json >"$out/dataset.json"

read -r -a default <<<"${networks[1]}"
rm -f "$out"/net.*
fit() {
    trainer fit --data "$dataset" --device "$device" --hidden "${default[@]}" --epochs "$epochs" \
        --batch "$(cut -d, -f2 <<<"$batches,$batches")" --weight-decay 0.1 --own-scale 1 \
        --out "$out/net.safetensors" --json >"$out/fit.json"
}
step fit fit

gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo none)
revision=$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)
python3 "$root/tests/gpu_report.py" "$out" "$gpu" "$revision" "${failed[@]}"
[ ${#failed[@]} = 0 ]
