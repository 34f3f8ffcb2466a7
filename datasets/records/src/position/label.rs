//! Labels (scores of positions), and parsers of the `[%eval]` and match comments that give them.

use std::fmt;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use shakmaty::Color;

/// A score: centipawns, or mate in `n` moves. In a record it is from White's point of view;
/// [`Label::seen_by`] converts it.
///
/// Stored as an i16. Centipawns are clamped to ±[`Label::MAX_CENTIPAWNS`]. Mate in `n` moves is
/// ±(32000 - n), with `n` clamped to 1..=1000: mates occupy ±31000 to ±31999, nearer mates further
/// out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(i16);

const MATE: i16 = 32000;
const MAX_MATE_MOVES: i64 = 1000;

impl Label {
    /// Largest score that is not a mate: 300 pawns.
    pub const MAX_CENTIPAWNS: i16 = 30000;

    /// Returns a score in centipawns, clamped to ±[`Label::MAX_CENTIPAWNS`].
    pub fn from_centipawns(centipawns: i64) -> Label {
        let max = i64::from(Label::MAX_CENTIPAWNS);
        Label(centipawns.clamp(-max, max) as i16)
    }

    /// Returns mate in `moves`, clamped to 1,000: negative if the side of the point of view (White
    /// in a record) is mated. `None` for 0, which does not say who is mated.
    pub fn from_mate(moves: i64) -> Option<Label> {
        let distance = moves.unsigned_abs().min(MAX_MATE_MOVES as u64) as i16;
        (moves != 0).then(|| Label(moves.signum() as i16 * (MATE - distance)))
    }

    pub(crate) fn stored(self) -> i16 {
        self.0
    }

    pub(crate) fn from_stored(stored: i16) -> Label {
        Label(stored)
    }

    /// Returns the mate with this stored form; `None` outside the ranges of mates.
    pub(crate) fn mate_from_stored(stored: i16) -> Option<Label> {
        let distance = i32::from(MATE) - i32::from(stored).abs();
        (1..=MAX_MATE_MOVES as i32)
            .contains(&distance)
            .then_some(Label(stored))
    }

    /// Returns the score in centipawns; `None` for a mate.
    pub fn centipawns(self) -> Option<i32> {
        (self.0.unsigned_abs() <= Label::MAX_CENTIPAWNS as u16).then_some(i32::from(self.0))
    }

    /// Returns the moves to mate, negative if the side of the point of view is mated; `None` for
    /// centipawns.
    pub fn mate(self) -> Option<i32> {
        let distance = i32::from(MATE) - i32::from(self.0.unsigned_abs());
        self.centipawns()
            .is_none()
            .then(|| distance * i32::from(self.0.signum()))
    }

    /// Converts between White's and `color`'s point of view, in either direction.
    pub fn seen_by(self, color: Color) -> Label {
        Label(color.fold_wb(self.0, -self.0))
    }

    /// Returns the training target in pawns: mate in `n` is 320 pawns less `n` hundredths.
    pub fn target_pawns(self) -> f32 {
        f32::from(self.0) / 100.0
    }

    /// Returns the score for a bullet board, which is the stored form: centipawns, and ±(32000 - n)
    /// for mate in `n`.
    pub fn bullet_score(self) -> i16 {
        self.0
    }
}

impl fmt::Display for Label {
    /// Writes centipawns as a plain number, mates as `#3` and `#-4`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.mate() {
            Some(moves) => write!(f, "#{moves}"),
            None => write!(f, "{}", self.0),
        }
    }
}

/// Evaluation found in a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalComment {
    /// No `[%eval` in the comment.
    Absent,
    /// An `[%eval`, but none that is readable.
    Malformed,
    /// The first readable evaluation.
    Eval {
        /// The score.
        label: Label,
        /// Search depth in plies, at most 255; 0 if none was given.
        depth: u8,
    },
}

