//! Packs the network that the engine embeds: `KIBITZ_NET=FILE` (relative to the workspace root),
//! else `models/default.safetensors`.

use std::path::{Path, PathBuf};
use std::{env, fs};

use packed::{pack, unpack};

fn main() {
    println!("cargo::rerun-if-env-changed=KIBITZ_NET");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let chosen = env::var("KIBITZ_NET").ok().filter(|name| !name.is_empty());
    let net = workspace.join(chosen.as_deref().unwrap_or("models/default.safetensors"));
    // Watch a missing file too: the build reruns when it appears.
    println!("cargo::rerun-if-changed={}", net.display());
    let Ok(file) = fs::read(&net) else {
        println!(
            "cargo::error=no network at {}: train one with `trainer fit --out`, or name another by KIBITZ_NET=FILE",
            net.display()
        );
        return;
    };
    // Embed only what unpacks to the original bytes.
    let packed = pack(&file).filter(|packed| unpack(packed).as_ref() == Some(&file));
    let Some(packed) = packed else {
        println!("cargo::error={} is no safetensors file", net.display());
        return;
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    if let Err(error) = fs::write(out.join("net.packed"), packed) {
        println!("cargo::error=cannot write the packed network: {error}");
    }
}
