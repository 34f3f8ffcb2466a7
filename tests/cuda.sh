#!/usr/bin/env bash
# Compiles every CUDA kernel for six generations of GPUs, without a GPU: a test takes training steps
# on a driver that runs nothing (tests/cuda/driver.c), so NVRTC gets the sources and options that it
# gets on each GPU. Prints the registers of each kernel, writes all figures to
# target/cuda/kernels.json, and fails if a kernel spills much. Exits with 77 if NVRTC cannot be
# installed.
. "$(dirname "$0")/setup.sh"

python=target/python/bin/python
[ -x "$python" ] || python3 -m venv target/python
# The packages that `trainer devices` recommends, which suit drivers from CUDA 13.0 on.
"$python" -m pip install -q --disable-pip-version-check --retries 2 --only-binary :all: \
    nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96 || exit 77
cuda=$(realpath target/python/lib/python3*/site-packages/nvidia/cu13)

driver=${CARGO_TARGET_DIR:-target}/cuda
mkdir -p "$driver"
cc -Wall -Werror -O1 -shared -fPIC -I "$cuda/include" -o "$driver/libcuda.so" \
    tests/cuda/driver.c -L "$cuda/lib" -l:libnvrtc.so.13
ln -sf libcuda.so "$driver/libnvrtc.so"
python3 tests/cuda/kernels.py "$cuda" "$driver"
