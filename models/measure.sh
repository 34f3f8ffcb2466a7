#!/usr/bin/env bash
# Measures a net's error on the labels of unseen games: statically and after a search of four
# plies, beside material, other nets, and Stockfish at 1, 4 and 8 plies if installed. Prints a
# table for each file of games, and writes FOLDER/GAMES.json and FOLDER/GAMES.svg.
#
#   models/measure.sh [--net NAME=FILE.safetensors]... FOLDER NET.safetensors GAMES.pgn.zst...
set -euo pipefail
others=()
while [ "${1-}" = --net ]; do
    name=${2%%=*}
    others+=(--contender "$name=$(realpath "${2#*=}")")
    shift 2
done
if [ $# -lt 3 ]; then
    echo "usage: $0 [--net NAME=FILE.safetensors]... FOLDER NET.safetensors GAMES.pgn.zst..." >&2
    exit 2
fi
mkdir -p "$1"
folder=$(realpath "$1") net=$(realpath "$2")
shift 2
games=()
for file in "$@"; do
    games+=("$(realpath "$file")")
done
. "$(dirname "$0")/../tests/setup.sh"
cargo build --release --locked --workspace
bin=${CARGO_TARGET_DIR:-target}/release
stockfish=$(PATH=$PATH:/usr/games command -v stockfish) ||
    echo "SKIPPED: stockfish is not installed" >&2

# search NAME ENGINE DEPTH [OPTION]: adds an engine's evaluations of the games as a contender.
search() {
    local out="$folder/$name.${1// /-}.pgn.zst"
    # An older file may be of another net or engine with the same name.
    rm -f "$out" "$out.json"
    "$bin/ingest" annotate "$file" --engine "$2" --depth "$3" --replace \
        ${4:+--option "$4"} --out "$out" >&2
    contenders+=(--contender "$1=$out")
}

for file in "${games[@]}"; do
    name=$(basename "$file" .pgn.zst)
    contenders=("${others[@]}" --contender "net=$net")
    search "net depth 4" "$bin/engine" 4 "EvalFile=$net"
    if [ -n "$stockfish" ]; then
        for depth in 1 4 8; do
            search "Stockfish depth $depth" "$stockfish" "$depth"
        done
    fi
    "$bin/trainer" compare --pgn "$file" "${contenders[@]}" --json >"$folder/$name.json"
    "$bin/trainer" compare --pgn "$file" "${contenders[@]}" --plot "$folder/$name.svg"
    echo
done
