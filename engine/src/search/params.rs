//! The search's numbers. Margins are centipawns, depths plies. Which feature
//! is worth what is told in `docs/experiments.md`, and how most of them were found.

/// Iterations from this depth on begin with a window around the last score.
pub const ASPIRATION_DEPTH: i32 = 4;
/// Half the width of that window.
pub const ASPIRATION_WINDOW: i32 = 19;

/// Reverse futility: no move is needed where the evaluation is above the
/// window by this much a ply.
pub const REVERSE_FUTILITY_DEPTH: i32 = 8;
pub const REVERSE_FUTILITY_MARGIN: i32 = 86;

/// Razoring: quiescence decides where the evaluation is below the window by
/// this much a ply.
pub const RAZOR_DEPTH: i32 = 3;
pub const RAZOR_MARGIN: i32 = 263;

/// Null move: passing still leaves the score above the window.
pub const NULL_DEPTH: i32 = 3;
/// From this depth on, a search without null moves has to agree: zugzwang.
pub const NULL_VERIFY_DEPTH: i32 = 12;
pub const NULL_REDUCTION: i32 = 3;
/// An evaluation above the window by so much is worth a ply of reduction.
pub const NULL_SURPLUS: i32 = 153;

/// Nodes without a move from the table are searched a ply less from here on.
pub const INTERNAL_REDUCTION_DEPTH: i32 = 4;

/// Singular extension: a move from the table that alone holds the score.
pub const SINGULAR_DEPTH: i32 = 7;
/// How far below, per ply, the others have to stay.
pub const SINGULAR_MARGIN: i32 = 2;
/// By how much more, for two plies.
pub const DOUBLE_MARGIN: i32 = 20;
/// Double extensions on one line.
pub const MOST_DOUBLES: u8 = 6;

/// Late moves are left out to this depth: those beyond so many hundredths of a move, and
/// so many more times the depth squared; half as many where the evaluation has not risen.
pub const LATE_MOVE_DEPTH: i32 = 8;
pub const LATE_MOVE_BASE: i32 = 487;
pub const LATE_MOVE_FACTOR: i32 = 108;
/// Quiet moves that raise a hopeless evaluation are left out to this depth.
pub const FUTILITY_DEPTH: i32 = 8;
pub const FUTILITY_BASE: i32 = 30;
pub const FUTILITY_MARGIN: i32 = 67;
/// Moves that lose material are left out to this depth.
pub const EXCHANGE_DEPTH: i32 = 8;
pub const EXCHANGE_QUIET_MARGIN: i32 = 51;
pub const EXCHANGE_TACTICAL_MARGIN: i32 = 115;

/// Late moves are searched less deep from this depth on.
pub const REDUCTION_DEPTH: i32 = 3;
/// History that is worth a ply of reduction.
pub const REDUCTION_HISTORY: i32 = 1928;

/// Quiescence: a capture whose victim and this much more do not reach the
/// window is left out.
pub const DELTA_MARGIN: i32 = 161;

/// Quiescence looks at recaptures alone from this ply on: an evaluation that
/// calls every quiet position bad for the mover would otherwise have all
/// captures searched in all orders.
pub const RECAPTURES_FROM: u32 = 5;
