# Sourced after setup.sh: build dependencies of each release target.

# target_for PLATFORM: sets `target`, installs its tools, and configures cargo for them.
target_for() {
    case $1 in
        linux) target=x86_64-unknown-linux-musl ;;
        aarch64)
            target=aarch64-unknown-linux-musl
            # Rust includes all of musl.
            export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
            ;;
        windows)
            target=x86_64-pc-windows-gnu
            # MinGW with POSIX threads, which RocksDB's C++ needs.
            local flavour=x86_64-w64-mingw32-g++-posix
            command -v $flavour >/dev/null || install mingw-w64
            export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$flavour
            export CXX_x86_64_pc_windows_gnu=$PWD/.cargo/rocksdb-c++
            # Static linking: the programs need no MinGW DLL.
            export CXXSTDLIB_STATIC_x86_64_pc_windows_gnu=1
            # MinGW frees thread-locals before it destroys them; these two counters are not used.
            export CXXFLAGS_x86_64_pc_windows_gnu="-DNPERF_CONTEXT -DNIOSTATS_CONTEXT"
            # libclang does not find the compiler's own headers.
            local headers
            headers=$($flavour -print-file-name=include)
            export BINDGEN_EXTRA_CLANG_ARGS_x86_64_pc_windows_gnu=-I$headers
            ;;
    esac
    rustup target add "$target"
}
