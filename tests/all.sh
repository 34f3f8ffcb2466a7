#!/usr/bin/env bash
# Installs what is missing and runs the tests of everything in everyday use; tests/rare.sh runs the
# rest.
. "$(dirname "$0")/setup.sh"
. tests/report.sh

# pyarrow (a wheel of some 45 MB) reads exported Parquet back, numpy and safetensors open nets, and
# python-chess (built from source) drives the engine. Tests without their package are skipped,
# visibly.
pyarrow=23.0.1 numpy=2.2.6 safetensors=0.8.0 chess=1.11.2
has pyarrow "$pyarrow" || has chess "$chess" || python3 -m venv --clear target/python || true
has pyarrow "$pyarrow" || pip "pyarrow==$pyarrow" ||
    echo "pyarrow cannot be installed: the test of Parquet will be skipped" >&2
{ has numpy "$numpy" && has safetensors "$safetensors"; } ||
    pip "numpy==$numpy" "safetensors==$safetensors" ||
    echo "numpy or safetensors cannot be installed: a test of nets will be skipped" >&2
has chess "$chess" || pip --no-binary chess "chess==$chess" ||
    echo "python-chess cannot be installed: the engine's test by it will be skipped" >&2

# Software Vulkan for training tests without a GPU; if missing, they are skipped. Mesa complains on
# standard error if the variable is not set.
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

# Tests of the page in a real browser.
: "${CHROMIUM:=/usr/bin/chromium}"
if has_node && { command -v "$CHROMIUM" >/dev/null || install chromium; }; then
    bash engine/web/test.sh || failed+=(engine/web/test.sh)
else
    skip "the tests of engine/web want Node.js 20.19 or from 22.12 on, npm, and $CHROMIUM"
fi

tell_results
