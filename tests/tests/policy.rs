//! Policies: trained on a dataset of moves, resumed after kills, opened by other programs, and
//! refused where another net is expected.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use engine::{PolicyInput, people_moves};
use models::{PolicyNetwork, QuantisedPolicy, RatingBand};
use serde_json::Value;
use tests::exit::{NET_REFUSED, REFUSED, USAGE};
use tests::training::TrainingFolder;
use tests::{Said, build, documented_script, python, run, sample};

const SAMPLE: &str = "dump_2021-10_first499.pgn.zst";

/// Some hundred steps, with a checkpoint after nearly each.
const SMALL: [&str; 10] = [
    "--hidden",
    "50",
    "--epochs",
    "3",
    "--batch",
    "256",
    "--checkpoint-minutes",
    "0.0001",
    "--seed",
    "3",
];

/// Returns a folder with the sample's evaluations, `d`, and its moves, `m`.
fn folder() -> TrainingFolder {
    let folder = TrainingFolder::new(SAMPLE);
    let moves = [Path::new("--moves"), &sample(SAMPLE)];
    build(&moves, &folder.path("m")).succeeded();
    folder
}

fn arguments<'a>(net: &'a str, others: &[&'a str]) -> Vec<&'a str> {
    let fit = ["fit", "--policy", "--data", "m", "--out", net];
    [&fit, &SMALL[..], others].concat()
}

fn fit(folder: &TrainingFolder, net: &str, others: &[&str]) -> Said {
    folder.run(&arguments(net, others))
}

/// Returns the metrics without timings.
fn metrics(net: &Path) -> Vec<Value> {
    let text = fs::read_to_string(net.with_extension("metrics.jsonl")).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let entry = line.as_object_mut().unwrap();
        assert!(entry.remove("moves_per_second").is_some());
        line
    });
    lines.collect()
}

/// Returns everything that two equal runs have in common.
fn results(net: &Path) -> ([Vec<u8>; 3], Vec<Value>) {
    let bytes = |path: PathBuf| fs::read(path).unwrap();
    let files = [
        bytes(net.to_path_buf()),
        bytes(net.with_extension("golden.json")),
        bytes(net.with_extension("svg")),
    ];
    (files, metrics(net))
}

#[test]
fn a_killed_run_ends_as_an_undisturbed_one() {
    let folder = folder();
    fit(&folder, "quiet.safetensors", &[]).succeeded();
    let quiet = results(&folder.path("quiet.safetensors"));
    assert_eq!(quiet.1.len(), 3);

    let killed = folder.path("killed.safetensors");
    let checkpoint = killed.with_extension("checkpoint");
    let (mut kills, mut delays) = (0, [0, 3, 40, 11, 25, 5].into_iter().cycle());
    while kills < 3 {
        let mut command = folder.trainer(&arguments("killed.safetensors", &["--resume"]));
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let written = || {
            fs::metadata(&checkpoint)
                .and_then(|file| file.modified())
                .ok()
        };
        let first = written();
        while written() == first && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(delays.next().expect("a cycle")));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        // Start over if a run finishes before its kill.
        kills = if ended { 0 } else { kills + 1 };
        if ended {
            for ending in [
                "safetensors",
                "checkpoint",
                "golden.json",
                "svg",
                "metrics.jsonl",
            ] {
                let _ = fs::remove_file(killed.with_extension(ending));
            }
        }
    }
    let said = fit(&folder, "killed.safetensors", &["--resume"]).succeeded();
    assert!(said.err.contains("going on in epoch"), "{}", said.err);
    assert!(results(&killed) == quiet, "the runs differ");
    let said = fit(&folder, "killed.safetensors", &["--resume", "--json"]).succeeded();
    assert!(said.err.contains("has ended already"), "{}", said.err);
    let summary: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(summary["epochs"], 3);
    let other = fit(&folder, "killed.safetensors", &["--resume", "--lr", "0.1"]);
    other.failed(REFUSED, &["--learning-rate was 0.003, now is 0.1"]);
    fit(&folder, "killed.safetensors", &[]).failed(REFUSED, &["--resume"]);
}

/// The figures of `fit` are those of `eval`, and beat the moves that are usual.
#[test]
fn a_policy_foretells_more_than_usual_moves() {
    let folder = folder();
    fit(&folder, "p.safetensors", &[]).succeeded();
    let eval = ["eval", "--net", "p.safetensors", "--data", "m", "--json"];
    let said = folder.run(&eval).succeeded();
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let epochs = metrics(&folder.path("p.safetensors"));
    assert!(epochs.iter().any(|epoch| epoch["report"] == report));
    let figure = |name: &str| report["all"][name].as_f64().unwrap();
    assert!(figure("first") > figure("usual_move"), "{report}");
    assert!(figure("first_three") > figure("first"), "{report}");
    // All of the sample's players have ratings, and the parts are the whole.
    for parts in ["by_rating", "by_phase", "by_time_left"] {
        let parts = report[parts].as_array().unwrap();
        let counts = parts.iter().map(|part| part["count"].as_u64().unwrap());
        assert_eq!(counts.sum::<u64>(), report["all"]["count"]);
        assert!(parts.len() > 2, "{report}");
    }
    assert_ne!(report["by_rating"][0]["name"], "unknown");
    let text = folder.run(&eval[..5]).succeeded().out;
    assert!(text.contains("by the mover's rating"), "{text}");
}

