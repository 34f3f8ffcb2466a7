# Sourced by tests/all.sh and tests/rare.sh: runs tests, and tells at the end what failed and what
# was left out.

# What is left out is noted here, by tests/support and by skip.
KIBITZ_SKIPS=$(mktemp)
export KIBITZ_SKIPS
trap 'rm -f "$KIBITZ_SKIPS" "$KIBITZ_SKIPS.log"' EXIT
skip() {
    echo "SKIPPED: $1" >&2
    echo "$1" >>"$KIBITZ_SKIPS"
}

python=target/python/bin/python
# has PACKAGE VERSION: whether Python has it.
has() { "$python" -c "import $1 as p; assert p.__version__ == '$2'" 2>/dev/null; }
pip() {
    "$python" -m pip install -q --disable-pip-version-check --retries 2 --only-binary :all: "$@"
}

# Read by tests/support too, which builds the programs that tests run. Vulkan has a driver in
# software, so that what GPUs compute is tested without one.
if has_cuda; then
    export KIBITZ_FEATURES="--features trainer/vulkan"
else
    export KIBITZ_FEATURES="--no-default-features --features engine/cli,trainer/vulkan"
fi

# What failed is listed at the end, so that one failure hides no other.
failed=()
# run_tests ARGUMENT...: builds and runs test programs, with the arguments of tests/run.py.
run_tests() {
    # Once for all tests. With the examples, crates have the features that tests ask of them:
    # without, Burn would be compiled a second time.
    # shellcheck disable=SC2086
    cargo build --workspace --bins --examples --locked $KIBITZ_FEATURES
    KIBITZ_PROGRAMS=$(realpath "${CARGO_TARGET_DIR:-target}")/debug
    export KIBITZ_PROGRAMS
    if ! python3 tests/run.py "$@" | tee "$KIBITZ_SKIPS.log"; then
        local names
        mapfile -t names < <(sed -n '/^failed:$/,$s/^    //p' "$KIBITZ_SKIPS.log")
        # Of a crate that does not compile there is no line.
        failed+=("${names[@]:-cargo test $*}")
    fi
}

# has_node: whether Node.js is as new as Vite wants it.
has_node() {
    command -v npm >/dev/null && node -e '
        const [major, minor] = process.versions.node.split(".").map(Number);
        const recent = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
        process.exit(recent ? 0 : 1);'
}
# tell_results: ends the script, with exit code 1 if something failed.
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
