//! The programs, for tests that run them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// One of the programs, as the sources are now: they are built in the profile
/// of the test before the first is used.
///
/// # Panics
/// If they cannot be built.
pub fn program(name: &str) -> Command {
    Command::new(program_path(name))
}

/// Where the program is that [`program`] starts.
///
/// # Panics
/// If the programs cannot be built.
pub fn program_path(name: &str) -> PathBuf {
    PROGRAMS
        .join(name)
        .with_extension(std::env::consts::EXE_EXTENSION)
}

/// The variable that holds the options of features that the tests are built with: with
/// others, all would be built a second time.
const FEATURES: &str = "KIBITZ_FEATURES";

/// The variable that names the folder of programs that are built already, by absolute path.
const BUILT: &str = "KIBITZ_PROGRAMS";

/// The folder that the programs are in. `cargo test -p tests` by itself would
/// leave them as an earlier build made them.
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
    // What cargo tells a test of its package would make build scripts run again, and what
    // depends on the commit compile anew: `arena` has it from its build script.
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
    // With the examples, crates have the features that tests ask of them, as in
    // `cargo test`: without, Burn would be compiled a second time.
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
