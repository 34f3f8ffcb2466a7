//! Random conversations: whatever is said in whatever order, every `go` gets
//! one legal `bestmove`, every `isready` one `readyok`, and the program ends well.

use std::fmt::Write;

use cozy_chess::Board;
use engine::uci::Command;
use engine::{BENCH_POSITIONS, Position, parse_move, write_move};
use fastrand::Rng;

use crate::process::run_with;

/// Longer lines are refused.
const MAX_LINE: usize = 1 << 20;
const CONVERSATIONS: u64 = 300;

/// What the lines sent so far call for.
struct Expected {
    position: Board,
    /// Where each `go` was said.
    searches: Vec<Board>,
    ready: usize,
    handshakes: usize,
}

impl Expected {
    fn of(input: &str) -> Expected {
        let mut expected = Expected {
            position: Board::startpos(),
            searches: Vec::new(),
            ready: 0,
            handshakes: 0,
        };
        for line in input.lines().filter(|line| line.len() < MAX_LINE) {
            match Command::parse(line) {
                Ok(Some(Command::Position(position))) => {
                    expected.position = position.board().clone();
                }
                Ok(Some(Command::Go(_))) => expected.searches.push(expected.position.clone()),
                Ok(Some(Command::IsReady)) => expected.ready += 1,
                Ok(Some(Command::Uci)) => expected.handshakes += 1,
                Ok(Some(Command::Quit)) => break,
                _ => {}
            }
        }
        expected
    }
}

/// Says `input` and then closes it; checks every line of the answer.
pub fn converse(input: &str) -> String {
    let output = run_with(input.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    let context = || format!("{}\n--- answer\n{text}", &input[..input.len().min(5_000)]);
    assert!(output.status.success(), "{:?} {}", output.status, context());
    assert!(
        output.stderr.is_empty(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stderr),
        context()
    );
    let expected = Expected::of(input);
    let mut searches = expected.searches.iter();
    let mut current = searches.next();
    let (mut ready, mut handshakes) = (0, 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "bestmove" => {
                let board = current.unwrap_or_else(|| panic!("no search: {}", context()));
                assert!(is_answer(board, &words), "{line}: {}", context());
                current = searches.next();
            }
            "info" if words[1] != "string" => {
                let board = current.unwrap_or_else(|| panic!("no search: {}", context()));
                let pv = words.iter().position(|&word| word == "pv").unwrap();
                assert!(are_legal(board, &words[pv + 1..]), "{line}: {}", context());
            }
            "readyok" => ready += 1,
            "uciok" => handshakes += 1,
            "info" | "id" | "option" => {}
            _ => panic!("{line}: {}", context()),
        }
    }
    assert!(current.is_none(), "a go without answer: {}", context());
    assert_eq!(ready, expected.ready, "{}", context());
    assert_eq!(handshakes, expected.handshakes, "{}", context());
    text
}

/// `bestmove MOVE [ponder MOVE]`, or `bestmove 0000` where there is no move.
fn is_answer(board: &Board, words: &[&str]) -> bool {
    let can_move = board.generate_moves(|_| true);
    match words {
        ["bestmove", "0000"] => !can_move,
        ["bestmove", best] => are_legal(board, &[best]),
        ["bestmove", best, "ponder", answer] => are_legal(board, &[best, answer]),
        _ => false,
    }
}

fn are_legal(board: &Board, moves: &[&str]) -> bool {
    let mut position = Position::of(board.clone());
    moves
        .iter()
        .all(|text| parse_move(position.board(), text).is_ok_and(|mv| position.play(mv).is_ok()))
}

#[test]
fn random_conversations() {
    for seed in 0..CONVERSATIONS {
        let mut random = Rng::with_seed(seed);
        let mut input = String::new();
        for _ in 0..random.usize(1..25) {
            say_something(&mut input, &mut random);
        }
        // Sometimes the end comes unannounced, and unfinished.
        match random.u8(..3) {
            0 => input.push_str("quit\n"),
            1 => input.push_str("stop\nisready\n"),
            _ => input.push_str("isready"),
        }
        converse(&input);
    }
}

