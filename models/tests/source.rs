//! Source code of nets, compiled and run: its values are the engine's.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use models::source::{Golden, Language, Source};
use models::{
    Activation, Architecture, Feature, Features, Network, QuantisedNetwork, Random, View,
};

/// Returns the positions of `tests/data/inputs.tsv`.
fn golden() -> Vec<Golden> {
    let all: Vec<Feature> = Feature::all().collect();
    let rows = test_support::inputs_by_python();
    rows.map(|row| Golden {
        position: row.fen,
        features: row.inputs.iter().map(|&input| all[input]).collect(),
    })
    .collect()
}

/// Returns a network with large random weights behind the first layer, different in each bucket.
fn random(architecture: Architecture) -> QuantisedNetwork {
    let mut random = Random(1);
    let mut layers = Network::random(architecture, 2).layers().to_vec();
    for layer in &mut layers[1..] {
        let numbers = layer.weight.iter_mut().chain(&mut layer.bias);
        numbers.for_each(|number| *number = random.uniform());
    }
    QuantisedNetwork::new(&Network::new(architecture, layers)).unwrap()
}

/// Returns the shipped net, and others that together have every part of an architecture.
fn networks() -> [QuantisedNetwork; 4] {
    let shipped = include_bytes!("../default.safetensors");
    let pairwise = Architecture {
        view: View::Both,
        mirrored: true,
        activation: Activation::PairwiseClippedRelu,
        buckets: 3,
        ..Architecture::hidden([66, 15, 9])
    };
    let clipped = Architecture {
        third: None,
        buckets: 8,
        ..Architecture::hidden([33, 7, 1])
    };
    let pieces = Architecture {
        view: View::Both,
        activation: Activation::SquaredClippedRelu,
        second: None,
        third: None,
        features: Features::Pieces,
        ..Architecture::hidden([64, 1, 1])
    };
    [
        QuantisedNetwork::from_bytes(shipped).unwrap(),
        random(pieces),
        random(pairwise),
        random(clipped),
    ]
}

/// Runs a command in a folder and returns its standard output. `None`, after a skip, if the program
/// is not installed.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    match command.args(arguments).current_dir(folder).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            test_support::skip(&format!("{program} is not installed"));
            None
        }
        output => {
            let output = output.unwrap();
            let [out, errors] =
                [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
            assert!(output.status.success(), "{program}: {out}{errors}");
            Some(out.into_owned())
        }
    }
}

/// Compiles the source code of each network with `compile`, and runs its test.
fn check(language: Language, compile: &[&str], passed: &str) {
    let golden = golden();
    for network in networks() {
        let architecture = network.architecture();
        let Source {
            code,
            weights,
            golden: lines,
        } = Source::new(&network, language, "net", &golden);
        let values: std::collections::HashSet<&str> = lines
            .lines()
            .flat_map(|line| line.split(' ').next())
            .collect();
        assert!(values.len() > 100, "{architecture}: {values:?}");
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        };
        write(compile[1], code.as_bytes());
        write("net.bin", &weights);
        write("net.golden.txt", lines.as_bytes());
        if run(folder.path(), compile[0], &compile[1..]).is_none() {
            return;
        }
        let program = folder.path().join("net");
        let out = run(folder.path(), &program.to_string_lossy(), &[]).unwrap();
        assert!(out.contains(passed), "{architecture}: {out}");
        // A test that reads the wrong value fails.
        let wrong = lines.replacen(' ', "1 ", 1);
        write("net.golden.txt", wrong.as_bytes());
        let _ = run(folder.path(), compile[0], &compile[1..]);
        let failed = Command::new(&program).current_dir(folder.path()).output();
        assert!(!failed.unwrap().status.success(), "{architecture}");
    }
}

#[test]
fn rust_has_the_engines_values() {
    let flags = "-Dwarnings";
    let compile = [
        "rustc",
        "net.rs",
        "--test",
        "-O",
        flags,
        "-o",
        "net",
        "-Cdebuginfo=0",
    ];
    check(Language::Rust, &compile, "1 passed; 0 failed");
}

#[test]
fn c_has_the_engines_values() {
    let compile = [
        "gcc",
        "net.c",
        "-O2",
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-DNET_SELFTEST",
        "-o",
        "net",
    ];
    check(Language::C, &compile, " 0 wrong");
}
