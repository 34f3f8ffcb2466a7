#!/usr/bin/env bash
# Builds the page and tests it in Chromium, without a window.
set -euo pipefail
cd "$(dirname "$0")"
bash build.sh
npx tsc --noEmit
node --test --test-concurrency=1 tests/*.test.mjs