#[test]
fn the_documented_script_gives_the_golden_probabilities() {
    let folder = folder();
    let net = "p.safetensors";
    fit(&folder, net, &[]).succeeded();
    let script = folder.path("script.py");
    fs::write(&script, documented_script("docs/policy.md")).unwrap();
    let Some(mut python) = python("numpy, safetensors") else {
        return;
    };
    let golden = folder.path("p.golden.json");
    let said = run(python.arg(&script).arg(folder.path(net)).arg(&golden)).succeeded();
    let words: Vec<&str> = said.out.split_whitespace().collect();
    let ["64", "positions,", apart, ..] = words[..] else {
        panic!("{}", said.out)
    };
    assert!(apart.parse::<f64>().unwrap() < 1e-5, "{apart}");
}

/// The engine's moves and inputs, by its own rules library, have the trainer's probabilities; those
/// of its quantised policy differ by the rounding of weights to bytes.
#[test]
fn the_engine_expects_the_golden_moves() {
    let folder = folder();
    fit(&folder, "p.safetensors", &[]).succeeded();
    let net = folder.path("p.safetensors");
    let (policy, _) = PolicyNetwork::from_bytes(&fs::read(&net).unwrap()).unwrap();
    let quantised = QuantisedPolicy::new(&policy).unwrap();
    let golden = fs::read(net.with_extension("golden.json")).unwrap();
    let golden: Value = serde_json::from_slice(&golden).unwrap();
    for position in golden["positions"].as_array().unwrap() {
        let epd = position["epd"].as_str().unwrap();
        let board = engine::parse_fen(&format!("{epd} 0 1")).unwrap();
        let rating = position["rating"].as_u64().map(|rating| rating as u16);
        let band = RatingBand::of(rating);
        let input = PolicyInput::of(&board);
        let features = input.features.iter().map(|feature| feature.index());
        let active = features.chain([band.input()]);
        let floats = policy.probabilities(active, &input.policy_moves);
        let rounded = people_moves(&quantised, &board, band);
        let moves = position["moves"].as_array().unwrap();
        assert_eq!(rounded.len(), moves.len(), "{epd}");
        for ((mv, rounded), float) in rounded.into_iter().zip(floats) {
            let name = engine::write_move(&board, mv, true);
            let at = moves.iter().position(|m| *m == name);
            let expected = &position["probabilities"][at.expect("a golden move")];
            let expected = expected.as_f64().unwrap();
            let apart = f64::from(float) - expected;
            assert!(apart.abs() < 1e-5, "{epd} {name}: {apart}");
            let ratio = f64::from(rounded) / expected;
            assert!((0.9..1.1).contains(&ratio), "{epd} {name}: {ratio}");
        }
    }
}

#[test]
fn other_nets_datasets_and_options_are_refused_by_name() {
    let folder = folder();
    fit(&folder, "p.safetensors", &[]).succeeded();
    let value = [
        "fit", "--device", "cpu", "--data", "d", "--epochs", "1", "--hidden", "8",
    ];
    folder
        .run(&[&value[..], &["--out", "v.safetensors"]].concat())
        .succeeded();
    let eval = |net: &str, data: &str| folder.run(&["eval", "--net", net, "--data", data]);
    eval("p.safetensors", "d").failed(NET_REFUSED, &["ratings"]);
    eval("v.safetensors", "m").failed(NET_REFUSED, &["a policy's is"]);
    let fit = |others: &[&str]| {
        let fit = ["fit", "--policy", "--out", "n.safetensors"];
        folder.run(&[&fit[..], others].concat())
    };
    fit(&["--data", "d"]).failed(REFUSED, &["moves"]);
    fit(&[]).failed(USAGE, &["--data"]);
    for others in [
        ["--wdl", "0.5"],
        ["--buckets", "8"],
        ["--hidden", "64,32"],
        ["--init", "p.safetensors"],
        ["--device", "vulkan"],
    ] {
        let said = fit(&[&["--data", "m"], &others[..]].concat());
        said.failed(USAGE, &[others[0]]);
    }
    let value = ["fit", "--data", "m", "--out", "n.safetensors"];
    folder.run(&value).failed(REFUSED, &["moves"]);
    assert!(!folder.path("n.safetensors").exists());
}
