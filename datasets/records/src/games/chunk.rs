//! Chunks of PGN text to labelled positions or moves.

use shakmaty::Color;

use crate::games::boundary::{self, tags_start};
use crate::games::general::read_general;
use crate::games::movetext::with_plain_space;
use crate::games::plain::read_plain;
use crate::games::scan::{Mark, next_mark};
use crate::games::{Collector, Evaluations, PlayedMoves};
use crate::position::{EvalComment, MoveRecord, Record, parse_match_score};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts};

/// Reads every game of a chunk, which must begin and end at game boundaries, and calls `each` with
/// each annotated game's labelled positions. Games without `[%eval` are counted but not tokenised.
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
                    read_unannotated(&text[start..end], filters, tally, &mut each);
                }
                end
            }
            Mark::Eval(at) => {
                let event = boundary::event_tags(text, at).next();
                let end = event.map_or(text.len(), |event| tags_start(text, event));
                if let Some(event) = event.filter(|_| end <= at) {
                    // The `[%eval` is inside a tag of the next game.
                    from = event;
                    continue;
                }
                from = end;
                read_whole::<Evaluations>(&text[start..end], filters, tally, &mut each);
                end
            }
        };
        start = start.max(end);
    }
    read_unannotated(&text[start..], filters, tally, &mut each);
}

/// Reads every game of a chunk, as [`read_games`] does, and calls `each` with the moves of each.
pub fn read_moves(
    text: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    mut each: impl FnMut(GameId, &[MoveRecord]),
) {
    let mut start = 0;
    for event in boundary::event_tags(text, 0) {
        let end = tags_start(text, event);
        if start < end {
            read_whole::<PlayedMoves>(&text[start..end], filters, tally, &mut each);
            start = end;
        }
    }
    read_whole::<PlayedMoves>(&text[start..], filters, tally, &mut each);
}

/// Counts a game without any `[%eval`, or reads it if its comments hold match scores.
fn read_unannotated(
    game: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    each: &mut impl FnMut(GameId, &[Record]),
) {
    if has_match_scores(game) {
        read_whole::<Evaluations>(game, filters, tally, each);
    } else if game.iter().any(u8::is_ascii_graphic) {
        tally.games += 1;
        tally.skip(SkipReason::Unannotated);
    }
}

/// Returns whether comments hold scores in the form that match programs write. The search ends at
/// the first comment with a tag such as `[%clk`, which these programs do not write.
fn has_match_scores(game: &[u8]) -> bool {
    let mut rest = game;
    while let Some(start) = memchr::memchr(b'{', rest) {
        let comment = &rest[start + 1..];
        let Some(end) = memchr::memchr(b'}', comment) else {
            return false;
        };
        let text = comment[..end].trim_ascii_start();
        if text.starts_with(b"[%") {
            return false;
        }
        // The mover does not matter here.
        if parse_match_score(text, Color::White) != EvalComment::Absent {
            return true;
        }
        rest = &comment[end..];
    }
    false
}

