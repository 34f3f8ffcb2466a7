//! The engine as OpenBench's client uses it: built by `make` from a commit's files, then run for
//! its bench, openings and SPSA options.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::{fs, str};

use engine::{Position, TUNABLES, parse_fen, write_fen};
use models::{Architecture, Metadata, Network, PolicyMetadata, PolicyNetwork};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns stdout and stderr of a program as one text, as the client reads them.
fn say(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    text(&output)
}

fn text(output: &Output) -> String {
    let streams = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(streams).unwrap()
}

fn engine(arguments: &[&str]) -> String {
    say(Path::new(env!("CARGO_BIN_EXE_engine")), arguments)
}

/// Returns the numbers before the last `nodes` and the last `nps`. Like the client, reads lines
/// from the end and treats characters other than letters and digits as spaces.
fn bench(output: &str) -> (u64, u64) {
    let number = |unit: &str| {
        let mut lines = output.lines().rev();
        lines.find_map(|line| {
            let words: Vec<&str> = line.split(|c: char| !c.is_ascii_alphanumeric()).collect();
            let pairs = words.windows(2);
            let mut pairs = pairs.filter(|pair| pair[1].eq_ignore_ascii_case(unit));
            pairs.find_map(|pair| pair[0].parse().ok())
        })
    };
    (number("nodes").unwrap(), number("nps").unwrap())
}

/// Parses the openings as the client does.
fn openings(output: &str) -> Vec<String> {
    let mut fens = Vec::new();
    for line in output.lines() {
        let Some(fen) = line.strip_prefix("info string genfens ") else {
            continue;
        };
        let fields: Vec<&str> = fen.split(' ').collect();
        let clocks = fields[4..]
            .iter()
            .map(|field| field.parse::<u16>().unwrap());
        assert_eq!(clocks.count(), 2, "{fen}");
        let board = parse_fen(fen).unwrap();
        assert_eq!(Position::of(board.clone()).ending(), None);
        fens.push(write_fen(&board));
    }
    fens
}

/// Mirrors into `folder` the files that a commit of the working tree would contain, as in a commit's
/// zip; removes all others. Equal files are not rewritten, so cargo rebuilds only what has changed.
/// Returns false without git.
fn copy(folder: &Path) -> bool {
    let list = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root())
        .output();
    let Some(list) = list.ok().filter(|list| list.status.success()) else {
        return false;
    };
    let mut copied = HashSet::new();
    for name in str::from_utf8(&list.stdout).unwrap().split_terminator('\0') {
        let (from, to) = (root().join(name), folder.join(name));
        // Skip files that were deleted but are still in the index.
        if from.is_file() {
            if fs::read(&to).ok().as_ref() != Some(&fs::read(&from).unwrap()) {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(from, &to).unwrap();
            }
            copied.insert(to);
        }
    }
    keep(folder, &copied);
    true
}

/// Removes all files below `folder` that are not in `some`.
fn keep(folder: &Path, some: &HashSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            keep(&path, some);
        } else if !some.contains(&path) {
            fs::remove_file(path).unwrap();
        }
    }
}

