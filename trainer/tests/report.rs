//! Tests of the live page, the final page, and `trainer report`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use datasets::{Builder, Filters};
use serde_json::Value;
use test_support::send_signal;

/// Creates a folder with the dataset `d`, built from a sample of the repository.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/samples");
    let sources = [samples.join("dump_2021-10_first499.pgn.zst")];
    let filters = Filters::default();
    let path = folder.path().join("d");
    let mut builder = Builder::open(&path, filters.clone(), &sources).unwrap();
    let reading = builder.open_source(&sources[0]).unwrap();
    let finished = reading.run(&filters, 1, |batch| builder.add(batch));
    builder.end_source("sample", finished.unwrap());
    builder.finish().unwrap();
    folder
}

fn trainer(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trainer"));
    command.current_dir(folder).args(arguments);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    trainer(folder, arguments).output().unwrap()
}

fn fit(net: &str, options: &[&'static str]) -> Vec<String> {
    let fixed = ["fit", "--device", "cpu", "--data", "d", "--out", net];
    let small = ["--hidden", "16,8,8", "--batch", "64"];
    let all = fixed.iter().chain(&small).chain(options);
    all.map(ToString::to_string).collect()
}

fn run_fit(folder: &Path, net: &str, options: &[&'static str]) -> Output {
    let arguments = fit(net, options);
    let arguments: Vec<&str> = arguments.iter().map(|text| &text[..]).collect();
    run(folder, &arguments)
}

fn start_fit(folder: &Path, net: &str, options: &[&'static str]) -> Child {
    let arguments = fit(net, options);
    let arguments: Vec<&str> = arguments.iter().map(|text| &text[..]).collect();
    let mut command = trainer(folder, &arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

const REFRESH: &str = "http-equiv=\"refresh\"";

/// Waits until the page has all `parts`.
fn page_with(path: &Path, parts: &[&str]) -> String {
    let began = Instant::now();
    loop {
        let page = fs::read_to_string(path).unwrap_or_default();
        // Readers never see a partial page.
        assert!(page.is_empty() || page.trim_end().ends_with("</html>"));
        if parts.iter().all(|part| page.contains(part)) {
            return page;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{parts:?}: {page}"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// More epochs than can end before a signal comes.
const LONG: [&str; 4] = ["--epochs", "5000", "--checkpoint-minutes", "0.001"];

fn steps(path: &Path) -> Vec<Value> {
    lines(&path.with_extension("steps.jsonl"))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn sum(lines: &[Value], name: &str) -> u64 {
    lines.iter().map(|line| line[name].as_u64().unwrap()).sum()
}

#[test]
fn live_page_shows_progress_and_the_end() {
    let folder = folder();
    let page = folder.path().join("n.report.html");
    let mut child = start_fit(folder.path(), "n.safetensors", &LONG);
    // The curve appears soon, even in a long epoch.
    let live = page_with(&page, &["Loss by step", "<polyline", "Waiting for data"]);
    assert!(live.contains(REFRESH) && live.contains(" of 5000"));
    for reference in ["src=", "href=", "url(", "@import"] {
        assert!(!live.contains(reference), "{reference:?} is in the page");
    }

    // A killed program leaves no notice. The next run resumes at its checkpoint, and the curve is
    // complete.
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = [&LONG[..], &["--resume"]].concat();
    fs::remove_file(&page).unwrap();
    let mut child = start_fit(folder.path(), "n.safetensors", &resumed);
    page_with(&page, &[REFRESH, "<polyline"]);
    send_signal("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let ended = fs::read_to_string(&page).unwrap();
    assert!(!ended.contains(REFRESH) && !ended.contains("<script"));
    assert!(
        ended.contains("has ended</b>: interrupted") && ended.contains("--resume"),
        "{ended}"
    );
    let steps = steps(&folder.path().join("n.safetensors"));
    let last = steps.last().unwrap()["step"].as_u64().unwrap();
    assert_eq!(sum(&steps, "steps"), last);
}

#[test]
fn page_of_a_diverged_run_says_so() {
    let folder = folder();
    let said = run_fit(
        folder.path(),
        "n.safetensors",
        &["--epochs", "1", "--learning-rate", "1e30"],
    );
    assert_eq!(said.status.code(), Some(9));
    let page = fs::read_to_string(folder.path().join("n.report.html")).unwrap();
    assert!(page.contains("has ended</b>: training diverged") && page.contains("n.diverged.txt"));
    assert!(!page.contains(REFRESH));
}

/// Returns the net of a finished run, after checking that its page is the report.
fn ended(folder: &Path, name: &str, options: &[&'static str]) -> PathBuf {
    let net = format!("{name}.safetensors");
    let said = run_fit(folder, &net, options);
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let page = fs::read_to_string(folder.join(format!("{name}.report.html"))).unwrap();
    assert!(page.contains("Where it is most wrong") && page.contains("Loss by step"));
    assert!(!page.contains(REFRESH) && !page.contains("<script"));
    folder.join(net)
}

#[test]
fn report_compares_runs() {
    let folder = folder();
    let folder = folder.path();
    let a = ended(folder, "a", &["--epochs", "2"]);
    let b = ended(folder, "b", &["--epochs", "3", "--seed", "7"]);
    let arguments = [
        "report",
        "a.safetensors",
        "b.metrics.jsonl",
        "--out",
        "runs.html",
        "--plot",
        "runs.svg",
    ];
    let said = run(folder, &[&arguments[..], &["--json"]].concat());
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let found: Value = serde_json::from_slice(&said.stdout).unwrap();
    for (index, net) in [&a, &b].into_iter().enumerate() {
        let epochs = lines(&net.with_extension("metrics.jsonl"));
        let winchance = |line: &Value| line["validation"]["net"]["winchance"].as_f64().unwrap();
        let best = epochs
            .iter()
            .min_by(|a, b| winchance(a).total_cmp(&winchance(b)));
        let (best, last) = (best.unwrap(), epochs.last().unwrap());
        let run = &found["runs"][index];
        assert_eq!(run["epochs"], epochs.len());
        for (figures, line) in [(&run["best"], best), (&run["last"], last)] {
            for name in ["epoch", "train_loss"] {
                assert_eq!(figures[name], line[name]);
            }
            assert_eq!(figures["loss"], line["validation"]["loss"]);
            for name in ["winchance", "clamp10", "sign_accuracy"] {
                assert_eq!(figures[name], line["validation"]["net"][name]);
            }
        }
        let steps = steps(net);
        assert_eq!(run["positions"], sum(&steps, "positions"));
        let losses = steps
            .iter()
            .map(|each| each["train_loss"].as_f64().unwrap() * each["positions"].as_f64().unwrap());
        let mean = losses.sum::<f64>() / sum(&steps, "positions") as f64;
        let losses = epochs
            .iter()
            .map(|line| line["train_loss"].as_f64().unwrap());
        let expected = losses.sum::<f64>() / epochs.len() as f64;
        assert!((mean - expected).abs() < 1e-6, "{mean} and {expected}");
    }
    let differences = found["differences"].as_array().unwrap();
    let keys: Vec<&str> = differences
        .iter()
        .map(|each| each["key"].as_str().unwrap())
        .collect();
    assert_eq!(
        keys,
        ["training epochs", "training seed", "training warm_up_steps"]
    );
    assert_eq!(differences[0]["values"], serde_json::json!([2, 3]));
    let page = fs::read_to_string(folder.join("runs.html")).unwrap();
    assert!(page.contains("Held-out loss by epoch") && !page.contains(REFRESH));
    let svg = fs::read_to_string(folder.join("runs.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));

    let refused = |runs: &[&str], code: i32, words: &[&str]| {
        let said = run(folder, &[&["report"], runs].concat());
        let text = String::from_utf8_lossy(&said.stderr);
        assert_eq!(said.status.code(), Some(code), "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    refused(
        &["a.safetensors", "missing.safetensors"],
        3,
        &["missing.safetensors"],
    );
    refused(
        &["missing.metrics.jsonl"],
        3,
        &["missing.metrics.jsonl", "check the path"],
    );
    refused(
        &["a.golden.json"],
        4,
        &["a.golden.json", "line 1", "NAME.metrics.jsonl"],
    );
    fs::write(folder.join("none.metrics.jsonl"), "").unwrap();
    refused(&["none.metrics.jsonl"], 4, &["no epoch has ended yet"]);
    fs::copy(&a, folder.join("c.safetensors")).unwrap();
    fs::copy(
        b.with_extension("metrics.jsonl"),
        folder.join("c.metrics.jsonl"),
    )
    .unwrap();
    refused(
        &["c.safetensors"],
        4,
        &["c.metrics.jsonl", "not of the net"],
    );
    refused(&["a.safetensors"; 13], 2, &["12 at most"]);
    refused(
        &["a.safetensors", "--out", "no/runs.html"],
        7,
        &["no/runs.html"],
    );
}
