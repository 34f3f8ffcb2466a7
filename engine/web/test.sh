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
npx tsc --noEmit
node --test --test-concurrency=2 tests/*.test.mjs
