//! Fast path for games in Lichess's plain form: moves, numbers, glyphs, comments and a final
//! result. Reads them in place, without the copy and second pass of [`crate::games::general`],
//! which reads everything else.

use std::ops::ControlFlow;

use pgn_reader::{RawTag, SanPlus, Visitor};

use crate::games::Collector;
use crate::games::boundary::RESULTS;
use crate::games::game::{GameReader, Previous};
use crate::games::general::reader;
use crate::games::header::tags_end;
use crate::selection::{Filters, GameId, SourceCounts, Tags};

/// Reads a plain game, with the same result as [`crate::games::general::read_general`]. Returns
/// `None`, with nothing counted and `each` not called, if the game is not plain or its tags exclude
/// it.
pub(crate) fn read_plain<C: Collector>(
    text: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    each: &mut impl FnMut(GameId, &[C::Row]),
) -> Option<()> {
    let (header, moves) = text.split_at(tags_end(text)?);
    let mut reader = reader(header);
    let tags = reader.read_game(&mut Header).ok()??;
    // The header must hold exactly one game's tags, followed by these moves.
    let only_tags = is_blank(reader.buffer()) && !reader.has_more().ok()?;
    if !only_tags {
        return None;
    }
    // Counted separately, so that a text that proves not to be plain can be reread from its
    // beginning.
    let mut counted = SourceCounts::default();
    let mut game = GameReader::<C, _>::new(filters, &mut counted, Previous::Nothing, each);
    if game.begin_movetext(tags).is_break() {
        return None;
    }
    read_moves(moves, &mut game)?;
    game.finish(true);
    tally.add(&counted);
    Some(())
}

/// Reads moves and comments up to the result, which must end the text. `None` if it is not plain.
fn read_moves<C: Collector, F: FnMut(GameId, &[C::Row])>(
    text: &[u8],
    game: &mut GameReader<C, F>,
) -> Option<()> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        at += match *rest.first()? {
            b' ' => 1,
            // A blank line ends a game.
            b'\n' if !matches!(rest.get(1), Some(b'\n' | b'\r' | b'%' | b'[')) => 1,
            b'{' => {
                let end = memchr::memchr(b'}', rest)?;
                game.read_comment(&rest[1..end]);
                end + 1
            }
            b'0'..=b'9' | b'*' => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let dots = rest[digits..]
                    .iter()
                    .take_while(|&&byte| byte == b'.')
                    .count();
                if digits == 0 || dots == 0 {
                    return is_last_word(rest).then_some(());
                }
                if &rest[..digits] == b"0000" {
                    return None;
                }
                digits + dots
            }
            b'a'..=b'h' | b'A'..=b'Z' => {
                let ends = |byte: &u8| b" \n?!".contains(byte);
                let length = rest.iter().position(ends)?;
                let san = SanPlus::from_ascii(&rest[..length]).ok()?;
                game.play(&san.san)?;
                let glyph = rest[length..]
                    .iter()
                    .take_while(|byte| b"?!".contains(byte));
                let length = length + glyph.count();
                if !matches!(rest.get(length), Some(b' ' | b'\n')) {
                    return None;
                }
                length
            }
            _ => return None,
        }
    }
}

/// Returns whether the text is a result followed only by blanks.
fn is_last_word(text: &[u8]) -> bool {
    RESULTS
        .iter()
        .any(|result| text.strip_prefix(result.as_bytes()).is_some_and(is_blank))
}

/// Returns whether pgn-reader would skip all of the text as blank.
fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| b" \t\r\n".contains(byte))
}

/// Visitor that reads only the tags.
struct Header;

impl Visitor for Header {
    type Tags = Tags;
    type Movetext = ();
    type Output = Tags;

