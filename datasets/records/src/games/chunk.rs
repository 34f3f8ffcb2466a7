//! PGN text to labelled positions: the one place where labels are read.

use crate::games::boundary::{self, tags_start};
use crate::games::general::read_general;
use crate::games::plain::read_plain;
use crate::games::scan::{Mark, next_mark};
use crate::position::Record;
use crate::selection::{Filters, GameId, SkipReason, SourceCounts};

/// Reads every game of a chunk of text, which must begin and end at game
/// boundaries, and hands each annotated game's labelled positions to `each`.
/// Games without any `[%eval` are counted and not tokenised.
pub fn read_games(
    text: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    mut each: impl FnMut(GameId, &[Record]),
) {
    let (mut start, mut from) = (0, 0);
    while let Some(mark) = next_mark(text, from) {
        let end = match mark {
            Mark::Game { start: end, event } => {
                from = event + 1;
                if start < end {
                    count_unannotated(&text[start..end], tally);
                }
                end
            }
            Mark::Eval(at) => {
                let event = boundary::event_tags(text, at).next();
                let end = event.map_or(text.len(), |event| tags_start(text, event + 1));
                if let Some(event) = event.filter(|_| end <= at) {
                    // It stands in a tag of the next game.
                    from = event;
                    continue;
                }
                from = end;
                read_annotated(&text[start..end], filters, tally, &mut each);
                end
            }
        };
        start = start.max(end);
    }
    count_unannotated(&text[start..], tally);
}

fn count_unannotated(game: &[u8], tally: &mut SourceCounts) {
    if game.iter().any(u8::is_ascii_graphic) {
        tally.games += 1;
        tally.skip(SkipReason::Unannotated);
    }
}

