#!/usr/bin/env bash
# Trains a net like models/default.safetensors, on people's games evaluated by Stockfish 15.1,
# engines' games, Lichess's games, and self-play of the embedded net (sources: models/README.md).
# The net differs bit for bit, since self-play uses the net that is embedded now. On two cores the
# games take some four hours, Stockfish one, and the net three; with 16 cores and a GPU all takes
# less than one. Run again, it continues an interrupted run and keeps the files in FOLDER. Writes
# FOLDER/default.safetensors and FOLDER/linear.safetensors.
#
#   models/train.sh HUMAN.pgn.zst TCEC.pgn.zst FOLDER
set -euo pipefail
if [ $# -ne 3 ]; then
    echo "usage: $0 HUMAN.pgn.zst TCEC.pgn.zst FOLDER" >&2
    exit 2
fi
human=$(realpath "$1") tcec=$(realpath "$2")
mkdir -p "$3"
folder=$(realpath "$3")
. "$(dirname "$0")/../tests/setup.sh"
stockfish=$(PATH=$PATH:/usr/games command -v stockfish) || {
    echo "$0 wants stockfish: apt install stockfish" >&2
    exit 3
}
cargo build --release --locked
bin=${CARGO_TARGET_DIR:-target}/release

# Every second position. Some hundred nodes would give worse labels (docs/experiments.md).
"$bin/ingest" annotate "$human" --engine "$stockfish" --nodes 3 --option Hash=1 --ahead 32 \
    --every 2 --out "$folder/human.pgn.zst"

# Without self-play the net loses far more than 100 Elo: its random openings reach positions that
# people avoid.
"$bin/arena" generate --engine net=embedded --nodes 400 --positions 29200000 --seed 101 \
    --out "$folder/selfplay.pgn.zst"

# Games with evaluations: Lichess's own, and those of TCEC's engines. The search evaluates only
# quiet positions: without --keep quiet the net loses some 40 Elo.
samples=datasets/samples
lichess=(
    $samples/dump_2026-06_annotated500.pgn.zst
    $samples/rebuilt_2026-06_blitz676.pgn.zst
    $samples/dump_2013-02_rewritten2551.pgn.zst
)
"$bin/ingest" build "$folder/human.pgn.zst" "$tcec" "${lichess[@]}" "$folder/selfplay.pgn.zst" \
    --keep quiet --validation-percent 2 --out "$folder/all.dataset"

# The linear baseline that a net must beat.
[ -e "$folder/linear.safetensors" ] ||
    "$bin/trainer" linear --data "$folder/all.dataset" --seed 1 --out "$folder/linear.safetensors"

# Paths in the recipe are relative to the recipe.
cp models/recipes/default.toml "$folder"
"$bin/trainer" fit --recipe "$folder/default.toml" --resume --out "$folder/net.safetensors"

# Most labels score a pawn lower than Lichess does.
"$bin/trainer" calibrate --net "$folder/net.safetensors" --pgn "${lichess[@]:0:2}" \
    --out "$folder/default.safetensors"
