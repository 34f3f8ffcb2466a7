//! EPD parser: four fields of a FEN, then operations. Scores are from the mover's point of view, as
//! in the standard (Edwards, "Extended Position Description", 1995).

use std::borrow::Cow;

use super::evaluated::EvaluatedLine;
use crate::position::{Label, parse_integer};

/// Largest `ce` that is not a forced mate.
const MAX_CENTIPAWNS: u64 = 32000;

/// `ce` of a mate already on the board.
const MATED: u64 = 32767;

pub(super) fn parse(line: &[u8]) -> Option<EvaluatedLine<'_>> {
    let (fen, operations) = split_position(line);
    let (mut evaluation, mut mate, mut depth) = (None, None, 0);
    let (mut halfmoves, mut fullmoves) = (None, None);
    let mut quoted = false;
    let ends = |&byte: &u8| {
        quoted ^= byte == b'"';
        byte == b';' && !quoted
    };
    for operation in operations.split(ends) {
        let mut words = operation
            .split(u8::is_ascii_whitespace)
            .filter(|w| !w.is_empty());
        match words.next() {
            Some(b"ce") => evaluation = Some(integer(words.next()?)?),
            Some(b"dm") => mate = Some(integer(words.next()?)?),
            Some(b"acd") => depth = integer(words.next()?)?.clamp(0, 255) as u8,
            Some(b"hmvc") => halfmoves = Some(counter(words.next()?)?),
            Some(b"fmvn") => fullmoves = Some(counter(words.next()?)?),
            _ => {}
        }
    }
    let white = if fen.split(|&byte| byte == b' ').nth(1)? == b"b" {
        -1
    } else {
        1
    };
    let label = match (mate, evaluation) {
        (Some(moves), _) => Label::from_mate(white * moves),
        (None, Some(score)) => label_of_ce(score, white),
        (None, None) => None,
    };
    Some(EvaluatedLine {
        fen: with_counters(fen, halfmoves, fullmoves),
        label,
        result: None,
        depth,
    })
}

/// Returns the position with the counters of its operations, unless it already has counters.
fn with_counters<'a>(
    fen: &'a [u8],
    halfmoves: Option<&str>,
    fullmoves: Option<&str>,
) -> Cow<'a, [u8]> {
    let fields = fen.split(|&byte| byte == b' ').filter(|f| !f.is_empty());
    if (halfmoves, fullmoves) == (None, None) || fields.count() != 4 {
        return Cow::Borrowed(fen);
    }
    let counters = [halfmoves.unwrap_or("0"), fullmoves.unwrap_or("1")].join(" ");
    Cow::Owned([fen.trim_ascii_end(), b" ", counters.as_bytes()].concat())
}

fn counter(word: &[u8]) -> Option<&str> {
    let digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(word).ok().filter(|_| digits)
}

/// Splits a line into position and operations. EPD has four fields; the two counters of a FEN
/// belong to the position if they follow.
fn split_position(line: &[u8]) -> (&[u8], &[u8]) {
    let split_after = |fields: usize| {
        let end = memchr::memchr2_iter(b' ', b';', line).nth(fields - 1);
        line.split_at(end.unwrap_or(line.len()))
    };
    let (four, six) = (split_after(4), split_after(6));
    let mut counters = six.0[four.0.len()..]
        .trim_ascii()
        .split(|&byte| byte == b' ');
    let number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    if counters.next().is_some_and(number) && counters.next().is_some_and(number) {
        six
    } else {
        four
    }
}

fn integer(word: &[u8]) -> Option<i64> {
    parse_integer(std::str::from_utf8(word).ok()?)
}

/// Decodes `ce`: the mover's centipawns, or a mate in plies, odd if the mover mates, even if the
/// mover is mated.
fn label_of_ce(score: i64, white: i64) -> Option<Label> {
    let size = score.unsigned_abs().min(MATED);
    if size <= MAX_CENTIPAWNS {
        return Some(Label::from_centipawns(white * score));
    }
    let moves = (MATED - size).div_ceil(2) as i64;
    Label::from_mate(white * score.signum() * moves)
}
