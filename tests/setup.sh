# Sourced by the other scripts: changes to the root of the workspace and installs missing build
# dependencies, on Debian and Ubuntu. Rust comes from rustup.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v cargo >/dev/null; then
    if [ -f "$HOME/.cargo/env" ]; then
        . "$HOME/.cargo/env"
    else
        echo "cargo is missing: install Rust from https://rustup.rs first" >&2
        exit 1
    fi
fi

# RocksDB is compiled from source, with a C++ compiler, and libclang for its bindings. The tests
# compress samples with gzip and bzip2, and read Parquet with Python.
missing=()
command -v g++ >/dev/null || missing+=(g++)
# (libclang-cpp.so, which comes with Clang, is a different library.)
compgen -G '/usr/lib/llvm-*/lib/libclang[.-][s0-9]*' >/dev/null || missing+=(libclang-dev)
command -v gzip >/dev/null || missing+=(gzip)
command -v bzip2 >/dev/null || missing+=(bzip2)
python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)

# install PACKAGE...: installs by apt.
install() {
    echo "installing $*"
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" apt-get install -yq --no-install-recommends "$@"
}
if [ ${#missing[@]} -gt 0 ]; then
    if command -v apt-get >/dev/null; then
        install "${missing[@]}"
    else
        echo "not found, and needed for all but the engine: ${missing[*]}" >&2
    fi
fi

# CUDA takes half of the build time and is useless without an NVIDIA GPU.
has_cuda() { [ -e /proc/driver/nvidia/version ]; }
