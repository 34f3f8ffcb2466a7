#!/usr/bin/env bash
# Runs the engine in WebAssembly under Node, with and without simd128: compares bench nodes and
# values with the native program, and measures speed. `wasm.sh DEPTH` searches to another depth than
# `engine bench`.
. "$(dirname "$0")/setup.sh"

target=wasm32-unknown-unknown
command -v node >/dev/null || { echo "Node.js is missing: https://nodejs.org" >&2; exit 1; }
rustup target add "$target"

# json KEY COMMAND...: prints a field of a command's JSON output.
json() {
    local key=$1
    shift
    "$@" | python3 -c "import json, sys; print(json.load(sys.stdin)['$key'])"
}
build=$(json target_directory cargo metadata --format-version 1 --no-deps)
# The figures do not depend on the profile.
# shellcheck disable=SC2086 # As the tests were built (tests/all.sh).
cargo build --locked --workspace --bin engine ${KIBITZ_FEATURES:-}
engine=$build/debug/engine
nodes=$(json nodes "$engine" bench --json "$@")
sum=$(json sum "$engine" bench --evaluations --json)

for features in "" +simd128; do
    # Flags as in engine/web/build.sh.
    RUSTFLAGS="-C target-feature=$features" \
        cargo build --profile ship --locked -p wasm --target "$target"
    printf '%s: ' "${features:-scalar}"
    node tests/wasm/run.mjs "$build/$target/ship/wasm.wasm" "${1:-10}" "$nodes" "$sum"
done
