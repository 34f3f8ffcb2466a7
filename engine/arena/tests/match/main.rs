//! `arena match`: real matches.

mod ends;
mod games;
mod referee;
mod resume;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const ARENA: &str = env!("CARGO_BIN_EXE_arena");

/// Returns the engine's path, for `cmd=`.
fn engine() -> String {
    test_support::program_path("engine").display().to_string()
}

fn command(arguments: &[&str]) -> Command {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../books/openings.epd");
    let mut command = Command::new(ARENA);
    command.arg("match").args(arguments).arg("--json");
    if !arguments.contains(&"--book") {
        command.arg("--book").arg(book);
    }
    command
}

fn play(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn result(arguments: &[&str]) -> Value {
    let output = play(arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn network() -> String {
    format!("cmd={} name=network", engine())
}

fn material() -> String {
    format!("cmd={} name=material option.Evaluation=material", engine())
}
