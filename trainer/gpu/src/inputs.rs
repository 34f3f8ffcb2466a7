//! Kernel that derives network inputs, targets and buckets from records.
//!
//! The rules are those of [`models::InputPosition`]. WGSL has no 64-bit integers, so a bitboard is
//! two words of 32 bits.

use cubecl::prelude::*;
use models::{MAX_ACTIVE, Threats};

/// 32-bit words of a record (docs/record.md): two of occupied squares, four of piece codes, one of
/// side to move, en-passant square, depth and ply, one of label, result and month.
pub(crate) const RECORD_WORDS: usize = 8;
/// Entries of a list, padded to whole steps of [`UNROLL`].
pub(crate) const ENTRIES: usize = MAX_ACTIVE.next_multiple_of(UNROLL);
/// Entries read at a time. Lists are filled up to a multiple with [`NO_INPUT`].
pub(crate) const UNROLL: usize = 4;
const _: () = assert!(UNROLL.is_power_of_two());
/// Index of the row of zeros after the inputs' rows.
pub(crate) const NO_INPUT: u32 = models::INPUTS as u32;

const FIRST_THREAT: u32 = Threats::FIRST_INPUT as u32;
const FIRST_FLAG: u32 = 14 * 64;
const EN_PASSANT_PLANE: u32 = 12;
const ROOK: u32 = 3;
/// Piece code of a rook with castling rights.
const UNMOVED_ROOK: u32 = 6;

/// Bitboard: bit 0 of `low` is a1, bit 31 of `high` h8.
#[derive(CubeType, Clone, Copy)]
struct Squares {
    low: u32,
    high: u32,
}

/// Bit planes (0 to 3) of the piece codes on 32 squares.
#[derive(CubeType, Clone, Copy)]
struct Planes {
    bit0: u32,
    bit1: u32,
    bit2: u32,
    black: u32,
}

/// Squares attacked by a side: by pawns, by pawns and minor pieces, by these and rooks, by all.
#[derive(CubeType, Clone, Copy)]
struct Attacks {
    pawns: Squares,
    minors: Squares,
    rooks: Squares,
    all: Squares,
}

#[cube]
fn and(a: Squares, b: Squares) -> Squares {
    Squares {
        low: a.low & b.low,
        high: a.high & b.high,
    }
}

#[cube]
fn or(a: Squares, b: Squares) -> Squares {
    Squares {
        low: a.low | b.low,
        high: a.high | b.high,
    }
}

#[cube]
fn without(a: Squares, b: Squares) -> Squares {
    Squares {
        low: a.low & !b.low,
        high: a.high & !b.high,
    }
}

/// Returns the squares of `a` on none of the `files`, bit 0 being the a-file.
#[cube]
fn off_files(a: Squares, #[comptime] files: u32) -> Squares {
    let mask = comptime!(!(files * 0x0101_0101));
    Squares {
        low: a.low & mask,
        high: a.high & mask,
    }
}

/// Shifts the squares by `by`: 1 is a file to the right and 8 a rank up.
#[cube]
fn moved(a: Squares, #[comptime] by: i32) -> Squares {
    let n = comptime!(by.unsigned_abs());
    if comptime!(by >= 32) {
        Squares {
            low: u32::new(0),
            high: a.low << comptime!(n - 32),
        }
    } else if comptime!(by > 0) {
        Squares {
            low: a.low << n,
            high: (a.high << n) | (a.low >> comptime!(32 - n)),
        }
    } else if comptime!(by > -32) {
        Squares {
            low: (a.low >> n) | (a.high << comptime!(32 - n)),
            high: a.high >> n,
        }
    } else {
        Squares {
            low: a.high >> comptime!(n - 32),
            high: u32::new(0),
        }
    }
}

/// Returns the files that a step by `by` squares can reach only by wrapping around the edge.
fn wrapped(by: i32) -> u32 {
    match by.rem_euclid(8) {
        1 => 0b0000_0001,
        2 => 0b0000_0011,
        6 => 0b1100_0000,
        7 => 0b1000_0000,
        _ => 0,
    }
}

/// Returns the destinations of steps by `by`.
#[cube]
fn stepped(a: Squares, #[comptime] by: i32) -> Squares {
    off_files(moved(a, by), comptime!(wrapped(by)))
}

