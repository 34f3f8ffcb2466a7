//! Output of the trainer: readers that leave early, misleading figures, wrong usage.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;
use tests::exit::{CANNOT_WRITE, DAMAGED, MISSING, REFUSED, USAGE};
use tests::training::TrainingFolder;
use tests::{Said, program, root, run, sample};

const SAMPLE: &str = "dump_2021-10_first499.pgn.zst";

fn default_net() -> String {
    let path = root().join("models/default.safetensors");
    path.display().to_string()
}

const FIT: [&str; 11] = [
    "fit",
    "--device",
    "cpu",
    "--data",
    "d",
    "--hidden",
    "16,8,8",
    "--epochs",
    "2",
    "--out",
    "n.safetensors",
];

/// The reader closes the pipe at once.
#[test]
fn succeeds_when_the_reader_stops_early() {
    let folder = TrainingFolder::new(SAMPLE);
    let (net, games) = (default_net(), sample(SAMPLE).display().to_string());
    let contender = format!("net={net}");
    let commands: [&[&str]; 7] = [
        &["eval", "--net", &net, "--data", "d"],
        &["eval", "--net", &net, "--data", "d", "--json"],
        &["compare", "--pgn", &games, "--contender", &contender],
        &["linear", "--data", "d", "--out", "linear.safetensors"],
        &[
            "bench",
            "--device",
            "cpu",
            "--batch",
            "64",
            "--seconds",
            "0.01",
            "--threads",
            "1",
        ],
        &FIT,
        &["--help"],
    ];
    for arguments in commands {
        let mut command = folder.trainer(arguments);
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        drop(child.stdout.take());
        let said = Said::from(child.wait_with_output().unwrap());
        assert!(
            !said.err.contains("panicked"),
            "{arguments:?}: {}",
            said.err
        );
        assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.err);
    }
}

/// Standard error is closed, as after `trainer fit ... 2>&1 | head -1` or in a closed terminal.
#[test]
fn training_continues_when_progress_is_unread() {
    let folder = TrainingFolder::new(SAMPLE);
    let mut command = folder.trainer(&FIT);
    let piped = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut first = String::new();
    let mut progress = BufReader::new(child.stderr.take().unwrap());
    progress.read_line(&mut first).unwrap();
    assert!(first.starts_with("training 902-2x16-8-8-1"), "{first}");
    drop(progress);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let epochs = std::fs::read_to_string(folder.path("n.metrics.jsonl")).unwrap();
    assert_eq!(epochs.lines().count(), 2);
}

