//! Generator of games like those of Lichess's dumps: legal moves, with tags, clocks and evaluations
//! in Lichess's notation.
//!
//! ```
//! use tests::generator::Generator;
//!
//! let mut text = Vec::new();
//! let mut generator = Generator::new(1, 6);
//! let game = generator.append(&mut text);
//! assert!(text.starts_with(b"[Event \"Rated "));
//! assert!(game.plies > 0);
//! ```

mod clocks;
mod openings;
mod people;
mod playout;
mod random;
mod server_eval;

use clocks::{Clocks, TimeControl};
use openings::Opening;
use people::{Player, pair, rating_change};
use playout::{End, Ply};
use random::Random;
use records::hash::mix;
use server_eval::{ServerEval, WinChances};

/// Games per second on Lichess: 90 million a month.
const GAMES_A_SECOND: u64 = 35;

const BASE_62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Counts of one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Game {
    /// Half-moves played.
    pub plies: u64,
    /// Evaluations written.
    pub labels: u64,
}

/// Writer of games. A game depends only on the seed and its number, so that threads can write
/// different games of one dump.
pub struct Generator {
    seed: u64,
    annotated_percent: u32,
    next: u64,
    chances: WinChances,
    plies: Vec<Ply>,
    evaluations: Vec<Option<ServerEval>>,
}

/// Tag values of a game.
struct Tags<'a> {
    number: u64,
    players: &'a [Player; 2],
    opening: &'a Opening,
    control: &'a TimeControl,
    /// White's points, doubled: 0, 1 or 2.
    score: i32,
    termination: &'static str,
}

impl Generator {
    /// Starts at game 0 of a seed; `annotated_percent` of the games have evaluations.
    pub fn new(seed: u64, annotated_percent: u32) -> Generator {
        Generator {
            seed,
            annotated_percent,
            next: 0,
            chances: WinChances::new(),
            plies: Vec::new(),
            evaluations: Vec::new(),
        }
    }

    /// Moves to the game of this number.
    pub fn seek(&mut self, number: u64) {
        self.next = number;
    }

    /// Appends the next game.
    pub fn append(&mut self, out: &mut Vec<u8>) -> Game {
        let number = self.next;
        self.next += 1;
        let mut random = Random::new(self.seed, number);
        let annotated = random.below(100) < self.annotated_percent;
        let opening = openings::choose(&mut random);
        let control = TimeControl::choose(&mut random);
        let players = pair(&mut random);
        let end = playout::play(opening, &mut random, &mut self.plies);
        if annotated {
            server_eval::evaluate(&self.plies, end, &mut random, &mut self.evaluations);
        } else {
            self.evaluations.clear();
        }
        let (seconds, flagged) = self.run_clocks(control, &mut random);
        // A fallen flag ends the game early.
        self.plies.truncate(seconds.len());
        self.evaluations.truncate(seconds.len());
        let score = self.score(end, flagged, &mut random);
        let termination = if flagged || end == End::Stopped && score != 1 && random.chance(220) {
            "Time forfeit"
        } else {
            "Normal"
        };
        let tags = Tags {
            number,
            players: &players,
            opening,
            control,
            score,
            termination,
        };
        tags.write(out, &mut random);
        self.write_moves(out, &seconds);
        out.extend_from_slice(result(score));
        out.extend_from_slice(b"\n\n");
        Game {
            plies: self.plies.len() as u64,
            labels: self.evaluations.iter().flatten().count() as u64,
        }
    }

    /// Returns the seconds left after each move, and whether a flag fell after the last.
    fn run_clocks(&self, control: &'static TimeControl, random: &mut Random) -> (Vec<i32>, bool) {
        let mut clocks = Clocks::new(control);
        let seconds: Vec<i32> = (0..self.plies.len())
            .map_while(|ply| clocks.think(ply, random))
            .collect();
        let flagged = seconds.len() < self.plies.len();
        (seconds, flagged)
    }

    /// Returns White's points, doubled.
    fn score(&self, end: End, flagged: bool, random: &mut Random) -> i32 {
        let white_moved_last = self.plies.len() % 2 == 1;
        let material = self.plies.last().map_or(0, |ply| ply.material);
        match end {
            _ if flagged => 2 * i32::from(white_moved_last),
            End::Mate => 2 * i32::from(white_moved_last),
            End::Dead => 1,
            End::Stopped if material.abs() < 200 && random.chance(150) => 1,
            End::Stopped => 2 * i32::from(material + random.between(-300, 300) > 0),
        }
    }

