//! Moves played in one game, evaluated or not; or, where a comment has the visits of a search, moves
//! drawn by those.

use shakmaty::{Chess, Move, Position};

use crate::games::clock;
use crate::games::visits::Visits;
use crate::games::{Collector, Ending};
use crate::hash::hash_bytes;
use crate::position::{Label, MoveRecord, Mover, Origin, Row, ply_of};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts, Tags};

/// Rows that the visits of a search become.
const DRAWN: u64 = 4;

#[derive(Default)]
pub(crate) struct PlayedMoves {
    /// Rows, with their number among those of one position in place of the game's hash.
    moves: Vec<MoveRecord>,
    /// Whether the last row is of the last move, as played.
    has_latest: bool,
    /// Plies played so far.
    plies: u32,
    /// Seconds that the clocks of White and Black showed after their last moves, if known.
    clocks: [Option<u32>; 2],
}

impl Collector for PlayedMoves {
    type Row = MoveRecord;

    const NOTHING: SkipReason = SkipReason::NoMoves;

    fn has_any(&self) -> bool {
        self.plies > 0
    }

    fn score(&mut self, _: &Chess, _: Option<Label>, _: Origin, _: &Filters, _: &mut SourceCounts) {
    }

    /// Reads the clock of the player who has just moved, and the visits of the search that found
    /// the move; the first ones count.
    fn comment(
        &mut self,
        comment: &[u8],
        position: &Chess,
        _: &Tags,
        _: &Filters,
        tally: &mut SourceCounts,
    ) {
        if self.has_latest
            && let Some(list) = Visits::list(comment)
            && self.draw(list).is_none()
        {
            tally.skip(SkipReason::MalformedVisits);
        }
        if self.plies > 0 {
            let clock = &mut self.clocks[position.turn().other() as usize];
            *clock = clock.or_else(|| clock::seconds(comment));
        }
    }

    fn play(
        &mut self,
        position: &Chess,
        m: Move,
        tags: &Tags,
        filters: &Filters,
        tally: &mut SourceCounts,
    ) {
        let turn = position.turn();
        let clock = self.clocks[turn as usize].take();
        let mover = Mover {
            rating: tags.rating(turn),
            speed: tags.speed,
            seconds: match self.plies {
                0 | 1 => tags.base_seconds,
                _ => clock,
            },
        };
        self.plies += 1;
        self.has_latest = ply_of(position) >= filters.min_ply;
        match self.has_latest {
            false => tally.skip(SkipReason::EarlyPly),
            // The identity of the game is known at its end.
            true => self.moves.push(MoveRecord::new(position, m, mover, 0)),
        }
    }

    fn finish(
        self,
        _: &Chess,
        id: impl FnOnce() -> GameId,
        ending: Ending,
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnOnce(GameId, &[MoveRecord]),
    ) {
        if self.moves.is_empty() {
            return;
        }
        let (id, mut moves) = (id(), self.moves);
        ending.admit(&mut moves, id, filters, tally);
        for played in &mut moves {
            // Equal moves of one position stay apart.
            *played = played.with_game(id.hash() ^ played.game());
        }
        if !moves.is_empty() {
            each(id, &moves);
        }
    }
}