/// Standard output fails for a reason other than a reader that left.
#[test]
#[cfg(target_os = "linux")]
fn fails_on_unwritable_results() {
    let folder = TrainingFolder::new(SAMPLE);
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut command = folder.trainer(&["eval", "--net", &default_net(), "--data", "d"]);
    let command = command.stdout(full.unwrap()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let said = Said::from(child.wait_with_output().unwrap());
    said.failed(CANNOT_WRITE, &["standard output"]);
}

/// Returns a game with an evaluation of every move from ply `from` on.
fn game(from: usize) -> String {
    let moves = [
        "e4", "d5", "exd5", "Qxd5", "Nc3", "Qa5", "d4", "Nf6", "Nf3", "c6",
    ];
    let mut text = "[Event \"x\"]\n[Result \"*\"]\n\n".to_string();
    for (ply, mv) in moves.into_iter().enumerate() {
        let number = ply / 2 + 1;
        text += &match ply % 2 {
            0 => format!("{number}. {mv} "),
            _ => format!("{number}... {mv} "),
        };
        if ply >= from {
            text += &format!("{{ [%eval {}.5] }} ", ply % 3);
        }
    }
    text + "*\n"
}

/// Files of games with few positions in common.
#[test]
fn warns_when_few_positions_are_evaluated() {
    let folder = TrainingFolder::new(SAMPLE);
    for (name, from) in [("labels", 0), ("most", 4), ("few", 8), ("none", 10)] {
        fs::write(folder.path(&format!("{name}.pgn")), game(from)).unwrap();
    }
    let compare = |contenders: &[&str], more: &[&str]| {
        let contenders = contenders.iter().flat_map(|name| ["--contender", name]);
        let arguments: Vec<&str> = ["compare", "--pgn", "labels.pgn"].into_iter().collect();
        folder.run(&[arguments, contenders.collect(), more.to_vec()].concat())
    };
    let said = compare(&["a=most.pgn"], &[]).succeeded();
    assert!(!said.out.contains("WARNING"), "{}", said.out);
    let said = compare(&["a=most.pgn", "b=few.pgn"], &[]).succeeded();
    for words in [
        "WARNING: of 10 labelled positions 2 are evaluated",
        "\"a\" lacks 4, \"b\" lacks 8",
        "ingest annotate --replace",
    ] {
        assert!(said.out.contains(words), "{}", said.out);
    }
    let said = compare(&["a=most.pgn", "b=few.pgn"], &["--json"]).succeeded();
    assert!(said.err.contains("WARNING"), "{}", said.err);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(found["share"], 0.2);
    let warning = found["warning"].as_str().unwrap();
    assert!(warning.contains("2 are evaluated"), "{warning}");
    let missing = |row: usize| found["rows"][row]["missing"].as_u64().unwrap();
    assert_eq!([missing(0), missing(1), missing(2)], [0, 4, 8]);

    compare(&["c=none.pgn"], &[]).failed(DAMAGED, &["nothing to compare", "\"c\" lacks 10"]);
    let unlabelled = ["compare", "--pgn", "none.pgn", "--contender", "a=most.pgn"];
    let words = ["none.pgn", "no position has an evaluation"];
    folder.run(&unlabelled).failed(DAMAGED, &words);
    let said = folder.run(&["eval", "--net", &default_net(), "--pgn", "none.pgn"]);
    let said = said.failed(DAMAGED, &words);
    assert_eq!(said.out, "");
}

/// Calibration uses the factor that `compare` finds, and the result needs none.
#[test]
fn a_calibrated_net_has_the_pawns_of_the_labels() {
    let folder = TrainingFolder::new(SAMPLE);
    // A net without weights at the bound of training.
    let net = root().join("models/games1191.safetensors");
    let (net, games) = (
        net.display().to_string(),
        sample(SAMPLE).display().to_string(),
    );
    let calibrate = |net: &str, out: &str| {
        let arguments = ["calibrate", "--net", net, "--pgn", &games, "--out", out];
        folder.run(&[&arguments[..], &["--json"]].concat())
    };
    let parsed = |said: Said| -> Value { serde_json::from_str(&said.succeeded().out).unwrap() };
    let before = parsed(calibrate(&net, "c.safetensors"));
    let contenders = [format!("before={net}"), "after=c.safetensors".to_string()];
    let contenders = contenders.iter().flat_map(|named| ["--contender", named]);
    let compare = ["compare", "--pgn", &games, "--json"].into_iter();
    let found = parsed(folder.run(&compare.chain(contenders).collect::<Vec<&str>>()));
    let [scaled, after] = [1, 2].map(|row: usize| &found["rows"][row]);
    let number = |value: &Value| value.as_f64().unwrap();
    let factor = number(&before["factor"]);
    assert_eq!(scaled["scaled"]["factor"], factor);
    assert!(factor > 1.05, "{factor}");
    let left = number(&after["scaled"]["factor"]);
    assert!((left - 1.0).abs() < 0.05, "{left}");
    let apart = |a: &Value, b: &Value| (number(a) - number(b)).abs();
    assert_eq!(before["before"]["winchance"], scaled["winchance"]);
    // Weights are rounded to f16.
    assert!(apart(&before["after"]["winchance"], &after["winchance"]) < 1e-4);
    assert!(apart(&scaled["scaled"]["winchance"], &after["winchance"]) < 1e-4);

    let bytes = fs::read(folder.path("c.safetensors")).unwrap();
    let (_, metadata) = models::Network::from_bytes(&bytes).unwrap();
    let calibration = &metadata.training["calibration"];
    assert_eq!(calibration["factor"], factor);
    assert_eq!(calibration["net"]["file"], "games1191.safetensors");
    assert!(metadata.training["seed"].is_u64() && metadata.validation.is_null());
    calibrate(&net, "c.safetensors").failed(REFUSED, &["c.safetensors", "--force"]);
    assert!(fs::read(folder.path("c.safetensors")).unwrap() == bytes);
    // The calibrated net can be trained on.
    let fit = [
        "fit", "--device", "cpu", "--data", "d", "--epochs", "1", "--init",
    ];
    let fit = [&fit[..], &["c.safetensors", "--out", "f.safetensors"]].concat();
    folder.run(&fit).succeeded();

    folder
        .run(&[
            "calibrate",
            "--net",
            &net,
            "--pgn",
            "none.pgn",
            "--out",
            "n.safetensors",
        ])
        .failed(MISSING, &["none.pgn"]);
    assert!(!folder.path("n.safetensors").exists());
}

/// Labels of another pawn make a good net look worse than material alone.
#[test]
fn eval_warns_when_labels_use_another_pawn() {
    let folder = TrainingFolder::new(SAMPLE);
    let games = sample(SAMPLE).display().to_string();
    let net = root().join("models/games1191.safetensors");
    let (network, metadata) = models::Network::from_bytes(&fs::read(net).unwrap()).unwrap();
    let mut layers = network.layers().to_vec();
    let output = layers.last_mut().unwrap();
    for number in output.weight.iter_mut().chain(&mut output.bias) {
        *number *= 0.3;
    }
    let scaled = models::Network::new(network.architecture(), layers);
    for (name, network, warned) in [("net", &network, false), ("scaled", &scaled, true)] {
        let file = format!("{name}.safetensors");
        fs::write(folder.path(&file), network.to_bytes(&metadata)).unwrap();
        let said = folder.run(&["eval", "--net", &file, "--pgn", &games]);
        let said = said.succeeded().out;
        assert_eq!(said.contains("trainer calibrate"), warned, "{said}");
    }
}

#[test]
fn rejects_contenders_of_the_same_name() {
    let folder = TrainingFolder::new(SAMPLE);
    fs::write(folder.path("a.pgn"), game(0)).unwrap();
    for names in [["a=a.pgn", "a=a.pgn"], ["a=a.pgn", "material=a.pgn"]] {
        let contenders = ["--contender", names[0], "--contender", names[1]];
        let said = folder.run(&[&["compare", "--pgn", "a.pgn"], &contenders[..]].concat());
        said.failed(USAGE, &["two contenders are called"]);
    }
}

/// Mistakes of newcomers give the exit code of wrong usage and helpful words.
#[test]
fn wrong_usage_is_explained() {
    let folder = TrainingFolder::new(SAMPLE);
    let net = default_net();
    let refused = |arguments: &[&str], words: &[&str]| {
        let said = folder.run(arguments);
        assert_eq!(said.code, Some(USAGE), "{arguments:?}: {}", said.err);
        for word in words {
            assert!(
                said.err.contains(word),
                "{arguments:?}: {word:?}: {}",
                said.err
            );
        }
    };
    refused(&["eval", "--net", &net], &["--data", "--pgn"]);
    let both = ["eval", "--net", &net, "--data", "d", "--pgn", "a.pgn"];
    refused(&both, &["--data", "--pgn", "cannot be used with"]);
    let whole = "expected a whole number from";
    for (option, value, words) in [
        ("--epochs", "0", whole),
        ("--epochs", "-1", whole),
        ("--epochs", "1e3", whole),
        ("--batch", "0", whole),
        ("--batch", "9999999999", whole),
        ("--seed", "-1", whole),
        ("--learning-rate", "0", "above 0"),
        ("--learning-rate", "-1", "above 0"),
        ("--learning-rate", "nan", "above 0"),
        ("--learning-rate", "inf", "above 0"),
        ("--learning-rate", "1e300", "above 0"),
        ("--clip-norm", "-0.5", "above 0"),
        ("--checkpoint-minutes", "0", "above 0"),
        ("--hidden", "0,0,0", "sizes from 1"),
        ("--hidden", "-1,32,32", "three sizes"),
        ("--hidden", "9999,32,32", "sizes from 1 to 1024"),
        ("--hidden", "32,32,32,32", "three sizes"),
        ("--device", "gpu", "cuda:N"),
    ] {
        let command = [
            "fit",
            "--data",
            "d",
            "--out",
            "n.safetensors",
            option,
            value,
        ];
        refused(&command, &[option, value, words]);
    }
    refused(&["bench", "--seconds", "-3"], &["above 0"]);
    refused(&["bench", "--batch", "0"], &[whole]);
    refused(&["bench", "--threads", "0"], &["--threads"]);
    refused(
        &["linear", "--data", "d", "--out", "n.svg"],
        &[".safetensors"],
    );
    // Input files are not overwritten.
    let written = ["eval", "--net", &net, "--data", "d", "--report", &net];
    refused(&written, &[".html"]);
    let picture = [
        "compare",
        "--pgn",
        "a.pgn",
        "--contender",
        "a=a.pgn",
        "--plot",
    ];
    refused(&[&picture[..], &["a.pgn"]].concat(), &[".svg"]);
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 1);
}

