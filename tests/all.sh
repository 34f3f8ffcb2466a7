#!/usr/bin/env bash
# All set-up, and the tests of what people use; tests/rare.sh has the rest.
. "$(dirname "$0")/setup.sh"
. tests/report.sh

# Exported Parquet is read back by pyarrow, whose wheel is some 45 MB, nets are opened
# by numpy and safetensors, and the engine is driven by python-chess, which comes as source.
# The tests that want what cannot be installed are skipped, and say so.
pyarrow=23.0.1 numpy=2.2.6 safetensors=0.8.0 chess=1.11.2
has pyarrow "$pyarrow" || has chess "$chess" || python3 -m venv --clear target/python || true
has pyarrow "$pyarrow" || pip "pyarrow==$pyarrow" ||
    echo "pyarrow cannot be installed: the test of Parquet will be skipped" >&2
{ has numpy "$numpy" && has safetensors "$safetensors"; } ||
    pip "numpy==$numpy" "safetensors==$safetensors" ||
    echo "numpy or safetensors cannot be installed: a test of nets will be skipped" >&2
has chess "$chess" || pip --no-binary chess "chess==$chess" ||
    echo "python-chess cannot be installed: the engine's test by it will be skipped" >&2

# Vulkan in software, on which tests train where there is no GPU; without it they are
# skipped. Mesa complains on standard error where the variable is not set.
has_vulkan() {
    compgen -G '/usr/lib/*/libvulkan.so.1' >/dev/null &&
        compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null
}
has_cuda || has_vulkan || install libvulkan1 mesa-vulkan-drivers ||
    echo "Vulkan cannot be installed: its tests will be skipped" >&2
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}

# shellcheck disable=SC2086
run_tests --workspace --locked $KIBITZ_FEATURES
# shellcheck disable=SC2086
cargo test --doc --quiet --workspace --locked $KIBITZ_FEATURES ||
    failed+=("the examples of the documentation")

# The page, in a real browser.
: "${CHROMIUM:=/usr/bin/chromium}"
if has_node && { command -v "$CHROMIUM" >/dev/null || install chromium; }; then
    bash engine/web/test.sh || failed+=(engine/web/test.sh)
else
    skip "the tests of engine/web want Node.js 20.19 or from 22.12 on, npm, and $CHROMIUM"
fi

tell_results
