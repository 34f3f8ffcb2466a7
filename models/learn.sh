#!/usr/bin/env bash
# Learns chess by self-play, from the rules and piece values alone. Generation 0 is the search
# with material as its evaluation. Each generation generates games with the last accepted net,
# trains a net on them, and accepts it if it beats that net in a match at equal nodes (SPRT). Run
# again, it continues an interrupted run; with more --generations, also a finished one.
#
# Writes, for each generation N, FOLDER/genN.pgn.zst (its games), genN.safetensors (its
# net) and genN.json (its match); and FOLDER/elo.svg, elo.json (accepted nets against each other),
# held-out.svg, held-out.json (their distance from Lichess's evaluations of unseen games).
#
#   models/learn.sh [--generations N] [--positions N] [--nodes N] FOLDER
set -euo pipefail
usage() {
    echo "usage: $0 [--generations N] [--positions N] [--nodes N] FOLDER" >&2
    exit 2
}
# Positions and nodes of a generation's games: a million positions; searches start no iteration
# after 400 nodes.
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

# player N: the engine of generation N, as arena takes it.
player() {
    case $1 in
        0) echo "name=\"generation 0\" net=material" ;;
        *) echo "name=\"generation $1\" net=\"$folder/gen$1.safetensors\"" ;;
    esac
}

# Last accepted generation, all accepted ones, and the games to train on.
last=0 kept=(0) games=()
for ((n = 1; n <= generations; n++)); do
    printf '\n== generation %d, of the games of generation %d\n' "$n" "$last"
    "$bin/arena" generate --engine "$(player "$last")" --nodes "$nodes" \
        --positions "$positions" --seed "$n" --out "$folder/gen$n.pgn.zst"
    games+=("$folder/gen$n.pgn.zst")
    "$bin/ingest" build "${games[@]}" --keep quiet --td-lambda 0.9 --validation-percent 2 \
        --out "$folder/gen$n.dataset"
    "$bin/trainer" fit --data "$folder/gen$n.dataset" --device cpu --seed "$n" \
        --hidden 128,32,32 --view mover --activation clipped-relu --buckets 1 --epochs 5 --resume --out "$folder/gen$n.safetensors"
    verdict=0
    "$bin/arena" match --engine "$(player "$n")" --engine "$(player "$last")" --nodes "$nodes" \
        --book "$book" --sprt elo0=0 elo1=10 --games 4000 --concurrency "$(nproc)" \
        --pgn "$folder/gen$n.match.pgn" --resume --json >"$folder/gen$n.json.part" || verdict=$?
    case $verdict in
        0)
            # Keep only the games of the replaced net: older ones add nothing.
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

# More nodes than in training: fewer games are decided by oversights.
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
"$bin/trainer" compare --pgn "$held_out" "${contenders[@]}" --plot "$folder/held-out.svg"
