//! What earlier cutoffs teach about moves: killers and histories.

use cozy_chess::{Board, Color, Move, Piece, Square};

use crate::exchange::takes_en_passant;

/// Every history stays within plus and minus this.
pub(crate) const HISTORY_LIMIT: i32 = 1 << 14;

/// A number of cutoffs, weighed, that the more resists change the further it
/// is from zero.
#[derive(Clone, Copy, Default)]
struct Weight(i16);

impl Weight {
    fn adjust(&mut self, bonus: i32) {
        let now = i32::from(self.0);
        self.0 = (now + bonus - now * bonus.abs() / HISTORY_LIMIT) as i16;
    }
}

/// A piece on the square it moves to: a row or a column of the continuation
/// history. The last one stands for no move.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Landing(u16);

impl Landing {
    /// Of a null move, and of what was played before the root.
    pub(crate) const NONE: Landing = Landing(LANDINGS as u16);

    /// Where it landed.
    pub(crate) fn square(self) -> Option<Square> {
        (self != Landing::NONE).then(|| Square::index(usize::from(self.0) % Square::NUM))
    }

    pub(crate) fn of(board: &Board, mv: Move) -> Landing {
        let piece = board.piece_on(mv.from).unwrap_or(Piece::Pawn);
        Landing::new(board.side_to_move(), piece, mv.to)
    }

    pub(crate) fn new(mover: Color, piece: Piece, to: Square) -> Landing {
        let row = mover as usize * Piece::NUM + piece as usize;
        Landing((row * Square::NUM + to as usize) as u16)
    }

    fn index(self) -> usize {
        self.0.into()
    }

    fn mover(self) -> usize {
        self.index() / (Piece::NUM * Square::NUM)
    }
}

const LANDINGS: usize = Color::NUM * Piece::NUM * Square::NUM;

/// The landings of the moves one, two and four plies ago.
pub(crate) type Before = [Landing; 3];

/// What the search has learned of moves; one thread's.
pub(crate) struct History {
    /// Quiet moves by mover, origin and target ("butterfly boards").
    butterfly: Vec<[[Weight; Square::NUM]; Square::NUM]>,
    /// Captures and promotions by landing and victim, the last for none.
    tactical: Vec<[Weight; Piece::NUM + 1]>,
    /// Quiet moves by the landing of an earlier move and their own.
    continuation: Vec<[Weight; LANDINGS]>,
}

impl History {
    pub(crate) fn new() -> History {
        History {
            butterfly: vec![[[Weight(0); Square::NUM]; Square::NUM]; Color::NUM],
            tactical: vec![[Weight(0); Piece::NUM + 1]; LANDINGS],
            continuation: vec![[Weight(0); LANDINGS]; LANDINGS + 1],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.butterfly.fill([[Weight(0); Square::NUM]; Square::NUM]);
        self.tactical.fill([Weight(0); Piece::NUM + 1]);
        self.continuation.fill([Weight(0); LANDINGS]);
    }

    /// What is known of a quiet move from a square.
    pub(crate) fn quiet(&self, landing: Landing, from: Square, before: &Before) -> i32 {
        let to = landing.index() % Square::NUM;
        let butterfly = self.butterfly[landing.mover()][from as usize][to];
        let continued = before
            .iter()
            .map(|earlier| i32::from(self.continuation[earlier.index()][landing.index()].0));
        i32::from(butterfly.0) + continued.sum::<i32>()
    }

    /// What is known of a capture or promotion.
    pub(crate) fn tactical(&self, landing: Landing, victim: Option<Piece>) -> i32 {
        self.tactical[landing.index()][victim_index(victim)]
            .0
            .into()
    }

    pub(crate) fn adjust_quiet(
        &mut self,
        landing: Landing,
        from: Square,
        before: &Before,
        bonus: i32,
    ) {
        let to = landing.index() % Square::NUM;
        self.butterfly[landing.mover()][from as usize][to].adjust(bonus);
        for earlier in before {
            self.continuation[earlier.index()][landing.index()].adjust(bonus);
        }
    }

    pub(crate) fn adjust_tactical(&mut self, landing: Landing, victim: Option<Piece>, bonus: i32) {
        self.tactical[landing.index()][victim_index(victim)].adjust(bonus);
    }
}

fn victim_index(victim: Option<Piece>) -> usize {
    victim.map_or(Piece::NUM, |piece| piece as usize)
}

/// Captures, en passant included, and promotions.
pub(crate) fn is_tactical(board: &Board, mv: Move) -> bool {
    board.colors(!board.side_to_move()).has(mv.to)
        || mv.promotion.is_some()
        || takes_en_passant(board, mv)
}
