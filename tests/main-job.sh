#!/usr/bin/env bash
# The whole pipeline on the samples: dump to dataset to net to a playing engine. Writes to out/ and
# replaces its earlier files there.
. "$(dirname "$0")/setup.sh"

step() { printf '\n== %s\n' "$*"; }
samples=datasets/samples
target=${CARGO_TARGET_DIR:-target}
bin=$target/release
mkdir -p out
rm -rf out/sample.dataset
rm -f out/dataset.svg out/sample.{safetensors,checkpoint,metrics.jsonl,steps.jsonl,golden.json,svg,calibration.svg,errors.svg,neurons.svg,report.html} \
    out/match.pgn{,.jsonl} out/engine out/arena

cuda=()
if has_cuda; then
    step "build ingest and trainer"
else
    step "build ingest and trainer, which trains on the processor: no NVIDIA GPU is here"
    cuda=(--no-default-features)
fi
cargo build --release -p ingest -p trainer --locked "${cuda[@]}"

step "ingest: games with evaluations into a dataset of labelled positions"
$bin/ingest build --out out/sample.dataset --validation-percent 10 \
    $samples/dump_2026-06_annotated500.pgn.zst \
    $samples/rebuilt_2026-06_blitz676.pgn.zst \
    $samples/dump_2013-02_rewritten2551.pgn.zst
$bin/ingest stats out/sample.dataset --plot out/dataset.svg

step "trainer: fit the network, measure it on held-out games every epoch"
$bin/trainer fit --data out/sample.dataset --out out/sample.safetensors

step "trainer: how good it is on games of another month that no training saw"
$bin/trainer eval --net out/sample.safetensors --pgn $samples/dump_2021-10_first499.pgn.zst

step "engine: bake the net in"
KIBITZ_NET=out/sample.safetensors cargo build --release -p engine -p arena --locked
# Moved aside, so that the next build there has the default net again.
mv "$bin/engine" "$bin/arena" out/

step "engine: 200 games of 10,000 nodes a move against itself with a material-only evaluation"
out/arena match --nodes 10000 --games 200 --book engine/books/openings.epd \
    --concurrency "$(nproc)" --pgn out/match.pgn \
    --engine "cmd=out/engine name=net" \
    --engine "cmd=out/engine name=material option.Evaluation=material"

step "done"
cat <<'END'
out/dataset.svg         what the dataset looks like
out/sample.safetensors  the net; out/sample.report.html shows it in pictures
out/match.pgn           the 200 games
out/engine              the engine with your net inside: add it to any UCI
                        program, or try: printf 'go movetime 1000\n' | out/engine
END