/// Returns the squares that sliders attack in one direction, up to the first piece (Kogge-Stone
/// fill, https://www.chessprogramming.org/Kogge-Stone_Algorithm).
#[cube]
fn slid(sliders: Squares, empty: Squares, #[comptime] by: i32) -> Squares {
    let pass = off_files(empty, comptime!(wrapped(by)));
    let fill = or(sliders, and(pass, moved(sliders, by)));
    let pass = and(pass, moved(pass, by));
    let fill = or(fill, and(pass, moved(fill, comptime!(2 * by))));
    let pass = and(pass, moved(pass, comptime!(2 * by)));
    let fill = or(fill, and(pass, moved(fill, comptime!(4 * by))));
    stepped(fill, by)
}

#[cube]
fn diagonally(sliders: Squares, empty: Squares) -> Squares {
    or(
        or(slid(sliders, empty, 9), slid(sliders, empty, 7)),
        or(slid(sliders, empty, -9), slid(sliders, empty, -7)),
    )
}

#[cube]
fn straight(sliders: Squares, empty: Squares) -> Squares {
    or(
        or(slid(sliders, empty, 8), slid(sliders, empty, 1)),
        or(slid(sliders, empty, -8), slid(sliders, empty, -1)),
    )
}

#[cube]
fn knights_attack(knights: Squares) -> Squares {
    or(
        or(
            or(stepped(knights, 17), stepped(knights, 15)),
            or(stepped(knights, 10), stepped(knights, 6)),
        ),
        or(
            or(stepped(knights, -17), stepped(knights, -15)),
            or(stepped(knights, -10), stepped(knights, -6)),
        ),
    )
}

#[cube]
fn king_attacks(king: Squares) -> Squares {
    or(
        or(
            or(stepped(king, 9), stepped(king, 8)),
            or(stepped(king, 7), stepped(king, 1)),
        ),
        or(
            or(stepped(king, -9), stepped(king, -8)),
            or(stepped(king, -7), stepped(king, -1)),
        ),
    )
}

/// Returns the squares that a side's pieces attack. `forward` is 8 for White, -8 for Black.
#[cube]
fn attacks(
    sets: (Squares, Squares, Squares, Squares, Squares, Squares),
    side: Squares,
    empty: Squares,
    #[comptime] forward: i32,
) -> Attacks {
    let pawns = and(sets.0, side);
    let pawns = or(
        stepped(pawns, comptime!(forward - 1)),
        stepped(pawns, comptime!(forward + 1)),
    );
    let knights = knights_attack(and(sets.1, side));
    let bishops = diagonally(and(sets.2, side), empty);
    let rooks = straight(and(sets.3, side), empty);
    let queens = and(sets.4, side);
    let queens = or(diagonally(queens, empty), straight(queens, empty));
    let king = king_attacks(and(sets.5, side));
    let minors = or(pawns, or(knights, bishops));
    Attacks {
        pawns,
        minors,
        rooks: or(minors, rooks),
        all: or(or(minors, rooks), or(queens, king)),
    }
}

/// Returns three bits: at least one, two, three squares.
#[cube]
fn counted(a: Squares) -> u32 {
    let count = min(a.low.count_ones() + a.high.count_ones(), 3u32);
    (1u32 << count) - 1u32
}

/// Returns a side's pieces en prise, three bits a kind ([`models::Threats`]).
#[cube]
fn en_prise(
    sets: (Squares, Squares, Squares, Squares, Squares, Squares),
    side: Squares,
    own: Attacks,
    other: Attacks,
) -> u32 {
    let loose = without(other.all, own.all);
    let pawns = and(and(sets.0, side), loose);
    let knights = and(and(sets.1, side), or(loose, other.pawns));
    let bishops = and(and(sets.2, side), or(loose, other.pawns));
    let rooks = and(and(sets.3, side), or(loose, other.minors));
    let queens = and(and(sets.4, side), or(loose, other.rooks));
    counted(pawns)
        | (counted(knights) << 3u32)
        | (counted(bishops) << 6u32)
        | (counted(rooks) << 9u32)
        | (counted(queens) << 12u32)
}

/// Returns the code of a record's piece, counted from a1.
#[cube]
fn code(records: &Array<u32>, record: usize, piece: u32) -> u32 {
    (records[record + 2 + (piece / 8) as usize] >> (4 * (piece % 8))) & 15
}

