//! Text formats of bare positions: one evaluated position a line.

mod evaluated;
mod json;
mod opcodes;
mod table;

use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Chess, FromSetup, Position, Setup};

use evaluated::EvaluatedLine;

use crate::games::without_mark;
use crate::position::{Keyed, Month, Origin, Record};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts};

/// Format of a line with a position and its evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PositionFormat {
    /// Lichess's evaluation database: `{"fen": .., "evals": [..]}`, from White's point of view. The
    /// deepest evaluation counts; ties go to the most nodes, then to the first.
    EvaluationJson,
    /// `FEN,Evaluation`: `+56`, `#-7`, from White's point of view. Further columns are ignored.
    Csv,
    /// `FEN | centipawns | result`, from White's point of view. Scores of ±31000 to ±31999 are
    /// mates as [`Label`](crate::position::Label) stores them; `#-7` is one too.
    Text,
    /// EPD with `ce`, `dm` or `acd`, from the side to move's point of view.
    Epd,
}

/// Header line of a [`PositionFormat::Csv`] file, in lower case.
const CSV_HEADER: &[u8] = b"fen,evaluation";

impl PositionFormat {
    /// Detects the format of a text from its first line that is an evaluated position or a header.
    /// `None` if there is none before the first PGN tag; an incomplete last line may not be
    /// recognised.
    pub fn detect(text: &[u8]) -> Option<PositionFormat> {
        lines(text)
            .take_while(|line| !line.starts_with(b"["))
            .find_map(PositionFormat::of_line)
    }

    fn of_line(line: &[u8]) -> Option<PositionFormat> {
        // A line of the database can be longer than the sample.
        let start = &line[..line.len().min(64)];
        if start.starts_with(b"{") && memchr::memmem::find(start, b"\"fen\"").is_some() {
            return Some(PositionFormat::EvaluationJson);
        }
        if is_csv_header(line) {
            return Some(PositionFormat::Csv);
        }
        [
            PositionFormat::Csv,
            PositionFormat::Text,
            PositionFormat::Epd,
        ]
        .into_iter()
        .find(|format| {
            let evaluated = format.parse(line);
            evaluated.is_some_and(|line| line.label.is_some() && line.setup().is_some())
        })
    }

    fn parse(self, line: &[u8]) -> Option<EvaluatedLine<'_>> {
        match self {
            PositionFormat::EvaluationJson => json::parse(line),
            PositionFormat::Csv => table::parse_csv(line),
            PositionFormat::Text => table::parse_text(line),
            PositionFormat::Epd => opcodes::parse(line),
        }
    }
}

fn is_csv_header(line: &[u8]) -> bool {
    let start = line.split_at_checked(CSV_HEADER.len());
    start.is_some_and(|(start, rest)| {
        start.eq_ignore_ascii_case(CSV_HEADER) && (rest.is_empty() || rest.starts_with(b","))
    })
}

/// Returns the nonblank lines of a text, trimmed and without a leading byte order mark.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
            let (line, tail) = rest.split_at(end);
            rest = tail;
            let line = without_mark(line).trim_ascii();
            if !line.is_empty() {
                return Some(line);
            }
        }
        None
    })
}

/// Reads every position of a text of whole lines and calls `each` with the labelled ones, each as a
/// game. The [`GameId`] depends on the position alone, so that equal positions and colour twins
/// from any source fall on one side of the split.
pub fn read_positions(
    text: &[u8],
    format: PositionFormat,
    filters: &Filters,
    tally: &mut SourceCounts,
    mut each: impl FnMut(GameId, &[Record]),
) {
    let labels_before = tally.labels;
    for line in lines(text) {
        match read_line(line, format, filters) {
            Ok(record) => {
                tally.labels += 1;
                tally.mates += u64::from(record.label().mate().is_some());
                let id = GameId::of_position(Keyed::new(record).key);
                each(id, &[record]);
            }
            Err(_) if format == PositionFormat::Csv && is_csv_header(line) => {}
            Err(reason) => tally.skip(reason),
        }
    }
    let labels = tally.labels - labels_before;
    if labels > 0 {
        *tally.months.entry(Month::default()).or_default() += labels;
    }
}

fn read_line(line: &[u8], format: PositionFormat, filters: &Filters) -> Result<Record, SkipReason> {
    let evaluated = format.parse(line).ok_or(SkipReason::MalformedLine)?;
    let fen = evaluated.setup().ok_or(SkipReason::MalformedLine)?;
    let position = legal_position(fen.into_setup(), filters)?;
    if position.legal_moves().is_empty() {
        return Err(SkipReason::FinishedPosition);
    }
    let label = evaluated.label.ok_or(SkipReason::MalformedEval)?;
    let origin = Origin {
        result: evaluated.result,
        month: Month::default(),
        depth: evaluated.depth,
        tactical: false,
    };
    let record = Record::new(&position, label, origin);
    filters.reject_position(&record).map_or(Ok(record), Err)
}

/// Returns the position, if it is legal and of a variant that the filters accept.
///
/// # Errors
/// [`SkipReason::Variant`], [`SkipReason::IllegalPosition`].
pub(crate) fn legal_position(setup: Setup, filters: &Filters) -> Result<Chess, SkipReason> {
    if setup.pockets.is_some() || setup.remaining_checks.is_some() {
        return Err(SkipReason::Variant);
    }
    let mode = CastlingMode::from_chess960(filters.chess960);
    Chess::from_setup(setup.clone(), mode).map_err(|_| {
        let chess960 = Chess::from_setup(setup, CastlingMode::Chess960);
        chess960.map_or(SkipReason::IllegalPosition, |_| SkipReason::Variant)
    })
}

#[cfg(test)]
mod tests;
