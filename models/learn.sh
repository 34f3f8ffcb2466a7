#!/usr/bin/env bash
# Learns chess from games against itself, from nothing but the rules and what the pieces
# are worth. Generation 0 is the search with material as its evaluation. Each generation
# plays games by the last that was kept, fits a net to them, and lets it play a match
# against that one, at equal nodes, until it is clear which is better (SPRT): the better
# one is kept. Interrupted, the same command goes on; with more --generations a run that
# has ended goes on as well.
#
# Leaves, for each generation N, FOLDER/genN.pgn.zst (its games), genN.safetensors (its
# net) and genN.json (its match); and FOLDER/elo.svg, elo.json (all that were kept, against
# each other), held-out.svg, held-out.json (their distance from Lichess's evaluations of
# games that none has seen).
#
#   models/learn.sh [--generations N] [--positions N] [--nodes N] FOLDER
set -euo pipefail
usage() {
    echo "usage: $0 [--generations N] [--positions N] [--nodes N] FOLDER" >&2
    exit 2
}
# Positions and nodes are of a generation's games: a million positions, whose searches begin
# no iteration after 400 nodes.
generations=7 positions=1000000 nodes=400
while [[ ${1-} == --* ]]; do
    case $1 in
        --generations | --positions | --nodes) [ $# -gt 1 ] && declare "${1#--}=$2" ;;
        *) usage ;;
    esac || usage
    shift 2
done
[ $# -eq 1 ] || usage
mkdir -p "$1"
folder=$(realpath "$1")
. "$(dirname "$0")/../tests/setup.sh"
cargo build --release --locked -p arena -p ingest
cargo build --release --locked -p trainer --no-default-features
bin=${CARGO_TARGET_DIR:-target}/release
book=engine/books/openings.epd

# How a generation is named to arena.
player() {
    case $1 in
        0) echo "name=\"generation 0\" net=material" ;;
        *) echo "name=\"generation $1\" net=\"$folder/gen$1.safetensors\"" ;;
    esac
}

# The last that was kept, all that were, and the games since the one before it was.
last=0 kept=(0) games=()
for ((n = 1; n <= generations; n++)); do
    printf '\n== generation %d, of the games of generation %d\n' "$n" "$last"
    "$bin/arena" generate --engine "$(player "$last")" --nodes "$nodes" \
        --positions "$positions" --seed "$n" --out "$folder/gen$n.pgn.zst"
    games+=("$folder/gen$n.pgn.zst")
    "$bin/ingest" build "${games[@]}" --quiet --td-lambda 0.9 --validation-percent 2 \
        --out "$folder/gen$n.dataset"
    "$bin/trainer" fit --data "$folder/gen$n.dataset" --device cpu --seed "$n" \
        --hidden 128,32,32 --resume --out "$folder/gen$n.safetensors"
    verdict=0
    "$bin/arena" match --engine "$(player "$n")" --engine "$(player "$last")" --nodes "$nodes" \
        --book "$book" --sprt elo0=0,elo1=10 --games 4000 --concurrency "$(nproc)" \
        --pgn "$folder/gen$n.match.pgn" --resume --json >"$folder/gen$n.json.part" || verdict=$?
    case $verdict in
        0)
            # The games of those before its teacher have taught what they could.
            games=("$folder/gen$n.pgn.zst") last=$n
            kept+=("$n")
            echo "generation $n is kept"
            ;;
        10 | 11) echo "generation $n is no better than generation $last" ;;
        *) exit "$verdict" ;;
    esac
    mv "$folder/gen$n.json.part" "$folder/gen$n.json"
done
[ ${#kept[@]} -gt 1 ] || { echo "no generation was kept" >&2; exit 1; }

# At more nodes than they learned at, fewer games are decided by oversights.
printf '\n== all that were kept\n'
players=() contenders=()
for n in "${kept[@]}"; do
    players+=("$(player "$n")")
    [ "$n" = 0 ] || contenders+=(--contender "generation $n=$folder/gen$n.safetensors")
done
ladder="$folder/elo-${#kept[@]}"
"$bin/arena" ladder "${players[@]}" --nodes 5000 --games 100 --concurrency "$(nproc)" \
    --book "$book" --pgn "$ladder.pgn" --resume --plot "$folder/elo.svg" --json >"$folder/elo.json.part"
mv "$folder/elo.json.part" "$folder/elo.json"
held_out=datasets/samples/dump_2026-06_annotated500.pgn.zst
"$bin/trainer" compare --pgn "$held_out" "${contenders[@]}" --json >"$folder/held-out.json"
"$bin/trainer" compare --pgn "$held_out" "${contenders[@]}" --picture "$folder/held-out.svg"
