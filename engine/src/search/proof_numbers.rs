//! Proof-number search for a mate within a number of plies: df-pn (Nagai, "Df-pn Algorithm for
//! Searching AND/OR Trees and Its Applications", 2002).
//!
//! Expands the most-proving nodes, those with the fewest positions left to settle, and so finds
//! long forced mates quickly, sacrifices included. Both answers, mate and no mate, are exact. Plies
//! decrease along a line, so no line repeats a node.

use cozy_chess::{Board, Color, Move};
use rustc_hash::FxHashMap;

use crate::board::{has_legal_move, legal_moves, position_key};
use crate::search::searcher::Halted;

/// Infinity of proof numbers; sums are capped below it. Small in tests, so that they reach it.
const NEVER: u32 = if cfg!(test) { 1 << 9 } else { u32::MAX / 2 };
/// Initial disproof cost of the attacker's quiet moves, compared with checks.
const QUIET: u32 = 3;
/// Upper bound in bytes of the memory per entry, counting both tables and the doubling of hash
/// tables.
const ENTRY_BYTES: usize = 100;

/// Proof and disproof numbers from the side to move's point of view: lower bounds on the number of
/// positions left to settle. The attacker's goal is to mate in time, the defender's not to be
/// mated.
#[derive(Clone, Copy)]
struct Numbers {
    /// Positions to settle to prove that the side reaches its goal; 0 when proved.
    phi: u32,
    /// Positions to settle to disprove it; 0 when disproved.
    delta: u32,
}

impl Numbers {
    const WON: Numbers = Numbers {
        phi: 0,
        delta: NEVER,
    };
    const LOST: Numbers = Numbers {
        phi: NEVER,
        delta: 0,
    };
    /// Thresholds that only a settled position reaches.
    const SETTLED: Numbers = Numbers {
        phi: NEVER,
        delta: NEVER,
    };
}

/// A position not yet settled for a number of plies.
struct Open {
    numbers: Numbers,
    /// Nodes spent on it.
    work: u32,
}

/// Proved results of a position, in plies.
#[derive(Clone, Copy)]
struct Settled {
    /// Fewest plies with a proved mate.
    mate: u8,
    /// Plies below which mates are disproved.
    no_mate: u8,
}

/// A move and the numbers of the position after it, from the point of view of the side to move
/// there.
struct Child {
    mv: Move,
    numbers: Numbers,
}

/// Callback that counts a node, or halts the search.
pub(super) type Enter<'a> = &'a mut dyn FnMut() -> Result<(), Halted>;

/// State of one mate search.
pub(super) struct ProofNumberSearch {
    attacker: Color,
    /// Keys of positions that are drawn if repeated once more.
    drawn: Vec<u64>,
    /// Unsettled positions by [`open_key`].
    open: FxHashMap<u64, Open>,
    settled: FxHashMap<u64, Settled>,
    /// Maximum entries of either table.
    capacity: usize,
    nodes: u64,
}

impl ProofNumberSearch {
    /// Returns a search for mates by `attacker`, using about `bytes` bytes of memory at most.
    pub(super) fn new(attacker: Color, drawn: Vec<u64>, bytes: usize) -> ProofNumberSearch {
        ProofNumberSearch {
            attacker,
            drawn,
            open: FxHashMap::default(),
            settled: FxHashMap::default(),
            capacity: (bytes / ENTRY_BYTES).max(1024),
            nodes: 0,
        }
    }

    /// Returns the mate that the attacker forces within `plies`: its maximum length in plies, and
    /// the line with the defender's longest resistance. `None` without a forced mate.
    pub(super) fn solve(
        &mut self,
        board: &Board,
        plies: u8,
        enter: Enter,
    ) -> Result<Option<(u8, Vec<Move>)>, Halted> {
        let numbers = self.expand(board, plies, Numbers::SETTLED, enter)?;
        let attacks = board.side_to_move() == self.attacker;
        if (numbers.phi == 0) != attacks {
            return Ok(None);
        }
        let mut known = FxHashMap::default();
        let Ok(length) = self.longest(board, plies, &mut known, enter) else {
            // The mate is proved, although its line could not be completed.
            let first = match attacks {
                true => self.soonest(board, plies).map(|(mv, _)| mv),
                false => legal_moves(board).first().copied(),
            };
            return Ok(Some((plies, vec![first.ok_or(Halted)?])));
        };
        let mut line = Vec::with_capacity(length.into());
        let mut board = board.clone();
        while let Some(&(_, Some(mv))) = known.get(&position_key(&board)) {
            line.push(mv);
            board.play_unchecked(mv);
        }
        Ok(Some((length, line)))
    }

