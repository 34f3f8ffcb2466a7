#!/usr/bin/env bash
# All set-up, and all tests.
. "$(dirname "$0")/setup.sh"

# What is left out is noted here, by tests/support and by skip below.
KIBITZ_SKIPS=$(mktemp)
export KIBITZ_SKIPS
trap 'rm -f "$KIBITZ_SKIPS"' EXIT
skip() {
    echo "SKIPPED: $1" >&2
    echo "$1" >>"$KIBITZ_SKIPS"
}

# Exported Parquet is read back by pyarrow, whose wheel is some 45 MB. Without
# it that test alone is skipped, and says so.
python=target/python/bin/python
pyarrow=23.0.1
if ! "$python" -c "import pyarrow as p; assert p.__version__ == '$pyarrow'" 2>/dev/null; then
    python3 -m venv --clear target/python &&
        "$python" -m pip install -q --disable-pip-version-check --retries 2 \
            --only-binary :all: "pyarrow==$pyarrow" ||
        echo "pyarrow cannot be installed: the test of Parquet will be skipped" >&2
fi

# The whole-path tests run the programs, so these are built first.
cargo build --workspace --locked
cargo test --workspace --locked

# The page, in a real browser.
: "${CHROMIUM:=/usr/bin/chromium}"
if command -v npm >/dev/null && { command -v "$CHROMIUM" >/dev/null || install chromium; }; then
    bash engine/web/test.sh
    bash tests/wasm.sh
else
    skip "the tests of engine/web and of WebAssembly want Node.js with npm, and $CHROMIUM"
fi

if [ -s "$KIBITZ_SKIPS" ]; then
    printf '\nall tests passed but %s, which were left out:\n' "$(wc -l <"$KIBITZ_SKIPS")"
    sort "$KIBITZ_SKIPS" | uniq -c
else
    printf '\nall tests passed, and none was left out\n'
fi
