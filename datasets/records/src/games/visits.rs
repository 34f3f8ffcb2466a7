//! Visit comments: `[%visits e2e4:60,d2d4:30]`, how often a search by PUCT visited each move in
//! place of the one played (docs/self-play.md).

use std::sync::LazyLock;

use memchr::memmem::Finder;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move};

const TAG: &[u8] = b"[%visits ";

/// Moves of a position with their visits; at least one visit in all.
pub(crate) struct Visits(Vec<(Move, u32)>);

impl Visits {
    /// Returns the list of `[%visits LIST]`, without its end if there is none.
    pub(crate) fn list(comment: &[u8]) -> Option<&[u8]> {
        // Building a finder takes longer than searching a comment.
        static FINDER: LazyLock<Finder> = LazyLock::new(|| Finder::new(TAG));
        let rest = &comment[FINDER.find(comment)? + TAG.len()..];
        Some(&rest[..memchr::memchr(b']', rest).unwrap_or(rest.len())])
    }

    /// Reads a list of visits in `position`. `None` if a move is not legal or a number unreadable,
    /// or if no move has a visit.
    pub(crate) fn parse(list: &[u8], position: &Chess) -> Option<Visits> {
        let list = std::str::from_utf8(list).ok()?;
        let visits = list.split(',').map(|entry| {
            let (mv, visits) = entry.split_once(':')?;
            let mv: UciMove = mv.parse().ok()?;
            Some((mv.to_move(position).ok()?, visits.parse().ok()?))
        });
        let visits = Visits(visits.collect::<Option<_>>()?);
        (visits.sum() > 0).then_some(visits)
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|&(_, visits)| u64::from(visits)).sum()
    }

    /// Draws `count` moves in proportion to their visits, by systematic sampling: a move comes up as
    /// often as its share, rounded up or down, and on average over `random` exactly so.
    pub(crate) fn draw(&self, count: u64, random: u64) -> impl Iterator<Item = Move> {
        let sum = self.sum();
        let first = random % sum;
        // Point `i` lies at `(first + i * sum) / count` of all visits.
        let (mut moves, mut passed) = (self.0.iter(), 0);
        let mut last = None;
        (0..count).filter_map(move |index| {
            while passed * count <= first + index * sum {
                let &(mv, visits) = moves.next()?;
                passed += u64::from(visits);
                last = Some(mv);
            }
            last
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{CastlingMode, fen::Fen};
    use std::collections::HashMap;

    fn visits(list: &str) -> Option<Visits> {
        Visits::parse(list.as_bytes(), &Chess::new())
    }

    #[test]
    fn lists_are_found_in_comments() {
        let list = |comment: &'static str| Visits::list(comment.as_bytes());
        let found = list(" [%eval 0.3,4] [%visits e2e4:60,d2d4:30] ");
        assert_eq!(found, Some(&b"e2e4:60,d2d4:30"[..]));
        assert_eq!(list("[%visits e2e4"), Some(&b"e2e4"[..]));
        assert_eq!(list("[%eval 0.3] visits e2e4:1"), None);
    }

    #[test]
    fn invalid_lists_are_refused() {
        assert_eq!(visits("e2e4:60,d2d4:30").unwrap().0.len(), 2);
        for list in [
            "",
            "e2e4",
            "e2e4:",
            "e2e4:x",
            "e2e4:-1",
            "e2e5:3",
            "e2e4:1,",
            "e2e4:0,d2d4:0",
            "e2e4:1 d2d4:1",
            "e2e4:4294967296",
        ] {
            assert!(visits(list).is_none(), "{list}");
        }
    }

    #[test]
    fn castling_is_read_in_both_forms() {
        let fen: Fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1".parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        for list in ["e1h1:1", "e1g1:1"] {
            let visits = Visits::parse(list.as_bytes(), &position).unwrap();
            assert!(visits.0[0].0.is_castle(), "{list}");
        }
    }

    #[test]
    fn moves_are_drawn_in_proportion() {
        let visits = visits("e2e4:50,d2d4:30,c2c4:0,b1c3:20").unwrap();
        let mut counts: HashMap<Move, u64> = HashMap::new();
        for random in 0..100 {
            let drawn: Vec<Move> = visits.draw(4, random).collect();
            assert_eq!(drawn.len(), 4);
            assert_eq!(
                drawn[0], visits.0[0].0,
                "half of the visits are two of four"
            );
            drawn
                .iter()
                .for_each(|&mv| *counts.entry(mv).or_default() += 1);
        }
        let count = |index: usize| counts.get(&visits.0[index].0).copied();
        let counts = [0, 1, 2, 3].map(count);
        assert_eq!(counts, [Some(200), Some(120), None, Some(80)]);
    }
}