    /// Expands a node until one of its numbers reaches its threshold.
    fn expand(
        &mut self,
        board: &Board,
        plies: u8,
        limit: Numbers,
        enter: Enter,
    ) -> Result<Numbers, Halted> {
        self.count(enter)?;
        let before = self.nodes;
        let attacks = board.side_to_move() == self.attacker;
        let moves = legal_moves(board);
        let mut children = Vec::with_capacity(moves.len());
        for mv in moves {
            let behind = behind(board, mv);
            let check = !behind.checkers().is_empty();
            // The last move of a mate gives check.
            if attacks && plies == 1 && !check {
                continue;
            }
            let quiet = if attacks && !check { QUIET } else { 0 };
            let numbers = self.look_up(&behind, plies - 1, quiet, enter)?;
            children.push(Child { mv, numbers });
            if numbers.delta == 0 {
                break;
            }
        }
        loop {
            let deltas = children.iter().map(|child| child.numbers.delta);
            let phis = children.iter().map(|child| child.numbers.phi);
            let mut numbers = Numbers {
                phi: deltas.min().unwrap_or(NEVER),
                delta: phis.fold(0, |sum: u32, phi| sum.saturating_add(phi).min(NEVER - 1)),
            };
            if numbers.phi == 0 {
                numbers = Numbers::WON;
            }
            if numbers.phi >= limit.phi || numbers.delta >= limit.delta || numbers.delta == 0 {
                self.keep(board, plies, numbers, self.nodes - before);
                return Ok(numbers);
            }
            // Expand the most-proving child until another is better by a quarter, since switching
            // has a cost (1 + epsilon trick: Pawlewicz and Lew, "Improving Depth-first PN-Search: 1
            // + epsilon Trick", 2007).
            let (mut best, mut second) = (0, NEVER);
            for (index, child) in children.iter().enumerate().skip(1) {
                let delta = child.numbers.delta;
                if delta < children[best].numbers.delta {
                    second = children[best].numbers.delta;
                    best = index;
                } else {
                    second = second.min(delta);
                }
            }
            let Child { mv, numbers: child } = children[best];
            let nearer = second.saturating_add(second / 4 + 1);
            let limit = Numbers {
                phi: (limit.delta - numbers.delta)
                    .saturating_add(child.phi)
                    .min(NEVER),
                delta: limit.phi.min(nearer),
            };
            children[best].numbers = self.expand(&behind(board, mv), plies - 1, limit, enter)?;
        }
    }

    /// Returns the numbers of a position from the tables, or initialises them.
    fn look_up(
        &mut self,
        board: &Board,
        plies: u8,
        quiet: u32,
        enter: Enter,
    ) -> Result<Numbers, Halted> {
        let key = position_key(board);
        let attacks = board.side_to_move() == self.attacker;
        let settled_as = |mates: bool| match mates == attacks {
            true => Numbers::WON,
            false => Numbers::LOST,
        };
        if self.drawn.contains(&key) {
            return Ok(settled_as(false));
        }
        if let Some(settled) = self.settled.get(&key) {
            if settled.mate <= plies {
                return Ok(settled_as(true));
            }
            if plies < settled.no_mate {
                return Ok(settled_as(false));
            }
        }
        if let Some(open) = self.open.get(&open_key(key, plies)) {
            return Ok(open.numbers);
        }
        self.count(enter)?;
        let mut replies = 0;
        board.generate_moves(|moves| {
            replies += moves.len() as u32;
            false
        });
        if replies == 0 {
            return Ok(settled_as(!attacks && !board.checkers().is_empty()));
        }
        if plies == 0 {
            return Ok(settled_as(false));
        }
        let numbers = match attacks {
            true => Numbers {
                phi: 1,
                delta: 1 + replies / 4,
            },
            false => Numbers {
                phi: 1,
                delta: replies + quiet,
            },
        };
        self.keep_open(open_key(key, plies), Open { numbers, work: 0 });
        Ok(numbers)
    }

    fn count(&mut self, enter: Enter) -> Result<(), Halted> {
        self.nodes += 1;
        enter()
    }

