//! Random games in a human style: move weights favour captures, checks, the centre, safe squares
//! and popular moves.

use records::hash::mix;
use shakmaty::san::{San, SanPlus, Suffix};
use shakmaty::{Bitboard, Board, Chess, Color, Move, MoveList, Position, Role, Square, attacks};

use super::openings::Opening;
use super::random::Random;

/// Deciles of the length of a game in plies; measured on the games of `datasets/samples`.
const PLIES: [i32; 11] = [4, 32, 48, 57, 66, 75, 85, 99, 116, 140, 210];

/// Plies during which popular moves are preferred.
const BOOK_PLIES: usize = 20;

/// Played move.
pub struct Ply {
    /// Move in SAN.
    pub san: SanPlus,
    /// Material balance after the move in centipawns, White minus Black.
    pub material: i32,
}

/// End of a game.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Checkmate by the last move.
    Mate,
    /// Stalemate or insufficient material.
    Dead,
    /// Resignation or agreed draw.
    Stopped,
}

/// Plays a game from an opening line to its end; the moves go to `plies`.
pub fn play(opening: &Opening, random: &mut Random, plies: &mut Vec<Ply>) -> End {
    plies.clear();
    let length = random.quantile(&PLIES) as usize;
    let mut line = opening.moves.split(' ');
    let mut position = Chess::default();
    let mut moves = position.legal_moves();
    while plies.len() < length {
        let known = line.next().and_then(|san| {
            let san: San = san.parse().ok()?;
            san.find_move(&moves).ok().copied()
        });
        let chosen = known.unwrap_or_else(|| choose(&position, &moves, plies.len(), random));
        let san = San::disambiguate(chosen, &moves);
        position.play_unchecked(chosen);
        moves = position.legal_moves();
        let suffix = match (position.is_check(), moves.is_empty()) {
            (true, true) => Some(Suffix::Checkmate),
            (true, false) => Some(Suffix::Check),
            (false, _) => None,
        };
        plies.push(Ply {
            san: SanPlus { san, suffix },
            material: material(position.board()),
        });
        match suffix {
            Some(Suffix::Checkmate) => return End::Mate,
            None if moves.is_empty() || position.is_insufficient_material() => return End::Dead,
            _ => {}
        }
    }
    End::Stopped
}

fn choose(position: &Chess, moves: &MoveList, ply: usize, random: &mut Random) -> Move {
    let taste = Taste::of(position, ply);
    let weights = moves.iter().map(|&m| taste.weight(m)).collect::<Vec<u32>>();
    moves[random.weighted(weights.iter().copied())]
}

/// Move preferences of the side to move.
struct Taste<'a> {
    position: &'a Chess,
    board: &'a Board,
    us: Color,
    enemy_king: Square,
    ply: usize,
    popularity: u64,
}

