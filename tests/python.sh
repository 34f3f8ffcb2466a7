#!/usr/bin/env bash
# Lints the Python package, builds its wheel without optimisation, installs it into
# target/python and tests it against python-chess and the programs. KIBITZ_PROGRAMS names the
# folder of engine and ingest; without it they are built.
#   python.sh [PYTEST-ARGUMENT...]
. "$(dirname "$0")/setup.sh"

python=target/python/bin/python
[ -x "$python" ] || python3 -m venv target/python
pip() { "$python" -m pip install -q --disable-pip-version-check "$@"; }
pip --only-binary :all: maturin==1.16.0 pytest==9.2.0 numpy==2.2.6 pyarrow==23.0.1
pip --no-binary chess chess==1.11.2

mkdir -p "${CARGO_TARGET_DIR:-target}"
build=$(realpath "${CARGO_TARGET_DIR:-target}")
if [ -z "${KIBITZ_PROGRAMS-}" ]; then
    cargo build --locked -p engine -p ingest
    KIBITZ_PROGRAMS=$build/debug
fi
export KIBITZ_PROGRAMS
# Link the RocksDB that the programs built: compiling it again takes longer than everything else.
library=$(find "$build/debug/build" -name librocksdb.a -printf '%T@ %h\n' | sort -n | tail -1)
[ -z "$library" ] || export ROCKSDB_STATIC=1 ROCKSDB_LIB_DIR="${library#* }"
export CARGO_TARGET_DIR=$build
# Checks that the workspace's lints do not cover.
manifest=engine/python/Cargo.toml
cargo fmt --check --manifest-path $manifest
cargo clippy --locked --manifest-path $manifest -- -D warnings
rm -rf "$build/wheels"
"$python" -m maturin build --profile dev --locked --manifest-path $manifest --out "$build/wheels"
pip --force-reinstall --no-deps "$build"/wheels/kibitz-*.whl
"$python" -m pytest -q -p no:cacheprovider engine/python/tests "$@"
