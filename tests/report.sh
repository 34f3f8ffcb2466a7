# Sourced by tests/all.sh and tests/rare.sh: runs tests, and lists failures and skips at the end.

# File to which tests/support and skip append.
KIBITZ_SKIPS=$(mktemp)
export KIBITZ_SKIPS
trap 'rm -f "$KIBITZ_SKIPS" "$KIBITZ_SKIPS.log"' EXIT
skip() {
    echo "SKIPPED: $1" >&2
    echo "$1" >>"$KIBITZ_SKIPS"
}

python=target/python/bin/python
# has PACKAGE VERSION: returns whether Python has the package.
has() { "$python" -c "import $1 as p; assert p.__version__ == '$2'" 2>/dev/null; }
pip() {
    "$python" -m pip install -q --disable-pip-version-check --retries 2 --only-binary :all: "$@"
}

# Also read by tests/support, which builds the programs that tests run. Vulkan has a software
# driver, so that GPU code is tested without a GPU.
if has_cuda; then
    export KIBITZ_FEATURES="--features trainer/vulkan"
else
    export KIBITZ_FEATURES="--no-default-features --features engine/cli,trainer/vulkan"
fi

# Failures are listed at the end: one failure must not stop the other tests.
failed=()
# run_tests ARGUMENT...: builds and runs test programs, with the arguments of tests/run.py.
run_tests() {
    # One build for all tests. The examples bring the features that tests use; otherwise Burn would
    # be compiled twice.
    # shellcheck disable=SC2086
    cargo build --workspace --bins --examples --locked $KIBITZ_FEATURES
    KIBITZ_PROGRAMS=$(realpath "${CARGO_TARGET_DIR:-target}")/debug
    export KIBITZ_PROGRAMS
    if ! python3 tests/run.py "$@" | tee "$KIBITZ_SKIPS.log"; then
        local names
        mapfile -t names < <(sed -n '/^failed:$/,$s/^    //p' "$KIBITZ_SKIPS.log")
        # A crate that does not compile has no line.
        failed+=("${names[@]:-cargo test $*}")
    fi
}

# has_node: returns whether Node.js is as new as Vite needs.
has_node() {
    command -v npm >/dev/null && node -e '
        const [major, minor] = process.versions.node.split(".").map(Number);
        const recent = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
        process.exit(recent ? 0 : 1);'
}
# tell_results: ends the script, with exit code 1 if a test failed.
tell_results() {
    if [ ${#failed[@]} -gt 0 ]; then
        printf '\nfailed:\n' >&2
        printf '    %s\n' "${failed[@]}" >&2
        exit 1
    fi
    if [ -s "$KIBITZ_SKIPS" ]; then
        printf '\nall tests passed but %s, which were left out:\n' "$(wc -l <"$KIBITZ_SKIPS")"
        sort "$KIBITZ_SKIPS" | uniq -c
    else
        printf '\nall tests passed, and none was left out\n'
    fi
}
