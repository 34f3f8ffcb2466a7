//! Random conversations: in any order of commands, every `go` gets one legal `bestmove`, every
//! `isready` one `readyok`, and the program exits with success.

use std::fmt::Write;

use cozy_chess::Board;
use engine::{BENCH_POSITIONS, legal_moves, write_move};
use fastrand::Rng;
use shakmaty::Chess;

use crate::process::{Uci, run_with};
use crate::referee::{self, judge_best_move, judge_info};

/// Maximum line length of the engine.
const MAX_LINE: usize = 1 << 20;
const CONVERSATIONS: u64 = 150;

/// Answers due to the lines sent so far.
struct Expected {
    /// Current position; `None` after an unplayable one.
    position: Option<Chess>,
    /// Position of each `go`.
    searches: Vec<Option<Chess>>,
    ready: usize,
    handshakes: usize,
}

impl Expected {
    fn of(input: &str) -> Expected {
        let mut expected = Expected {
            position: Some(Chess::default()),
            searches: Vec::new(),
            ready: 0,
            handshakes: 0,
        };
        for line in input.split('\n').filter(|line| line.len() < MAX_LINE) {
            let line = line.trim_ascii();
            match line.split_ascii_whitespace().next() {
                Some("position") => expected.position = referee::position(line),
                Some("go") => expected.searches.push(expected.position.clone()),
                Some("isready") => expected.ready += 1,
                Some("uci") => expected.handshakes += 1,
                Some("quit") => break,
                _ => {}
            }
        }
        expected
    }
}

/// Sends `input`, closes it, and checks every line of the answer.
pub fn converse(input: &str) -> String {
    let output = run_with(input.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    let context = || format!("{:.5000}\n--- answer\n{text}", input);
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
        let position = || {
            let searched = current.unwrap_or_else(|| panic!("no search: {}", context()));
            searched.as_ref()
        };
        let judged = match line.split(' ').next() {
            Some("bestmove") => {
                let judged = match position() {
                    Some(position) => judge_best_move(position, line),
                    None if line == "bestmove 0000" => Ok(()),
                    None => Err(format!("a move without a position: {line:?}")),
                };
                current = searches.next();
                judged
            }
            Some("info") if line.starts_with("info string ") => Ok(()),
            Some("info") => match position() {
                Some(position) => judge_info(position, line),
                None => Err(format!("a line without a position: {line:?}")),
            },
            _ => match line {
                "readyok" => {
                    ready += 1;
                    Ok(())
                }
                "uciok" => {
                    handshakes += 1;
                    Ok(())
                }
                _ if line.starts_with("id ") || line.starts_with("option ") => Ok(()),
                _ => Err(format!("{line:?}")),
            },
        };
        judged.unwrap_or_else(|wrong| panic!("{wrong}: {}", context()));
    }
    assert!(current.is_none(), "a go without answer: {}", context());
    assert_eq!(ready, expected.ready, "{}", context());
    assert_eq!(handshakes, expected.handshakes, "{}", context());
    text
}

