//! `trainer forecast` on real games: figures, refusals, interruption.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;
use test_support::send_signal;
use tests::Said;
use tests::exit::{CANNOT_WRITE, REFUSED, USAGE};
use tests::training::TrainingFolder;

const SAMPLE: &str = "dump_2026-06_annotated500.pgn.zst";
/// A dump with 46 annotated games.
const TINY: &str = "dump_2021-10_first499.pgn.zst";

const FORECAST: [&str; 5] = ["forecast", "--device", "cpu", "--data", "d"];

/// Small nets and batches, so that an eighth of the sample takes 300 steps and learns more than
/// material.
const SMALL: [&str; 10] = [
    "--hidden", "64", "--batch", "32", "--epochs", "3", "--lr", "0.01", "--keep", "all",
];

fn forecast(folder: &TrainingFolder, arguments: &[&str]) -> Said {
    folder.run(&[&FORECAST, arguments].concat())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn forecasts_from_nested_samples_of_real_games() {
    let folder = TrainingFolder::new(SAMPLE);
    let outputs = ["--out", "f.json", "--plot", "f.svg", "--json"];
    let said = forecast(&folder, &[&SMALL[..], &outputs].concat()).succeeded();
    let found = parsed(&said.out);
    assert_eq!(
        found,
        parsed(&fs::read_to_string(folder.path("f.json")).unwrap())
    );
    let svg = fs::read_to_string(folder.path("f.svg")).unwrap();
    assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{svg}");

    // Two seeds of an eighth, and of three widths of it; a quarter and a half.
    let fits = found["fits"].as_array().unwrap();
    assert_eq!(fits.len(), 2 * 4 + 2);
    let positions = found["positions"].as_u64().unwrap() as f64;
    for fit in fits {
        let number = |name: &str| fit[name].as_f64().unwrap();
        let share = number("positions") / positions;
        assert!((share - number("data")).abs() < 0.02, "{fit}");
        assert!(number("loss") > 0.0 && number("loss") < 1.0, "{fit}");
    }
    assert!(found["material"].is_f64() && found["noise"]["deviation"].is_f64());
    let loss = |value: &Value| value["value"].as_f64().unwrap();
    let now = loss(&found["now"]);
    for (doubled, axis) in found["doubled"]
        .as_array()
        .unwrap()
        .iter()
        .zip(["data", "width"])
    {
        assert_eq!(doubled["axis"], axis);
        assert!(loss(&doubled["loss"]) <= now, "{doubled}");
    }
    // An eighth has too few steps in a single epoch.
    let epochs = found["doubled"][2]["unknown"].as_str().unwrap();
    assert!(epochs.contains("steps"), "{epochs}");
    for words in [
        "10 short fits",
        "fit 10 of 10: 1/2 of the data",
        "all fits ETA ",
    ] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }

    // Figures are replaced only on request, and pictures only by pictures.
    let said = forecast(&folder, &["--out", "f.json"]);
    said.failed(REFUSED, &["f.json", "--force"]);
    fs::write(folder.path("n.svg"), "a net").unwrap();
    forecast(&folder, &["--plot", "n.svg"]).failed(REFUSED, &["n.svg"]);
}

#[test]
fn cannot_tell_on_a_tiny_dataset() {
    let folder = TrainingFolder::new(TINY);
    let said = forecast(&folder, &["--plot", "f.svg"]).succeeded();
    let verdict = "cannot tell what would pay next\n";
    assert!(said.out.ends_with(verdict), "{}", said.out);
    assert!(said.out.contains("steps on an eighth"), "{}", said.out);
    assert!(folder.path("f.svg").exists());
}

#[test]
fn refuses_what_it_cannot_forecast() {
    let folder = TrainingFolder::new(TINY);
    let net = tests::root().join("models/default.safetensors");
    let net = net.display().to_string();
    forecast(&folder, &["--init", &net]).failed(USAGE, &["--init"]);
    forecast(&folder, &["--out", "no/f.json"]).failed(CANNOT_WRITE, &["no/f.json"]);
    let seeds = forecast(&folder, &["--seeds", "0"]);
    assert_eq!(seeds.code, Some(USAGE), "{}", seeds.err);
    folder.run(&["forecast"]).failed(USAGE, &["--data"]);
}

#[test]
fn a_signal_ends_it_without_files() {
    let folder = TrainingFolder::new(SAMPLE);
    let many = ["--hidden", "16,8,8", "--epochs", "200", "--out", "f.json"];
    let mut command = folder.trainer(&[&FORECAST[..], &many].concat());
    // The fits' own files go there.
    fs::create_dir(folder.path("tmp")).unwrap();
    command.env("TMPDIR", folder.path("tmp"));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut progress = BufReader::new(child.stderr.take().unwrap()).lines();
    // Signals are handled from the first fit on.
    let first = progress.find(|line| line.as_ref().unwrap().starts_with("training "));
    assert!(first.is_some());
    send_signal("INT", &child);
    let rest: Vec<String> = progress.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(
        rest.last().unwrap().contains("no file was written"),
        "{rest:?}"
    );
    assert_eq!(fs::read_dir(folder.path("tmp")).unwrap().count(), 0);
    assert!(!folder.path("f.json").exists());
}