fn say_something(input: &mut String, random: &mut Rng) {
    match random.u8(..20) {
        0 => input.push_str("uci"),
        1 | 2 => input.push_str("isready"),
        3 => input.push_str("ucinewgame"),
        4..=7 => say_position(input, random),
        8..=12 => say_go(input, random),
        13 | 14 => input.push_str("stop"),
        15 => input.push_str("ponderhit"),
        16..=18 => say_option(input, random),
        _ => say_nonsense(input, random),
    }
    input.push('\n');
}

fn say_position(input: &mut String, random: &mut Rng) {
    const MORE: [&str; 5] = [
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
        "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
        "8/8/8/8/8/3k4/3q4/3K4 w - - 99 80",
        "nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w GBgb - 0 1",
        "1k6/8/8/8/8/8/8/R4K1R w HA - 0 1",
    ];
    let fens: Vec<&str> = BENCH_POSITIONS.iter().chain(&MORE).copied().collect();
    let mut board = Board::startpos();
    if random.bool() {
        let fen = fens[random.usize(..fens.len())];
        board = engine::parse_fen(fen).unwrap();
        write!(input, "position fen {fen}").unwrap();
    } else {
        input.push_str("position startpos");
    }
    if random.bool() {
        return;
    }
    input.push_str(" moves");
    for _ in 0..random.usize(..60) {
        let mut moves = Vec::new();
        board.generate_moves(|of_piece| {
            moves.extend(of_piece);
            false
        });
        if moves.is_empty() {
            break;
        }
        let mv = moves[random.usize(..moves.len())];
        write!(input, " {}", write_move(&board, mv, random.bool())).unwrap();
        board.play(mv);
    }
    if random.u8(..8) == 0 {
        input.push_str(" e2e9 a1a1");
    }
}

fn say_go(input: &mut String, random: &mut Rng) {
    const GO: [&str; 22] = [
        "go",
        "go infinite",
        "go depth 1",
        "go depth 4",
        "go depth 0",
        "go nodes 0",
        "go nodes 1",
        "go nodes 3000",
        "go movetime 0",
        "go movetime 30",
        "go movetime -30",
        "go wtime 300 btime 300 winc 10 binc 10",
        "go wtime 100 movestogo 1",
        "go wtime -1 btime -1",
        "go ponder wtime 300 btime 300",
        "go ponder depth 2",
        "go ponder movetime 10",
        "go mate 1 nodes 2000",
        "go depth 3 searchmoves e2e4 d2d4 g1f3",
        "go searchmoves e1e1 depth 2",
        "go depth 2 infinite",
        "go depth",
    ];
    input.push_str(GO[random.usize(..GO.len())]);
}

fn say_option(input: &mut String, random: &mut Rng) {
    const OPTIONS: [&str; 20] = [
        "MultiPV value 1",
        "MultiPV value 3",
        "MultiPV value 256",
        "Threads value 1",
        "Threads value 2",
        "Hash value 1",
        "Hash value 8",
        "Clear Hash",
        "Ponder value true",
        "Move Overhead value 0",
        "UCI_Chess960 value true",
        "UCI_Chess960 value false",
        "UCI_LimitStrength value true",
        "UCI_Elo value 1200",
        "Level value easy",
        "Level value hard",
        "Level value off",
        "Evaluation value material",
        "Hash value -1",
        "SyzygyPath value /no/such/folder",
    ];
    let option = OPTIONS[random.usize(..OPTIONS.len())];
    write!(input, "setoption name {option}").unwrap();
}

/// Printable and other characters, seldom words of the protocol.
fn say_nonsense(input: &mut String, random: &mut Rng) {
    const WORDS: [&str; 8] = [
        "go", "position", "fen", "moves", "name", "value", "stop", "\0",
    ];
    for _ in 0..random.usize(..30) {
        if random.u8(..6) == 0 {
            input.push(' ');
            input.push_str(WORDS[random.usize(..WORDS.len())]);
            input.push(' ');
        } else {
            input.push(random.char(' '..));
        }
    }
}
