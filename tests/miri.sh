#!/usr/bin/env bash
# Runs the kernels of trainer and engine under Miri, which finds undefined behaviour: the
# scalar ones, and those of AVX2 and FMA; Miri lacks parts of AVX-512. A few minutes. Needs
# a nightly toolchain:
#
#   rustup toolchain install nightly --component miri,rust-src
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}/miri
miri() {
    RUSTFLAGS="-C target-feature=$1" cargo +nightly miri test --target-dir "$target" "${@:2}"
}

# The trainer's kernels, without their crate, which needs RocksDB and CUDA.
alone=$(mktemp -d)
trap 'rm -rf "$alone"' EXIT
mkdir "$alone/src"
cat >"$alone/Cargo.toml" <<TOML
[package]
name = "lanes"
edition = "2024"

[dependencies]

[workspace]
TOML
cat >"$alone/src/lib.rs" <<RUST
#![allow(dead_code, unused_imports)]
pub mod cpu {
    #[path = "$PWD/trainer/network/src/cpu/lanes.rs"]
    pub mod lanes;
    #[path = "$PWD/trainer/network/src/cpu/rows.rs"]
    mod rows;
}
RUST

for features in +sse2 +avx2,+fma; do
    printf '\n== %s\n' "$features"
    miri "$features" --manifest-path "$alone/Cargo.toml" --lib
    miri "$features" -p models --lib kernel
done
