//! Finds the network that the engine embeds: `KIBITZ_NET=FILE` (relative to
//! the workspace root), else `models/default.safetensors`.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-env-changed=KIBITZ_NET");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let chosen = env::var("KIBITZ_NET").ok().filter(|name| !name.is_empty());
    let net = workspace.join(chosen.as_deref().unwrap_or("models/default.safetensors"));
    // A missing file changes when it appears, so it is watched as well.
    println!("cargo::rerun-if-changed={}", net.display());
    if net.is_file() {
        println!("cargo::rustc-env=KIBITZ_EMBEDDED_NET={}", net.display());
    } else {
        println!(
            "cargo::error=no network at {}: train one with `trainer fit --out`, or name another by KIBITZ_NET=FILE",
            net.display()
        );
    }
}
