//! Interrupted training runs end as undisturbed ones.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use test_support::send_signal;
use tests::exit::{CANNOT_WRITE, DIVERGED, NET_REFUSED, REFUSED, USAGE};
use tests::training::TrainingFolder;
use tests::{Said, build, first_games, run, sample, text_of};

const SAMPLE: &str = "dump_2021-10_first499.pgn.zst";

/// Some hundred steps, with a checkpoint after nearly each.
const SMALL: [&str; 10] = [
    "--hidden",
    "32,16,16",
    "--epochs",
    "4",
    "--batch",
    "64",
    "--checkpoint-minutes",
    "0.0001",
    "--seed",
    "3",
];

/// Returns a `trainer fit` command without output.
fn command(folder: &TrainingFolder, net: &str, arguments: &[&str]) -> Command {
    let fit = ["fit", "--device", "cpu", "--data", "d", "--out", net];
    let mut command = folder.trainer(&[&fit, arguments].concat());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn fit(folder: &TrainingFolder, net: &str, arguments: &[&str]) -> Said {
    let mut command = command(folder, net, arguments);
    run(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

/// Waits until the run has taken a step and `longer` has passed, or until it ended.
fn wait_for_a_step(run: &mut Child, net: &Path, longer: Duration) {
    let checkpoint = net.with_extension("checkpoint");
    let written = || {
        fs::metadata(&checkpoint)
            .and_then(|file| file.modified())
            .ok()
    };
    let first = written();
    while written() == first && run.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(longer);
}

fn resumed<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &["--resume"]].concat()
}

/// Returns the metrics without timings.
fn metrics(net: &Path) -> Vec<Value> {
    let text = fs::read_to_string(net.with_extension("metrics.jsonl")).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for line in &mut lines {
        let entry = line.as_object_mut().unwrap();
        for time in ["samples_per_second", "waiting_seconds", "computing_seconds"] {
            entry.remove(time).expect("every epoch has its times");
        }
    }
    lines
}

/// Returns everything that two equal runs have in common.
fn results(net: &Path) -> (Vec<u8>, Vec<u8>, Vec<u8>, Vec<Value>) {
    let bytes = |path: &Path| fs::read(path).unwrap();
    (
        bytes(net),
        bytes(&net.with_extension("golden.json")),
        bytes(&net.with_extension("svg")),
        metrics(net),
    )
}

#[test]
fn a_killed_run_ends_as_an_undisturbed_one() {
    let folder = TrainingFolder::new(SAMPLE);
    fit(&folder, "quiet.safetensors", &SMALL).succeeded();
    let quiet = results(&folder.path("quiet.safetensors"));
    assert_eq!(quiet.3.len(), 4);

    let net = "killed.safetensors";
    let (mut kills, mut delays) = (0, [0, 3, 40, 150, 11, 90, 25, 5].into_iter().cycle());
    while kills < 3 {
        let mut child = command(&folder, net, &resumed(&SMALL)).spawn().unwrap();
        let delay = delays.next().expect("a cycle");
        wait_for_a_step(&mut child, &folder.path(net), Duration::from_millis(delay));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        // Start over if a run finishes before its kill.
        kills = if ended { 0 } else { kills + 1 };
        if ended {
            remove_run(&folder.path(net));
        }
    }
    let said = fit(&folder, net, &resumed(&SMALL)).succeeded();
    assert!(said.err.contains("going on in epoch"), "{}", said.err);
    let killed = results(&folder.path(net));
    assert!(killed.0 == quiet.0, "the nets differ after {kills} kills");
    assert!(killed.1 == quiet.1, "the golden vectors differ");
    assert!(killed.2 == quiet.2, "the curves differ");
    assert_eq!(killed.3, quiet.3, "the metrics");

    // A repeated run has nothing to do and changes nothing.
    let said = fit(&folder, net, &resumed(&[&SMALL[..], &["--json"]].concat())).succeeded();
    assert!(said.err.contains("has ended already"), "{}", said.err);
    let summary: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(summary["epochs"], 4);
    assert!(results(&folder.path(net)) == killed);
}

/// Ctrl-C, termination by a scheduler or `docker stop`, a closed terminal.
#[test]
fn a_signal_stops_a_run_between_two_steps_and_it_says_how_to_go_on() {
    let folder = TrainingFolder::new(SAMPLE);
    // Checkpoints only at the start and at epochs.
    let rare = [
        &SMALL[..2],
        &["--epochs", "12", "--batch", "64", "--seed", "3"],
    ]
    .concat();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let net = format!("{signal}.safetensors");
        let trainer = command(&folder, &net, &rare);
        // The tests may run with signals ignored.
        let mut command = Command::new("env");
        command.current_dir(folder.path(""));
        command.arg("--default-signal").arg(trainer.get_program());
        command.args(trainer.get_args()).stdout(Stdio::null());
        command.stderr(Stdio::piped());
        let said = loop {
            let mut child = command.spawn().unwrap();
            wait_for_a_step(&mut child, &folder.path(&net), Duration::from_millis(20));
            send_signal(signal, &child);
            let said = Said::from(child.wait_with_output().unwrap());
            if said.code != Some(0) {
                break said;
            }
            // The run finished before the signal: start over.
            remove_run(&folder.path(&net));
        };
        said.failed(code, &["--resume", &format!("{signal}.checkpoint")]);
        let said = fit(&folder, &net, &resumed(&rare)).succeeded();
        assert!(said.err.contains("going on in epoch"), "{}", said.err);
    }
    fit(&folder, "quiet.safetensors", &rare).succeeded();
    let quiet = results(&folder.path("quiet.safetensors"));
    for signal in ["INT", "TERM", "HUP"] {
        let net = folder.path(&format!("{signal}.safetensors"));
        assert!(results(&net) == quiet, "{signal}");
    }
}

