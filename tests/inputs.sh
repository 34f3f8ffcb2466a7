#!/usr/bin/env bash
# Compares the inputs of every position of the samples, by python-chess, with those of the engine
# and the trainer. About ten minutes.
#   inputs.sh [GAMES.pgn.zst...]    more games, such as Chess960
. "$(dirname "$0")/setup.sh"

python=target/python/bin/python
[ -x "$python" ] || python3 -m venv target/python
"$python" -m pip install -q --disable-pip-version-check --no-binary chess chess==1.11.2 zstandard==0.25.0

KIBITZ_INPUTS=$(mktemp)
export KIBITZ_INPUTS
trap 'rm -f "$KIBITZ_INPUTS"' EXIT
"$python" tests/reference/inputs.py every datasets/samples/*.pgn.zst "$@" >"$KIBITZ_INPUTS"
wc -l "$KIBITZ_INPUTS"
cargo test --workspace --locked --test inputs -- inputs_of_boards
cargo test --workspace --locked --lib -- inputs_are_those_of_python
