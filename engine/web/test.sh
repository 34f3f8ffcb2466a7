#!/usr/bin/env bash
# Builds the page and tests it in Chromium, without a window.
set -euo pipefail
cd "$(dirname "$0")"
options=(--single-file)
tables=../../../shared/data/syzygy34
if [ -d "$tables" ]; then options+=(--tables "$tables"); fi
bash build.sh "${options[@]}"
# What only WebAssembly compiles, the lints of the workspace do not see.
cargo clippy --locked -p web -p tables --target wasm32-unknown-unknown -- -D warnings
# The kernel at the ends of its numbers, by nets that no training makes.
if rustup target add wasm32-wasip1; then
    RUSTFLAGS="-C target-feature=+simd128" \
        CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $PWD/../../tests/wasm/wasi.mjs" \
        cargo test --locked -p models --lib --target wasm32-wasip1 kernel -- --test-threads 1
else
    why="the kernel's tests in WebAssembly want the target wasm32-wasip1"
    echo "SKIPPED: $why" >&2
    [ -z "${KIBITZ_SKIPS:-}" ] || echo "$why" >>"$KIBITZ_SKIPS"
fi
npx tsc --noEmit
node --test --test-concurrency=2 tests/*.test.mjs