#[test]
fn nets_and_checkpoints_are_not_written_over_and_other_runs_are_refused() {
    let folder = TrainingFolder::new(SAMPLE);
    let one = ["--hidden", "16,8,8", "--epochs", "1"];
    let said = fit(&folder, "n.safetensors", &resumed(&one)).succeeded();
    assert!(said.err.contains("no checkpoint"), "{}", said.err);
    let before = results(&folder.path("n.safetensors"));
    let refused = |arguments: &[&str], words: &[&str]| {
        fit(&folder, "n.safetensors", arguments).failed(REFUSED, words);
    };
    refused(&one, &["n.safetensors", "exists already", "--resume"]);
    refused(
        &[&one[..], &["--wdl", "0.5", "--resume"]].concat(),
        &["n.checkpoint", "--wdl was [0.0,0.0], now is [0.5,0.5]"],
    );
    refused(
        &["--hidden", "16,8,4", "--epochs", "1", "--resume"],
        &["n.checkpoint", "--hidden was 16,8,8, now is 16,8,4"],
    );
    let checkpoint = folder.path("n.checkpoint");
    let bytes = fs::read(&checkpoint).unwrap();
    for cut in [0, 100, bytes.len() - 1] {
        fs::write(&checkpoint, &bytes[..cut]).unwrap();
        refused(&resumed(&one), &["n.checkpoint", "cannot go on from it"]);
    }
    for at in [3, 30, 1000, bytes.len() / 2, bytes.len() - 1] {
        let mut flipped = bytes.clone();
        flipped[at] ^= 4;
        fs::write(&checkpoint, &flipped).unwrap();
        refused(&resumed(&one), &["n.checkpoint", "cannot go on from it"]);
    }
    fs::remove_file(&checkpoint).unwrap();
    refused(&resumed(&one), &["n.safetensors", "exists already"]);
    assert!(results(&folder.path("n.safetensors")) == before);

    // Files of another net, or of none, are not replaced either.
    let net = fs::read(folder.path("n.safetensors")).unwrap();
    fs::remove_file(folder.path("n.safetensors")).unwrap();
    let course = fs::read(folder.path("n.metrics.jsonl")).unwrap();
    refused(&one, &["n.metrics.jsonl", "exists already"]);
    assert!(fs::read(folder.path("n.metrics.jsonl")).unwrap() == course);
    fs::write(folder.path("n.safetensors"), net).unwrap();

    // Another dataset.
    fs::write(&checkpoint, &bytes).unwrap();
    let more = sample("dump_2026-06_annotated500.pgn.zst");
    build(&[&more], &folder.path("d")).succeeded();
    refused(&resumed(&one), &["n.checkpoint", "was", "now is"]);
}

