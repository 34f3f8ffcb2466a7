//! Boards and games: positions with their history, the rules that cozy-chess leaves to its user,
//! FEN, and PGN output.

pub(crate) mod checks;
pub(crate) mod ending;
pub(crate) mod fen;
pub(crate) mod perft;
pub mod pgn;
pub(crate) mod position;
pub(crate) mod random;
pub(crate) mod rules;

pub use ending::Ending;
pub use fen::{Fault, FenError, FenRepair, RepairedFen, parse_fen, repair_fen, write_fen};
pub use perft::perft;
pub use position::{MoveError, Position, is_castling, parse_move, write_move};
pub use random::random_moves;
pub use rules::{
    flipped, has_legal_move, insufficient_material, is_chess960, is_tactical, legal_en_passant,
    legal_moves, position_key,
};