/// Unwritable outputs are reported before the work.
#[test]
fn checks_output_paths_before_the_work() {
    let folder = TrainingFolder::new(SAMPLE);
    let (net, games) = (default_net(), sample(SAMPLE).display().to_string());
    let words = ["no/folder", "make its folder"];
    let report = ["--report", "no/folder/a.html"];
    let eval = ["eval", "--net", &net, "--data", "d"];
    let said = folder.run(&[&eval[..], &report].concat());
    assert_eq!(said.failed(CANNOT_WRITE, &words).out, "");
    let contender = format!("net={net}");
    let compare = ["compare", "--pgn", &games, "--contender", &contender];
    let picture = ["--plot", "no/folder/a.svg"];
    let said = folder.run(&[&compare[..], &picture].concat());
    assert_eq!(said.failed(CANNOT_WRITE, &words).out, "");
}

/// The net of the example `simple` predicts held-out games better than material, and a second run
/// leaves it alone.
#[test]
fn the_simple_example_trains_a_net_that_eval_reads() {
    let folder = TrainingFolder::new("dump_2026-06_annotated500.pgn.zst");
    let simple = || {
        let mut command = program("examples/simple");
        run(command
            .current_dir(folder.path(""))
            .args(["d", "n.safetensors"]))
    };
    let said = simple().succeeded().out;
    assert_eq!(said.lines().count(), 5, "{said}");
    let eval = ["eval", "--net", "n.safetensors", "--data", "d", "--json"];
    let found: Value = serde_json::from_str(&folder.run(&eval).succeeded().out).unwrap();
    let winchance = |of: &str| found[of]["winchance"].as_f64().unwrap();
    assert!(winchance("net") < winchance("material"), "{found}");

    let before = fs::read(folder.path("n.safetensors")).unwrap();
    let said = simple();
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(fs::read(folder.path("n.safetensors")).unwrap() == before);
}