    fn begin_tags(&mut self) -> ControlFlow<Tags, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Tags> {
        tags.read(name, value.decode());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Tags, ()> {
        ControlFlow::Break(tags)
    }

    fn end_game(&mut self, (): ()) -> Tags {
        Tags::default()
    }
}

/// Returns whether a game takes the plain path. For tests and fuzz targets.
///
/// # Panics
/// If plain and general reading differ, in evaluations or moves.
#[cfg(any(test, fuzzing))]
pub fn is_plain(text: &[u8], filters: &Filters) -> bool {
    use crate::games::{Evaluations, PlayedMoves};

    let plain = agrees::<Evaluations>(text, filters);
    assert_eq!(agrees::<PlayedMoves>(text, filters), plain);
    plain
}

#[cfg(any(test, fuzzing))]
fn agrees<C: Collector>(text: &[u8], filters: &Filters) -> bool {
    let (mut plain, mut general) = (Vec::new(), Vec::new());
    let (mut plain_tally, mut general_tally) = (SourceCounts::default(), SourceCounts::default());
    let mut each = |id, rows: &[C::Row]| plain.push((id, rows.to_vec()));
    if read_plain::<C>(text, filters, &mut plain_tally, &mut each).is_none() {
        assert_eq!((plain, plain_tally), Default::default());
        return false;
    }
    let mut each = |id, rows: &[C::Row]| general.push((id, rows.to_vec()));
    crate::games::general::read_general::<C>(text, filters, &mut general_tally, &mut each);
    let text = String::from_utf8_lossy(text);
    assert_eq!((plain, plain_tally), (general, general_tally), "{text}");
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Random;

    const GAMES: [&str; 3] = [
        "[Event \"Rated Blitz game\"]\n[Site \"https://lichess.org/AbCdEfGh\"]\n\
         [UTCDate \"2021.10.01\"]\n[WhiteElo \"1500\"]\n[BlackElo \"1600\"]\n[TimeControl \"180+0\"]\n\n\
         1. e4 { [%eval 0.36] [%clk 0:03:00] } 1... e5 { [%eval 0.25,20] [%clk 0:03:00] } \
         2. Nf3?! { [%eval 0.1] } 2... Nc6 $6 3. Bb5!? a6 { [%eval #-3] } { A mistake. } \
         4. Bxc6 dxc6 5. O-O { [%eval 0.0] } 1/2-1/2\n\n",
        "[Event \"x\"]\n\n1.d4 { [%eval 1] } d5 2.c4 dxc4 { [%eval 1.5]\n[%clk 1:00:00] }\n3.e4 1-0",
        "[White \"a\"]\n[FEN \"8/P6k/8/8/8/8/6K1/8 w - - 0 1\"]\n\n1. a8=Q { [%eval #12] } Kg7 2. Qb8+ *\n",
    ];

    #[test]
    fn plain_and_general_reading_agree() {
        let quiet = Filters {
            quiet: true,
            min_ply: 2,
            ..Filters::default()
        };
        for game in GAMES {
            let general = game.contains('$');
            assert_eq!(is_plain(game.as_bytes(), &Filters::default()), !general);
            let plain = game.replace(" $6", "");
            assert!(is_plain(plain.as_bytes(), &Filters::default()));
            assert!(is_plain(plain.as_bytes(), &quiet));
        }
    }

    #[test]
    fn other_forms_are_not_plain() {
        for moves in [
            "1. e4 (1. d4) 1-0",
            "1. e4 ; d4\n1-0",
            "1. e4 1-0 e5",
            "1. e4\n\ne5 1-0",
            "1. e4",
            "1. e4 { 1-0",
            "1. e5 1-0",
            "1. Sf3 1-0",
            "1. e4 -- 1-0",
            "1. e4 0000. 2. d4 1-0",
            "1. e4 *\n\n[White \"b\"]\n\n1. d4 { [%eval 1] } *",
            "1. N f3 { [%eval 1] } 1-0",
            "1. d4 D { [%eval 1] } 1-0",
            "\x0C\n\n1. e4 { [%eval 1] } 1-0",
            "1. e4 { [%eval 1] } 1-0\n\x0C",
        ] {
            let game = format!("[Event \"x\"]\n\n{moves}\n");
            assert!(!is_plain(game.as_bytes(), &Filters::default()), "{game}");
        }
        for tags in [
            "[White \"a\\",
            "[A \"a\"]]",
            "[A \"a\"];",
            "; x",
            "[FEN x]",
            "[A a",
        ] {
            let game = format!("{tags}\n1. e4 {{ [%eval 1] }} 1-0\n");
            assert!(!is_plain(game.as_bytes(), &Filters::default()), "{game}");
        }
        let variant = "[Variant \"Antichess\"]\n\n1. e4 { [%eval 1] } *\n";
        assert!(!is_plain(variant.as_bytes(), &Filters::default()));
    }

    #[test]
    fn plain_and_general_reading_agree_on_mutated_games() {
        let mut random = Random::new([1, 2, 3]);
        let mut plain = 0;
        for _ in 0..60_000 {
            let game = GAMES[random.below(3)].replace(" $6", "");
            let mut game = game.into_bytes();
            for _ in 0..=random.below(3) {
                let at = random.below(game.len());
                let bytes = b" \n\r.{}()[]%;!?*$-+#=/01289abeghxNBRQKOo\"\\\t\x0C\xC3";
                let byte = bytes[random.below(bytes.len())];
                match random.below(3) {
                    0 => game[at] = byte,
                    1 => game.insert(at, byte),
                    _ => {
                        game.remove(at);
                    }
                }
            }
            plain += usize::from(is_plain(&game, &Filters::default()));
        }
        assert!(plain > 10_000, "{plain}");
    }
}
