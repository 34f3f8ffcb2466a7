//! Parsers of the column formats `FEN,Evaluation` and `FEN | centipawns | result`, from White's
//! point of view.

use std::borrow::Cow;

use super::evaluated::EvaluatedLine;
use crate::position::{GameResult, Label, parse_integer};

pub(super) fn parse_csv(line: &[u8]) -> Option<EvaluatedLine<'_>> {
    let mut columns = line.split(|&byte| byte == b',').map(unquoted);
    let (fen, score) = (columns.next()?, columns.next()?);
    Some(EvaluatedLine {
        fen: Cow::Borrowed(fen),
        label: parse_score(score)?,
        result: None,
        depth: 0,
    })
}

pub(super) fn parse_text(line: &[u8]) -> Option<EvaluatedLine<'_>> {
    let mut columns = line.split(|&byte| byte == b'|').map(<[u8]>::trim_ascii);
    let (fen, score) = (columns.next()?, columns.next()?);
    let result = match columns.next() {
        Some(result) => parse_result(result)?,
        None => None,
    };
    if columns.next().is_some() {
        return None;
    }
    Some(EvaluatedLine {
        fen: Cow::Borrowed(fen),
        label: parse_score(score)?,
        result,
        depth: 0,
    })
}

fn unquoted(column: &[u8]) -> &[u8] {
    let column = column.trim_ascii();
    let inner = column
        .strip_prefix(b"\"")
        .and_then(|c| c.strip_suffix(b"\""));
    inner.unwrap_or(column)
}

/// Parses `+56`, `-7`, `#+8`, `#-7` or `31992`. `None` for other text; `Some(None)` for a mate in
/// 0, which does not say who is mated.
fn parse_score(text: &[u8]) -> Option<Option<Label>> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some(moves) = text.strip_prefix('#') {
        return parse_integer(moves).map(Label::from_mate);
    }
    let score = parse_integer(text)?;
    let stored = i16::try_from(score).ok().and_then(Label::mate_from_stored);
    Some(Some(
        stored.unwrap_or_else(|| Label::from_centipawns(score)),
    ))
}

/// Parses a result. `None` if it is malformed, `Some(None)` if unknown.
fn parse_result(text: &[u8]) -> Option<Option<GameResult>> {
    let inner = text.strip_prefix(b"[").and_then(|t| t.strip_suffix(b"]"));
    Some(match inner.unwrap_or(text) {
        b"1.0" | b"1" | b"1-0" => Some(GameResult::WhiteWins),
        b"0.5" | b"1/2-1/2" => Some(GameResult::Draw),
        b"0.0" | b"0" | b"0-1" => Some(GameResult::BlackWins),
        b"?" | b"*" => None,
        _ => return None,
    })
}
