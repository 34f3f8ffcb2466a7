#!/usr/bin/env bash
# All set-up, and all tests.
. "$(dirname "$0")/setup.sh"

# The whole-path tests run the programs, so these are built first.
cargo build --workspace --locked
cargo test --workspace --locked
