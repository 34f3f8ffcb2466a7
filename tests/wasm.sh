#!/usr/bin/env bash
# The engine in WebAssembly, with and without simd128, under Node: the same
# bench nodes and values as natively, and how fast. `wasm.sh DEPTH` searches
# other than 8 plies.
. "$(dirname "$0")/setup.sh"

depth=${1:-8}
target=wasm32-unknown-unknown
command -v node >/dev/null || { echo "Node.js is missing: https://nodejs.org" >&2; exit 1; }
rustup target add "$target"

build=$(cargo metadata --format-version 1 --no-deps | python3 -c \
    'import json, sys; print(json.load(sys.stdin)["target_directory"])')
cargo build --release --locked -p engine
nodes=$("$build/release/engine" bench --json "$depth" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["nodes"])')
sum=$("$build/release/engine" bench --evaluations --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["sum"])')

for features in "" +simd128; do
    RUSTFLAGS="-C target-feature=$features" \
        cargo build --release --locked -p wasm --target "$target"
    printf '%s: ' "${features:-scalar}"
    node tests/wasm/run.mjs "$build/$target/release/wasm.wasm" "$depth" "$nodes" "$sum"
done
