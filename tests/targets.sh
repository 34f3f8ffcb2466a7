# Sourced behind setup.sh: what each target of a release needs to be built.

# target_for PLATFORM: sets `target`, installs its tools, and tells cargo of them.
target_for() {
    case $1 in
        linux) target=x86_64-unknown-linux-musl ;;
        aarch64)
            target=aarch64-unknown-linux-musl
            # Rust brings all of musl.
            export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
            ;;
        windows)
            target=x86_64-pc-windows-gnu
            command -v x86_64-w64-mingw32-gcc >/dev/null || install mingw-w64
            ;;
    esac
    rustup target add "$target"
}
