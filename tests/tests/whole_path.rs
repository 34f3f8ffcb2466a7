//! The whole path over real processes: from a dump to an engine that plays.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use models::{Metadata, Network};
use serde_json::Value;
use tests::{Said, build, program, run, sample, skip};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const REBUILT: &str = "rebuilt_2026-06_blitz676.pgn.zst";
const UNSEEN: &str = "dump_2021-10_first499.pgn.zst";

fn fit(dataset: &Path, net: &Path, arguments: &[&str]) -> Said {
    let mut command = program("trainer");
    command
        .args(["fit", "--device", "cpu", "--data"])
        .arg(dataset)
        .arg("--out")
        .arg(net);
    run(command.args(arguments))
}

/// Sends commands to the engine over its pipes; returns its output.
fn uci(commands: &str) -> Said {
    let mut engine = program("engine");
    let mut child = engine
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(commands.as_bytes())
        .unwrap();
    Said::from(child.wait_with_output().unwrap())
}

#[test]
fn a_dump_becomes_an_engine_that_plays() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, net) = (path("june.dataset"), path("june.safetensors"));
    build(&[&sample(JUNE)], &dataset).succeeded();
    let small = ["--hidden", "64,32,32", "--epochs", "6", "--seed", "5"];
    fit(&dataset, &net, &small).succeeded();

    // The file records how it was made.
    let bytes = std::fs::read(&net).unwrap();
    let (network, metadata) = Network::from_bytes(&bytes).unwrap();
    assert_eq!(metadata.layout, "kibitz-902-v2");
    assert_eq!(network.architecture().first, 64);
    assert_eq!(metadata.training["seed"], 5);
    let fingerprint = tests::stats(&dataset)["fingerprint"].clone();
    assert_eq!(metadata.dataset["fingerprint"], fingerprint);
    assert_eq!(metadata.target["name"], "winchance");

    // The net learned: it is clearly better than chance on games of another year.
    let mut eval = program("trainer");
    eval.args(["eval", "--json", "--net"])
        .arg(&net)
        .arg("--pgn")
        .arg(sample(UNSEEN));
    let report: Value = serde_json::from_str(&run(&mut eval).succeeded().out).unwrap();
    let accuracy = report["net"]["sign_accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.6, "{report}");
    assert_eq!(report["net"]["count"], 2412);

    // The engine's inputs and outputs equal the trainer's.
    let (distance, positions) = tests::golden::largest_distance(&net).unwrap();
    assert!(positions >= 32);
    assert!(distance <= 1e-4, "{distance}");

    // The engine plays with the net.
    let commands = format!(
        "setoption name EvalFile value {}\nposition startpos moves e2e4\ngo depth 4\n",
        net.display()
    );
    let said = uci(&commands).succeeded();
    assert!(!said.out.contains("refused"), "{}", said.out);
    let best = said.out.lines().last().unwrap();
    let mv = best
        .strip_prefix("bestmove ")
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    let position =
        engine::Position::from_fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    assert!(
        engine::parse_move(position.unwrap().board(), mv).is_ok(),
        "{best}"
    );
}

#[test]
fn the_same_seed_gives_the_same_net_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(UNSEEN)], &path("d")).succeeded();
    let small = ["--hidden", "32,16,16", "--epochs", "2"];
    for net in ["a.safetensors", "b.safetensors"] {
        fit(&path("d"), &path(net), &small).succeeded();
    }
    let other = [&small[..], &["--seed", "2"]].concat();
    fit(&path("d"), &path("c.safetensors"), &other).succeeded();
    let bytes = |name: &str| std::fs::read(path(name)).unwrap();
    assert!(bytes("a.safetensors") == bytes("b.safetensors"));
    assert!(bytes("a.safetensors") != bytes("c.safetensors"));
}

#[test]
fn the_recipe_of_the_article_trains_its_network() {
    let folder = tempfile::tempdir().unwrap();
    let (dataset, net) = (folder.path().join("d"), folder.path().join("a.safetensors"));
    build(&[&sample(UNSEEN)], &dataset).succeeded();
    let recipe = tests::root().join("models/recipes/article.toml");
    let recipe = recipe.display().to_string();
    fit(&dataset, &net, &["--recipe", &recipe, "--epochs", "1"]).succeeded();
    let bytes = std::fs::read(&net).unwrap();
    let (network, metadata) = Network::from_bytes(&bytes).unwrap();
    assert_eq!(network.architecture(), models::Architecture::ARTICLE);
    assert_eq!(metadata.training["filter"], Value::Null);
}

#[test]
fn training_goes_on_from_a_net() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(UNSEEN)], &path("d")).succeeded();
    fit(
        &path("d"),
        &path("a.safetensors"),
        &["--hidden", "32,16,16", "--epochs", "1"],
    )
    .succeeded();
    let init = path("a.safetensors").display().to_string();
    fit(
        &path("d"),
        &path("b.safetensors"),
        &["--init", &init, "--epochs", "1"],
    )
    .succeeded();
    let (network, _) = Network::from_bytes(&std::fs::read(path("b.safetensors")).unwrap()).unwrap();
    assert_eq!(
        network.architecture().first,
        32,
        "the shape is the starting net's"
    );
}