    fn keep(&mut self, board: &Board, plies: u8, numbers: Numbers, work: u64) {
        let key = position_key(board);
        if numbers.phi > 0 && numbers.delta > 0 {
            let work = u32::try_from(work).unwrap_or(u32::MAX);
            self.keep_open(open_key(key, plies), Open { numbers, work });
            return;
        }
        self.open.remove(&open_key(key, plies));
        if self.settled.len() >= self.capacity {
            self.settled.clear();
        }
        let settled = self.settled.entry(key).or_insert(Settled {
            mate: u8::MAX,
            no_mate: 0,
        });
        let attacks = board.side_to_move() == self.attacker;
        if (numbers.phi == 0) == attacks {
            settled.mate = settled.mate.min(plies);
        } else {
            settled.no_mate = settled.no_mate.max(plies + 1);
        }
    }

    /// Stores an unsettled position. A full table first drops the half that cost the fewest nodes
    /// (Nagai's SmallTreeGC).
    fn keep_open(&mut self, key: u64, open: Open) {
        if self.open.len() >= self.capacity {
            let mut works: Vec<u32> = self.open.values().map(|open| open.work).collect();
            let middle = works.len() / 2;
            let (_, &mut median, _) = works.select_nth_unstable(middle);
            self.open.retain(|_, open| open.work > median);
        }
        self.open.insert(key, open);
    }

    /// Returns the plies to the mate proved within `plies`, by the defender's longest resistance
    /// against the attacker's best known moves. Stores length and move in `known`, by key.
    fn longest(
        &mut self,
        board: &Board,
        plies: u8,
        known: &mut FxHashMap<u64, (u8, Option<Move>)>,
        enter: Enter,
    ) -> Result<u8, Halted> {
        self.count(enter)?;
        let key = position_key(board);
        if let Some(&(length, _)) = known.get(&key)
            && length <= plies
        {
            return Ok(length);
        }
        let mut found = (0, None);
        if board.side_to_move() == self.attacker {
            let (mv, left) = loop {
                if let Some(best) = self.soonest(board, plies) {
                    break best;
                }
                // The entry was dropped since.
                self.expand(board, plies, Numbers::SETTLED, enter)?;
            };
            let length = 1 + self.longest(&behind(board, mv), left, known, enter)?;
            found = (length, Some(mv));
        } else {
            for mv in legal_moves(board) {
                let behind = behind(board, mv);
                let settled = self.settled.get(&position_key(&behind));
                let left = settled.map_or(plies - 1, |settled| settled.mate.min(plies - 1));
                let length = 1 + self.longest(&behind, left, known, enter)?;
                if length > found.0 {
                    found = (length, Some(mv));
                }
            }
        }
        // A dropped entry may have been proved again by another line. Keep the shorter length, so
        // that lengths decrease along the line and it ends.
        let known = known.entry(key).or_insert(found);
        if found.0 < known.0 {
            *known = found;
        }
        Ok(known.0)
    }

    /// Returns the move after which the shortest mate is proved, and the plies left after it.
    fn soonest(&self, board: &Board, plies: u8) -> Option<(Move, u8)> {
        let left = legal_moves(board).into_iter().filter_map(|mv| {
            let behind = behind(board, mv);
            if !behind.checkers().is_empty() && !has_legal_move(&behind) {
                return Some((mv, 0));
            }
            Some((mv, self.settled.get(&position_key(&behind))?.mate))
        });
        left.min_by_key(|&(_, left)| left)
            .filter(|&(_, left)| left < plies)
    }
}

/// Returns the position after a legal move.
fn behind(board: &Board, mv: Move) -> Board {
    let mut behind = board.clone();
    behind.play_unchecked(mv);
    behind
}

