#!/usr/bin/env bash
# Rates the engine's UCI_Elo levels on Stockfish 19's scale: games at fixed nodes, independent of
# machine speed and load. Prints a table, and writes the games to FOLDER. Run again, it continues
# an interrupted run. Needs npm and Python.
#
#   models/levels.sh FOLDER BOOK.epd
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 FOLDER BOOK.epd" >&2; exit 2; }
mkdir -p "$1"
folder=$(realpath "$1") book=$(realpath -e "$2")
. "$(dirname "$0")/../tests/setup.sh"
cargo build --release --locked -p arena -p engine
bin=$(realpath "${CARGO_TARGET_DIR:-target}/release")
npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund stockfish@19.0.0
if [ ! -e "$folder/venv" ]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install -q numpy==2.2.6 scipy==1.15.3
fi
stockfish=$folder/node_modules/stockfish/bin/stockfish-19-lite-single.js

# player NAME COMMAND ELO NODES
player() {
    echo "cmd=\"$2\" name=\"$1 $3\" nodes=$4 option.UCI_LimitStrength=true option.UCI_Elo=$3"
}

# ladder NAME ARGUMENTS...: plays a round robin, or a gauntlet.
ladder() {
    local games=$folder/$1.pgn
    shift
    "$bin/arena" ladder "$@" --nodes 100000 --games 40 --concurrency "$(nproc)" --book "$book" \
        --resign moves=4,score=900 --draw moves=8,score=10,from=60 --pgn "$games" --resume >&2
}

# kibitz ELO...: sets `players`; UCI_Elo itself limits their nodes.
kibitz() {
    players=()
    local elo
    for elo in "$@"; do
        players+=("$(player Kibitz "$bin/engine" "$elo" 2000000)")
    done
}

kibitz 400 800 1200 1600 2000 2400 2850
ladder kibitz "${players[@]}"
# Columns: UCI_Elo of Stockfish, nodes that reach the depth at which it chooses its move, and
# opponents of similar strength.
while read -r elo nodes opponents; do
    # shellcheck disable=SC2086
    kibitz $opponents
    ladder "stockfish-$elo" --gauntlet "$(player Stockfish "node $stockfish" "$elo" "$nodes")" "${players[@]}"
done <<'RUNGS'
1320 5000 800 1200 1600
1700 10000 1200 1600 2000
2100 20000 1600 2000 2400
2500 25000 2000 2400 2850
2850 120000 2400 2850
RUNGS
"$folder/venv/bin/python" models/levels.py "$folder"/*.pgn