/// The figures stored in the shipped tables, measured again on a dataset of samples in the
/// repository.
#[test]
fn stored_figures_of_the_shipped_tables_are_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("lichess.dataset");
    let samples = [JUNE, REBUILT, "dump_2013-02_rewritten2551.pgn.zst"];
    let mut ingest = program("ingest");
    ingest.arg("build").args(samples.map(sample));
    ingest.args(["--validation-percent", "2", "--out"]);
    run(ingest.arg(&dataset)).succeeded();
    let (net, metadata) = shipped("linear");
    let stored = &metadata.validation;
    let fingerprint = &tests::stats(&dataset)["fingerprint"];
    assert_eq!(&stored["dataset"]["fingerprint"], fingerprint);
    let mut eval = program("trainer");
    eval.args(["eval", "--json", "--net"]).arg(&net);
    let said = run(eval.arg("--data").arg(&dataset)).succeeded();
    let measured: Value = serde_json::from_str(&said.out).unwrap();
    for side in ["net", "material"] {
        assert_eq!(measured[side]["count"], stored[side]["count"]);
        for figure in ["winchance", "clamp10", "sign_accuracy"] {
            let of = |figures: &Value| figures[side][figure].as_f64().unwrap();
            let apart = (of(&measured) - of(stored)).abs();
            assert!(apart < 1e-6, "{figure} of {side} is {apart} off");
        }
    }
}

/// A repeated calibration on the recorded files finds nothing to change.
#[test]
fn the_shipped_net_has_the_pawns_of_its_calibration() {
    let folder = tempfile::tempdir().unwrap();
    let (net, metadata) = shipped("default");
    let stored = &metadata.training["calibration"];
    assert_eq!(stored["files"], serde_json::json!([JUNE, REBUILT]));
    let mut calibrate = program("trainer");
    calibrate.args(["calibrate", "--json", "--net"]).arg(&net);
    calibrate.arg("--pgn").args([JUNE, REBUILT].map(sample));
    calibrate
        .arg("--out")
        .arg(folder.path().join("n.safetensors"));
    let said = run(&mut calibrate).succeeded();
    let measured: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(measured["before"]["count"], stored["positions"]);
    // Factors are tried in steps of a fiftieth of an octave.
    let factor = measured["factor"].as_f64().unwrap();
    assert!((factor - 1.0).abs() < 0.03, "{factor}");
}

/// Returns the path and metadata of a net in the repository.
fn shipped(name: &str) -> (PathBuf, Metadata) {
    let net = tests::root().join(format!("models/{name}.safetensors"));
    let (_, metadata) = Network::from_bytes(&std::fs::read(&net).unwrap()).unwrap();
    (net, metadata)
}

/// `--device cuda` without a GPU is refused with advice.
#[test]
fn cuda_without_a_gpu_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(UNSEEN)], &path("d")).succeeded();
    let mut command = program("trainer");
    command.args([
        "fit", "--device", "cuda", "--epochs", "1", "--hidden", "32,16,16", "--data",
    ]);
    let said = run(command
        .arg(path("d"))
        .arg("--out")
        .arg(path("n.safetensors")));
    if said.code == Some(0) {
        skip("a GPU that is missing: this machine has one");
    } else {
        said.failed(8, &["cuda", "--device cpu"]);
    }
}

/// The run fails at the end, in one line.
#[test]
fn a_net_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(UNSEEN)], &path("d")).succeeded();
    let arguments = ["--hidden", "32,16,16", "--epochs", "1"];
    fit(
        &path("d"),
        &path("no/such/folder/n.safetensors"),
        &arguments,
    )
    .failed(7, &["no/such/folder"]);
}

#[test]
fn every_program_has_completions_and_man_pages() {
    let folder = tempfile::tempdir().unwrap();
    for (name, command) in [
        ("ingest", "build"),
        ("trainer", "fit"),
        ("arena", "match"),
        ("engine", "bench"),
    ] {
        for shell in ["bash", "zsh", "fish"] {
            let said = run(program(name).args(["completions", shell])).succeeded();
            let names = [name, command].map(|word| said.out.contains(word));
            assert_eq!(names, [true; 2], "{name}, {shell}: {}", said.out);
        }
        let pages = folder.path().join("man1");
        run(program(name).args(["man", "--out"]).arg(&pages)).succeeded();
        for (page, title) in [
            (format!("{name}.1"), name.to_string()),
            (format!("{name}-{command}.1"), format!("{name}\\-{command}")),
        ] {
            let text = std::fs::read_to_string(pages.join(&page)).unwrap();
            assert!(
                text.contains(&format!(".SH NAME\n{title} ")),
                "{page}: {text}"
            );
        }
    }
    let said = run(program("ingest").args(["completions", "tcsh"]));
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("bash"), "{}", said.err);
}
