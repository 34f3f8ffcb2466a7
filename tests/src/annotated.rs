//! Shared helpers of the `ingest annotate` tests: games, a fake engine, and a reader of the output
//! that is independent of `ingest`. Panics on anything unexpected, as a test does.

use std::path::{Path, PathBuf};
use std::process::Command;

use cozy_chess::{Board, Color};
use serde_json::Value;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position};

use crate::{Said, program, run, sample, text_of};

/// Sample of 499 games, 46 of them with evaluations (datasets/samples/README.md).
pub const SLICE: &str = "dump_2021-10_first499.pgn.zst";

/// Special cases: a Chess960 start where both sides castle, a FEN start with castling, promotion
/// and mate, a mate, a stalemate, a game without moves.
pub const SPECIAL: &str = r#"[Event "Rated Chess960 game"]
[Result "1/2-1/2"]
[FEN "nbrkbrqn/pppppppp/8/8/8/8/PPPPPPPP/NBRKBRQN w KQkq - 0 1"]
[SetUp "1"]
[Variant "Chess960"]

1. f4 d5 2. c3 Nb6 3. e4 Bb5 4. d3 f6 5. Ng3 dxe4 6. Qd4+ Qd5 7. Nxe4 Qxd4 8. cxd4 Nd5 9. Bd2 b6 10. O-O O-O 11. Bc2 c6 12. a4 1/2-1/2

[Event "From a position"]
[Result "1-0"]
[FEN "4k3/P7/8/8/8/8/8/4K2R b K - 0 31"]

31... Kd7 32. a8=Q Kc7 33. O-O Kd7 34. Rf7+ Ke6 35. Qe8+ 1-0

[Event "A mate"]
[Result "0-1"]

1. f3 { [%clk 0:01:00] } 1... e5 { a comment [%clk 0:00:59] } 2. g4?? (2. e4 { [%eval 9] }) Qh4# 0-1

[Event "A stalemate"]
[Result "1/2-1/2"]
[FEN "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"]

1. Qf7 1/2-1/2

[Event "No moves"]
[Result "*"]

*

"#;

/// Game of an output or of a source.
#[derive(Debug, PartialEq)]
pub struct Game {
    /// Lines of the tags.
    pub tags: Vec<String>,
    /// Moves in SAN without glyphs, each with the comment after it.
    pub moves: Vec<(String, String)>,
    /// Result: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
}

/// Parses games as `annotate` and Lichess write them: moves on one line, no variations.
pub fn games(text: &str) -> Vec<Game> {
    let mut games: Vec<Game> = Vec::new();
    let mut in_tags = false;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if line.starts_with('[') {
            if !in_tags {
                games.push(Game {
                    tags: Vec::new(),
                    moves: Vec::new(),
                    result: String::new(),
                });
            }
            games.last_mut().unwrap().tags.push(line.to_string());
        } else {
            read_moves(line, games.last_mut().unwrap());
        }
        in_tags = line.starts_with('[');
    }
    games
}

fn read_moves(line: &str, game: &mut Game) {
    let mut words = line.split(' ').filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if word == "{" {
            let comment: Vec<&str> = words.by_ref().take_while(|&word| word != "}").collect();
            let last = &mut game.moves.last_mut().unwrap().1;
            *last = format!("{last} {}", comment.join(" ")).trim().to_string();
        } else if ["1-0", "0-1", "1/2-1/2", "*"].contains(&word) {
            game.result = word.to_string();
        } else if !word.ends_with('.') {
            let san = word.trim_end_matches(['?', '!']).to_string();
            game.moves.push((san, String::new()));
        }
    }
}

impl Game {
    /// Returns the value of a tag.
    pub fn tag<'a>(&'a self, name: &str) -> Option<&'a str> {
        let start = format!("[{name} \"");
        let value = |line: &'a String| line.strip_prefix(&start)?.strip_suffix("\"]");
        self.tags.iter().find_map(value)
    }

    /// Returns whether the game is Chess960.
    pub fn chess960(&self) -> bool {
        self.tag("Variant") == Some("Chess960")
    }

    /// Returns, after each move, the `position` command, the side to move, and whether the game is
    /// over. Uses cozy-chess, which `ingest` does not use.
    pub fn positions(&self) -> Vec<(String, Color, bool)> {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let (mut board, mut command) = match self.tag("FEN") {
            None | Some(START) => (Board::default(), "position startpos moves".to_string()),
            Some(fen) => (
                engine::parse_fen(fen).unwrap(),
                format!("position fen {fen} moves"),
            ),
        };
        let mut positions = Vec::new();
        for (san, _) in &self.moves {
            let mv = cozy_chess::util::parse_san_move(&board, san).unwrap();
            let uci = engine::write_move(&board, mv, self.chess960());
            board.play(mv);
            command = format!("{command} {uci}");
            let over = !board.generate_moves(|_| true);
            positions.push((command.clone(), board.side_to_move(), over));
        }
        positions
    }
}

/// Returns `0.17,20` for `[%eval 0.17,20]`.
pub fn eval_of(comment: &str) -> Option<&str> {
    let (_, rest) = comment.split_once("[%eval ")?;
    Some(rest.split_once(']')?.0)
}

fn clock_of(comment: &str) -> Option<&str> {
    let (_, rest) = comment.split_once("[%clk ")?;
    Some(rest.split_once(']')?.0)
}