/// A single build with another net and the feature `tune` covers all of the Makefile.
#[test]
fn make_builds_a_tunable_engine() {
    let target = root().canonicalize().unwrap().join("target/openbench");
    let folder = target.join("source");
    if !copy(&folder) {
        test_support::skip("git does not say which files a commit has");
        return;
    }
    let net = target.join("some.safetensors");
    let network = Network::random(Architecture::ARTICLE, 7);
    let metadata = Metadata::new(Architecture::ARTICLE, "test");
    let network = network.to_bytes(&metadata);
    // Rewritten, it would be embedded again.
    if fs::read(&net).ok().as_ref() != Some(&network) {
        fs::write(&net, network).unwrap();
    }
    let make = Command::new("make")
        .args(["-j", "EXE=Kibitz-01234567", "FEATURES=cli,tune"])
        .arg(format!("EVALFILE={}", net.display()))
        .current_dir(folder.join("engine"))
        .env("CARGO_TARGET_DIR", &target)
        .output();
    let make = make.unwrap();
    assert!(make.status.success(), "{}", text(&make));
    let exe = folder.join("engine/Kibitz-01234567");

    // The net comes from EVALFILE.
    let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
    let value = |arguments: &[&str]| -> Value {
        let json: Value = serde_json::from_str(&say(&exe, arguments)).unwrap();
        json["quantised"].clone()
    };
    let given = value(&["eval", fen, "--json", "--net", net.to_str().unwrap()]);
    assert_eq!(value(&["eval", fen, "--json"]), given);
    let (nodes, speed) = bench(&say(&exe, &["bench"]));
    assert!(speed > 0);
    assert_eq!(bench(&say(&exe, &["bench"])).0, nodes);

    // Each SPSA input is an option, and changes the search.
    let options = say(&exe, &["uci"]);
    let real = root().join("models/default.safetensors");
    let real = format!("setoption name EvalFile value {}", real.display());
    let count = |values: &[String]| {
        let mut lines = vec![&*real];
        lines.extend(values.iter().map(String::as_str));
        let position = format!("position fen {fen}");
        // Without `quit`, which would stop the search.
        lines.extend([&*position, "go depth 13"]);
        let output = say(&exe, &lines);
        let last = output
            .lines()
            .rfind(|line| line.starts_with("info depth 13 "));
        let words: Vec<&str> = last.unwrap_or(&output).split(' ').collect();
        let nodes = words.iter().position(|&word| word == "nodes").unwrap();
        words[nodes + 1].parse::<u64>().unwrap()
    };
    let policy = target.join("policy.safetensors");
    let bytes = PolicyNetwork::random(16, 7).to_bytes(&PolicyMetadata::new(16, "test"));
    fs::write(&policy, bytes).unwrap();
    let policy = format!("setoption name PolicyFile value {}", policy.display());
    // Visits of the moves of a search by playouts.
    let visits = |values: &[String]| -> Vec<String> {
        let mut lines = vec![&*real, &*policy, "setoption name Search value puct"];
        lines.extend(values.iter().map(String::as_str));
        let position = format!("position fen {fen}");
        lines.extend([&*position, "go nodes 2000"]);
        let output = say(&exe, &lines);
        let told = output.lines().filter(|line| line.contains(" visits "));
        told.map(str::to_string).collect()
    };
    let visits_by_default = visits(&[]);
    assert!(!visits_by_default.is_empty());
    let by_default = count(&[]);
    let inputs = say(&exe, &["spsa"]);
    assert_eq!(inputs.lines().count(), TUNABLES.len());
    let set = |name: &str, value: &str| format!("setoption name {name} value {value}");
    let mut defaults = Vec::new();
    for input in inputs.lines() {
        let fields: Vec<&str> = input.split(", ").collect();
        let [name, "int", value, min, max, _, _] = fields[..] else {
            panic!("{input}");
        };
        let option = format!("name {name} type spin default {value} min {min} max {max}");
        assert!(options.contains(&option), "{option}: {options}");
        defaults.push(set(name, value));
        let changes = |end| match name.starts_with("PUCT_") {
            true => visits(&[set(name, end)]) != visits_by_default,
            false => count(&[set(name, end)]) != by_default,
        };
        assert!([min, max].into_iter().any(changes), "{name}");
        let (beyond, refused) = (max.parse::<i32>().unwrap() + 1, "wants a number");
        let answer = say(&exe, &[&set(name, &beyond.to_string()), "quit"]);
        assert!(answer.contains(refused), "{answer}");
    }
    assert_eq!(count(&defaults), by_default);
}

