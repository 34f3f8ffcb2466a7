//! Reader for games in any form: rewrites them to the export format and tokenises with pgn-reader.

use std::io::{Chain, Read};

use crate::games::Collector;
use crate::games::game::{GameReader, Previous};
use crate::games::header::longest_tag;
use crate::games::movetext::{Cut, import};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts, roster_value};

/// Padding after a game. pgn-reader looks ahead, and near the end of its input would move the
/// remaining bytes at every token.
const PADDING: &[u8] = &[b'\n'; 260];

/// Longest comment, in bytes, that is read in one piece; longer ones are assembled from parts.
pub(crate) const COMMENT_BYTES: usize = 255;

/// Returns a pgn-reader of a text with room for its longest tag, up to 64 KiB.
pub(crate) fn reader(text: &[u8]) -> pgn_reader::Reader<Chain<&[u8], &'static [u8]>> {
    let tag_bytes = longest_tag(text).min(1 << 16);
    pgn_reader::Reader::build(text.chain(PADDING))
        .set_supported_comment_length(COMMENT_BYTES)
        .set_supported_tag_line_length(tag_bytes)
        .finish()
}

/// Reads the games of a text in any form.
pub(crate) fn read_general<C: Collector>(
    text: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    each: &mut impl FnMut(GameId, &[C::Row]),
) {
    let imported = match import(text) {
        Ok(imported) => imported,
        Err(cut) => return leave_out(cut, tally),
    };
    let mut reader = reader(&imported.text);
    let (mut previous, mut over) = (Previous::Nothing, false);
    let mut roster = Vec::new();
    loop {
        let mut visitor = GameReader::<C, _>::new(filters, tally, previous, &mut *each);
        let read = reader.read_game(&mut visitor);
        match read {
            Ok(None) => break,
            // A game without a result is whole if tags or the end of the text follow, not if a
            // blank line breaks it off.
            Ok(Some(())) => visitor.finish(match reader.has_more() {
                Ok(true) => reader.buffer().starts_with(b"["),
                _ => imported.cut.is_none(),
            }),
            // Reading from a slice fails only on syntax errors, after which the rest cannot be
            // separated from this game.
            Err(_) => visitor.broken_off(SkipReason::MalformedGame, ""),
        }
        (previous, over) = (visitor.as_previous(), visitor.over);
        let cut = visitor.cut.take();
        roster = visitor.roster.take().unwrap_or(roster);
        if let Some((reason, word)) = cut {
            let tag = |name: &str| roster_value(&roster, name);
            let cut = Cut::of(reason, word.as_bytes(), tag);
            tally.keep_example(cut.reason, cut.example);
        }
        if read.is_err() {
            return;
        }
    }
    match imported.cut {
        Some(cut) if cut.reason == SkipReason::BadTags => leave_out(cut, tally),
        Some(cut) if !over => count_cut(cut, tally),
        _ => {}
    }
}

fn leave_out(cut: Cut, tally: &mut SourceCounts) {
    tally.games += 1;
    tally.games_annotated += 1;
    count_cut(cut, tally);
}

/// Counts a game that was cut, and keeps it as an example.
fn count_cut(cut: Cut, tally: &mut SourceCounts) {
    tally.skip(cut.reason);
    tally.keep_example(cut.reason, cut.example);
}