    fn write_moves(&self, out: &mut Vec<u8>, seconds: &[i32]) {
        let mut before = ServerEval::Centipawns(20);
        for (i, (ply, &seconds)) in self.plies.iter().zip(seconds).enumerate() {
            let white = i % 2 == 0;
            number(out, i as u64 / 2 + 1);
            out.extend_from_slice(if white { b". " } else { b"... " });
            ply.san.append_ascii_to(out);
            let evaluation = self.evaluations.get(i).copied().flatten();
            if let Some(after) = evaluation {
                out.extend_from_slice(self.chances.glyph(white, before, after).as_bytes());
                before = after;
            }
            out.extend_from_slice(b" { ");
            if let Some(evaluation) = evaluation {
                write_evaluation(out, evaluation);
            }
            out.extend_from_slice(b"[%clk ");
            write_clock(out, seconds);
            out.extend_from_slice(b"] } ");
        }
    }
}

impl Tags<'_> {
    fn write(&self, out: &mut Vec<u8>, random: &mut Random) {
        let at = self.number / GAMES_A_SECOND;
        let date = format!("2026.06.{:02}", 1 + at / 86_400 % 30);
        let time = format!("{:02}:{:02}:{:02}", at / 3600 % 24, at / 60 % 60, at % 60);
        let [white, black] = self.players;
        let change = |own: &Player, other: &Player, score, random: &mut Random| {
            format!(
                "{:+}",
                rating_change(own.rating, other.rating, score, random)
            )
        };
        let white_change = change(white, black, self.score, random);
        let black_change = change(black, white, 2 - self.score, random);
        self.write_event(out, at, random);
        out.extend_from_slice(b"\"]\n[Site \"https://lichess.org/");
        write_id(out, random.bits());
        tag(out, "Date", date.as_bytes());
        tag(out, "Round", b"-");
        tag(out, "White", b"");
        white.write_name(out);
        tag(out, "Black", b"");
        black.write_name(out);
        tag(out, "Result", result(self.score));
        tag(out, "UTCDate", date.as_bytes());
        tag(out, "UTCTime", time.as_bytes());
        tag(out, "WhiteElo", white.rating.to_string().as_bytes());
        tag(out, "BlackElo", black.rating.to_string().as_bytes());
        tag(out, "WhiteRatingDiff", white_change.as_bytes());
        tag(out, "BlackRatingDiff", black_change.as_bytes());
        tag(out, "ECO", self.opening.eco.as_bytes());
        tag(out, "Opening", self.opening.name.as_bytes());
        let control = format!("{}+{}", self.control.base, self.control.increment);
        tag(out, "TimeControl", control.as_bytes());
        tag(out, "Termination", self.termination.as_bytes());
        out.extend_from_slice(b"\"]\n\n");
    }

    /// Writes the event: one game in eight belongs to one of 40 tournaments of that hour.
    fn write_event(&self, out: &mut Vec<u8>, at: u64, random: &mut Random) {
        out.extend_from_slice(b"[Event \"Rated ");
        out.extend_from_slice(self.control.speed().as_bytes());
        if random.chance(125) {
            let tournament = ((at / 3600) << 32) | u64::from(random.below(40));
            out.extend_from_slice(b" tournament https://lichess.org/tournament/");
            write_id(out, mix(tournament));
        } else {
            out.extend_from_slice(b" game");
        }
    }
}

/// Closes the previous tag and begins the next one, up to its value.
fn tag(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(b"\"]\n[");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b" \"");
    out.extend_from_slice(value);
}

fn write_id(out: &mut Vec<u8>, mut bits: u64) {
    for _ in 0..8 {
        out.push(BASE_62[(bits % 62) as usize]);
        bits /= 62;
    }
}

fn result(score: i32) -> &'static [u8] {
    match score {
        2 => b"1-0",
        1 => b"1/2-1/2",
        _ => b"0-1",
    }
}

fn number(out: &mut Vec<u8>, value: u64) {
    if value >= 10 {
        number(out, value / 10);
    }
    out.push(b'0' + (value % 10) as u8);
}

fn write_clock(out: &mut Vec<u8>, seconds: i32) {
    number(out, seconds as u64 / 3600);
    for part in [seconds / 60 % 60, seconds % 60] {
        out.extend_from_slice(&[b':', b'0' + (part / 10) as u8, b'0' + (part % 10) as u8]);
    }
}

fn write_evaluation(out: &mut Vec<u8>, evaluation: ServerEval) {
    out.extend_from_slice(b"[%eval ");
    let (ServerEval::Centipawns(value) | ServerEval::Mate(value)) = evaluation;
    if matches!(evaluation, ServerEval::Mate(_)) {
        out.push(b'#');
    }
    if value < 0 {
        out.push(b'-');
    }
    let size = u64::from(value.unsigned_abs());
    if matches!(evaluation, ServerEval::Mate(_)) {
        number(out, size);
    } else {
        // Two decimals, the second omitted if 0.
        number(out, size / 100);
        out.extend_from_slice(&[b'.', b'0' + (size / 10 % 10) as u8]);
        if size % 10 != 0 {
            out.push(b'0' + (size % 10) as u8);
        }
    }
    out.extend_from_slice(b"] ");
}
