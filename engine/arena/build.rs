//! Sets `KIBITZ_COMMIT` to the git commit of the sources, with `-dirty` if they were changed. Unset
//! outside a checkout.

use std::path::Path;
use std::process::Command;

/// Sources that decide how the engine plays, from the workspace root. Nets are identified by their
/// digests instead.
const SOURCES: [&str; 7] = [
    "Cargo.lock",
    "engine/Cargo.toml",
    "engine/arena/Cargo.toml",
    "engine/arena/src",
    "engine/client/src",
    "engine/src",
    "models/src",
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&root)
            .output();
        let output = output.ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_string())
    };
    println!("cargo::rerun-if-changed=build.rs");
    // Sources unpacked within another repository are not part of it.
    if git(&["rev-parse", "--show-prefix"]).as_deref() != Some("") {
        return;
    }
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return;
    };
    // Both files change with every commit and checkout.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name]).map(|path| root.join(path));
        if let Some(path) = path.filter(|path| path.exists()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let status = git(&[
        &["--no-optional-locks", "status", "--porcelain", "--"],
        &SOURCES[..],
    ]
    .concat());
    let dirty = match status.as_deref() {
        Some("") => "",
        _ => "-dirty",
    };
    println!("cargo::rustc-env=KIBITZ_COMMIT={commit}{dirty}");
}