/// Reads the game of a slice, or several if games without an Event tag follow.
fn read_whole<C: Collector>(
    text: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    each: &mut impl FnMut(GameId, &[C::Row]),
) {
    let text = &*with_plain_space(text);
    if read_plain::<C>(text, filters, tally, each).is_none() {
        read_general::<C>(text, filters, tally, each);
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
    fn an_illegal_move_ends_a_game_and_keeps_earlier_labels() {
        let (rows, tally) = rows(
            "[Event \"x\"]\n\n1. e4 { [%eval 0.3] } Ke4 { [%eval 0.2] } 2. d4 { [%eval 1] } *\n\n\
             [Event \"y\"]\n\n1. d4 { [%eval 0.1] } *\n",
        );
        assert_eq!(rows.len(), 2);
        assert_eq!(tally.skipped[&SkipReason::IllegalMove], 1);
        assert_eq!((tally.games, tally.games_kept), (2, 2));
    }

    #[test]
    fn an_unterminated_comment_keeps_earlier_labels() {
        let (rows, tally) = rows("[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval 0.2]");
        assert_eq!(rows.len(), 1);
        assert_eq!(tally.skipped[&SkipReason::MalformedGame], 1);
    }

    #[test]
    fn nothing_after_an_unreadable_move_is_played() {
        let pgn = "[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval 0.2] } 2. Sf3 { [%eval 0.3] } \
                   Sc6 { [%eval 0.3] } 3. d4 { [%eval -9.99] } *\n";
        assert_eq!(labels(pgn), ["30", "20"]);
        let tally = rows(pgn).1;
        assert_eq!(tally.skipped, [(SkipReason::UnreadableMove, 1)].into());
        let example = "Sf3 in ? - ?".to_string();
        assert_eq!(
            tally.examples,
            [(SkipReason::UnreadableMove, example)].into()
        );
    }

    /// The example of a skip reason does not depend on the order of the games.
    #[test]
    fn cuts_are_counted_by_cause_with_an_example() {
        let game =
            |site: &str, moves: &str| format!("[Event \"x\"]\n[Site \"{site}\"]\n\n{moves} *\n\n");
        let mut games = [
            game("b", "1. e4 { [%eval 0.3] } Ke4"),
            game("a", "1. e4 { [%eval 0.3] } Ke4"),
            game("c", "1. e4 { [%eval 0.3] } Zug"),
            game("d", "1. e4 { [%eval 0.3] } --"),
            "[Event \"x\"] [Site \"a\"b\"]\n\n1. e4 { [%eval 0.3] } *\n\n".to_string(),
        ];
        let example = |reason, example: &str| (reason, example.to_string());
        for _ in 0..games.len() {
            games.rotate_left(1);
            let tally = rows(&games.concat()).1;
            assert_eq!(
                tally.examples,
                [
                    example(SkipReason::IllegalMove, "Ke4 in a"),
                    example(SkipReason::UnreadableMove, "Zug in c"),
                    example(SkipReason::NullMove, "-- in d"),
                    example(
                        SkipReason::BadTags,
                        "[Event \"x\"] [Site \"a\"b\"] in ? - ?"
                    ),
                ]
                .into()
            );
            assert_eq!(tally.skipped[&SkipReason::IllegalMove], 2);
        }
    }

    #[test]
    fn a_result_ends_a_game_wherever_the_next_begins() {
        let game = |event: &str| {
            format!(
                "[Event \"{event}\"]\n[White \"w\"]\n\n1. e4 {{ [%eval 0.3] }} e5 {{ [%eval 0.2] }} 1-0"
            )
        };
        for between in ["", " ", "\n", "\n\n", "\r\n\r\n", "\r\r"] {
            for plain in ["", "(1. d4) "] {
                let games =
                    ["a", "b", "c"].map(|event| game(event).replace("e5", &format!("{plain}e5")));
                let (rows, tally) = rows(&games.join(between));
                assert_eq!((rows.len(), tally.games), (6, 3), "{between:?}");
                assert_eq!(tally.skipped, [].into(), "{between:?}");
                // Games without an Event tag give the same.
                let games = games.map(|game| game.split_once('\n').unwrap().1.to_string());
                let (rows, tally) = super::tests::rows(&games.join(between));
                assert_eq!((rows.len(), tally.games), (6, 3), "{between:?}");
            }
        }
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        let pgn = "[Event \"a\"]\n[White \"w\"]\n\n1. e4 { [%eval 0.3] }\ne5 ; x\n2. d4 { [%eval 0.2] } *\n\n".repeat(3);
        let (expected, tally) = rows(&pgn);
        assert_eq!((expected.len(), tally.games), (6, 3));
        for end in ["\r", "\r\n"] {
            assert_eq!(
                rows(&pgn.replace('\n', end)),
                (expected.clone(), tally.clone())
            );
        }
    }

    #[test]
    fn moves_are_read_as_people_and_programs_write_them() {
        for (fen, moves, labels) in [
            (
                "",
                "1. e2-e4 {[%eval 1.0]} e7-e5 2. Ng1-f3 {[%eval 1.1]} Nb8-c6 3. Nf3xe5 Nc6xe5 4. d2d4 {[%eval 1.2]}",
                "100 110 120",
            ),
            ("", "1. d4 f6 2. e4 g5 {[%eval #1]} 3. Qh5++", "#1"),
            (
                "",
                "1. g1f3 {[%eval 0.1]} e7e5 2. f3e5 {[%eval 0.2]}",
                "10 20",
            ),
            (
                "",
                "1. e4 a6 2. e5 d5 {[%eval 0.1]} 3. exd6 e.p. {[%eval 0.2]} exd6 {[%eval 0.3]}",
                "10 20 30",
            ),
            (
                "",
                "1. d4 a5 2. d5 e5 3. dxe6e.p. {[%eval 0.2]} fxe6 {[%eval 0.3]}",
                "20 30",
            ),
            (
                "8/P5k1/8/8/8/8/p5K1/1N6 w - - 0 40",
                "40. a8Q {[%eval 3.1]} axb1q {[%eval 0.4]} 41. Qa7+",
                "310 40",
            ),
            (
                "",
                "1.\u{a0}e4 D {[%eval 0.1]} e5 N {[%eval 0.2]} 2. Nf3N {[%eval 0.3]} Nc6 +/= {[%eval 0.4]}",
                "10 20 30 40",
            ),
            (
                "",
                "1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. О-О О-О 5. d3 {[%eval 0.5]}",
                "50",
            ),
            (
                "",
                "1. a3 Nf6 2. e4 a6 3. e5 d5 4. exd6e.p.Nc6 5. dxc7 {[%eval 0.1]}",
                "10",
            ),
            (
                "",
                "1. Nc3 Nf6 2. a3 \x0Ch6\x0B3. Ne4 {[%eval 0.2]} Nd5 {[%eval 0.3]}",
                "20 30",
            ),
        ] {
            let fen = if fen.is_empty() {
                String::new()
            } else {
                format!("[FEN \"{fen}\"]\n")
            };
            let pgn = format!("[Event \"x\"]\n{fen}\n{moves} *\n");
            assert_eq!(self::labels(&pgn).join(" "), labels, "{moves}");
            assert_eq!(rows(&pgn).1.skipped, [].into(), "{moves}");
        }
    }

    #[test]
    fn match_scores_become_labels() {
        let pgn = "[Event \"x\"]\n\n1. e4 {book} e5 {+0.25/12 0.5s} 2. Nf3 {-0.10/14 0.4s}\n\
                   Nc6 {-M4/20 0.3s} 3. d4 {+9.00/9 1s} exd4 {0.2s, Draw by adjudication} *\n\n";
        // Games of Lichess between match games are read as usual.
        let other = "[Event \"y\"]\n\n1. e4 { [%clk 0:01:00] } e5 { +0.25/12 0.5s } *\n\n";
        let (_, tally) = rows(&[pgn, other, pgn].concat());
        let once = ["-25", "-10", "#2", "900"];
        assert_eq!(labels(&[pgn, other, pgn].concat()), [once, once].concat());
        assert_eq!(tally.skipped, [(SkipReason::Unannotated, 1)].into());
        assert_eq!((tally.games, tally.games_annotated), (3, 2));
        let both = pgn.replace("1s}", "1s} {[%eval 1.5]}");
        assert_eq!(rows(&both).1.skipped, [(SkipReason::SecondEval, 1)].into());
    }

    #[test]
    fn a_quote_in_a_tag_does_not_end_the_tags() {
        let fen = "[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]";
        let quote = "[TimeControl \"15'/game & 10\"/move\"]";
        let moves = "1. Rh2 { [%eval 5] } *\n\n";
        let variant = "[Variant \"Three-check\"]";
        let pgn = format!(
            "[Event \"x\"]\n{quote}\n{fen}\n[UTCDate \"2022.02.17\"]\n\n{moves}\
             [Event \"y\"]\n{quote}\n{variant}\n[Date \"2022.02.17\"]\n\n1. e4 {{ [%eval 1] }} *\n\n"
        );
        let (rows, tally) = rows(&pgn);
        assert_eq!(rows, ["4k3/8/8/8/8/8/7R/4K3 b - - 500"]);
        assert_eq!(tally.skipped, [(SkipReason::Variant, 1)].into());
        assert_eq!((tally.games, tally.months.len()), (2, 1));
    }

    #[test]
    fn nothing_after_a_result_or_a_blank_line_is_played() {
        for end in ["1/2-1/2 2. d4 { [%eval 9] }", "\n\n2. d4 { [%eval 9] } *"] {
            let pgn = format!("[Event \"x\"]\n\n1. e4 {{ [%eval 0.3] }} e5 {end}\n");
            assert_eq!(labels(&pgn), ["30"], "{end}");
        }
    }

    #[test]
    fn an_error_in_a_game_is_counted_once() {
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

    /// A null move read as a move number would let Black's knight play the second move.
    #[test]
    fn a_null_move_ends_a_game_whose_fen_tag_is_in_any_letter_case() {
        for tag in ["FEN", "Fen", "fen"] {
            let fen = "4k3/8/5n2/8/8/2N5/8/4K3 w - - 0 1";
            let moves = "1. Kd2 { [%eval 0.31] } 0000 2. Ne4 { [%eval 9.71] } *";
            let pgn = format!("[Event \"x\"]\n[{tag} \"{fen}\"]\n\n{moves}\n");
            assert_eq!(labels(&pgn), ["31"], "{tag}");
        }
    }

    /// The move is also legal in the usual start position, so overlooking the FEN tag would go
    /// unnoticed.
    #[test]
    fn tags_are_found_however_they_are_written() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        for tags in [
            "[FEN  \"F\"]",
            "[FEN\t\"F\"]",
            "[ FEN \"F\"]",
            "[FEN\u{a0}\"F\"]",
            "[White \"a\"]\n\u{feff}[FEN \"F\"]",
            "[FEN \"F\"]\n; x\n[White \"a\"]",
            "[FEN \"F\"] ; x\n[White \"a\"]",
            "[FEN \"F\"]]\n[White \"a\"]",
            "[FEN \"F\"]\n\x0C\n[White \"a\"]",
            "[FEN \"F\"]\n[x\n% x\n[White \"a\"]",
        ] {
            let tags = tags.replace('F', fen).replace(&format!("{}EN", fen), "FEN");
            let pgn = format!("[Event \"x\"]\n{tags}\n\n1. e4 {{ [%eval 5.55] }} *\n");
            let (rows, tally) = rows(&pgn);
            assert_eq!(rows, ["4k3/8/8/8/4P3/8/8/4K3 b - - 555"], "{pgn}");
            assert_eq!((tally.games, tally.skipped.len()), (1, 0), "{pgn}");
        }
        let pgn = "[Event \"x\"]\n[Variant  \"Antichess\"]\n\n1. e4 { [%eval 0.3] } *\n";
        assert_eq!(rows(pgn).1.skipped, [(SkipReason::Variant, 1)].into());
    }

    #[test]
    fn moves_on_the_line_of_a_tag_are_examined() {
        let pgn = "[Event \"x\"] 1. e4 { [%eval 0.3] } e5 2. Sf3 Sc6 3. d4 { [%eval 0.9] } *\n";
        assert_eq!(labels(pgn), ["30"]);
        assert_eq!(
            rows(pgn).1.skipped,
            [(SkipReason::UnreadableMove, 1)].into()
        );
        assert_eq!(labels(&pgn.replace('S', "N")), ["30", "90"]);
    }

    #[test]
    fn a_pawn_push_is_not_read_as_a_capture() {
        let (rows, tally) = rows("[Event \"x\"]\n\n1. e4 d5 2. d5 { [%eval 0.4] } *\n");
        assert!(rows.is_empty());
        assert_eq!(tally.skipped[&SkipReason::IllegalMove], 1);
    }

    #[test]
    fn long_tags_of_later_games_are_read() {
        let mut pgn = "[Event \"x\"]\n\n1. e4 *\n\n".to_string();
        for length in 300..500 {
            let tag = format!("[Annotator \"{}\"]", "y".repeat(length));
            pgn += &format!("[White \"w\"]\n{tag}\n\n1. e4 {{ [%eval 0.1] }} *\n\n");
        }
        let (rows, tally) = rows(&pgn);
        assert_eq!((rows.len(), tally.games), (200, 201));
    }

    #[test]
    fn files_may_be_appended_to_others() {
        for tag in ["Event", "White"] {
            let game = format!("\u{feff}[{tag} \"x\"]\n\n1. e4 {{ [%eval 0.1] }} *\n");
            for end in ["", "\n"] {
                let pgn = game.repeat(3) + end;
                let (rows, tally) = rows(&pgn);
                assert_eq!((rows.len(), tally.games), (3, 3), "{pgn}");
                assert_eq!(tally.skipped, [].into());
            }
        }
        let open = "[Event \"x\"]\n\n1. e4 { [%eval 0.1] }\n\n\u{feff}".repeat(2);
        assert_eq!(labels(&open), ["10", "10"]);
    }

    #[test]
    fn games_after_skipped_text_are_read_or_counted() {
        let first = "[White \"a\"]\n\n1. e4 { [%eval 0.1] } 1-0";
        let pgn = format!("{first} Sf3\n\n[White \"b\"]\n\n1. d4 {{ [%eval 0.2] }} *\n");
        assert_eq!(labels(&pgn), ["10", "20"]);
        let pgn = format!("{first}\n\n[FEN x]\n\n1. d4 {{ [%eval 0.2] }} *\n");
        let (rows, tally) = rows(&pgn);
        assert_eq!((rows.len(), tally.games), (1, 2));
        assert_eq!(tally.skipped, [(SkipReason::BadTags, 1)].into());
    }

    /// Runs in linear time.
    #[test]
    fn a_game_broken_off_by_blank_lines_is_counted_once_and_named() {
        let game = "[Event \"x\"]\n[Site \"a\"]\n\n1. e4 { [%eval 0.1] }\n\n";
        let next = "[Site \"b\"]\n\n1. d4 { [%eval 0.2] } *\n";
        let (rows, tally) = rows(&[game, &"e4\n\n".repeat(80_000), next].concat());
        assert_eq!((rows.len(), tally.games), (2, 2));
        let malformed = SkipReason::MalformedGame;
        assert_eq!(tally.skipped, [(malformed, 1)].into());
        assert_eq!(tally.examples, [(malformed, "a".to_string())].into());
    }

    #[test]
    fn a_game_whose_tags_cannot_be_trusted_is_left_out() {
        for tags in [
            "[FEN 4k3/8/8/8/8/8/8/4K3 w - - 0 1]",
            "[FEN \u{201c}4k3/8/8/8/8/8/8/4K3 w - - 0 1\u{201d}]",
            "[White \"a\\\n[FEN \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"]",
            "[Round \"1\"] [TimeControl \"15'/game & 10\"/move\"]\n[FEN \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"]",
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
