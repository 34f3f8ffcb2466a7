#!/usr/bin/env bash
# Makes a net as models/default.safetensors was made: games and Stockfish 15.1
# to evaluate them with, into a dataset, into the net. Where the games come from:
# models/README.md. Not the same net, bit for bit: the weak games are of the engine
# as it is now. Some hours on two cores, nearly all of them Stockfish's; an
# interrupted run goes on when it is called again.
#
#   models/train.sh HUMAN.pgn.zst TCEC.pgn.zst POPULAR.epd FOLDER
set -euo pipefail
if [ $# -ne 4 ]; then
    echo "usage: $0 HUMAN.pgn.zst TCEC.pgn.zst POPULAR.epd FOLDER" >&2
    exit 2
fi
human=$(realpath "$1") tcec=$(realpath "$2") popular=$(realpath "$3")
mkdir -p "$4"
folder=$(realpath "$4")
. "$(dirname "$0")/../tests/setup.sh"
stockfish=$(PATH=$PATH:/usr/games command -v stockfish) && command -v zstd >/dev/null || {
    echo "$0 wants stockfish and zstd: apt install stockfish zstd" >&2
    exit 3
}
cargo build --release --locked
bin=${CARGO_TARGET_DIR:-target}/release

# People's games: the first 155,265, one position in four.
# (It is read to its end, for a pipe that closes is an error to zstd.)
zstd -dc "$human" | awk '/^\[Event /{n++} n<=155265' >"$folder/human.pgn"
"$bin/ingest" annotate "$folder/human.pgn" --engine "$stockfish" --nodes 500 --every 4 \
    --out "$folder/human.pgn.zst"

# Games with blunders: two weak opponents, one position in two.
if [ ! -e "$folder/weak.pgn" ]; then
    # What the engine of the shipped net's games called 800 and 1000.
    weak="cmd=\"$bin/engine\" option.UCI_LimitStrength=true option.Hash=1"
    "$bin/engine" match --nodes 1000 --games 16000 --seed 1 --book "$popular" \
        --resign moves=12,score=500 --draw moves=12,score=20,from=60 \
        --pgn "$folder/weak.part" \
        --engine "$weak option.UCI_Elo=400" --engine "$weak option.UCI_Elo=664"
    mv "$folder/weak.part" "$folder/weak.pgn"
fi
"$bin/ingest" annotate "$folder/weak.pgn" --engine "$stockfish" --nodes 500 --every 2 \
    --out "$folder/weak.pgn.zst"

# With evaluations already: Lichess's own, and those of TCEC's engines.
samples=datasets/samples
lichess=(
    $samples/dump_2026-06_annotated500.pgn.zst
    $samples/rebuilt_2026-06_blitz676.pgn.zst
    $samples/dump_2013-02_rewritten2551.pgn.zst
)
"$bin/ingest" build "$folder/human.pgn.zst" "$folder/weak.pgn.zst" "${lichess[@]}" "$tcec" \
    --validation-percent 2 --out "$folder/all.dataset"
"$bin/trainer" fit --data "$folder/all.dataset" --hidden 256,32,32 --epochs 5 \
    --device cpu --seed 1 --resume --out "$folder/all.safetensors"

# What Lichess says of its players' games has the last word.
"$bin/ingest" build "${lichess[@]}" --validation-percent 2 --out "$folder/lichess.dataset"
"$bin/trainer" fit --data "$folder/lichess.dataset" --init "$folder/all.safetensors" \
    --learning-rate 0.0003 --epochs 3 --device cpu --seed 1 --resume \
    --out "$folder/default.safetensors"
