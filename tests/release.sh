#!/usr/bin/env bash
# Builds and tests the release artefacts that tests/all.sh does not:
#   trainer   the trainer without CUDA
#   musl      the engine in one file that needs no shared library
#   aarch64   the engine for aarch64, under qemu
#   windows   the engine, arena, ingest and trainer for Windows, under wine
#   fuzz      every fuzz target, a minute each
#   package   the archive and the Debian package of all programs, which is checked by
#             lintian, installed into a folder and run
#   release.sh [PART...]    all of them, or these
. "$(dirname "$0")/setup.sh"
. tests/targets.sh

parts=("$@")
[ $# -gt 0 ] || parts=(trainer musl aarch64 windows package fuzz)
build=${CARGO_TARGET_DIR:-target}
engine_tests=(--lib --test signature --test search --test evaluation)

step() { printf '\n== %s\n' "$*"; }

# drive COMMAND...: plays a session with a built engine and checks its bench signature.
drive() {
    local committed
    committed=$(git log -1 --format=%B --extended-regexp --grep='^Bench: [0-9]+$' | sed -n 's/^Bench: //p')
    "$@" bench | grep "^$committed nodes "
    printf 'uci\nsetoption name Threads value 2\nisready\nposition startpos moves e2e4\ngo depth 8\n' |
        "$@" | grep '^bestmove '
}

# packaged PART SUFFIX: builds a part of a release, and prints its file name.
packaged() {
    bash .ci/package "$1" >&2 || return
    ls -t "$build"/package/kibitz-engine-*-"$2" | head -1
}

trainer() {
    cargo test -p trainer --no-default-features --locked
}

musl() {
    local engine
    engine=$(packaged linux linux-x86_64)
    ldd "$engine" 2>&1 | grep -E 'statically linked|not a dynamic'
    drive "$engine"
}

aarch64() {
    command -v qemu-aarch64 >/dev/null || install qemu-user
    [ -e /usr/aarch64-linux-gnu/lib/crti.o ] || install gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    local target=aarch64-unknown-linux-gnu
    rustup target add $target
    local qemu=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="${qemu[*]}"
    cargo test -p models -p engine --locked --target $target "${engine_tests[@]}"
    local engine
    engine=$(packaged aarch64 linux-aarch64)
    drive qemu-aarch64 "$engine"
}

windows() {
    local target
    target_for windows
    command -v wine >/dev/null || install wine wine64
    # Wine 8 (Debian 12) lacks bcryptprimitives.dll, from which the standard library draws random
    # numbers.
    local stand_in=$build/$target/bcryptprimitives
    mkdir -p "$stand_in"
    cat >"$stand_in/prng.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
    return SystemFunction036(data, (ULONG)size);
}
C
    x86_64-w64-mingw32-gcc -shared -o "$stand_in/bcryptprimitives.dll" "$stand_in/prng.c" -ladvapi32
    WINEPATH=$(winepath -w "$stand_in" 2>/dev/null)
    export WINEPATH WINEDEBUG=-all CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
    cargo test -p host -p models --locked --target $target
    cargo test -p engine --locked --target $target "${engine_tests[@]}"
    local engine
    engine=$(packaged windows windows-x86_64.exe)
    drive wine "$engine" | tr -d '\r'
    local archive=${engine/kibitz-engine-/kibitz-}
    windows_programs "${archive%.exe}.zip"
}

# windows_programs ZIP: checks that ingest makes the dataset that Linux makes, the trainer fits a
# net to it, and arena plays with that net.
windows_programs() {
    cargo build --release --locked -p ingest
    local folder unpacked sample=datasets/samples/dump_2026-06_annotated500.pgn.zst
    folder=$(mktemp -d)
    python3 -m zipfile -e "$1" "$folder"
    unpacked=$(compgen -G "$folder/kibitz-*")
    wine "$unpacked/ingest.exe" build $sample --keep quiet --out "$folder/windows.dataset"
    "$build/release/ingest" build $sample --keep quiet --out "$folder/linux.dataset"
    # Skip the first line, which names the dataset.
    diff <("$build/release/ingest" stats "$folder/linux.dataset" | tail -n +2) \
        <(wine "$unpacked/ingest.exe" stats "$folder/windows.dataset" | tr -d '\r' | tail -n +2)
    wine "$unpacked/trainer.exe" fit --data "$folder/windows.dataset" --device cpu --hidden 16 \
        --epochs 1 --out "$folder/windows.safetensors"
    wine "$unpacked/arena.exe" match --engine "$folder/windows.safetensors" --engine material --depth 2 --games 2 \
        --book engine/books/openings.epd
    rm -r "$folder"
}

package() {
    bash .ci/package programs deb
    local folder
    folder=$(mktemp -d)
    tar -C "$folder" -xf "$(ls -t "$build"/package/kibitz-*.tar.gz | head -1)"
    local deb
    deb=$(ls -t "$build"/package/kibitz_*.deb | head -1)
    command -v lintian >/dev/null || install lintian
    lintian --allow-root --fail-on error,warning "$deb"
    dpkg-deb -x "$deb" "$folder"
    local unpacked
    unpacked=$(compgen -G "$folder/kibitz-*")
    drive "$unpacked/engine"
    drive "$folder/usr/bin/kibitz"
    local program
    for program in arena ingest trainer; do
        "$unpacked/$program" --version
        "$folder/usr/bin/kibitz-$program" --version
    done
    rm -r "$folder"
}

fuzz() {
    cargo fuzz --version || cargo install --locked cargo-fuzz
    local crate target
    for crate in */fuzz; do
        for target in "$crate"/fuzz_targets/*.rs; do
            target=$(basename "$target" .rs)
            step "fuzz: $crate, $target"
            mkdir -p "$crate/corpus/$target"
            tar -C "$crate/corpus/$target" -xf "$crate/corpus/$target.tar.zst"
            (cd "$(dirname "$crate")" && cargo fuzz run --sanitizer none "$target" -- \
                -max_total_time=60 -max_len=12288 -rss_limit_mb=1024 -timeout=20 -verbosity=0)
        done
    done
}

for part in "${parts[@]}"; do
    case $part in
        trainer | musl | aarch64 | windows | package | fuzz) ;;
        *)
            echo "usage: $0 [trainer] [musl] [aarch64] [windows] [package] [fuzz]" >&2
            exit 2
            ;;
    esac
done
for part in "${parts[@]}"; do
    step "$part"
    $part
done