/// Returns a key of a position and the plies left.
fn open_key(key: u64, plies: u8) -> u64 {
    key ^ (u64::from(plies) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::parse_fen;
    use cozy_chess::{BoardBuilder, Piece};

    /// Returns by full search whether the attacker forces a mate within `plies`.
    fn is_forced(board: &Board, attacker: Color, plies: u8) -> bool {
        let moves = legal_moves(board);
        let behind = |&mv: &Move| is_forced(&behind(board, mv), attacker, plies - 1);
        if board.side_to_move() == attacker {
            plies > 0 && moves.iter().any(behind)
        } else if moves.is_empty() {
            !board.checkers().is_empty()
        } else {
            plies > 0 && moves.iter().all(behind)
        }
    }

    fn solve(search: &mut ProofNumberSearch, board: &Board, plies: u8) -> Option<Vec<Move>> {
        let solved = search.solve(board, plies, &mut || Ok(()));
        let (length, line) = solved.unwrap_or_else(|_| panic!("nothing halts it"))?;
        assert!(line.len() <= length.into() && length <= plies);
        Some(line)
    }

    /// Asserts that a line of legal moves ends in mate.
    fn assert_mates(board: &Board, line: &[Move]) {
        let mut board = board.clone();
        for &mv in line {
            board.play(mv);
        }
        let mated = !has_legal_move(&board) && !board.checkers().is_empty();
        assert!(mated, "{line:?}");
    }

    #[test]
    fn finds_a_mate_exactly_if_one_is_forced() {
        let mut random = fastrand::Rng::with_seed(3);
        let (mut found, mut looked) = (0, 0);
        while looked < 1_500 {
            let mut builder = BoardBuilder::empty();
            let army = [
                (Piece::King, Color::Black, 0..8),
                (Piece::King, Color::White, 16..32),
                (Piece::Queen, Color::White, 0..64),
                (Piece::Rook, Color::White, 0..64),
                (Piece::Knight, Color::Black, 0..64),
                (Piece::Pawn, Color::Black, 8..56),
            ];
            for (piece, color, squares) in army {
                let square = random.usize(squares);
                builder.board[square] = builder.board[square].or(Some((piece, color)));
            }
            builder.side_to_move = Color::ALL[random.usize(..2)];
            let Ok(board) = builder.build() else { continue };
            looked += 1;
            for attacker in Color::ALL {
                let attacks = attacker == board.side_to_move();
                let plies = if attacks { 3 } else { 2 };
                let line = solve(
                    &mut ProofNumberSearch::new(attacker, vec![], 0),
                    &board,
                    plies,
                );
                let expected = is_forced(&board, attacker, plies);
                assert_eq!(line.is_some(), expected, "{board} {attacker:?}");
                if let Some(line) = line {
                    assert!(line.len() <= plies.into());
                    assert_mates(&board, &line);
                    found += 1;
                }
            }
        }
        assert!(found > 200, "{found}");
    }

    #[test]
    fn solves_with_full_tables() {
        // Mates in four from the matetrack suite: more positions than the table holds.
        for fen in [
            "8/1n3p2/2p1pP2/2N3QP/1p1kPp1P/1P1p4/3P1P2/2K5 w - - 0 1",
            "2b5/2N2p2/6p1/4N3/1B1k1p1r/Kp6/n7/4Q3 w - - 0 1",
        ] {
            let board = parse_fen(fen).unwrap();
            for (plies, expected) in [(5, None), (7, Some(7)), (9, Some(7))] {
                let mut search = ProofNumberSearch::new(Color::White, vec![], 0);
                search.capacity = 64;
                let line = solve(&mut search, &board, plies);
                assert!(search.nodes > 1_000, "{fen} {plies}");
                assert!(search.open.len() <= search.capacity);
                assert!(search.settled.len() <= search.capacity);
                match (line, expected) {
                    (None, None) => {}
                    (Some(line), Some(least)) => {
                        assert!((least..=plies.into()).contains(&line.len()), "{fen}");
                        assert_mates(&board, &line);
                    }
                    (line, _) => panic!("{fen} {plies}: {line:?}"),
                }
            }
        }
    }

    #[test]
    fn drawn_positions_do_not_lead_to_mate() {
        let board = parse_fen("7k/8/8/5K2/8/8/8/1Q6 w - - 0 1").unwrap();
        let solve = |drawn| {
            solve(
                &mut ProofNumberSearch::new(Color::White, drawn, 0),
                &board,
                3,
            )
        };
        let line = solve(vec![]).unwrap();
        assert_eq!(line[0].to_string(), "f5g6");
        let behind = behind(&board, line[0]);
        assert_eq!(solve(vec![position_key(&behind)]), None);
    }

    #[test]
    fn halted_searches_claim_only_proved_mates() {
        let board = parse_fen("8/1n3p2/2p1pP2/2N3QP/1p1kPp1P/1P1p4/3P1P2/2K5 w - - 0 1").unwrap();
        let (mut halted, mut proved) = (0, 0);
        for limit in (0..20_000u64).step_by(500) {
            let mut left = limit;
            let mut enter = || {
                left = left.checked_sub(1).ok_or(Halted)?;
                Ok(())
            };
            let mut search = ProofNumberSearch::new(Color::White, vec![], 1 << 24);
            match search.solve(&board, 7, &mut enter) {
                Err(Halted) => halted += 1,
                Ok(found) => {
                    let (length, line) = found.expect("a mate in four");
                    assert!(length == 7 && !line.is_empty());
                    proved += 1;
                }
            }
        }
        assert!(halted > 0 && proved > 0, "{halted} and {proved}");
    }
}
