//! Training on a GPU, or on software where there is none: runs reach the CPU's figures, resume
//! after a kill, and fail like CPU runs.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::skip;
use tests::exit::{DIVERGED, NO_DEVICE};
use tests::training::TrainingFolder;
use tests::{Said, run};

const SAMPLE: &str = "dump_2021-10_first499.pgn.zst";

/// Net and run small enough for software rendering.
const SMALL: [&str; 8] = [
    "--hidden", "32,16,16", "--epochs", "2", "--batch", "256", "--data", "d",
];

/// Returns the testable GPUs by `--device` name, one per interface.
fn gpus(folder: &TrainingFolder) -> Vec<String> {
    let said = folder.run(&["devices", "--json"]).succeeded();
    let listed: Value = serde_json::from_str(&said.out).expect("JSON");
    let devices = listed["devices"].as_array().expect("a list").iter();
    let names = devices.map(|device| device["device"].as_str().expect("a name"));
    let gpus: Vec<String> = names
        .filter(|name| name.ends_with(":0"))
        .map(str::to_string)
        .collect();
    if gpus.is_empty() {
        skip("no GPU, and no software that stands in for one");
    }
    gpus
}

fn command(folder: &TrainingFolder, device: &str, net: &str, options: &[&str]) -> Command {
    let fit = ["fit", "--device", device, "--out", net];
    folder.trainer(&[&fit, &SMALL[..], options].concat())
}

fn fit(folder: &TrainingFolder, device: &str, net: &str, options: &[&str]) -> Said {
    run(&mut command(folder, device, net, options))
}

/// Returns the held-out win-chance error of a run.
fn winchance(said: &Said) -> f64 {
    let summary: Value = serde_json::from_str(&said.out).expect("JSON");
    summary["validation"]["net"]["winchance"]
        .as_f64()
        .expect("games are held out")
}

#[test]
fn trains_as_well_as_the_cpu_and_resumes_after_a_kill() {
    let folder = TrainingFolder::new(SAMPLE);
    let gpus = gpus(&folder);
    // Scatter between seeds on the CPU.
    let seeds: Vec<f64> = ["1", "2", "3", "4", "5"]
        .map(|seed| {
            let net = format!("cpu{seed}.safetensors");
            let said = fit(&folder, "cpu", &net, &["--json", "--seed", seed]);
            winchance(&said.succeeded())
        })
        .to_vec();
    let most = seeds.iter().copied().fold(f64::MIN, f64::max);
    let least = seeds.iter().copied().fold(f64::MAX, f64::min);
    for (number, gpu) in gpus.iter().enumerate() {
        let quiet = format!("quiet{number}.safetensors");
        let said = fit(&folder, gpu, &quiet, &["--json"]).succeeded();
        let found = winchance(&said);
        // The seed is the same, so only rounding differs.
        let apart = (found - seeds[0]).abs();
        assert!(
            apart < most - least,
            "{gpu}: {found}, on the processor {seeds:?}"
        );

        // A run killed within an epoch resumes to the same net.
        let net = format!("killed{number}.safetensors");
        let options = ["--resume", "--checkpoint-minutes", "0.0001"];
        let mut child = command(&folder, gpu, &net, &options)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the trainer starts");
        let checkpoint = folder.path(&net).with_extension("checkpoint");
        let written = || {
            fs::metadata(&checkpoint)
                .and_then(|file| file.modified())
                .ok()
        };
        // Wait for the initial checkpoint and for that of a step.
        let began = Instant::now();
        for _ in 0..2 {
            let before = written();
            while written() == before && began.elapsed() < Duration::from_secs(120) {
                thread::sleep(Duration::from_millis(5));
            }
        }
        assert!(
            child.try_wait().expect("a state").is_none(),
            "{gpu} was at work"
        );
        child.kill().expect("it is killed");
        child.wait().expect("it has ended");
        let said = fit(&folder, gpu, &net, &["--json", "--resume"]).succeeded();
        assert!(said.err.contains("going on in epoch"), "{}", said.err);
        let resumed = winchance(&said);
        let apart = (resumed - found).abs();
        assert!(
            apart < 1e-4,
            "{gpu}: {resumed} after a kill, {found} without"
        );
    }
}

#[test]
fn reports_divergence() {
    let folder = TrainingFolder::new(SAMPLE);
    for gpu in gpus(&folder) {
        let options = ["--learning-rate", "1e30"];
        fit(&folder, &gpu, "n.safetensors", &options)
            .failed(DIVERGED, &["diverged", "n.diverged.txt", "--learning-rate"]);
    }
}

#[test]
fn a_missing_device_is_an_error() {
    let folder = TrainingFolder::new(SAMPLE);
    for device in ["cuda:99", "vulkan:99"] {
        fit(&folder, device, "n.safetensors", &[]).failed(NO_DEVICE, &["no device", device]);
    }
}
