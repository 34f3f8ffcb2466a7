#!/usr/bin/env bash
# Learns chess by self-play, from the rules and piece values alone: a value net and a policy
# together. Generation 0 is PUCT with material as its evaluation and a uniform policy. Each
# generation generates games with the last accepted nets, with noise and moves drawn by visits,
# trains new nets on the games of the last generations, and accepts them if they beat those in a
# match at equal playouts (SPRT). Training goes on with all games, accepted or not. Run again, it
# continues an interrupted run; with more --generations, also a finished one.
#
# Writes, for each generation N, FOLDER/genN.pgn.zst (its games), genN.safetensors (its value net),
# genN.policy.safetensors and genN.json (its match); and FOLDER/elo.svg, elo.json (the accepted ones
# beside players that never change: random moves, a greedy one, and material at depths 1 and 2),
# held-out.svg, held-out.json (distance of the value nets from Lichess's evaluations of unseen games).
#
#   models/learn.sh [--generations N] [--positions N] [--nodes N] FOLDER
set -euo pipefail
usage() {
    echo "usage: $0 [--generations N] [--positions N] [--nodes N] FOLDER" >&2
    exit 2
}
# Of a generation: positions of its games, and playouts for each.
generations=8 positions=200000 nodes=100
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
# Generations whose games are learned from.
window=3

# player N: the engine of generation N, as arena takes it.
player() {
    case $1 in
        0) echo "name=\"generation 0\" net=material policy=uniform" ;;
        *) echo "name=\"generation $1\" net=\"$folder/gen$1.safetensors\" policy=\"$folder/gen$1.policy.safetensors\"" ;;
    esac
}

# Last accepted generation, all accepted ones, and the games to learn from.
last=0 kept=(0) games=()
for ((n = 1; n <= generations; n++)); do
    printf '\n== generation %d, of the games of generation %d\n' "$n" "$last"
    "$bin/arena" generate --engine "$(player "$last")" --nodes "$nodes" --random-plies 0 \
        --positions "$positions" --seed "$n" --out "$folder/gen$n.pgn.zst"
    games+=("$folder/gen$n.pgn.zst")
    [ ${#games[@]} -le $window ] || games=("${games[@]:1}")
    "$bin/ingest" build "${games[@]}" --keep quiet --td-lambda 0.9 --validation-percent 2 \
        --out "$folder/gen$n.dataset"
    "$bin/trainer" fit --data "$folder/gen$n.dataset" --device cpu --seed "$n" \
        --hidden 128,32,32 --view mover --activation clipped-relu --buckets 1 --epochs 5 --resume --out "$folder/gen$n.safetensors"
    "$bin/ingest" build "${games[@]}" --moves --validation-percent 2 --out "$folder/gen$n.moves"
    "$bin/trainer" fit --policy --data "$folder/gen$n.moves" --seed "$n" --hidden 128 --epochs 2 \
        --resume --out "$folder/gen$n.policy.safetensors"
    verdict=0
    "$bin/arena" match --engine "$(player "$n")" --engine "$(player "$last")" --nodes "$nodes" \
        --book "$book" --sprt elo0=0 elo1=10 --games 1000 --concurrency "$(nproc)" \
        --pgn "$folder/gen$n.match.pgn" --resume --json >"$folder/gen$n.json.part" || verdict=$?
    case $verdict in
        0)
            last=$n
            kept+=("$n")
            echo "generation $n is accepted"
            ;;
        10 | 11) echo "generation $n is no better than generation $last" ;;
        *) exit "$verdict" ;;
    esac
    mv "$folder/gen$n.json.part" "$folder/gen$n.json"
done
[ ${#kept[@]} -gt 1 ] || { echo "no generation was accepted" >&2; exit 1; }

printf '\n== all that were accepted\n'
fixed=(beginner=random beginner=greedy "name=\"material, depth 1\" material depth=1"
    "name=\"material, depth 2\" material depth=2")
players=() contenders=()
for n in "${kept[@]}"; do
    players+=("$(player "$n") nodes=$nodes")
    [ "$n" = 0 ] || contenders+=(--contender "generation $n=$folder/gen$n.safetensors")
done
ladder="$folder/elo-${#kept[@]}"
"$bin/arena" ladder "${fixed[@]}" "${players[@]}" --games 60 --concurrency "$(nproc)" \
    --book "$book" --pgn "$ladder.pgn" --resume --plot "$folder/elo.svg" --json >"$folder/elo.json.part"
mv "$folder/elo.json.part" "$folder/elo.json"
held_out=datasets/samples/dump_2026-06_annotated500.pgn.zst
"$bin/trainer" compare --pgn "$held_out" "${contenders[@]}" --json >"$folder/held-out.json"
"$bin/trainer" compare --pgn "$held_out" "${contenders[@]}" --plot "$folder/held-out.svg"
