#!/usr/bin/env bash
# Rates the engine with a net: timed games against engines packaged by Debian (apt install
# phalanx gnuchess glaurung toga2 stockfish ethereal-chess), each with its defaults and one
# thread, Stockfish at three strengths. Skips engines that are not installed. Prints the ratings
# and writes FOLDER/ladder.json, ladder.svg and ladder.pgn. Run again, it continues an interrupted
# run.
#
#   models/ladder.sh [--games N] [--tc SECONDS+INCREMENT] FOLDER NET.safetensors BOOK.epd
set -euo pipefail
usage() {
    echo "usage: $0 [--games N] [--tc S+INC] FOLDER NET.safetensors BOOK.epd" >&2
    exit 2
}
games=200 tc=2+0.02
while [[ ${1-} == --* ]]; do
    case $1 in
        --games | --tc) [ $# -gt 1 ] && declare "${1#--}=$2" ;;
        *) usage ;;
    esac || usage
    shift 2
done
[ $# -eq 3 ] || usage
mkdir -p "$1"
folder=$(realpath "$1")
net=$(realpath -e "$2")
book=$(realpath -e "$3")
. "$(dirname "$0")/../tests/setup.sh"
cargo build --release --locked -p arena
PATH=$PATH:/usr/games

rungs=()
# rung NAME PROGRAM COMMAND [OPTIONS]: adds an opponent if its program is installed.
rung() {
    if command -v "$2" >/dev/null; then
        rungs+=("name=\"$1\" cmd=\"$3\"${4:+ $4}")
    else
        echo "SKIPPED: $2 is not installed" >&2
    fi
}
if command -v phalanx >/dev/null && [ ! -e "$folder/venv" ]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install -q chess==1.11.2
fi
# Phalanx speaks only the xboard protocol.
rung Phalanx phalanx "'$folder/venv/bin/python' '$PWD/models/xboard.py' phalanx"
rung "GNU Chess" gnuchess "gnuchess --uci"
rung Glaurung glaurung glaurung
limit="option.UCI_LimitStrength=true option.UCI_Elo"
rung "Stockfish at 2000" stockfish stockfish "$limit=2000"
rung "Stockfish at 2500" stockfish stockfish "$limit=2500"
rung "Stockfish at 2850" stockfish stockfish "$limit=2850"
rung "Toga II" toga2 toga2
rung Ethereal ethereal-chess ethereal-chess

# Games are resigned at seven pawns. Moves may be half a second late, since a busy machine may
# delay either side.
"${CARGO_TARGET_DIR:-target}/release/arena" ladder --gauntlet "name=Kibitz net=\"$net\"" \
    "${rungs[@]}" --tc "$tc" --games "$games" --concurrency "$(nproc)" --book "$book" \
    --margin-ms 500 --resign moves=4,score=700 --draw moves=8,score=10,from=40 \
    --pgn "$folder/ladder.pgn" --resume --plot "$folder/ladder.svg" --json >"$folder/ladder.part"
mv "$folder/ladder.part" "$folder/ladder.json"
python3 - "$folder/ladder.json" <<'END'
import json, sys

for row in json.load(open(sys.argv[1]))["ratings"]:
    if row["elo_interval"] is None:
        interval = "anchor"
    else:
        low, high = ("inf" if end is None else f"{end:+.0f}" for end in row["elo_interval"])
        interval = f"{low.replace('inf', '-inf')} to {high}"
    print(f'{row["name"]:20} {row["elo"]:+6.0f} {interval:16} {row["games"]:5} games {row["score"]:6.1%}')
END