#[test]
fn a_run_that_diverges_saves_the_batch_and_the_checkpoint_before() {
    let folder = TrainingFolder::new(SAMPLE);
    let arguments = [
        "--hidden",
        "16,8,8",
        "--epochs",
        "1",
        "--learning-rate",
        "1e30",
        "--batch",
        "64",
        "--keep",
        "all",
    ];
    let said = fit(&folder, "n.safetensors", &arguments)
        .failed(DIVERGED, &["diverged", "n.diverged.txt", "--learning-rate"]);
    assert!(!folder.path("n.safetensors").exists(), "{}", said.err);
    assert!(folder.path("n.checkpoint").exists());

    // The saved batch is readable, and the one that the message names.
    let step: usize = {
        let (_, behind) = said.err.split_once("at step ").unwrap();
        behind.split(' ').next().unwrap().parse().unwrap()
    };
    let text = fs::read_to_string(folder.path("n.diverged.txt")).unwrap();
    let dataset = datasets::Dataset::open(&folder.path("d")).unwrap();
    let shuffled = dataset.shuffled(datasets::Split::Train, 1, 1).unwrap();
    let records: Vec<_> = shuffled.map(Result::unwrap).collect::<Vec<_>>().concat();
    let mut expected = String::new();
    for record in &records[64 * (step - 1)..64 * step] {
        record.write_line(&mut expected);
    }
    assert_eq!(text, expected);
    build(&[&folder.path("n.diverged.txt")], &folder.path("batch")).succeeded();
}

/// Names of files beside a net.
#[test]
fn rejects_net_names_that_clash_with_files_of_the_run() {
    let folder = TrainingFolder::new(SAMPLE);
    for net in [
        "n.checkpoint",
        "n.svg",
        "n.report.html",
        "n.golden.json",
        "n.metrics.jsonl",
        "n",
    ] {
        let said = fit(&folder, net, &SMALL);
        assert_eq!(said.code, Some(USAGE), "{net}: {}", said.err);
        assert!(said.err.contains(".safetensors"), "{}", said.err);
    }
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 1);
}

/// The figures in text, JSON, metadata and metrics equal those of `trainer eval` to the last digit.
#[test]
fn reported_figures_equal_those_of_eval() {
    let folder = TrainingFolder::new(SAMPLE);
    let shipped = tests::root().join("models/default.safetensors");
    let shipped = shipped.display().to_string();
    let first = folder.path("0.safetensors").display().to_string();
    let shaped = |hidden: &'static str| {
        [
            "fit", "--device", "cpu", "--epochs", "3", "--hidden", hidden,
        ]
    };
    let linear = ["linear", "--epochs", "5"];
    let of_net = |net| ["fit", "--device", "cpu", "--epochs", "1", "--init", net];
    let kinds: [&[&str]; 7] = [
        &shaped("64,32,32"),
        &shaped("451,32,32"),
        &shaped("50,7,32"),
        &shaped("1,1,1"),
        &linear,
        &of_net(&first),
        &of_net(&shipped),
    ];
    for (index, kind) in kinds.into_iter().enumerate() {
        let net = folder.path(&format!("{index}.safetensors"));
        let trainer = |arguments: &[&str]| {
            let arguments = [arguments, &["--data", "d"]].concat();
            folder.run(&arguments).succeeded()
        };
        let out = net.display().to_string();
        let said = trainer(&[kind, &["--out", &out]].concat());
        let eval = ["eval", "--net", &out];
        let text = trainer(&eval).out;
        let json = trainer(&[&eval[..], &["--json"]].concat()).out;
        let measured: Value = serde_json::from_str(&json).unwrap();

        // Text.
        let row = text.lines().find(|line| line.starts_with("all ")).unwrap();
        let row: Vec<&str> = row.split_whitespace().skip(2).collect();
        let lines = said
            .out
            .lines()
            .filter(|line| line.contains("on held-out games"));
        let found: Vec<String> = lines
            .flat_map(|line| {
                let (_, figures) = line.split_once(": ").unwrap();
                let (net, material) = figures.split_once(" (material alone ").unwrap();
                [net.to_string(), material.trim_end_matches(')').to_string()]
            })
            .collect();
        assert_eq!(found, row, "{kind:?}");

        // Metadata of the net's file.
        let (_, metadata) = models::Network::from_bytes(&fs::read(&net).unwrap()).unwrap();
        let stored = match kind[0] {
            "linear" => metadata.validation.clone(),
            _ => metadata.validation["figures"].clone(),
        };
        for side in ["net", "material"] {
            assert_eq!(stored[side], measured[side], "{kind:?}");
            assert!(stored[side]["winchance"].as_f64().unwrap() > 0.0);
        }
        if kind[0] == "fit" {
            let best = metadata.validation["epoch"].as_u64().unwrap() as usize;
            assert_eq!(metrics(&net)[best - 1]["validation"], stored, "{kind:?}");
            assert!(
                said.out.contains(&format!("{index}.report.html")),
                "{}",
                said.out
            );
            // A resumed run has nothing to do and reports the same.
            let again = trainer(&[kind, &["--resume", "--json", "--out", &out]].concat());
            let summary: Value = serde_json::from_str(&again.out).unwrap();
            assert_eq!(summary["validation"], stored, "{kind:?}");
        }
    }
}

