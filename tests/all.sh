#!/usr/bin/env bash
# All set-up, and all tests.
. "$(dirname "$0")/setup.sh"

# What is left out is noted here, by tests/support and by skip below.
KIBITZ_SKIPS=$(mktemp) log=$(mktemp)
export KIBITZ_SKIPS
trap 'rm -f "$KIBITZ_SKIPS" "$log"' EXIT
skip() {
    echo "SKIPPED: $1" >&2
    echo "$1" >>"$KIBITZ_SKIPS"
}

# Exported Parquet is read back by pyarrow, whose wheel is some 45 MB, nets are opened
# by numpy and safetensors, objects are read from the S3 of moto, the engine is driven by
# python-chess, which comes as source, and Ray, 79 MB, shares dumps among nodes. The tests
# that want what cannot be installed are skipped, and say so.
python=target/python/bin/python
pyarrow=23.0.1
numpy=2.2.6 safetensors=0.8.0
moto=5.2.5
chess=1.11.2
ray=2.60.0 tqdm=4.70.1
has() { "$python" -c "import $1 as p; assert p.__version__ == '$2'" 2>/dev/null; }
has pyarrow "$pyarrow" || has chess "$chess" || python3 -m venv --clear target/python || true
pip() {
    "$python" -m pip install -q --disable-pip-version-check --retries 2 --only-binary :all: "$@"
}
has pyarrow "$pyarrow" || pip "pyarrow==$pyarrow" ||
    echo "pyarrow cannot be installed: the test of Parquet will be skipped" >&2
{ has numpy "$numpy" && has safetensors "$safetensors"; } ||
    pip "numpy==$numpy" "safetensors==$safetensors" ||
    echo "numpy or safetensors cannot be installed: a test of nets will be skipped" >&2
has moto "$moto" || pip "moto[server]==$moto" ||
    echo "moto cannot be installed: the test of S3 will be skipped" >&2
has chess "$chess" || pip --no-binary chess "chess==$chess" ||
    echo "python-chess cannot be installed: the engine's test by it will be skipped" >&2
{ has ray "$ray" && has tqdm "$tqdm"; } || pip "ray==$ray" "tqdm==$tqdm" ||
    echo "Ray cannot be installed: the test of clusters will be skipped" >&2

# Vulkan in software, on which tests train where there is no GPU; without it they are
# skipped. Mesa complains on standard error where the variable is not set.
has_vulkan() {
    compgen -G '/usr/lib/*/libvulkan.so.1' >/dev/null &&
        compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null
}
has_cuda || has_vulkan || install libvulkan1 mesa-vulkan-drivers ||
    echo "Vulkan cannot be installed: its tests will be skipped" >&2
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}

# Read by tests/support too, which builds the programs that tests run. Vulkan has a
# driver in software, so that what GPUs compute is tested without one.
if has_cuda; then
    export KIBITZ_FEATURES="--features trainer/vulkan"
else
    export KIBITZ_FEATURES="--no-default-features --features engine/cli,trainer/vulkan"
fi
# What fails is listed at the end, so that one failure hides no other.
failed=()
# shellcheck disable=SC2086
if ! cargo test --workspace --locked --no-fail-fast $KIBITZ_FEATURES | tee "$log"; then
    mapfile -t failed < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$log")
    # Of a crate that does not compile, or a test that ends its process, there is no line.
    failed+=("cargo test: the targets that cargo names above")
fi

# The page, in a real browser.
: "${CHROMIUM:=/usr/bin/chromium}"
# What Vite wants.
has_node() {
    command -v npm >/dev/null && node -e '
        const [major, minor] = process.versions.node.split(".").map(Number);
        const recent = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
        process.exit(recent ? 0 : 1);'
}
if has_node && { command -v "$CHROMIUM" >/dev/null || install chromium; }; then
    bash engine/web/test.sh || failed+=(engine/web/test.sh)
    bash tests/wasm.sh || failed+=(tests/wasm.sh)
else
    skip "the tests of engine/web and of WebAssembly want Node.js 20.19 or from 22.12 on, npm, and $CHROMIUM"
fi

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
