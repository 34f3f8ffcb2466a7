//! Training on a GPU by the program itself, in software where there is none: a run
//! ends as one on the processor does, however it is interrupted, and fails as one.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::skip;
use tests::training::TrainingFolder;
use tests::{Said, run};

const SAMPLE: &str = "dump_2021-10_first499.pgn.zst";

const NO_DEVICE: i32 = 8;
const DIVERGED: i32 = 9;

/// A net and a run that software can train.
const SMALL: [&str; 8] = [
    "--hidden", "32,16,16", "--epochs", "2", "--batch", "256", "--data", "d",
];

/// What `--device` calls the GPUs that can be tested here, one of each interface.
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

/// The held-out win-chance error of a run.
fn winchance(said: &Said) -> f64 {
    let summary: Value = serde_json::from_str(&said.out).expect("JSON");
    summary["validation"]["net"]["winchance"]
        .as_f64()
        .expect("games are held out")
}

#[test]
fn a_run_reaches_the_processors_figures_and_goes_on_after_a_kill() {
    let folder = TrainingFolder::new(SAMPLE);
    let gpus = gpus(&folder);
    // How far seeds scatter on the processor.
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
        // The same seed: rounding alone sets it apart.
        let apart = (found - seeds[0]).abs();
        assert!(
            apart < most - least,
            "{gpu}: {found}, on the processor {seeds:?}"
        );

        // Killed within an epoch, it goes on to the same net.
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
        // The one it begins with, and that of a step.
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
fn a_run_that_diverges_says_so() {
    let folder = TrainingFolder::new(SAMPLE);
    for gpu in gpus(&folder) {
        let options = ["--learning-rate", "1e30"];
        fit(&folder, &gpu, "n.safetensors", &options)
            .failed(DIVERGED, &["diverged", "n.diverged.txt", "--learning-rate"]);
    }
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let folder = TrainingFolder::new(SAMPLE);
    for device in ["cuda:99", "vulkan:99"] {
        fit(&folder, device, "n.safetensors", &[]).failed(NO_DEVICE, &["no device", device]);
    }
}