/// Piece-square tables have weights beyond the clipping bound of training.
#[test]
fn refuses_initial_nets_that_training_would_clip() {
    let folder = TrainingFolder::new(SAMPLE);
    for net in ["linear", "default"] {
        let path = tests::root().join(format!("models/{net}.safetensors"));
        let init = path.display().to_string();
        let arguments = ["--init", &init, "--epochs", "1", "--learning-rate", "1e-7"];
        let said = fit(&folder, "n.safetensors", &arguments);
        match net {
            "linear" => {
                said.failed(
                    NET_REFUSED,
                    &["linear.safetensors", "cannot start from this net"],
                );
                assert!(!folder.path("n.checkpoint").exists());
            }
            _ => {
                said.succeeded();
            }
        }
    }
}

#[test]
fn tables_that_cannot_be_written_are_not_fitted() {
    let folder = TrainingFolder::new(SAMPLE);
    let linear = ["linear", "--data", "d", "--out", "no/folder/n.safetensors"];
    let said = folder.run(&linear);
    let said = said.failed(CANNOT_WRITE, &["no/folder", "make its folder"]);
    assert!(!said.err.contains("epoch"), "{}", said.err);
}

/// Two stages, the second with other rates on other positions.
const RECIPE: &str = "
seed = 3

[network]
hidden = [32, 16, 16]

[[stage]]
data = \"d\"
epochs = 3
batch = 64
wdl = \"0:0.5\"
[stage.filter]
ply = [8, 300]

[[stage]]
data = \"e\"
epochs = 2
batch = 64
learning_rate = 0.0003
schedule = \"linear\"
loss_exponent = 2
";

/// The stages of the recipe as two commands.
const STAGES: [&[&str]; 2] = [
    &["--data", "d", "--epochs", "3", "--wdl", "0:0.5"],
    &[
        "--data",
        "e",
        "--epochs",
        "2",
        "--learning-rate",
        "0.0003",
        "--schedule",
        "linear",
        "--loss-exponent",
        "2",
    ],
];

/// Creates a training folder with a second dataset, of eighty games, and the recipe.
fn folder_with_recipe(recipe: &str) -> TrainingFolder {
    let folder = TrainingFolder::new(SAMPLE);
    let more = text_of(&sample("dump_2026-06_annotated500.pgn.zst"));
    fs::write(folder.path("more.pgn"), first_games(&more, 80)).unwrap();
    build(&[&folder.path("more.pgn")], &folder.path("e")).succeeded();
    fs::write(folder.path("two.toml"), recipe).unwrap();
    folder
}