/// Returns the planes of one half of the board; `first` pieces lie before it.
#[cube]
fn planes(records: &Array<u32>, record: usize, occupied: u32, first: u32) -> Planes {
    let mut left = occupied;
    let mut piece = first;
    let mut bit0 = 0u32;
    let mut bit1 = 0u32;
    let mut bit2 = 0u32;
    let mut black = 0u32;
    while left != 0 {
        let code = code(records, record, piece);
        let at = u32::find_first_set(left) - 1;
        bit0 |= (code & 1) << at;
        bit1 |= ((code >> 1) & 1) << at;
        bit2 |= ((code >> 2) & 1) << at;
        black |= (code >> 3) << at;
        left &= left - 1;
        piece += 1;
    }
    Planes {
        bit0,
        bit1,
        bit2,
        black,
    }
}

/// Returns the lowest square of a nonempty set.
#[cube]
fn first_square(a: Squares) -> u32 {
    let low = u32::find_first_set(a.low) - 1;
    let high = u32::find_first_set(a.high) + 31;
    select(a.low != 0, low, high)
}

/// Writes each position's active inputs for each view (`lists`, `[ENTRIES, views * capacity]`),
/// their counts (`lengths`), its target and its bucket. A unit works on one record.
///
/// Inputs come in the order of [`models::InputPosition::features`]; without `all_inputs`, only
/// pieces.
#[cube(launch_unchecked)]
pub(crate) fn derive(
    records: &Array<u32>,
    lists: &mut Array<u32>,
    lengths: &mut Array<u32>,
    targets: &mut Array<f32>,
    buckets: &mut Array<u32>,
    samples: u32,
    result_share: f32,
    half_k: f32,
    #[comptime] views: u32,
    #[comptime] mirrored: bool,
    #[comptime] all_inputs: bool,
    #[comptime] bucket_count: u32,
    #[comptime] capacity: u32,
) {
    let sample = ABSOLUTE_POS as u32;
    if sample >= samples {
        terminate!();
    }
    let record = sample as usize * RECORD_WORDS;
    let occupied = Squares {
        low: records[record],
        high: records[record + 1],
    };
    let state = records[record + 6];
    let outcome = records[record + 7];
    let black_to_move = (state >> 7) & 1;
    let pieces_low = occupied.low.count_ones();
    let pieces = pieces_low + occupied.high.count_ones();
    let low = planes(records, record, occupied.low, 0u32);
    let high = planes(records, record, occupied.high, pieces_low);
    let pawns = Squares {
        low: occupied.low & !low.bit0 & !low.bit1 & !low.bit2,
        high: occupied.high & !high.bit0 & !high.bit1 & !high.bit2,
    };
    let knights = Squares {
        low: low.bit0 & !low.bit1 & !low.bit2,
        high: high.bit0 & !high.bit1 & !high.bit2,
    };
    let bishops = Squares {
        low: low.bit1 & !low.bit0 & !low.bit2,
        high: high.bit1 & !high.bit0 & !high.bit2,
    };
    let rooks = Squares {
        low: low.bit1 & (low.bit0 | low.bit2),
        high: high.bit1 & (high.bit0 | high.bit2),
    };
    let queens = Squares {
        low: low.bit2 & !low.bit0 & !low.bit1,
        high: high.bit2 & !high.bit0 & !high.bit1,
    };
    let kings = Squares {
        low: low.bit2 & low.bit0,
        high: high.bit2 & high.bit0,
    };
    let sets = (pawns, knights, bishops, rooks, queens, kings);
    let black = Squares {
        low: low.black,
        high: high.black,
    };
    let white = without(occupied, black);
    let empty = Squares {
        low: !occupied.low,
        high: !occupied.high,
    };
    let by_white = attacks(sets, white, empty, 8);
    let by_black = attacks(sets, black, empty, -8);
    let white_en_prise = en_prise(sets, white, by_white, by_black);
    let black_en_prise = en_prise(sets, black, by_black, by_white);
    let white_king = first_square(and(kings, white));
    let black_king = first_square(and(kings, black));
    let unmoved = Squares {
        low: low.bit1 & low.bit2,
        high: high.bit1 & high.bit2,
    };
    let en_passant = state & 127;
    let in_check = (outcome >> 18) & 1;

    #[unroll]
    for view in 0..views {
        // 1 for Black's view.
        let looking = black_to_move ^ view;
        let ranks = looking * 56;
        let mut files = 0u32;
        if comptime!(mirrored) {
            let king = select(looking == 1, black_king, white_king);
            files = ((king >> 2) & 1) * 7;
        }
        let flip = ranks ^ files;
        let row = (view * capacity + sample) as usize;
        let rows = comptime!((views * capacity) as usize);
        let mut entry = 0u32;
        let mut piece = 0u32;
        #[unroll]
        for half in 0..2u32 {
            let mut left = if comptime!(half == 0) {
                occupied.low
            } else {
                occupied.high
            };
            while left != 0 {
                let code = code(records, record, piece);
                let square = u32::find_first_set(left) - 1 + half * 32;
                let kind = select(code & 7 == UNMOVED_ROOK, ROOK, code & 7);
                let theirs = ((code >> 3) ^ looking) * 6;
                lists[entry as usize * rows + row] = (theirs + kind) * 64 + (square ^ flip);
                entry += 1;
                piece += 1;
                left &= left - 1;
            }
        }
        if comptime!(all_inputs) {
            if en_passant < 64 {
                lists[entry as usize * rows + row] = EN_PASSANT_PLANE * 64 + (en_passant ^ flip);
                entry += 1;
            }
            // In the mover's order, which the other view keeps.
            let mover = select(black_to_move == 1, black_en_prise, white_en_prise);
            let other = select(black_to_move == 1, white_en_prise, black_en_prise);
            let mut threats = mover | (other << 15);
            while threats != 0 {
                let threat = u32::find_first_set(threats) - 1;
                let seen = if comptime!(view == 0) {
                    threat
                } else {
                    (threat + 15) % 30
                };
                lists[entry as usize * rows + row] = FIRST_THREAT + seen;
                entry += 1;
                threats &= threats - 1;
            }
            #[unroll]
            for half in 0..2u32 {
                let mut left = if comptime!(half == 0) {
                    unmoved.low
                } else {
                    unmoved.high
                };
                // A damaged record may have more unmoved rooks than the list has room for.
                while left != 0 && entry < comptime!(ENTRIES as u32 - 1) {
                    let bit = u32::find_first_set(left) - 1;
                    let square = bit + half * 32;
                    let plane = if comptime!(half == 0) {
                        black.low
                    } else {
                        black.high
                    };
                    let owner = (plane >> bit) & 1;
                    let king = select(owner == 1, black_king, white_king);
                    let queen_side = select(king < square, 0u32, 1u32);
                    let side = queen_side ^ (files & 1);
                    lists[entry as usize * rows + row] = FIRST_FLAG + (owner ^ looking) * 2 + side;
                    entry += 1;
                    left &= left - 1;
                }
            }
            if in_check == 1 {
                lists[entry as usize * rows + row] = FIRST_FLAG + 4 + view;
                entry += 1;
            }
        }
        while entry & comptime!(UNROLL as u32 - 1) != 0 {
            lists[entry as usize * rows + row] = NO_INPUT;
            entry += 1;
        }
        lengths[row] = entry;
    }

    // The label is a signed 16-bit number: centipawns from White's view.
    let label = outcome & 0xffff;
    let label = f32::cast_from(label) - 65536.0 * f32::cast_from(label >> 15);
    let sign = 1.0 - 2.0 * f32::cast_from(black_to_move);
    let chance = tanh(sign * label / 100.0 * half_k);
    let result = (outcome >> 16) & 3;
    let blended =
        (1.0 - result_share) * chance + result_share * sign * (f32::cast_from(result) - 1.0);
    targets[sample as usize] = select(result == 3, chance, blended);
    let width = comptime!(32u32.div_ceil(bucket_count));
    let bucket = (max(pieces, 2u32) - 2) / width;
    buckets[sample as usize] = min(bucket, comptime!(bucket_count - 1));
}

/// Returns the hyperbolic tangent. WGSL's own may overflow to NaN.
#[cube]
pub(crate) fn tanh(x: f32) -> f32 {
    let x = min(max(x, -15.0), 15.0);
    1.0 - 2.0 / ((2.0 * x).exp() + 1.0)
}
