//! A game in any form: rewritten in the export format, and tokenised by pgn-reader.

use std::io::{Chain, Read};

use crate::games::game::{GameReader, Previous};
use crate::games::movetext::{Cut, import, longest_tag};
use crate::position::Record;
use crate::selection::{Filters, GameId, SkipReason, SourceCounts};

/// What stands behind a game for the reader: it looks ahead, and at the end of
/// its input it would move what is left of the game at every token.
const PADDING: &[u8] = &[b'\n'; 260];

/// Length of a comment that is read in one piece; longer ones are put together.
pub(crate) const COMMENT_BYTES: usize = 255;

/// A reader of a game's text. Whatever the length of its tags, they are read
/// whole, up to 64 KiB.
pub(crate) fn reader(game: &[u8]) -> pgn_reader::Reader<Chain<&[u8], &'static [u8]>> {
    let tag_bytes = match longest_tag(game) {
        0..256 => 255,
        _ => 1 << 16,
    };
    pgn_reader::Reader::build(game.chain(PADDING))
        .set_supported_comment_length(COMMENT_BYTES)
        .set_supported_tag_line_length(tag_bytes)
        .finish()
}

/// Reads a game in any form.
pub(crate) fn read_general(
    text: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    each: &mut impl FnMut(GameId, &[Record]),
) {
    let imported = match import(text) {
        Ok(imported) => imported,
        Err(cut) => {
            tally.games += 1;
            tally.games_annotated += 1;
            tally.cut(cut);
            return;
        }
    };
    let mut reader = reader(&imported.text);
    let (mut previous, mut over) = (Previous::Nothing, false);
    loop {
        let mut visitor = GameReader::new(filters, tally, previous, &mut *each);
        let read = reader.read_game(&mut visitor);
        if read.is_err() {
            // Reading from a slice, the only errors are of the syntax.
            // What follows cannot be told from this game.
            visitor.broken_off(SkipReason::MalformedGame, "");
        }
        let (next, is_over, cut) = (visitor.as_previous(), visitor.over, visitor.cut.take());
        if let Some((reason, word)) = cut {
            tally.keep_example(Cut::at(reason, word.as_bytes(), text));
        }
        match read {
            Ok(Some(())) => (previous, over) = (next, is_over),
            Ok(None) => break,
            Err(_) => return,
        }
    }
    if let Some(cut) = imported.cut.filter(|_| !over) {
        tally.cut(cut);
    }
}