/// Reads the game of a slice; several, if games without an Event tag follow.
fn read_annotated(
    text: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    each: &mut impl FnMut(GameId, &[Record]),
) {
    if read_plain(text, filters, tally, each).is_none() {
        read_general(text, filters, tally, each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::general::COMMENT_BYTES;

    fn rows(pgn: &str) -> (Vec<String>, SourceCounts) {
        let mut rows = Vec::new();
        let mut tally = SourceCounts::default();
        let filters = Filters {
            chess960: true,
            ..Filters::default()
        };
        read_games(pgn.as_bytes(), &filters, &mut tally, |_, records| {
            rows.extend(records.iter().map(|record| format!("{record:?}")));
        });
        (rows, tally)
    }

    fn labels(pgn: &str) -> Vec<String> {
        let row = |row: String| row.rsplit(' ').next().unwrap().to_string();
        rows(pgn).0.into_iter().map(row).collect()
    }

    #[test]
    fn a_label_belongs_to_the_position_after_the_move() {
        let (rows, tally) = rows("[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval 0.25] } *\n");
        assert_eq!(
            rows,
            [
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 30",
                "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 25",
            ]
        );
        assert_eq!(
            (tally.games, tally.games_annotated, tally.labels),
            (1, 1, 2)
        );
    }

    #[test]
    fn gaps_mates_glyphs_and_variations_do_not_stop_a_game() {
        let pgn = "[Event \"x\"]\n\n1. e4?! $4 { [%eval #-4] [%clk 0:01:10] } (1. d4 { [%eval 9.9] } d5) e5 { [%clk 0:03:00] }\r\n\
                   2. Nf3!! { [%eval 0.1] } { Inaccuracy. } { [%clk 0:01:00] } Nc6 { [%eval #3,20] } *";
        assert_eq!(labels(pgn), ["#-4", "10", "#3"]);
        assert_eq!(rows(pgn).1.gaps, 1);
    }

    #[test]
    fn bom_and_missing_move_numbers_are_read() {
        let pgn =
            "\u{feff}[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval 0.2] } Nf3 { [%eval 0.1] }";
        assert_eq!(labels(pgn), ["30", "20", "10"]);
    }

    #[test]
    fn an_illegal_move_ends_a_game_and_keeps_what_came_before() {
        let (rows, tally) = rows(
            "[Event \"x\"]\n\n1. e4 { [%eval 0.3] } Ke4 { [%eval 0.2] } 2. d4 { [%eval 1] } *\n\n\
             [Event \"y\"]\n\n1. d4 { [%eval 0.1] } *\n",
        );
        assert_eq!(rows.len(), 2);
        assert_eq!(tally.skipped[&SkipReason::IllegalMove], 1);
        assert_eq!((tally.games, tally.games_kept), (2, 2));
    }

    #[test]
    fn an_unterminated_comment_keeps_what_came_before() {
        let (rows, tally) = rows("[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval 0.2]");
        assert_eq!(rows.len(), 1);
        assert_eq!(tally.skipped[&SkipReason::MalformedGame], 1);
    }

    #[test]
    fn nothing_after_an_unreadable_move_is_played() {
        let pgn = "[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval 0.2] } 2. Sf3 { [%eval 0.3] } \
                   Sc6 { [%eval 0.3] } 3. d4 { [%eval -9.99] } *\n";
        assert_eq!(labels(pgn), ["30", "20"]);
        assert_eq!(rows(pgn).1.skipped[&SkipReason::IllegalMove], 1);
    }

    #[test]
    fn nothing_after_a_result_or_a_blank_line_is_played() {
        for end in ["1/2-1/2 2. d4 { [%eval 9] }", "\n\n2. d4 { [%eval 9] } *"] {
            let pgn = format!("[Event \"x\"]\n\n1. e4 {{ [%eval 0.3] }} e5 {end}\n");
            assert_eq!(labels(&pgn), ["30"], "{end}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_game_is_counted_once() {
        for (moves, reasons) in [
            (
                "1. e4 { [%eval 0.3] } e4 2. Sf3 *",
                vec![SkipReason::IllegalMove],
            ),
            ("1. e4 { [%eval 0.3] } 1-0 Sf3", vec![]),
            (
                "1. e4 { [%eval 0.3] }\n\n2. Sf3 *",
                vec![SkipReason::MalformedGame],
            ),
        ] {
            for (tag, left_out) in [
                ("", None),
                ("[Variant \"Antichess\"]\n", Some(SkipReason::Variant)),
            ] {
                let tally = rows(&format!("[Event \"x\"]\n{tag}\n{moves}\n")).1;
                let expected = match left_out {
                    Some(reason) => vec![reason],
                    None => reasons.clone(),
                };
                let expected = expected.into_iter().map(|reason| (reason, 1)).collect();
                assert_eq!(tally.skipped, expected, "{tag}{moves}");
            }
        }
    }

    #[test]
    fn tags_in_another_order_belong_to_their_game() {
        let (rows, tally) = rows(
            "[Event \"x\"]\n\n1. e4 { [%eval 0.3] } *\n\n\
             [FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n[Event \"y\"]\n\n1. O-O { [%eval 5] } *\n",
        );
        assert_eq!(rows[1], "4k3/8/8/8/8/8/8/5RK1 b - - 500");
        assert_eq!((tally.games, tally.games_annotated), (2, 2));
    }

    #[test]
    fn games_without_an_event_tag_are_counted_one_by_one() {
        let game = "[White \"a\"]\n\n1. e4 { [%eval 0.3] } *\n\n";
        let (rows, tally) = rows(&(game.repeat(2) + "[White \"b\"]\n\n1. e4 *\n"));
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (tally.games, tally.games_annotated, tally.games_kept),
            (3, 2, 2)
        );
        assert_eq!(tally.skipped[&SkipReason::Unannotated], 1);
    }

    #[test]
    fn a_long_tag_does_not_hide_the_variant() {
        let long = "x".repeat(50_000);
        let pgn = format!(
            "[Event \"x\"]\n[Variant \"Antichess\"]\n[Annotator \"{long}\"]\n\n1. e4 {{ [%eval 0.3] }} *\n"
        );
        assert_eq!(labels(&pgn), [""; 0]);
    }

    #[test]
    fn a_long_comment_is_put_together() {
        let padding = "x".repeat(3 * COMMENT_BYTES - 4);
        let pgn = format!("[Event \"x\"]\n\n1. e4 {{ {padding} [%eval 0.37] }} *\n");
        assert_eq!(labels(&pgn), ["37"]);
    }

    /// Read as a move number, it would have let Black's knight play the second move.
    #[test]
    fn a_null_move_ends_a_game_whose_fen_tag_is_in_any_letter_case() {
        for tag in ["FEN", "Fen", "fen"] {
            let fen = "4k3/8/5n2/8/8/2N5/8/4K3 w - - 0 1";
            let moves = "1. Kd2 { [%eval 0.31] } 0000 2. Ne4 { [%eval 9.71] } *";
            let pgn = format!("[Event \"x\"]\n[{tag} \"{fen}\"]\n\n{moves}\n");
            assert_eq!(labels(&pgn), ["31"], "{tag}");
        }
    }

    #[test]
    fn a_game_whose_tags_cannot_be_trusted_is_left_out() {
        for tags in [
            "[TimeControl \"15'/game & 10\"/move\"]\n[FEN \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"]",
            "[SetUp \"1\"]",
        ] {
            let (rows, tally) = rows(&format!(
                "[Event \"x\"]\n{tags}\n\n1. e4 {{ [%eval 0.3] }} *\n\n\
                 [Event \"y\"]\n\n1. d4 {{ [%eval 0.2] }} *\n"
            ));
            assert_eq!(rows.len(), 1, "{tags}");
            assert_eq!(tally.skipped[&SkipReason::BadTags], 1);
            let games = (tally.games, tally.games_annotated, tally.games_kept);
            assert_eq!(games, (2, 2, 1));
        }
    }

    #[test]
    fn everything_left_out_is_counted() {
        let (rows, tally) = rows(
            "[Event \"a\"]\n\n1. e4 *\n\n\
             [Event \"b\"]\n[Variant \"Antichess\"]\n\n1. e4 { [%eval 0.3] } *\n\n\
             [Event \"c\"]\n[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n1. e4 { [%eval 0.3] } *\n\n\
             [Event \"d\"]\n\n{ [%eval 0.2] } 1. f3 { [%eval x] } e5 { [%eval 0.1] [%eval 0.2] } { [%eval 0.3] } \
             2. g4 Qh4# { [%eval #0] } *\n\n\
             [Event \"e\"]\n\n1. f3 e5 2. g4 Qh4# { [%eval #-1] } *\n",
        );
        assert_eq!(rows.len(), 1);
        let count = |reason| tally.skipped.get(&reason).copied().unwrap_or(0);
        assert_eq!(count(SkipReason::Unannotated), 1);
        assert_eq!(count(SkipReason::Variant), 1);
        assert_eq!(count(SkipReason::BadFen), 1);
        assert_eq!(count(SkipReason::EvalBeforeFirstMove), 1);
        assert_eq!(count(SkipReason::MalformedEval), 2);
        assert_eq!(count(SkipReason::SecondEval), 1);
        assert_eq!(count(SkipReason::FinishedPosition), 1);
        assert_eq!(
            (tally.games, tally.games_annotated, tally.games_kept),
            (5, 4, 1)
        );
    }

    #[test]
    fn copies_of_a_game_have_one_identity() {
        let id = |pgn: &str| {
            let mut ids = Vec::new();
            let mut tally = SourceCounts::default();
            read_games(pgn.as_bytes(), &Filters::default(), &mut tally, |id, _| {
                ids.push(id)
            });
            ids[0]
        };
        let moves = "\n1. e4 { [%eval 0.3] } *\n";
        let lichess = id(&format!(
            "[Event \"x\"]\n[Site \"https://lichess.org/AbCdEfGh\"]\n{moves}"
        ));
        let resaved = id(&format!(
            "[Event \"y\"]\n[GameId \"AbCdEfGh\"]\n[Site \"?\"]\n{moves}"
        ));
        assert_eq!(lichess, resaved);
        let broadcast = "[Event \"x\"]\n[Site \"https://lichess.org/broadcast/-/-/1234\"]\n";
        let one = id(&format!("{broadcast}[Annotator \"a\"]\n{moves}"));
        assert_eq!(one, id(&format!("{broadcast}{moves}")));
        assert_ne!(
            one,
            id(&format!("{broadcast}\n1. d4 {{ [%eval 0.3] }} *\n"))
        );
    }
}
