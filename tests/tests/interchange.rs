//! Use of a net by other programs: the documented script opens it, and the golden vectors equal the
//! engine's values.

use models::QuantisedNetwork;
use serde_json::Value;
use std::path::Path;
use tests::{build, documented_script, program, python, run, sample};

const SAMPLE: &str = "dump_2021-10_first499.pgn.zst";

/// Architectures that together have every part.
const KINDS: [&str; 3] = [
    "--hidden 32,16,16",
    "--hidden 32 --activation squared-clipped-relu",
    "--hidden 32,16 --view both --mirrored --activation pairwise-clipped-relu --buckets 8",
];

/// Trains a small net on the sample, with its report and golden vectors.
fn fit(folder: &Path) -> std::path::PathBuf {
    fit_with(folder, KINDS[0])
}

/// Trains like [`fit`], with another architecture.
fn fit_with(folder: &Path, architecture: &str) -> std::path::PathBuf {
    let (dataset, net) = (folder.join("d"), folder.join("n.safetensors"));
    build(&[&sample(SAMPLE)], &dataset).succeeded();
    let mut command = program("trainer");
    command.args(["fit", "--device", "cpu", "--epochs", "1"]);
    command
        .args(architecture.split(' '))
        .arg("--data")
        .arg(&dataset);
    run(command.arg("--out").arg(&net)).succeeded();
    net
}

#[test]
fn the_documented_script_opens_nets_of_every_kind() {
    for architecture in KINDS {
        check_the_documented_script(architecture);
    }
}

fn check_the_documented_script(architecture: &str) {
    let folder = tempfile::tempdir().unwrap();
    let net = fit_with(folder.path(), architecture);
    let script = folder.path().join("script.py");
    std::fs::write(&script, documented_script("docs/network.md")).unwrap();
    if python("numpy, safetensors").is_none() {
        return;
    }
    let run_on = |golden: &Path| {
        let mut python = python("numpy, safetensors").expect("as before");
        let said = run(python.arg(&script).arg(&net).arg(golden)).succeeded();
        let words: Vec<&str> = said.out.split_whitespace().collect();
        let [count, "positions,", apart, "pawns", ..] = words[..] else {
            panic!("{}", said.out)
        };
        (count.parse::<u32>().unwrap(), apart.parse::<f64>().unwrap())
    };
    let golden = net.with_extension("golden.json");
    let (count, apart) = run_on(&golden);
    assert_eq!(count, 64);
    assert!(apart < 1e-4, "{apart}");

    // A wrong value is noticed.
    let mut vectors: Value = serde_json::from_slice(&std::fs::read(&golden).unwrap()).unwrap();
    let pawns = vectors["positions"][9]["pawns"].as_f64().unwrap();
    vectors["positions"][9]["pawns"] = (pawns + 0.5).into();
    let wrong = folder.path().join("wrong.json");
    std::fs::write(&wrong, vectors.to_string()).unwrap();
    assert!((run_on(&wrong).1 - 0.5).abs() < 1e-2);
}

#[test]
fn golden_centipawns_are_the_engines() {
    for architecture in KINDS {
        check_golden_centipawns(architecture);
    }
}

fn check_golden_centipawns(architecture: &str) {
    let folder = tempfile::tempdir().unwrap();
    let net = fit_with(folder.path(), architecture);
    let network = QuantisedNetwork::from_bytes(&std::fs::read(&net).unwrap()).unwrap();
    let golden = std::fs::read(net.with_extension("golden.json")).unwrap();
    let golden: Value = serde_json::from_slice(&golden).unwrap();
    for position in golden["positions"].as_array().unwrap() {
        let fen = format!("{} 0 1", position["epd"].as_str().unwrap());
        let features = engine::features(&engine::parse_fen(&fen).unwrap());
        let ours = network.evaluate_features(&features);
        assert_eq!(position["centipawns"], ours, "{fen}");
    }
}

/// The report page and pictures of a net are complete and have no external references.
#[test]
fn the_report_stands_alone() {
    let folder = tempfile::tempdir().unwrap();
    let net = fit(folder.path());
    let read = |extension: &str| std::fs::read_to_string(net.with_extension(extension)).unwrap();
    for picture in ["svg", "calibration.svg", "errors.svg", "neurons.svg"] {
        let svg = read(picture);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("prefers-color-scheme: dark"), "{picture}");
    }
    let page = read("report.html");
    for part in [
        "How it learned",
        "Calibration",
        "Neuron ",
        "Where it is most wrong",
        " to move",
        "learning rate",
        SAMPLE,
    ] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    for reference in ["src=", "href=", "url(", "@import", "<script"] {
        assert!(!page.contains(reference), "{reference:?} is in the page");
    }

    // `trainer eval --report` writes the same page, on games of any file.
    let other = folder.path().join("other.html");
    let mut eval = program("trainer");
    eval.args(["eval", "--json", "--net"]).arg(&net);
    eval.arg("--pgn")
        .arg(sample(SAMPLE))
        .arg("--report")
        .arg(&other);
    let said = run(&mut eval).succeeded();
    let figures: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(figures["integers"]["positions"], 2586);
    assert!(
        figures["integers"]["largest"].as_f64().unwrap() < 15.0,
        "{figures}"
    );
    let page = std::fs::read_to_string(other).unwrap();
    assert!(page.contains("2,412") && page.contains("Error in win chance"));
}