impl<'a> Taste<'a> {
    fn of(position: &'a Chess, ply: usize) -> Taste<'a> {
        let board = position.board();
        let us = position.turn();
        Taste {
            position,
            board,
            us,
            enemy_king: board.king_of(!us).expect("both sides have a king"),
            ply,
            popularity: fingerprint(board),
        }
    }

    /// Returns the weight of a move, which doubles every four points of its score.
    fn weight(&self, m: Move) -> u32 {
        const QUARTERS: [u32; 4] = [64, 76, 91, 108];
        let score = self.score(m).clamp(-24, 72);
        let shifted = QUARTERS[score.rem_euclid(4) as usize] << 8;
        if score >= 0 {
            shifted << (score / 4).min(10)
        } else {
            shifted >> (-score.div_euclid(4))
        }
    }

    fn score(&self, m: Move) -> i32 {
        let Some(from) = m.from() else { return 0 };
        let (to, role) = (m.to(), m.role());
        if m.is_castle() {
            return 22 + self.fashion(m);
        }
        let gain = m.capture().map_or(0, value) + m.promotion().map_or(0, |role| value(role) - 1);
        let occupied = self.board.occupied().without(from).with(to);
        let risk = self.risk(role, from, to, occupied);
        let threatened = self.risk(role, to, from, self.board.occupied());
        let taken = if m.is_capture() { 6 } else { 0 };
        let mut score = taken + 6 * (gain - risk) + 4 * threatened + self.habit(role, from, to);
        score += self.fashion(m);
        if attacks::attacks(to, role.of(self.us), occupied).contains(self.enemy_king) {
            score += if self.mates(m) { 30 } else { 8 };
        }
        score
    }

    /// Returns the pawns that a piece risks on a square: its whole value if unprotected, else its
    /// value above the cheapest attacker's.
    fn risk(&self, role: Role, elsewhere: Square, square: Square, occupied: Bitboard) -> i32 {
        let attackers = self.board.attacks_to(square, !self.us, occupied) & occupied;
        if attackers.is_empty() || role == Role::King {
            return 0;
        }
        let guards = self
            .board
            .attacks_to(square, self.us, occupied)
            .without(elsewhere)
            .without(square);
        if guards.is_empty() {
            return value(role);
        }
        let cheapest = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook]
            .into_iter()
            .find(|&attacker| !(attackers & self.board.by_role(attacker)).is_empty());
        (value(role) - cheapest.map_or(9, value)).max(0)
    }

    /// Returns the positional preference for a piece moving from one square to another.
    fn habit(&self, role: Role, from: Square, to: Square) -> i32 {
        let centre = |square: Square| {
            let (file, rank) = (i32::from(square.file()), i32::from(square.rank()));
            6 - (2 * file - 7).abs().max((2 * rank - 7).abs())
        };
        let forward = |square: Square| {
            let rank = i32::from(square.rank());
            if self.us == Color::White {
                rank
            } else {
                7 - rank
            }
        };
        let early = self.ply < 24;
        let home = forward(from) == 0;
        match role {
            Role::Pawn if early => centre(to).max(-2),
            Role::Pawn => forward(to) - 4,
            Role::Knight | Role::Bishop if early && home => 8 + centre(to),
            Role::Knight | Role::Bishop => (centre(to) - centre(from)) / 2,
            Role::Rook if early => -6,
            Role::Rook => 1 + forward(to) / 3,
            Role::Queen if early => -4,
            Role::Queen => 1,
            Role::King if early => -12,
            Role::King if self.ply > 60 => 5 + forward(to) / 2,
            Role::King => 0,
        }
    }

    /// Returns the popularity of a move: a few moves of each position are far more popular than the
    /// rest, up to [`BOOK_PLIES`].
    fn fashion(&self, m: Move) -> i32 {
        if self.ply >= BOOK_PLIES {
            return 0;
        }
        let from = m.from().map_or(0, u64::from);
        let lot = mix(self.popularity ^ ((from << 6) | u64::from(m.to())));
        // Geometric: one move in two gets 0, one in four 3, ...
        3 * (lot.trailing_zeros().min(6) as i32)
    }

    fn mates(&self, m: Move) -> bool {
        let mut next = self.position.clone();
        next.play_unchecked(m);
        next.is_checkmate()
    }
}

/// Returns the value of a piece in pawns.
fn value(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    }
}

fn material(board: &Board) -> i32 {
    let side = |color| {
        let pieces = board.material_side(color);
        let count = |n: u8| i32::from(n);
        100 * count(pieces.pawn)
            + 310 * count(pieces.knight)
            + 330 * count(pieces.bishop)
            + 500 * count(pieces.rook)
            + 930 * count(pieces.queen)
    };
    side(Color::White) - side(Color::Black)
}

fn fingerprint(board: &Board) -> u64 {
    let sides = [board.white(), board.black()].into_iter();
    let roles = Role::ALL.into_iter().map(|role| board.by_role(role));
    sides
        .chain(roles)
        .fold(0, |hash, squares| mix(hash ^ u64::from(squares)))
}