#[test]
fn make_by_default_sets_neither_net_nor_tune() {
    let make = Command::new("make")
        .args(["-n", "EXE=x"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let plan = text(&make.unwrap());
    assert!(
        plan.contains("KIBITZ_NET=\"\" ") && !plan.contains("tune"),
        "{plan}"
    );
    assert!(plan.contains("--features cli "), "{plan}");
}

#[test]
fn bench_ends_with_nodes_and_nps() {
    let output = engine(&["bench", "3"]);
    let (nodes, nps) = bench(&output);
    assert!(
        output.ends_with(&format!("\n{nodes} nodes {nps} nps\n")),
        "{output}"
    );
}

#[test]
fn openings_are_legal_even_and_determined_by_the_seed() {
    let generate = |request: &str| openings(&engine(&[request, "quit"]));
    let first = generate("genfens 40 seed 1 book None");
    assert_eq!(first.len(), 40);
    assert_eq!(first, generate("genfens 40 seed 1 book None "));
    let distinct: HashSet<&String> = first.iter().collect();
    assert!(distinct.len() > 38);
    for mover in [" w ", " b "] {
        assert!(first.iter().any(|fen| fen.contains(mover)));
    }
    let other = generate("genfens 40 seed 2 book None");
    assert!(other.iter().filter(|fen| distinct.contains(fen)).count() < 3);

    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/openings.epd");
    let request = format!("genfens 20 seed 3 book {} dfrc 0", book.display());
    let from_book = generate(&request);
    assert_eq!(from_book.len(), 20);
    assert!(from_book.iter().all(|fen| !distinct.contains(fen)));
}

/// Starts the engine with pipes for input and output.
fn start() -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// Takes weeks unless it is stopped.
const ENDLESS: &str = "genfens 1000000000 seed 1 book None";

#[test]
fn stop_and_quit_end_the_openings() {
    // Far more lines than a pipe holds.
    const MOST: usize = 10_000;
    let mut process = start();
    let mut input = process.stdin.take().unwrap();
    let output = BufReader::new(process.stdout.take().unwrap());
    let mut output = output.lines().map(Result::unwrap);
    for end in ["stop\nd", "quit"] {
        writeln!(input, "{ENDLESS}").unwrap();
        let first = output.next().unwrap();
        assert!(first.starts_with("info string genfens "), "{first}");
        writeln!(input, "{end}").unwrap();
        let rest = output.by_ref().take(MOST);
        let rest = rest.take_while(|line| !line.starts_with("Checkers:"));
        assert!(rest.count() < MOST, "{end}");
    }
    // The input is still open.
    assert!(process.wait().unwrap().success());
    drop(input);
}

/// A script may close the input behind its last command.
#[test]
fn the_end_of_input_waits_for_the_openings() {
    let request = "genfens 40 seed 1 book None";
    let mut process = start();
    writeln!(process.stdin.take().unwrap(), "{request}").unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(text(&output), engine(&[request, "quit"]));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_openings() {
    let mut process = start();
    writeln!(process.stdin.take().unwrap(), "{ENDLESS}").unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    test_support::send_signal("TERM", &process);
    assert!(output.lines().all(|line| line.is_ok()));
    assert_eq!(process.wait().unwrap().code(), Some(143));
}

/// Opening a named pipe without a writer waits.
#[cfg(unix)]
#[test]
fn quit_does_not_wait_for_a_book() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("book.epd");
    assert!(
        Command::new("mkfifo")
            .arg(&book)
            .status()
            .unwrap()
            .success()
    );
    let mut process = start();
    let mut input = process.stdin.take().unwrap();
    writeln!(input, "genfens 1 seed 1 book {}\nquit", book.display()).unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(text(&output), "");
    drop(input);
}

/// The client waits at most 15 s.
#[test]
fn reports_books_without_openings() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("book.epd");
    for (lines, reason) in [
        (None, "cannot read"),
        (Some("8/8/8/8/8/k7/8/K7 w - - 0 1\n"), "no even opening"),
        (
            Some("4k3/8/8/8/8/8/8/QQQ1K3 w - - 0 1\nx\n"),
            "no even opening",
        ),
    ] {
        lines.inspect(|lines| fs::write(&book, lines).unwrap());
        let request = format!("genfens 4 seed 3 book {}", book.display());
        let output = engine(&[&request, "quit"]);
        assert!(output.contains(reason), "{output}");
        assert_eq!(openings(&output).len(), 0);
    }
    assert!(engine(&["genfens", "quit"]).contains("give \"genfens N seed S book FILE\""));
}

#[test]
fn configuration_has_openbenchs_fields() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openbench/Kibitz.json");
    let json: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(json["private"], false);
    assert!(json["nps"].as_u64() > Some(0));
    let folder = root().join(json["build"]["path"].as_str().unwrap());
    assert!(folder.join("Makefile").is_file());
    assert!(
        fs::read_to_string(root().join("Cargo.toml"))
            .unwrap()
            .contains("rust-version = \"1.95\"")
    );
    assert_eq!(json["build"]["compilers"][0], "cargo>=1.95.0");
    for kind in ["test_presets", "tune_presets", "datagen_presets"] {
        for (name, preset) in json[kind].as_object().unwrap() {
            for options in ["both_options", "dev_options"] {
                let Some(options) = preset[options].as_str() else {
                    continue;
                };
                assert!(
                    options.contains("Threads=") && options.contains("Hash="),
                    "{name}"
                );
            }
        }
    }
}
