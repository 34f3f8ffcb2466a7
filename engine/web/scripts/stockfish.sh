#!/usr/bin/env bash
# Fetches Stockfish (GPL-3.0) from npm and lays it beside the page.
set -euo pipefail
cd "$(dirname "$0")/.."
version=19.0.0
fetched=node_modules/.stockfish-$version
if [ ! -d "$fetched/node_modules/stockfish" ]; then
    mkdir -p "$fetched"
    npm install --prefix "$fetched" --ignore-scripts --no-audit --no-fund --no-save "stockfish@$version"
fi
mkdir -p dist/stockfish
for file in stockfish-19-lite-single.js stockfish-19-lite-single.wasm; do
    cp "$fetched/node_modules/stockfish/bin/$file" dist/stockfish/
done
cp "$fetched"/node_modules/stockfish/Copying.txt dist/stockfish/