/// Returns a `trainer fit` command for the recipe, with checkpoints after nearly each step.
fn by_recipe(folder: &TrainingFolder, net: &str, more: &[&str]) -> Command {
    let fit = [
        "fit",
        "--device",
        "cpu",
        "--recipe",
        "two.toml",
        "--out",
        net,
        "--checkpoint-minutes",
        "0.0001",
    ];
    folder.trainer(&[&fit, more].concat())
}

/// Removes a net with its checkpoint and all files of its run.
fn remove_run(net: &Path) {
    let name = net.file_stem().unwrap().to_str().unwrap();
    for file in fs::read_dir(net.parent().unwrap()).unwrap() {
        let path = file.unwrap().path();
        let own = path.file_name().unwrap().to_str().unwrap();
        if own
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'))
            && path.is_file()
        {
            fs::remove_file(path).unwrap();
        }
    }
}

fn metadata(net: &Path) -> models::Metadata {
    let (_, metadata) = models::Network::from_bytes(&fs::read(net).unwrap()).unwrap();
    metadata
}

#[test]
fn a_recipe_of_two_stages_is_two_runs_one_after_the_other() {
    // Filters have no option: without them, two commands can express the whole recipe.
    let (before, behind) = RECIPE.split_once("[stage.filter]").unwrap();
    let behind = behind.split_once("[[stage]]").unwrap().1;
    let folder = folder_with_recipe(&format!("{before}\n[[stage]]{behind}"));
    run(&mut by_recipe(&folder, "n.safetensors", &[])).succeeded();

    fs::create_dir(folder.path("apart")).unwrap();
    let common = [
        "fit", "--device", "cpu", "--batch", "64", "--seed", "3", "--out",
    ];
    let first = ["apart/n.stage1.safetensors", "--hidden", "32,16,16"];
    let second = [
        "apart/n.safetensors",
        "--init",
        "apart/n.stage1.safetensors",
    ];
    for (stage, out) in STAGES.into_iter().zip([&first[..], &second[..]]) {
        folder.run(&[&common, out, stage].concat()).succeeded();
    }
    for net in ["n.stage1.safetensors", "n.safetensors"] {
        let apart = results(&folder.path("apart").join(net));
        assert!(results(&folder.path(net)) == apart, "{net}");
    }
    // The net's metadata covers both stages.
    let training = metadata(&folder.path("n.safetensors")).training;
    assert_eq!(training["learning_rate"], 0.0003);
    let before = &training["init"];
    assert_eq!(before["training"]["wdl"], serde_json::json!([0.0, 0.5]));
    let fingerprint = |dataset: &str| {
        let dataset = datasets::Dataset::open(&folder.path(dataset)).unwrap();
        dataset.fingerprint().to_string()
    };
    assert_eq!(before["dataset"]["fingerprint"], fingerprint("d"));
    let own = metadata(&folder.path("n.safetensors")).dataset;
    assert_eq!(own["fingerprint"], fingerprint("e"));
    // With results in the target, the best net has the smallest loss.
    for (net, judged) in [("n.stage1", "/loss"), ("n", "/net/winchance")] {
        let net = folder.path(&format!("{net}.safetensors"));
        let figures = metadata(&net).validation["figures"].clone();
        assert_eq!(
            figures.pointer("/judged"),
            figures.pointer(judged),
            "{figures}"
        );
    }
}

