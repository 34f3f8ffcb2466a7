//! Finds the commit that the program is built from, as `KIBITZ_COMMIT`. Sources that
//! are no checkout have none.

use std::path::Path;
use std::process::Command;

/// What decides how the engine plays, from the workspace's root. The nets are known by
/// their digests.
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
    // Unpacked within another repository, the sources are none of its.
    if git(&["rev-parse", "--show-prefix"]).as_deref() != Some("") {
        return;
    }
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return;
    };
    // It grows with every commit and checkout.
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
