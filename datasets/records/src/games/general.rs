//! A game in any form: pgn-reader tokenises it.

use std::io::{Chain, Read};

use crate::games::game::{GameReader, Previous};
use crate::games::movetext::{has_malformed_tag, longest_tag, readable, tags_end};
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
    if has_malformed_tag(&text[..tags_end(text)]) {
        tally.games += 1;
        tally.games_annotated += 1;
        tally.skip(SkipReason::BadTags);
        return;
    }
    let end = readable(text);
    let mut reader = reader(&text[..end]);
    let (mut previous, mut over) = (Previous::Nothing, false);
    loop {
        let mut visitor = GameReader::new(filters, tally, previous, &mut *each);
        match reader.read_game(&mut visitor) {
            Ok(None) => break,
            Ok(Some(())) => (previous, over) = (visitor.as_previous(), visitor.over),
            Err(_) => {
                // Reading from a slice, the only errors are of the syntax.
                // What follows cannot be told from this game.
                visitor.broken_off(SkipReason::MalformedGame);
                return;
            }
        }
    }
    if end < text.len() && !over {
        tally.skip(SkipReason::IllegalMove);
    }
}