#[test]
fn a_killed_recipe_ends_as_an_undisturbed_one() {
    let folder = folder_with_recipe(RECIPE);
    let said = run(&mut by_recipe(&folder, "quiet.safetensors", &["--json"])).succeeded();
    let summary: Value = serde_json::from_str(&said.out).unwrap();
    let left_out = &summary["earlier_stages"][0]["left_out"];
    assert!(left_out["not_quiet"].as_u64().unwrap() > 0, "{left_out}");
    assert!(left_out["plies"].as_u64().unwrap() > 0, "{left_out}");

    let nets = ["killed.stage1.safetensors", "killed.safetensors"];
    let [first, last] = nets.map(|net| folder.path(net));
    let mut kills = [0, 0];
    while kills.contains(&0) {
        // Start over if a stage finishes before its kill.
        kills = [0, 0];
        [&first, &last].into_iter().for_each(|net| remove_run(net));
        for (stage, net) in [&first, &last].into_iter().enumerate() {
            for longer in [0, 3, 1, 11, 2, 5] {
                let mut child = by_recipe(&folder, "killed.safetensors", &["--resume"])
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                // The first kill in the second stage, once it has begun.
                wait_for_a_step(&mut child, net, Duration::from_millis(longer));
                let ended = child.try_wait().unwrap().is_some();
                child.kill().unwrap();
                child.wait().unwrap();
                if ended || (stage == 0 && last.with_extension("checkpoint").exists()) {
                    break;
                }
                kills[stage] += 1;
            }
        }
    }
    run(&mut by_recipe(&folder, "killed.safetensors", &["--resume"])).succeeded();
    for (killed, quiet) in [
        (&first, "quiet.stage1.safetensors"),
        (&last, "quiet.safetensors"),
    ] {
        let (killed, quiet) = (results(killed), results(&folder.path(quiet)));
        assert_eq!(killed.3, quiet.3, "the metrics after {kills:?} kills");
        assert!(killed.1 == quiet.1, "the golden vectors");
    }
    let weights = |net: &Path| {
        models::Network::from_bytes(&fs::read(net).unwrap())
            .unwrap()
            .0
    };
    assert!(weights(&last) == weights(&folder.path("quiet.safetensors")));
    assert!(
        fs::read(&first).unwrap() == fs::read(folder.path("quiet.stage1.safetensors")).unwrap()
    );
}

/// Resuming the first stage would replace the net that the second started from.
#[test]
fn refuses_to_resume_a_recipe_whose_finished_stage_has_changed() {
    let folder = folder_with_recipe(RECIPE);
    run(&mut by_recipe(&folder, "n.safetensors", &[])).succeeded();
    let files = [
        "n.stage1.safetensors",
        "n.stage1.checkpoint",
        "n.safetensors",
        "n.checkpoint",
    ];
    let read = || files.map(|file| fs::read(folder.path(file)).unwrap());
    let before = read();
    for (old, new, option) in [
        ("epochs = 3", "epochs = 4", "--epochs"),
        ("batch = 64", "batch = 32", "--batch"),
    ] {
        assert!(RECIPE.contains(old), "{old}");
        fs::write(folder.path("two.toml"), RECIPE.replacen(old, new, 1)).unwrap();
        run(&mut by_recipe(&folder, "n.safetensors", &["--resume"]))
            .failed(REFUSED, &["n.stage1.checkpoint", option]);
        assert!(read() == before, "{option}");
    }
    fs::write(folder.path("two.toml"), RECIPE).unwrap();
    run(&mut by_recipe(&folder, "n.safetensors", &["--resume"])).succeeded();
    assert!(read() == before);
}

#[test]
fn warns_of_options_that_leave_little_to_learn() {
    let folder = TrainingFolder::new(SAMPLE);
    let one = ["--hidden", "16,8,8", "--epochs", "1"];
    for (net, option, warned) in [
        (
            "a",
            &["--warm-up", "100000"][..],
            "warning: --warm-up 100000",
        ),
        (
            "b",
            &["--batch", "1000000"],
            "warning: --batch 1000000 leaves 1 steps",
        ),
        ("c", &["--batch", "64"], ""),
    ] {
        let said = fit(
            &folder,
            &format!("{net}.safetensors"),
            &[&one, option].concat(),
        );
        let said = said.succeeded();
        assert_eq!(
            said.err.contains("warning:"),
            !warned.is_empty(),
            "{}",
            said.err
        );
        assert!(said.err.contains(warned), "{}", said.err);
    }
}

/// A picture as `ingest stats --plot n.svg` leaves it is replaced.
#[test]
fn a_run_replaces_pictures_and_nothing_else() {
    let folder = TrainingFolder::new(SAMPLE);
    let one = ["--hidden", "16,8,8", "--epochs", "1"];
    fs::write(folder.path("n.svg"), "no picture").unwrap();
    let refused = fit(&folder, "n.safetensors", &one);
    refused.failed(REFUSED, &["n.svg", "not a picture"]);
    assert_eq!(fs::read(folder.path("n.svg")).unwrap(), b"no picture");
    fs::write(folder.path("n.svg"), "<svg/>").unwrap();
    fit(&folder, "n.safetensors", &one).succeeded();
    assert!(fs::read(folder.path("n.svg")).unwrap() != b"<svg/>");
}

