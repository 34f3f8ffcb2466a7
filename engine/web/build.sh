#!/usr/bin/env bash
# Builds the page into engine/web/dist, which any static host serves.
#   --with-stockfish   also fetches Stockfish, to watch a match against it
#   --single-file      also makes dist/kibitz.html, which holds the whole page
#   --tables FOLDER    also lays the Syzygy tables of a folder beside the page
set -euo pipefail

stockfish=
single=
tables=
while [ $# -gt 0 ]; do
    case $1 in
        --with-stockfish) stockfish=1 ;;
        --single-file) single=1 ;;
        --tables) [ $# -gt 1 ] && tables=$(realpath -e "$2") && shift ;;
        *) false ;;
    esac || { echo "usage: build.sh [--with-stockfish] [--single-file] [--tables FOLDER]" >&2; exit 2; }
    shift
done
cd "$(dirname "$0")"

target=wasm32-unknown-unknown
rustup target list --installed | grep -q "$target" || rustup target add "$target"
build=$(cargo metadata --format-version 1 --no-deps |
    node -p 'JSON.parse(require("node:fs").readFileSync(0)).target_directory')
mkdir -p wasm
# The variable replaces what cargo's own configuration may say of flags.
for variant in simd:+simd128 plain:; do
    RUSTFLAGS="-C target-feature=${variant#*:}" \
        cargo build --locked --profile ship -p web --target "$target"
    cp "$build/$target/ship/web.wasm" "wasm/kibitz-${variant%%:*}.wasm"
done
if [ -n "$tables" ]; then
    cargo rustc --locked --profile ship -p tables --lib --target "$target" -- -C strip=symbols
    cp "$build/$target/ship/tables.wasm" wasm/
fi

[ -x node_modules/.bin/vite ] && [ node_modules/.package-lock.json -nt package-lock.json ] ||
    npm ci --ignore-scripts --no-audit --no-fund
TABLES=$tables node scripts/assets.mjs
VITE_STOCKFISH=$stockfish npx vite build
[ -z "$stockfish" ] || bash scripts/stockfish.sh
if [ -n "$single" ]; then
    npx vite build --mode single --outDir wasm/single --emptyOutDir --logLevel warn
    node scripts/single.mjs
fi
node scripts/precache.mjs
