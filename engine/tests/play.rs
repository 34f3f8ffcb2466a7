//! `engine play` over pipes.

use std::io::Write;
use std::process::{Command, Stdio};

use cozy_chess::{Board, util};
use engine::{parse_move, write_fen};
use models::{PolicyMetadata, PolicyNetwork};
use test_support::send_signal;

/// Plays the lines of `input` and returns stdout.
fn play(arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["play", "--ascii"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // The pipe may be closed after `quit`.
    let _ = pipe.write_all(input.as_bytes());
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

const MATE_IN_ONE: &str = "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1";

#[test]
fn prints_a_line_per_depth_and_the_move() {
    let said = play(&["--depth", "5"], "e4\n");
    let depths: Vec<&str> = said.lines().filter(|line| line.starts_with('d')).collect();
    assert_eq!(depths.len(), 5, "{said}");
    let mut board = Board::startpos();
    board.play("e2e4".parse().unwrap());
    for (line, depth) in depths.iter().zip(1..) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        assert_eq!(words[0], format!("d{depth}"));
        let pawns: f64 = words[1].parse().unwrap();
        assert!(
            pawns.abs() < 10.0 && words[1].starts_with(['+', '-']),
            "{line}"
        );
        assert!(words[2].ends_with('n') && words[3] == "->", "{line}");
        // The move, then the line in SAN, which starts with that move.
        let mut after = board.clone();
        let mv = parse_move(&after, words[4]).unwrap();
        assert_eq!(
            util::parse_san_move(&after, words[5]).unwrap(),
            mv,
            "{line}"
        );
        for san in &words[5..] {
            let mv = util::parse_san_move(&after, san).unwrap();
            after.play(mv);
        }
    }
    let san = depths[4].split_ascii_whitespace().nth(5).unwrap();
    assert!(said.contains(&format!("\n1... {san}\n")), "{said}");
    assert_eq!(said.matches("   a b c d e f g h").count(), 3, "{said}");
}

#[test]
fn reports_mates_and_draws() {
    let said = play(&["--fen", MATE_IN_ONE], "Re8\npgn\nundo\nfen\nquit\nfen\n");
    assert!(said.contains("\n1. Re8#\n"), "{said}");
    assert!(said.contains("\n1-0 checkmate: White wins\n"), "{said}");
    assert!(said.contains("[Result \"1-0\"]"), "{said}");
    assert!(said.contains("\n1. Re8# 1-0\n"), "{said}");
    assert!(said.ends_with(&format!("\n{MATE_IN_ONE}\n")), "{said}");

    let said = play(&["--fen", MATE_IN_ONE, "--color", "black"], "");
    assert!(
        said.contains("#1") && said.contains("\n1. Re8#\n"),
        "{said}"
    );
    assert!(
        said.starts_with("\n1  . . . R . . . K\n"),
        "Black below: {said}"
    );

    for (fen, mv, reason) in [
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "Qf7", "stalemate"),
        (
            "7k/8/8/8/8/8/1p6/K7 w - - 0 1",
            "Kxb2",
            "neither side can mate",
        ),
        ("7k/8/8/8/8/8/6R1/K7 w - - 99 80", "Rg3", "fifty moves"),
    ] {
        let said = play(&["--fen", fen], mv);
        assert!(
            said.contains(&format!("1/2-1/2 draw: {reason}\n")),
            "{said}"
        );
    }
    // Over before it begins, and over by the fifty-move rule although moves are left.
    let said = play(
        &[
            "--fen",
            "k7/2Q5/8/2K5/8/8/8/8 b - - 0 1",
            "--color",
            "black",
            "--depth",
            "1",
        ],
        "",
    );
    assert!(said.contains("draw: stalemate"), "{said}");
    let said = play(
        &["--fen", "7k/8/8/8/8/8/6R1/K7 w - - 99 80"],
        "Rg3\nKh7\nfen\n",
    );
    assert!(said.contains("The game is over"), "{said}");
    assert!(
        said.ends_with("\n7k/8/8/8/8/6R1/8/K7 b - - 100 80\n"),
        "{said}"
    );
}

