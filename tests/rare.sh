#!/usr/bin/env bash
# Runs the tests that tests/all.sh leaves out because few people need them: Ray clusters, S3
# objects, the engine in WebAssembly under Node, the Python package, CUDA's compiler.
. "$(dirname "$0")/setup.sh"
. tests/report.sh

# moto serves S3 objects; Ray (79 MB) distributes dumps over nodes.
moto=5.2.5 ray=2.60.0 tqdm=4.70.1
[ -x "$python" ] || python3 -m venv target/python
has moto "$moto" || pip "moto[server]==$moto" ||
    echo "moto cannot be installed: the tests of S3 will be skipped" >&2
{ has ray "$ray" && has tqdm "$tqdm"; } || pip "ray==$ray" "tqdm==$tqdm" ||
    echo "Ray cannot be installed: the test of clusters will be skipped" >&2

# In the background: Ray mostly waits.
clusters=$(mktemp)
(
    # shellcheck disable=SC2086
    run_tests --workspace --test cluster --test s3 --locked $KIBITZ_FEATURES -- --ignored
    [ ${#failed[@]} -eq 0 ]
) >"$clusters" 2>&1 &
clusters_job=$!

# The WebAssembly kernel at the limits of its integers, with nets that training cannot make.
if has_node; then
    if rustup target add wasm32-wasip1; then
        RUSTFLAGS="-C target-feature=+simd128" \
            CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $PWD/tests/wasm/wasi.mjs" \
            cargo test --locked -p models --lib --target wasm32-wasip1 kernel -- --test-threads 1 ||
            failed+=("the kernel's tests in WebAssembly")
    else
        skip "the kernel's tests in WebAssembly want the target wasm32-wasip1"
    fi
    bash tests/wasm.sh || failed+=(tests/wasm.sh)
else
    skip "the tests of WebAssembly want Node.js 20.19 or from 22.12 on, and npm"
fi
bash tests/python.sh || failed+=(tests/python.sh)
bash tests/cuda.sh || case $? in
    77) skip "NVRTC, which compiles CUDA kernels, cannot be installed" ;;
    *) failed+=(tests/cuda.sh) ;;
esac

wait "$clusters_job" || failed+=("the tests of clusters and S3")
cat "$clusters"
rm "$clusters"

tell_results