/// Obstacles to a later stage are reported before the first is trained.
#[test]
fn a_wrong_recipe_is_refused_before_any_work() {
    let folder = folder_with_recipe(&RECIPE.replace("schedule", "shedule"));
    let refused = |code, words: &[&str]| {
        run(&mut by_recipe(&folder, "n.safetensors", &[])).failed(code, words);
        assert!(!folder.path("n.stage1.checkpoint").exists());
    };
    refused(USAGE, &["two.toml:20:", "shedule", "`schedule`"]);
    let write = |recipe: &str| fs::write(folder.path("two.toml"), recipe).unwrap();
    write(&RECIPE.replace("data = \"e\"", ""));
    refused(USAGE, &["--data", "[[stage]]"]);
    write(RECIPE);
    fs::write(folder.path("n.metrics.jsonl"), "").unwrap();
    refused(REFUSED, &["n.metrics.jsonl", "exists already"]);
    fs::remove_file(folder.path("n.metrics.jsonl")).unwrap();
    write(&RECIPE.replace("ply = [8, 300]", "ply = [9000, 9001]"));
    refused(USAGE, &["drops all", "plies"]);
    write(&format!("{RECIPE}[stage.filter]\nply = [9000, 9001]\n"));
    refused(USAGE, &["drops all", "plies"]);
}

/// A finished run can be resumed for more epochs, with a new learning-rate schedule.
#[test]
fn a_run_that_has_ended_can_be_given_more_epochs() {
    let folder = TrainingFolder::new(SAMPLE);
    let of = |epochs: &'static str| [&SMALL[..2], &["--epochs", epochs], &SMALL[4..]].concat();
    let longer = resumed(&of("4"));
    for net in ["quiet", "killed"] {
        let net = format!("{net}.safetensors");
        fit(&folder, &net, &of("2")).succeeded();
    }
    let said = fit(&folder, "quiet.safetensors", &longer).succeeded();
    assert!(said.err.contains("ended after epoch 2"), "{}", said.err);
    let quiet = results(&folder.path("quiet.safetensors"));

    // Both parts begin with a warm-up.
    let training = metadata(&folder.path("quiet.safetensors")).training;
    let peak = training["learning_rate"].as_f64().unwrap();
    let warm_up = training["warm_up_steps"].as_f64().unwrap();
    assert!(warm_up > 1.0, "{warm_up}");
    let rate = |epoch: usize| quiet.3[epoch - 1]["learning_rate"].as_f64().unwrap();
    assert_eq!(quiet.3.len(), 4);
    assert_eq!(rate(1), rate(3));
    assert_eq!(rate(3), peak / warm_up);
    assert!(rate(2) > rate(3), "{} {}", rate(2), rate(3));
    assert_eq!(training["epochs"], 4);
    let restart = serde_json::json!({
        "after_epoch": 2,
        "warm_up_steps": training["warm_up_steps"],
    });
    assert_eq!(training["restarts"], Value::from(vec![restart]));

    let net = "killed.safetensors";
    let (mut kills, mut delays) = (0, [0, 20, 70, 3].into_iter().cycle());
    while kills < 3 {
        let mut child = command(&folder, net, &longer).spawn().unwrap();
        let delay = delays.next().expect("a cycle");
        wait_for_a_step(&mut child, &folder.path(net), Duration::from_millis(delay));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        // Start over if a run finishes before its kill.
        kills = if ended { 0 } else { kills + 1 };
        if ended {
            remove_run(&folder.path(net));
            fit(&folder, net, &of("2")).succeeded();
        }
    }
    fit(&folder, net, &longer).succeeded();
    assert!(results(&folder.path(net)) == quiet);
    // Fewer epochs are refused as another run.
    let fewer = fit(&folder, net, &resumed(&of("3")));
    fewer.failed(REFUSED, &["killed.checkpoint", "--epochs was 4, now is 3"]);
}
