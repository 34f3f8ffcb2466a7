//! Rows that can be read from sources.

use records::binary_formats::PackedFormat;
use records::games::{read_games, read_moves};
use records::position::{MoveRecord, Record, Row};
use records::selection::{Filters, GameId, SourceCounts};
use records::text_formats::{PositionFormat, read_positions};

/// A row that can be read from sources. Each function calls `each` with the rows of every game of a
/// text of whole games.
pub trait FromSource: Row {
    /// Returns whether bare positions, without games, have such rows.
    const OF_BARE_POSITIONS: bool;

    /// Reads games of PGN.
    fn read_games(
        text: &[u8],
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[Self]),
    );

    /// Reads a packed format.
    fn read_packed(
        bytes: &[u8],
        format: PackedFormat,
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[Self]),
    );

    /// Reads bare positions, if they have such rows.
    fn read_positions(
        text: &[u8],
        format: PositionFormat,
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[Self]),
    );
}

impl FromSource for Record {
    const OF_BARE_POSITIONS: bool = true;

    fn read_games(
        text: &[u8],
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[Record]),
    ) {
        read_games(text, filters, tally, each);
    }

    fn read_packed(
        bytes: &[u8],
        format: PackedFormat,
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[Record]),
    ) {
        format.read(bytes, filters, tally, each);
    }

    fn read_positions(
        text: &[u8],
        format: PositionFormat,
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[Record]),
    ) {
        read_positions(text, format, filters, tally, each);
    }
}

impl FromSource for MoveRecord {
    const OF_BARE_POSITIONS: bool = false;

    fn read_games(
        text: &[u8],
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[MoveRecord]),
    ) {
        read_moves(text, filters, tally, each);
    }

    fn read_packed(
        bytes: &[u8],
        format: PackedFormat,
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[MoveRecord]),
    ) {
        format.read_moves(bytes, filters, tally, each);
    }

    fn read_positions(
        _: &[u8],
        _: PositionFormat,
        _: &Filters,
        _: &mut SourceCounts,
        _: impl FnMut(GameId, &[MoveRecord]),
    ) {
    }
}
