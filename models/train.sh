#!/usr/bin/env bash
# Makes a net as models/default.safetensors was made: games and Stockfish 15.1
# to evaluate them with, into a dataset, into the net. Where the games come from:
# models/README.md. Not the same net, bit for bit: the weak games are of the engine
# as it is now. An hour or two on two cores; an interrupted run goes on when it is called
# again. Leaves FOLDER/default.safetensors, and FOLDER/linear.safetensors beside it.
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
stockfish=$(PATH=$PATH:/usr/games command -v stockfish) || {
    echo "$0 wants stockfish: apt install stockfish" >&2
    exit 3
}
cargo build --release --locked
bin=${CARGO_TARGET_DIR:-target}/release

# annotate GAMES NAME: one position in two, by Stockfish. Some hundred nodes would
# make worse labels (docs/experiments.md).
annotate() {
    "$bin/ingest" annotate "$1" --engine "$stockfish" --nodes 30 --option Hash=1 --ahead 32 \
        --every 2 --out "$folder/$2.pgn.zst"
}

# Games with blunders: two weak opponents, of different strength.
# weak SEED ELO ELO
weak() {
    local engine="cmd=\"$bin/engine\" option.UCI_LimitStrength=true option.Hash=1"
    local games="$folder/weak$1"
    if [ ! -e "$games.pgn" ]; then
        "$bin/arena" match --nodes 1000 --games 60000 --seed "$1" --book "$popular" \
            --concurrency "$(nproc)" \
            --resign moves=12,score=500 --draw moves=12,score=20,from=60 --pgn "$games.part" --resume \
            --engine "$engine option.UCI_Elo=$2" --engine "$engine option.UCI_Elo=$3"
        mv "$games.part" "$games.pgn"
        rm "$games.part.jsonl"
    fi
    annotate "$games.pgn" "weak$1"
}

annotate "$human" human
weak 1 400 664
weak 2 532 796

# With evaluations already: Lichess's own, and those of TCEC's engines.
samples=datasets/samples
lichess=(
    $samples/dump_2026-06_annotated500.pgn.zst
    $samples/rebuilt_2026-06_blitz676.pgn.zst
    $samples/dump_2013-02_rewritten2551.pgn.zst
)
"$bin/ingest" build "$folder/human.pgn.zst" "$folder"/weak[12].pgn.zst "${lichess[@]}" "$tcec" \
    --validation-percent 2 --out "$folder/all.dataset"
"$bin/ingest" build "${lichess[@]}" --validation-percent 2 --out "$folder/lichess.dataset"

# What a net must beat.
[ -e "$folder/linear.safetensors" ] ||
    "$bin/trainer" linear --data "$folder/all.dataset" --seed 1 --out "$folder/linear.safetensors"

# The recipe's paths are relative to it.
cp models/default.toml "$folder"
"$bin/trainer" fit --recipe "$folder/default.toml" --device cpu --resume \
    --out "$folder/default.safetensors"