/// The steps of fastchess's compliance test, in order, and similar ones; every answer is judged.
#[test]
fn passes_the_compliance_steps_of_fastchess() {
    let mut uci = Uci::start();
    uci.send("uci");
    let handshake = uci.until("uciok");
    let has = |start: &str| handshake.iter().any(|line| line.starts_with(start));
    assert!(has("id name Kibitz") && has("id author "), "{handshake:?}");
    assert!(has("option name Hash type spin default 16 min 1 max "));
    assert!(has("option name Threads type spin default 1 min 1 max "));
    assert!(has("option name UCI_Chess960 type check default false"));
    uci.ready();
    uci.send("ucinewgame");
    uci.ready();
    const BLACK: &str =
        "position fen 3r2k1/p5n1/1pq1p2p/2p3p1/2P1P1n1/1P1P2pP/PN1Q2K1/5R2 b - - 0 27";
    for position in [
        "position startpos",
        "position fen 3r2k1/p5n1/1pq1p2p/2p3p1/2P1P1n1/1P1P2pP/PN1Q2K1/5R2 w - - 0 27",
        BLACK,
        "position startpos moves e2e4 e7e5",
        "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
        "position fen 8/P6k/8/8/8/8/7K/8 w - - 0 1 moves a7a8n",
        "position fen 4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1 moves d4e3",
    ] {
        uci.send(position);
        uci.ready();
        for go in [
            "go wtime 100",
            "go btime 100",
            "go wtime 100 btime 100",
            "go wtime 100 winc 100 btime 100 binc 100",
            "go btime 100 binc 100 wtime 100 winc 100",
            "go wtime 100 btime 100 movestogo 1",
            "go movetime 20",
            "go depth 5",
            "go nodes 1",
            "go nodes 2000",
            "go depth 2 nodes 100000 movetime 1000",
        ] {
            uci.send(go);
            let (reported, best) = uci.judged(position);
            assert_eq!(reported, best, "{position}, {go}");
        }
    }
    // Games in a row, with options set between them.
    for option in [
        "Hash value 1",
        "Hash value 64",
        "Threads value 2",
        "Move Overhead value 0",
        "MultiPV value 4",
        "Ponder value true",
        "Clear Hash",
        "UCI_LimitStrength value true",
        "MultiPV value 1",
        "UCI_LimitStrength value false",
    ] {
        uci.send(&format!("setoption name {option}"));
        uci.ready();
        uci.send("ucinewgame");
        uci.ready();
        let position = "position startpos moves e2e4 e7e5";
        uci.send(&format!("{position}\ngo wtime 100 btime 100"));
        uci.judged(position);
    }
    // `stop` ends unbounded searches soon.
    for go in [
        "go infinite",
        "go ponder wtime 100 btime 100",
        "go depth 200",
    ] {
        uci.send(&format!("{BLACK}\n{go}"));
        uci.until("info depth 3 ");
        uci.ready();
        uci.send("stop");
        let answer = uci.until("bestmove ").pop().unwrap();
        judge_best_move(&referee::position(BLACK).unwrap(), &answer).unwrap();
    }
    assert_eq!(uci.close(), "");
}

/// The last reported line is the chosen one, whichever thread found it.
#[test]
fn multithreaded_bestmove_matches_the_last_line() {
    let mut uci = Uci::start();
    uci.send("setoption name Threads value 4\nsetoption name Hash value 1");
    for (fen, limit) in BENCH_POSITIONS
        .iter()
        .zip(["nodes 700", "nodes 7000", "depth 5"].iter().cycle())
    {
        for _ in 0..8 {
            let position = format!("position fen {fen}");
            uci.send(&format!("ucinewgame\n{position}\ngo {limit}"));
            let (reported, best) = uci.judged(&position);
            assert_eq!(reported, best, "{fen}");
        }
    }
}

#[test]
fn random_conversations() {
    for seed in 0..CONVERSATIONS {
        let mut random = Rng::with_seed(seed);
        let mut input = String::new();
        for _ in 0..random.usize(1..25) {
            say_something(&mut input, &mut random);
        }
        // Sometimes the input ends without `quit`, or without a newline.
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
        let moves = legal_moves(&board);
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
    const GO: [&str; 25] = [
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
        "go wtime abc btime 300",
        "go depth x nodes 300 y",
        "go searchmoves zz a1a1 movetime 5",
    ];
    input.push_str(GO[random.usize(..GO.len())]);
}

fn say_option(input: &mut String, random: &mut Rng) {
    const OPTIONS: [&str; 23] = [
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
        "PolicyFile value /no/such/file",
        "Style value human",
        "Search value puct",
    ];
    let option = OPTIONS[random.usize(..OPTIONS.len())];
    write!(input, "setoption name {option}").unwrap();
}

/// Appends random characters and, rarely, words of the protocol.
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