impl PlayedMoves {
    /// Replaces the row of the last move by those drawn from a list of visits; `None` if the list is
    /// malformed.
    fn draw(&mut self, list: &[u8]) -> Option<()> {
        let played = *self.moves.last()?;
        let visits = Visits::parse(list, &played.position().to_chess()?)?;
        self.has_latest = false;
        self.moves.pop();
        let drawn = visits.draw(DRAWN, hash_bytes(played.as_bytes()));
        let rows = drawn
            .zip(0..)
            .map(|(m, row)| played.with_move(m).with_game(row));
        self.moves.extend(rows);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use crate::games::read_moves;
    use crate::position::Speed;
    use crate::selection::{Filters, SkipReason, SourceCounts};

    /// Returns `move rating seconds` of each move.
    fn moves(text: &str, filters: &Filters) -> (Vec<String>, SourceCounts) {
        let (mut rows, mut tally) = (Vec::new(), SourceCounts::default());
        read_moves(text.as_bytes(), filters, &mut tally, |_, moves| {
            rows.extend(moves.iter().map(|played| {
                let unknown = |number: Option<u32>| number.map_or("?".into(), |n| n.to_string());
                let (rating, left) = (played.rating().map(u32::from), played.time_left());
                format!("{} {} {}", played.uci(), unknown(rating), unknown(left))
            }));
        });
        (rows, tally)
    }

    const GAME: &str = "[Event \"x\"]\n[WhiteElo \"1500\"]\n[BlackElo \"1820\"]\n[TimeControl \"180+2\"]\n\n\
        1. e4 { [%eval 0.3] [%clk 0:03:00] } e5 { [%clk 0:02:58] } 2. Nf3 Nc6 { [%clk 0:02:00] } \
        3. Bc4 { [%clk 0:01:00] } Nf6 { [%clk 0:01:01] } 4. O-O 1-0\n\n";

    #[test]
    fn moves_have_the_movers_rating_and_clock() {
        let (rows, tally) = moves(GAME, &Filters::default());
        let expected = [
            "e2e4 1500 128",
            "e7e5 1820 128",
            "g1f3 1500 128",
            "b8c6 1820 128",
            "f1c4 1500 ?",
            "g8f6 1820 96",
            "e1h1 1500 48",
        ];
        assert_eq!(rows, expected);
        assert_eq!((tally.games, tally.games_kept, tally.labels), (1, 1, 7));
        assert_eq!((tally.unrated, tally.skipped), (0, [].into()));
    }

    #[test]
    fn games_without_ratings_clocks_or_moves_are_counted_apart() {
        let text = format!(
            "{GAME}[Event \"y\"]\n[WhiteElo \"?\"]\n[BlackElo \"2000\"]\n\n1. d4 d5 *\n\n\
             [Event \"z\"]\n\n*\n"
        );
        let (rows, tally) = moves(&text, &Filters::default());
        assert_eq!(rows[7..], ["d2d4 ? ?", "d7d5 2000 ?"]);
        assert_eq!((tally.games, tally.games_kept, tally.unrated), (3, 2, 1));
        assert_eq!(tally.skipped, [(SkipReason::NoMoves, 1)].into());
    }

    #[test]
    fn filters_of_games_and_plies_hold_for_moves() {
        let filters = |filters| moves(GAME, &filters);
        let (rows, tally) = filters(Filters {
            min_ply: 5,
            ..Filters::default()
        });
        assert_eq!(rows, ["g8f6 1820 96", "e1h1 1500 48"]);
        assert_eq!(tally.skipped, [(SkipReason::EarlyPly, 5)].into());
        let (rows, tally) = filters(Filters {
            every: 3.try_into().ok(),
            ..Filters::default()
        });
        let thinned = tally.skipped[&SkipReason::Thinned];
        assert!((2..=3).contains(&rows.len()) && thinned + tally.labels == 7);
        let (rows, tally) = filters(Filters {
            speeds: [Speed::Rapid].into(),
            ..Filters::default()
        });
        assert_eq!(rows, [""; 0]);
        assert_eq!(tally.skipped, [(SkipReason::OtherSpeed, 1)].into());
    }

    #[test]
    fn visits_take_the_place_of_the_move_played() {
        let text = "[Event \"x\"]\n[WhiteElo \"1500\"]\n\n\
                    1. e4 { [%eval 0.3] [%visits d2d4:75,e2e4:25] } e5 { [%visits e7e5:0] } \
                    2. Nf3 { [%visits g1f3:9] } { [%visits a2a3:1] } *\n";
        let (rows, tally) = moves(text, &Filters::default());
        let [played, drawn] = ["e7e5 ? ?", "g1f3 1500 ?"];
        assert_eq!(rows[..3], ["d2d4 1500 ?"; 3]);
        assert_eq!(
            rows[3..],
            ["e2e4 1500 ?", played, drawn, drawn, drawn, drawn]
        );
        assert_eq!((tally.games_kept, tally.labels), (1, 9));
        assert_eq!(tally.skipped, [(SkipReason::MalformedVisits, 1)].into());
        let mut rows = Vec::new();
        let mut tally = SourceCounts::default();
        read_moves(
            text.as_bytes(),
            &Filters::default(),
            &mut tally,
            |_, moves| {
                rows.extend_from_slice(moves);
            },
        );
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), 9, "no two rows are equal");
    }

    #[test]
    fn an_illegal_move_ends_a_game_and_keeps_earlier_moves() {
        let text = "[Event \"x\"]\n\n1. e4 e5 2. Ke3 d5 *\n";
        let (rows, tally) = moves(text, &Filters::default());
        assert_eq!(rows, ["e2e4 ? ?", "e7e5 ? ?"]);
        assert_eq!(tally.skipped, [(SkipReason::IllegalMove, 1)].into());
    }
}
