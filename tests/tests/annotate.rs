//! Output of `ingest annotate` over real processes, with a fake engine and, where installed,
//! Stockfish.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cozy_chess::Color;
use tests::annotated::{
    FakeScore, Game, SLICE, SPECIAL, annotate, bare, command, compare, eval_of, eval_text, fake,
    fake_eval, folder, games, plies, report, special, unannotated,
};
use tests::{build, first_games, run, sample, shared, skip, stats, text_of};

#[test]
fn every_position_gets_its_own_evaluation() {
    let (_folder, source, out) = folder(&(unannotated(453) + SPECIAL));
    let json = ["--json", "--processes", "3"];
    let found = report(annotate(&[&source], &fake("chatty"), &out, &json));
    let (source, output) = (unannotated(453) + &special(), text_of(&out));
    compare(&source, &output, fake_eval);
    assert_eq!(found["games"], 458);
    assert_eq!(found["positions"], output.matches("[%eval ").count());
    assert_eq!(found["mates"], output.matches("[%eval #").count());
    assert_eq!((&found["crashes"], &found["kept"]), (&0.into(), &0.into()));
    assert!(found["run"]["positions_per_second"].as_f64() > Some(0.0));
}

/// With `--every 3`, a third of the positions, counted from the end of each game.
#[test]
fn evaluates_every_nth_position() {
    let (folder, source, all) = folder(&unannotated(200));
    annotate(&[&source], &fake(""), &all, &[]).succeeded();
    let some = folder.path().join("some.pgn.zst");
    annotate(&[&source], &fake(""), &some, &["--every", "3"]).succeeded();
    let (all, some) = (games(&text_of(&all)), games(&text_of(&some)));
    let mut evals = 0;
    for (all, some) in all.iter().zip(&some) {
        assert_eq!((&all.tags, all.moves.len()), (&some.tags, some.moves.len()));
        for (left, (all, some)) in all
            .moves
            .iter()
            .rev()
            .zip(some.moves.iter().rev())
            .enumerate()
        {
            let expected = if left % 3 == 0 { eval_of(&all.1) } else { None };
            assert_eq!((&all.0, expected), (&some.0, eval_of(&some.1)));
            evals += usize::from(expected.is_some());
        }
    }
    assert!(evals > 1_000);
}

/// A thousand real Chess960 games with castling to either side.
#[test]
fn every_position_of_the_chess960_league_gets_its_own_evaluation() {
    let Some(source) = shared("quirks/league_chess960.pgn.zst") else {
        return;
    };
    let text = text_of(&source);
    let first = first_games(&text, 1000);
    let (_folder, source, out) = folder(first);
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    compare(first, &text_of(&out), fake_eval);
}

/// Stockfish process, driven position by position.
struct Stockfish {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Stockfish {
    /// Returns Debian's path, or the name if the shell finds it.
    fn path() -> Option<String> {
        let debian = "/usr/games/stockfish";
        if Path::new(debian).exists() {
            return Some(debian.to_string());
        }
        let found = Command::new("stockfish")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        if found.is_err() {
            skip("stockfish is not installed");
        }
        found.is_ok().then(|| "stockfish".to_string())
    }

    fn start(path: &str) -> Stockfish {
        let mut child = Command::new(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut engine = Stockfish {
            child,
            stdin,
            stdout: BufReader::new(stdout),
        };
        engine.say("setoption name Threads value 1\nsetoption name Hash value 8");
        engine
    }

    fn say(&mut self, text: &str) {
        writeln!(self.stdin, "{text}").unwrap();
    }

    /// Reads lines up to one that begins with `end`.
    fn until(&mut self, end: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0);
            lines.push(line);
            if lines[lines.len() - 1].starts_with(end) {
                return lines;
            }
        }
    }

    fn new_game(&mut self, chess960: bool) {
        self.say(&format!(
            "setoption name UCI_Chess960 value {chess960}\nucinewgame\nisready"
        ));
        self.until("readyok");
    }

    fn eval(&mut self, command: &str, turn: Color) -> String {
        self.say(&format!("{command}\ngo nodes 500"));
        let lines = self.until("bestmove");
        let exact = |line: &&String| line.contains(" score ") && !line.contains("bound ");
        let line = lines.iter().rfind(exact).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |name: &str| words.iter().position(|&word| word == name).unwrap() + 1;
        let value = words[after("score") + 1].parse().unwrap();
        let score = match words[after("score")] {
            "cp" => FakeScore::Centipawns(value),
            _ => FakeScore::Mate(value),
        };
        eval_text(score, words[after("depth")].parse().unwrap(), turn)
    }
}