/// Parses the first well-formed `[%eval 2.35]`, `[%eval #-4]` or `[%eval 0.17,20]` of a comment:
/// pawns or moves to mate, from White's point of view, and a depth. An integer with a depth,
/// `[%eval 17,20]`, is centipawns, as ChessBase writes them.
pub fn parse_eval(comment: &[u8]) -> EvalComment {
    const TAG: &[u8] = b"[%eval";
    // Building a finder takes longer than searching a comment.
    static FINDER: LazyLock<Finder> = LazyLock::new(|| Finder::new(TAG));
    // Lichess writes it first in the comment.
    let first = comment.trim_ascii_start().strip_prefix(TAG);
    if let Some((label, depth)) = first.and_then(parse_eval_body) {
        return EvalComment::Eval { label, depth };
    }
    let mut result = EvalComment::Absent;
    for start in FINDER.find_iter(comment) {
        match parse_eval_body(&comment[start + TAG.len()..]) {
            Some((label, depth)) => return EvalComment::Eval { label, depth },
            None => result = EvalComment::Malformed,
        }
    }
    result
}

/// Parses a comment of an engine match after a move of `mover`. cutechess, fastchess and
/// `arena match` write `+0.25/12 0.5s` and `-M6/20 0.1s`: the mover's score in pawns or plies to
/// mate, and the depth. A mate already on the board is [`EvalComment::Absent`].
pub(crate) fn parse_match_score(comment: &[u8], mover: Color) -> EvalComment {
    let score = || {
        let text = comment.trim_ascii_start();
        if !matches!(text.first()?, b'+' | b'-' | b'0'..=b'9') {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        let (score, rest) = text.split_once('/')?;
        let end = rest.find(|c: char| !c.is_ascii_digit());
        let (depth, rest) = rest.split_at(end.unwrap_or(rest.len()));
        let depth = parse_digits(depth)?.min(255) as u8;
        // People's comments hold similar dates and fractions, but no time after them.
        let rest = rest.trim_start_matches([',', ' ', '\n', '\r']);
        let time = rest
            .split([' ', ',', '\n', '\r', ')'])
            .next()?
            .strip_suffix('s')?;
        time.parse::<f64>().ok()?;
        let unsigned = score.trim_start_matches(['+', '-']);
        let label = match unsigned.strip_prefix('M') {
            // The score is for the position before the move: one ply more than after it.
            Some(plies) => {
                let plies = parse_digits(plies)?;
                let moves = if score.starts_with('-') {
                    -(plies / 2)
                } else {
                    plies / 2
                };
                Label::from_mate(moves)?
            }
            None if unsigned.contains('.') => {
                Label::from_centipawns(parse_signed(score, parse_pawns)?)
            }
            None => return None,
        };
        Some((label.seen_by(mover), depth))
    };
    score().map_or(EvalComment::Absent, |(label, depth)| EvalComment::Eval {
        label,
        depth,
    })
}

/// Writes an evaluation for [`parse_eval`], with the decimals that Lichess uses: `[%eval 0.17]`,
/// `[%eval 2.0]`, `[%eval #-4]`, and with a nonzero depth in plies `[%eval 0.17,20]`.
pub fn format_eval(label: Label, depth: u8) -> String {
    let score = match label.centipawns() {
        None => label.to_string(),
        Some(centipawns) => {
            let sign = if centipawns < 0 { "-" } else { "" };
            let (pawns, rest) = (centipawns.abs() / 100, centipawns.abs() % 100);
            match rest % 10 {
                0 => format!("{sign}{pawns}.{}", rest / 10),
                _ => format!("{sign}{pawns}.{rest:02}"),
            }
        }
    };
    match depth {
        0 => format!("[%eval {score}]"),
        _ => format!("[%eval {score},{depth}]"),
    }
}

/// Longest evaluation in bytes. Without a limit, a comment of nothing but `[%eval` would take
/// quadratic time.
const EVAL_BYTES: usize = 256;

/// Parses ` 2.35]`, ` #-4]` or ` 0.17,20]`.
fn parse_eval_body(text: &[u8]) -> Option<(Label, u8)> {
    let text = &text[..text.len().min(EVAL_BYTES)];
    // A wrapped line may break here.
    let (b' ' | b'\n' | b'\r', _) = text.split_first()? else {
        return None;
    };
    let text = text.trim_ascii_start();
    let end = memchr::memchr(b']', text)?;
    let text = std::str::from_utf8(&text[..end]).ok()?;
    let (score, depth) = match text.split_once(',') {
        Some((score, depth)) => (score, Some(parse_digits(depth)?)),
        None => (text, None),
    };
    let label = match score.strip_prefix('#') {
        Some(moves) => Label::from_mate(parse_integer(moves)?)?,
        None if depth.is_some() && !score.contains('.') => {
            Label::from_centipawns(parse_integer(score)?)
        }
        None => Label::from_centipawns(parse_signed(score, parse_pawns)?),
    };
    Some((label, depth.unwrap_or_default().min(255) as u8))
}

/// Parses an integer with an optional sign, saturating at the range of i64.
pub(crate) fn parse_integer(text: &str) -> Option<i64> {
    parse_signed(text, parse_digits)
}

fn parse_signed(text: &str, unsigned: fn(&str) -> Option<i64>) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(rest) => unsigned(rest).map(|n| -n),
        None => unsigned(text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Parses digits, saturating at `i64::MAX`.
fn parse_digits(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(i64::MAX))
}

/// Parses pawns with at most two decimals, to centipawns. Exact: decimal text to integer, never
/// through a float.
fn parse_pawns(text: &str) -> Option<i64> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let pawns = if whole.is_empty() {
        0
    } else {
        parse_digits(whole)?
    };
    let hundredths = match fraction.len() {
        0 => 0,
        1 => 10 * parse_digits(fraction)?,
        2 => parse_digits(fraction)?,
        _ => return None,
    };
    Some(pawns.saturating_mul(100).saturating_add(hundredths))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(comment: &str) -> String {
        match parse_eval(comment.as_bytes()) {
            EvalComment::Absent => "absent".to_string(),
            EvalComment::Malformed => "malformed".to_string(),
            EvalComment::Eval { label, depth: 0 } => label.to_string(),
            EvalComment::Eval { label, depth } => format!("{label} d{depth}"),
        }
    }

    #[test]
    fn parses_all_forms_lichess_writes() {
        for (comment, expected) in [
            (" [%eval 0.17] [%clk 0:00:30] ", "17"),
            ("[%eval -2.35]", "-235"),
            ("[%eval #-4] [%clk 0:01:10]", "#-4"),
            ("[%eval #3]", "#3"),
            ("[%eval 0.17,20]", "17 d20"),
            ("[%eval #-12,99]", "#-12 d99"),
            // Lichess always writes a point; ChessBase never does.
            ("[%eval 28,24]", "28 d24"),
            ("[%eval -14,24]", "-14 d24"),
            ("[%eval 25.0,24]", "2500 d24"),
            ("[%eval 25]", "2500"),
            ("[%eval +1.5]", "150"),
            ("[%eval 152.65]", "15265"),
            ("[%eval 0]", "0"),
            ("[%eval -0.0]", "0"),
            ("[%eval .5]", "50"),
            ("[%eval 3.]", "300"),
            ("[%eval\r\n0.3]", "30"),
            ("[%clk 0:03:00]", "absent"),
            ("White offers draw", "absent"),
            ("[%eval 0.1] Inaccuracy. [%eval 0.9]", "10"),
            ("[%eval x] then [%eval 0.4]", "40"),
        ] {
            assert_eq!(eval(comment), expected, "{comment}");
        }
    }

    #[test]
    fn written_evaluations_match_lichess_and_parse_back() {
        for (centipawns, expected) in [
            (0, "[%eval 0.0]"),
            (17, "[%eval 0.17]"),
            (5, "[%eval 0.05]"),
            (-5, "[%eval -0.05]"),
            (-20, "[%eval -0.2]"),
            (140, "[%eval 1.4]"),
            (-200, "[%eval -2.0]"),
            (15265, "[%eval 152.65]"),
        ] {
            assert_eq!(format_eval(Label::from_centipawns(centipawns), 0), expected);
        }
        let scores = (-30000..=30000).map(Label::from_centipawns);
        let mates = (-1000..=1000).filter_map(Label::from_mate);
        for (label, depth) in scores.chain(mates).zip((0..=255).cycle()) {
            let comment = format_eval(label, depth);
            let read = parse_eval(comment.as_bytes());
            assert_eq!(read, EvalComment::Eval { label, depth }, "{comment}");
        }
    }

    #[test]
    fn scores_of_matches_are_the_movers() {
        let read = |comment: &str, mover| match parse_match_score(comment.as_bytes(), mover) {
            EvalComment::Eval { label, depth } => format!("{label} d{depth}"),
            other => format!("{other:?}"),
        };
        for (comment, white, black) in [
            ("+0.25/12 0.5s", "25 d12", "-25 d12"),
            ("-0.25/12 0.500s", "-25 d12", "25 d12"),
            ("0.00/1 0s", "0 d1", "0 d1"),
            (
                "+1.30/20 0.105s, White wins by adjudication",
                "130 d20",
                "-130 d20",
            ),
            ("+0.41/14, 0.12s", "41 d14", "-41 d14"),
            // Mate in two before the move is mate in one after it.
            ("+M3/20 0.1s", "#1 d20", "#-1 d20"),
            ("-M4/20 0.1s", "#-2 d20", "#2 d20"),
            ("+M1/20 0.1s, White mates", "Absent", "Absent"),
            ("0.500s", "Absent", "Absent"),
            ("book", "Absent", "Absent"),
            ("1/2 point", "Absent", "Absent"),
            ("12/2024 was better", "Absent", "Absent"),
            ("0.5/12", "Absent", "Absent"),
            ("+3/12 0.5s", "Absent", "Absent"),
        ] {
            assert_eq!(read(comment, Color::White), white, "{comment}");
            assert_eq!(read(comment, Color::Black), black, "{comment}");
        }
    }

    #[test]
    fn absurd_numbers_are_clamped_not_wrapped() {
        assert_eq!(eval("[%eval #4294967299]"), "#1000");
        assert_eq!(eval("[%eval #-99999999999999999999999]"), "#-1000");
        assert_eq!(eval("[%eval 99999999999999999999]"), "30000");
        assert_eq!(eval("[%eval -655.37]"), "-30000");
        assert_eq!(eval("[%eval 0.1,70000]"), "10 d255");
    }

    #[test]
    fn malformed_evals_differ_from_absent_ones() {
        for comment in [
            "[%eval ]",
            "[%eval #]",
            "[%eval 0.125]",
            "[%eval 1,]",
            "[%eval 1",
            "[%eval NaN]",
            "[%eval #0]",
            "[%eval0.1]",
            "[%eval .]",
            "[%eval 1 2]",
            "[%eval --1]",
        ] {
            assert_eq!(eval(comment), "malformed", "{comment}");
        }
    }

    #[test]
    fn mates_keep_sign_and_distance_and_exceed_all_scores() {
        for moves in [1i64, 2, 999, 1000] {
            for sign in [1, -1] {
                let label = Label::from_mate(sign * moves).unwrap();
                assert_eq!(label.mate(), Some((sign * moves) as i32));
                assert_eq!(label.centipawns(), None);
                assert!(label.stored().abs() > Label::MAX_CENTIPAWNS);
                assert_eq!(label.seen_by(Color::White), label);
                let black = label.seen_by(Color::Black);
                assert_eq!(black.mate(), Some((-sign * moves) as i32));
                assert_eq!(black.bullet_score(), -label.stored());
                let pawns = sign as f32 * (32_000 - moves) as f32 / 100.0;
                assert_eq!(label.target_pawns(), pawns);
            }
        }
        assert!(Label::from_mate(1) > Label::from_mate(2));
        assert!(Label::from_mate(-1) < Label::from_mate(-2));
        assert_eq!(Label::from_mate(0), None);
    }
}