#[test]
fn pgn_contains_the_game() {
    let said = play(
        &["--level", "easy", "--depth", "2"],
        "e2e4\nundo\nd4\nundo\nnf3\ng3\npgn\nfen\n",
    );
    assert!(said.contains(" moves within 70 centipawns of "), "{said}");
    let (_, pgn) = said.rsplit_once("[Result \"*\"]\n\n").unwrap();
    let (movetext, fen) = pgn.rsplit_once("*\n").unwrap();
    let mut board = Board::startpos();
    let words = movetext.split_ascii_whitespace();
    let sans: Vec<&str> = words.filter(|word| !word.ends_with('.')).collect();
    for san in &sans {
        let mv = util::parse_san_move(&board, san).unwrap();
        board.play(mv);
    }
    assert_eq!((sans.len(), sans[0], sans[2]), (4, "Nf3", "g3"), "{said}");
    assert_eq!(fen.trim(), write_fen(&board), "{said}");
}

#[test]
fn plays_like_people_by_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.safetensors");
    let policy = PolicyNetwork::random(1, 1).to_bytes(&PolicyMetadata::new(1, "test"));
    std::fs::write(&file, policy).unwrap();
    let file = file.to_str().unwrap();
    let said = play(
        &["--policy", file, "--elo", "1800", "--depth", "1"],
        "e4\npgn\n",
    );
    assert!(
        said.contains(" % of people rated 1800 would play "),
        "{said}"
    );
    assert!(said.contains("\n1. e4 "), "{said}");
}

#[test]
fn commands_other_than_moves() {
    let said = play(
        &["--depth", "3"],
        "undo\nhint\nhelp\n\nnonsense\ne2e5\nflip\n",
    );
    assert!(said.contains("no move of yours"), "{said}");
    let hint = said
        .split("hint: 1. ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap();
    assert!(
        util::parse_san_move(&Board::startpos(), hint).is_ok(),
        "{hint}"
    );
    assert!(said.contains("undo    take back"), "{said}");
    assert!(
        said.contains("\"nonsense\" is no legal move here"),
        "{said}"
    );
    assert!(said.contains("\"e2e5\" is no legal move here"), "{said}");
    assert!(said.contains("   h g f e d c b a"), "{said}");
}

/// A signal prints the game before the exit.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_game_and_prints_it() {
    use std::io::{BufRead, BufReader, Read};
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // While thinking, and while waiting for input.
        for (input, until) in [("e4\n", "d3 "), ("undo\n", "There is")] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_engine"))
                .args(["play", "--ascii", "--movetime", "100000"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut pipe = child.stdin.take().unwrap();
            pipe.write_all(input.as_bytes()).unwrap();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            while !line.starts_with(until) {
                line.clear();
                assert_ne!(output.read_line(&mut line).unwrap(), 0);
            }
            send_signal(signal, &child);
            let mut rest = String::new();
            output.read_to_string(&mut rest).unwrap();
            let moves = if input == "undo\n" { "*" } else { "1. e4 *" };
            let game = format!("[Result \"*\"]\n\n{moves}\n");
            assert!(rest.ends_with(&game), "{rest}");
            assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        }
    }
}

#[test]
fn rejects_invalid_utf8() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["play", "--ascii", "--depth", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"\xff\xfe\ne4\npgn\n").unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("is no legal move here") && said.contains("\n1. e4 "),
        "{said}"
    );
}

#[test]
fn names_invalid_arguments() {
    for arguments in [
        ["--depth", "0"],
        ["--movetime", "0"],
        ["--movetime=-1", "-1"],
        ["--level", "godlike"],
        ["--color", "red"],
        ["--fen", "nonsense"],
        ["--depth", "deep"],
        ["--elo", "2900"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_engine"))
            .arg("play")
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(arguments[1]));
    }
}
