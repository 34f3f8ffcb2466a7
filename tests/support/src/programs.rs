//! Paths of the workspace's programs, built on first use.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Returns a command for one of the workspace's programs. The first use builds them from the
/// current sources, in the profile of the test.
///
/// # Panics
/// If they cannot be built.
pub fn program(name: &str) -> Command {
    Command::new(program_path(name))
}

/// Returns the path of the program that [`program`] starts.
///
/// # Panics
/// If the programs cannot be built.
pub fn program_path(name: &str) -> PathBuf {
    PROGRAMS
        .join(name)
        .with_extension(std::env::consts::EXE_EXTENSION)
}

/// Environment variable with Cargo's feature options of the tests; others would rebuild everything.
const FEATURES: &str = "KIBITZ_FEATURES";

/// Environment variable with the absolute path of a folder of programs that are built already.
const BUILT: &str = "KIBITZ_PROGRAMS";

/// Folder of the programs. They are built here because `cargo test -p tests` alone would leave
/// those of an earlier build.
static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
    if let Some(folder) = std::env::var_os(BUILT) {
        return folder.into();
    }
    let test = std::env::current_exe().expect("a test knows where it is");
    let folder = test.ancestors().nth(2).expect("target/PROFILE/deps/TEST");
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") => "dev",
        Some(profile) => profile,
        None => panic!("{} names no profile", folder.display()),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let root = root.expect("tests/support lies in the workspace");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    // Drop Cargo's variables for this test: they would rerun build scripts, and recompile `arena`,
    // whose build script reads the commit.
    for (name, _) in std::env::vars_os() {
        let ours = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_EXE_",
            "KIBITZ_COMMIT",
            "OUT_DIR",
        ];
        if ours
            .iter()
            .any(|start| name.to_string_lossy().starts_with(start))
        {
            cargo.env_remove(name);
        }
    }
    let features = std::env::var(FEATURES).unwrap_or_default();
    // The examples bring the features that tests use, as in `cargo test`; otherwise Burn would be
    // compiled twice.
    let built = cargo
        .args([
            "build",
            "--workspace",
            "--bins",
            "--examples",
            "--locked",
            "--quiet",
        ])
        .args(features.split_whitespace())
        .args(["--profile", profile, "--target-dir"])
        .arg(folder.parent().expect("target/PROFILE"))
        .current_dir(root)
        .status();
    assert!(built.expect("cargo starts").success());
    folder.to_path_buf()
});