/// Formats a score for the side to move as in `[%eval 0.17,20]`.
pub fn eval_text(score: FakeScore, depth: u32, turn: Color) -> String {
    let sign = if turn == Color::White { 1 } else { -1 };
    match score {
        // Debug prints the fewest decimals that identify the number, at least one.
        FakeScore::Centipawns(0) => format!("0.0,{depth}"),
        FakeScore::Centipawns(cp) => format!("{:?},{depth}", f64::from(sign * cp) / 100.0),
        FakeScore::Mate(moves) => format!("#{},{depth}", sign * moves),
    }
}

/// Returns the command line of the fake engine with `arguments`.
pub fn fake(arguments: &str) -> String {
    let engine = program("fake_engine");
    format!("{} {arguments}", engine.get_program().display())
}

/// Returns an `ingest annotate` command with 500 nodes a position.
pub fn command(sources: &[&Path], engine: &str, out: &Path, more: &[&str]) -> Command {
    let mut command = program("ingest");
    command.arg("annotate").args(sources);
    command.args(["--engine", engine, "--nodes", "500", "--out"]);
    command.arg(out).args(more);
    command
}

/// Runs [`command`] to its end.
pub fn annotate(sources: &[&Path], engine: &str, out: &Path, more: &[&str]) -> Said {
    run(&mut command(sources, engine, out, more))
}

/// Parses the output of `--json`.
pub fn report(said: Said) -> Value {
    serde_json::from_str(&said.succeeded().out).expect("--json prints JSON")
}

/// Creates a folder with `games.pgn`; returns the folder, the file and a path for the output.
pub fn folder(games: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (
        folder.path().join("games.pgn"),
        folder.path().join("out.pgn.zst"),
    );
    std::fs::write(&source, games).unwrap();
    (folder, source, out)
}

/// Splits text into games.
fn split(text: &str) -> Vec<&str> {
    let starts = text.match_indices("[Event \"").map(|(at, _)| at);
    let starts: Vec<usize> = starts.chain([text.len()]).collect();
    let game = |range: &[usize]| &text[range[0]..range[1]];
    starts.windows(2).map(game).collect()
}

/// Returns the first `count` games of the sample without evaluations.
pub fn unannotated(count: usize) -> String {
    let text = text_of(&sample(SLICE));
    let games = split(&text).into_iter();
    let games: Vec<&str> = games
        .filter(|game| !game.contains("[%eval"))
        .take(count)
        .collect();
    assert_eq!(games.len(), count);
    games.concat()
}

/// Asserts that an output keeps the tags, moves, clocks and results of its source, and has the
/// evaluations that `expected` returns.
pub fn compare(
    source: &str,
    output: &str,
    mut expected: impl FnMut(&Game, &str, Color) -> Option<String>,
) {
    let (source, output) = (games(source), games(output));
    assert_eq!(source.len(), output.len());
    for (source, output) in source.iter().zip(&output) {
        assert_eq!(source.tags, output.tags);
        assert_eq!(source.result, output.result, "{:?}", source.tags);
        assert_eq!(source.moves.len(), output.moves.len());
        let positions = source.positions();
        for (number, (command, turn, over)) in positions.iter().enumerate() {
            let ((san, comment), (written, new)) = (&source.moves[number], &output.moves[number]);
            assert_eq!(san, written, "{command}");
            assert_eq!(clock_of(comment), clock_of(new), "{command}");
            let eval = (!over).then(|| expected(source, command, *turn)).flatten();
            assert_eq!(eval_of(new), eval.as_deref(), "{command}");
        }
    }
}

/// Returns the number of moves in a `position` command.
pub fn plies(command: &str) -> usize {
    let (_, moves) = command.split_once(" moves ").unwrap();
    moves.split(' ').count()
}

/// Returns the `position` command of the same position without moves.
pub fn bare(game: &Game, command: &str) -> String {
    let (start, moves) = command.split_once(" moves ").unwrap();
    let start: Fen = match start.strip_prefix("position fen ") {
        Some(fen) => fen.parse().unwrap(),
        None => Fen::default(),
    };
    let mode = CastlingMode::from_chess960(game.chess960());
    let mut position: Chess = start.into_position(mode).unwrap();
    for text in moves.split(' ') {
        let mv: UciMove = text.parse().unwrap();
        position.play_unchecked(mv.to_move(&position).unwrap());
    }
    format!(
        "position fen {}",
        Fen::from_position(&position, EnPassantMode::Legal)
    )
}

/// Returns the fake engine's evaluation of a position as `[%eval]` text.
pub fn fake_eval(_: &Game, command: &str, turn: Color) -> Option<String> {
    let (score, depth) = fake_score(command);
    Some(eval_text(score, depth, turn))
}

/// Returns [`SPECIAL`] without the comment and variation that `annotate` drops; `??` stays.
pub fn special() -> String {
    SPECIAL
        .replace("a comment ", "")
        .replace("(2. e4 { [%eval 9] }) ", "")
}

/// Score of the fake engine, from the side to move's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FakeScore {
    /// Score in centipawns.
    Centipawns(i32),
    /// Moves to mate, negative for being mated.
    Mate(i32),
}

/// Returns the fake engine's score and depth for a `position` command: its FNV-1a hash.
pub fn fake_score(position: &str) -> (FakeScore, u32) {
    let hash = position.bytes().fold(0xCBF2_9CE4_8422_2325u64, |hash, b| {
        (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let value = (hash >> 20) as i32 % 1500;
    let depth = 2 + (hash >> 8) as u32 % 30;
    match hash % 11 {
        0 => (FakeScore::Mate(value % 20 * 2 + 1), depth),
        _ => (FakeScore::Centipawns(value), depth),
    }
}