impl Drop for Stockfish {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn matches_stockfish_driven_directly() {
    let Some(path) = Stockfish::path() else {
        return;
    };
    for ahead in ["1", "8"] {
        let (_folder, source, out) = folder(&(unannotated(20) + SPECIAL));
        let more = ["--processes", "2", "--option", "Hash=8", "--ahead", ahead];
        annotate(&[&source], &path, &out, &more).succeeded();
        let source = unannotated(20) + &special();
        let mut stockfish = Stockfish::start(&path);
        compare(&source, &text_of(&out), |game, command, turn| {
            if plies(command) == 1 {
                stockfish.new_game(game.chess960());
            }
            Some(match ahead {
                "1" => stockfish.eval(command, turn),
                _ => stockfish.eval(&bare(game, command), turn),
            })
        });
    }
}

#[test]
fn build_reads_an_annotated_file_like_any_dump() {
    let (folder, source, out) = folder(&text_of(&sample(SLICE)));
    let more = ["--replace", "--json"];
    let found = report(annotate(&[&source], &fake(""), &out, &more));
    assert_eq!((&found["games"], &found["kept"]), (&499.into(), &0.into()));
    let dataset = folder.path().join("dataset");
    build(&[&out], &dataset).succeeded();
    let built = stats(&dataset);
    assert_eq!(built["labels"], found["positions"]);
    assert_eq!(built["games"], 499);
    assert_eq!(built["gaps"], 0);
}

#[test]
fn games_that_have_evaluations_keep_them() {
    let (_folder, _, out) = folder("");
    let found = report(annotate(&[&sample(SLICE)], &fake(""), &out, &["--json"]));
    assert_eq!((&found["games"], &found["kept"]), (&499.into(), &46.into()));
    let source = text_of(&sample(SLICE));
    let (before, after) = (games(&source), games(&text_of(&out)));
    let mut evals = 0;
    for (before, after) in before.iter().zip(&after) {
        let all = |game: &Game| -> Vec<Option<String>> {
            let comments = game.moves.iter().map(|(_, comment)| comment);
            comments.map(|c| eval_of(c).map(String::from)).collect()
        };
        let kept = all(before);
        if kept.iter().any(Option::is_some) {
            assert_eq!(kept, all(after));
            evals += kept.iter().flatten().count();
        }
    }
    assert_eq!(evals, 2586);
}

/// Frames in the layout of `pzstd`: each can be found by its size, is decodable by itself, and has
/// a checksum.
#[test]
fn writes_frames_like_lichess_dumps() {
    let (_folder, _, out) = folder("");
    annotate(&[&sample(SLICE)], &fake(""), &out, &[]).succeeded();
    let bytes = std::fs::read(&out).unwrap();
    let (mut rest, mut text, mut frames) = (&bytes[..], Vec::new(), 0);
    while !rest.is_empty() {
        assert_eq!(rest[..8], [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0]);
        let size = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let frame = &rest[12..12 + size];
        // Bit 2 of the frame header descriptor announces a checksum.
        assert_eq!(frame[4] & 4, 4);
        text.extend(zstd::decode_all(frame).unwrap());
        assert!(text.ends_with(b"\n\n"), "a frame ends inside a game");
        rest = &rest[12 + size..];
        frames += 1;
    }
    assert!(frames > 5, "{frames} frames");
    assert_eq!(String::from_utf8(text).unwrap(), text_of(&out));
}

/// Names ending in .pgn give text; names of an unknown format are refused.
#[test]
fn chooses_compression_by_the_file_name() {
    let (folder, source, out) = folder(&(unannotated(300) + SPECIAL));
    let plain = folder.path().join("out.pgn");
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    let found = report(annotate(&[&source], &fake(""), &plain, &["--json"]));
    let text = std::fs::read_to_string(&plain).unwrap();
    assert_eq!(text, text_of(&out));
    assert_eq!(found["bytes"], text.len());
    for name in ["out", "out.txt", "out.pgn.gz", "-", "pgn"] {
        let refused = folder.path().join(name);
        let refused = if name == "-" {
            Path::new(name)
        } else {
            &refused
        };
        let mut command = command(&[&source], &fake(""), refused, &[]);
        let said = run(command.current_dir(folder.path()));
        assert_eq!(said.code, Some(2), "{name}: {}", said.err);
        assert!(
            said.err
                .contains(".pgn.zst, to be compressed, or with .pgn")
        );
    }
    // Two outputs with their records, and the source.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5);
}

#[test]
fn rejects_invalid_arguments() {
    let (folder, source, out) = folder(SPECIAL);
    for (more, word) in [
        ("--every 0", "1 or more"),
        ("--ahead 0", "1 or more"),
        ("--processes 0", "1 to 1024"),
        ("--processes 100000", "1 to 1024"),
        ("--timeout 0", "1..=86400"),
        ("--timeout 18446744073709551615", "1..=86400"),
        ("--option Hash", "Name=Value"),
    ] {
        let more: Vec<&str> = more.split(' ').collect();
        let said = annotate(&[&source], &fake(""), &out, &more);
        assert_eq!(said.code, Some(2), "{more:?}: {}", said.err);
        assert!(said.err.contains(word), "{more:?}: {}", said.err);
    }
    let said = annotate(&[&source], " ", &out, &[]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("give a program"), "{}", said.err);
    for limit in ["--nodes", "--depth"] {
        let mut command = tests::program("ingest");
        command
            .arg("annotate")
            .arg(&source)
            .args(["--engine", "cat", limit, "0"]);
        let said = run(command.arg("--out").arg(&out));
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains("1 or more"), "{}", said.err);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn names_programs_that_are_not_engines() {
    let (folder, source, out) = folder(SPECIAL);
    annotate(&[&source], "/none/engine", &out, &[]).failed(3, &["/none/engine", "No such file"]);
    annotate(&[&source], "true", &out, &[]).failed(1, &["true", "not a UCI engine", "uciok"]);
    // A program that never speaks is reported at once and given up after the timeout.
    let mute = annotate(&[&source], "cat", &out, &["--timeout", "2"]);
    assert!(
        mute.err.contains("waiting for `uciok` from \"cat\""),
        "{}",
        mute.err
    );
    mute.failed(1, &["\"cat\" is not a UCI engine"]);
    let option = ["--option", "Hsah=1"];
    annotate(&[&source], &fake(""), &out, &option).failed(1, &["Hsah", "UCI_Chess960, Hash"]);
    let option = ["--option", "Hash=10"];
    annotate(&[&source], &fake(""), &out, &option).failed(1, &["Hash", "from 1 to 9"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let said = annotate(&[&source], &fake(""), &out, &["--depth", "3"]);
    assert_eq!(said.code, Some(2), "{}", said.err);
}

#[test]
fn reads_several_sources_and_standard_input() {
    let (folder, source, out) = folder(&unannotated(200));
    let (second, joined) = (
        folder.path().join("second.pgn"),
        folder.path().join("joined.pgn.zst"),
    );
    std::fs::write(&second, SPECIAL).unwrap();
    annotate(&[&source, &second], &fake(""), &joined, &[]).succeeded();
    compare(
        &(unannotated(200) + &special()),
        &text_of(&joined),
        fake_eval,
    );
    let stdin = std::fs::File::open(&source).unwrap();
    let mut piped = command(&[Path::new("-"), &second], &fake(""), &out, &[]);
    run(piped.stdin(stdin)).succeeded();
    assert_eq!(
        std::fs::read(&out).unwrap(),
        std::fs::read(&joined).unwrap()
    );
}

#[test]
fn every_compression_gives_the_same_file() {
    let (folder, source, out) = folder(&(unannotated(100) + SPECIAL));
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    let packed = |program: &str| {
        let output = Command::new(program).arg("-c").arg(&source).output();
        output.unwrap().stdout
    };
    let text = std::fs::read(&source).unwrap();
    for (name, bytes) in [
        ("gz", packed("gzip")),
        ("bz2", packed("bzip2")),
        ("zst", zstd::encode_all(&text[..], 3).unwrap()),
    ] {
        let (file, same) = (folder.path().join(name), folder.path().join("same.zst"));
        std::fs::write(&file, bytes).unwrap();
        annotate(&[&file], &fake(""), &same, &[]).succeeded();
        assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&same).unwrap());
        std::fs::remove_file(same).unwrap();
    }
}

#[test]
fn other_variants_and_broken_games_are_counted() {
    let game = |tags: &str, moves: &str| format!("[Event \"x\"]\n{tags}\n{moves}\n\n");
    let pgn = [
        game("[Variant \"Antichess\"]\n", "1. e4 *"),
        game("[FEN \"no position\"]\n", "1. e4 *"),
        game("[Result \"1-0\"]\n", "1. e4 e5 2. Ke3 d5 1-0"),
        game("[Result \"0-1\"]\n", "1. d4 { never closed"),
        game("", "1. c4 *"),
    ];
    let (folder, source, out) = folder(&pgn.concat());
    let found = report(annotate(&[&source], &fake(""), &out, &["--json"]));
    assert_eq!(
        found["skipped"],
        serde_json::json!({"variant": 1, "bad_fen": 1, "illegal_move": 1, "malformed_game": 1})
    );
    let kept = game("[Result \"1-0\"]\n", "1. e4 e5 1-0")
        + &game("[Result \"0-1\"]\n", "1. d4 0-1")
        + &game("", "1. c4 *");
    compare(&kept, &text_of(&out), fake_eval);
    // A Chess960 game is left out for an engine that does not support it.
    let plain = folder.path().join("plain.pgn.zst");
    std::fs::write(&source, SPECIAL).unwrap();
    let found = report(annotate(&[&source], &fake("plain"), &plain, &["--json"]));
    assert_eq!(
        (&found["games"], &found["skipped"]["variant"]),
        (&4.into(), &1.into())
    );
}
