//! Records on a device: 36 bytes a position, expanded there to the 902 inputs.
//!
//! The host sends a record as it is stored, eight words of four bytes, and a word of
//! threats; all that follows are operations on whole tensors. `docs/record.md` has the bytes,
//! [`models::Feature`] the inputs. The bit operations come first and on little,
//! because Burn does not fuse them with others; the large tensor is one gather,
//! one comparison and one conversion, which it does fuse.

use burn::module::Module;
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use datasets::Record;
use models::{INPUTS, Threats};

/// Words of 32 bits of a position: its record's, and one of threats.
pub const WORDS: usize = Record::BYTES / 4 + 1;
/// Bytes that are sent to the device for a position: the words and its target, a float.
pub const SENT: usize = 4 * WORDS + size_of::<f32>();

/// The words that byte 24 and byte 28 begin.
const TURN_WORD: i32 = 6;
const LABEL_WORD: i32 = 7;
const THREATS_WORD: i32 = 8;
/// The side to move: the word, the lowest bit, the number of bits.
const TURN_FIELD: (i32, i32, i32) = (TURN_WORD, 7, 1);

const SQUARES: usize = 64;
/// The pieces a board holds at most, each a nibble of the record.
const PIECES: usize = 32;

/// Where the fields begin: the squares at 0, then these.
const FIRST_PIECE: usize = SQUARES;
const TURN: usize = FIRST_PIECE + PIECES;
const EN_PASSANT: usize = TURN + 1;
const CHECK: usize = EN_PASSANT + 1;
const THREATS: usize = CHECK + 1;
const FIELDS: usize = THREATS + Threats::INPUTS;

const ROOK: i32 = 3;
const KING: i32 = 5;
/// A rook that may still castle.
const UNMOVED_ROOK: i32 = 6;
/// From an own piece's code to that of theirs.
const THEIRS: i32 = 7;

/// The plane of the square that an en-passant capture lands on. That square is
/// empty, so that each square belongs to one plane at most.
const EN_PASSANT_PLANE: i32 = 12;
/// The plane that counts threats, and has nothing to do with squares.
const THREATS_PLANE: i32 = 13;
/// What stands for a plane where a square belongs to none.
const EMPTY: i32 = -1;
/// What the inputs that are always zero wait for.
const NEVER: i32 = -2;
/// Four castling rights and the check, which follow the squares.
const FLAGS: usize = 5;
/// What the inputs look at: the squares, the flags, the threats.
const SOURCES: usize = SQUARES + FLAGS + Threats::INPUTS;

/// Bytes of the device's memory that are read and written to expand a
/// position, if every kernel reads its operands once and writes its result
/// once, and elementwise operations that follow each other are one kernel.
pub const BYTES: usize = 4
    * (
        // Fields: gathered, shifted left, shifted right.
        (WORDS + FIELDS) + 2 * 2 * FIELDS
        // Taken apart.
        + 2 * FIELDS
        // Pieces: their planes, and their codes for castling.
        + 3 * PIECES
        // Castling: kings' places, rooks' sides; joined with the check.
        + 2 * (PIECES + 4) + 2 * FLAGS
        // Squares: counted, turned into indices, filled, mirrored.
        + 2 * SQUARES + 2 * SQUARES + (PIECES + 3 * SQUARES) + 2 * SQUARES
        // Threats; joined with the flags, and compared with what each input expects.
        + 2 * Threats::INPUTS + 2 * SOURCES + (SOURCES + INPUTS)
    );

/// The tables that records are expanded by. They lie on the device for good.
#[derive(Module, Debug)]
pub struct Expansion<B: Backend> {
    /// `[FIELDS]`: the word that a field lies in, ...
    word: Tensor<B, 1, Int>,
    /// `[1, FIELDS]`: ... how far it is shifted left, so that it ends at the
    /// word's highest bit, ...
    left: Tensor<B, 2, Int>,
    /// `[1, FIELDS]`: ... and then right again, which repeats that bit.
    right: Tensor<B, 2, Int>,
    /// `[1, 64]`: 0 to 63.
    squares: Tensor<B, 2, Int>,
    /// `[64]`: the squares seen from the other side.
    mirrored: Tensor<B, 1, Int>,
    /// `[1, 1, 1, 32]`: 0 to 31.
    order: Tensor<B, 4, Int>,
    /// `[1, 2, 1, 1]`: the codes of the own king and theirs.
    kings: Tensor<B, 4, Int>,
    /// `[1, 1, 2, 1]`: whether a rook stands behind its king, in the order of
    /// the squares, to castle to the king's side, to the queen's side.
    behind: Tensor<B, 4, Int>,
    /// `[902]`: what an input looks at: a square, a flag or a threat, ...
    source: Tensor<B, 1, Int>,
    /// `[1, 902]`: ... and what must be there.
    expected: Tensor<B, 2, Int>,
}

/// What is written in a batch of records, `[batch, FIELDS]`, as signed numbers.
struct Fields<B: Backend>(Tensor<B, 2, Int>);

impl<B: Backend> Expansion<B> {
    /// The tables, on a device.
    pub fn new(device: &B::Device) -> Expansion<B> {
        // Of each field as of `TURN_FIELD`.
        let squares = (0..SQUARES as i32).map(|square| (square / 32, square % 32, 1));
        let pieces = (0..PIECES as i32).map(|i| (2 + i / 8, i % 8 * 4, 4));
        let en_passant = (TURN_WORD, 0, 7);
        let check = (LABEL_WORD, 18, 1);
        let others = [TURN_FIELD, en_passant, check];
        let threats = (0..Threats::INPUTS as i32).map(|threat| (THREATS_WORD, threat, 1));
        let fields = squares.chain(pieces).chain(others).chain(threats);
        let fields: Vec<(i32, i32, i32)> = fields.collect();
        let looks_at = |input: i32| match (input / 64, input % 64) {
            (plane @ 0..=EN_PASSANT_PLANE, square) => (square, plane),
            (THREATS_PLANE, threat) if threat < Threats::INPUTS as i32 => {
                ((SQUARES + FLAGS) as i32 + threat, 1)
            }
            (14, flag) if flag < FLAGS as i32 => (SQUARES as i32 + flag, 1),
            _ => (0, NEVER),
        };
        let inputs: Vec<(i32, i32)> = (0..INPUTS as i32).map(looks_at).collect();
        let table = |numbers: &mut dyn Iterator<Item = i32>| {
            let numbers: Vec<i32> = numbers.collect();
            let shape = [numbers.len()];
            Tensor::<B, 1, Int>::from_data(TensorData::new(numbers, shape), (device, DType::I32))
        };
        Expansion {
            word: table(&mut fields.iter().map(|&(word, ..)| word)),
            left: table(&mut fields.iter().map(|(_, low, bits)| 32 - low - bits)).unsqueeze(),
            right: table(&mut fields.iter().map(|(.., bits)| 32 - bits)).unsqueeze(),
            squares: table(&mut (0..SQUARES as i32)).unsqueeze(),
            mirrored: table(&mut (0..SQUARES as i32).map(|square| square ^ 56)),
            order: table(&mut (0..PIECES as i32)).unsqueeze(),
            kings: table(&mut [KING, KING + THEIRS].into_iter()).reshape([1, 2, 1, 1]),
            behind: table(&mut [1, 0].into_iter()).reshape([1, 1, 2, 1]),
            source: table(&mut inputs.iter().map(|&(source, _)| source)),
            expected: table(&mut inputs.iter().map(|&(_, expected)| expected)).unsqueeze(),
        }
    }

    /// Takes records apart.
    fn fields(&self, words: Tensor<B, 2, Int>) -> Fields<B> {
        let words = words.select(1, self.word.clone());
        let shifted = words.bitwise_left_shift(self.left.clone());
        Fields(shifted.bitwise_right_shift(self.right.clone()))
    }

    /// The inputs, `[batch, INPUTS]` of zeros and ones, as the mover sees them,
    /// of records from [`words`](crate::input::batch::words), `[batch, WORDS]`.
    pub fn inputs(&self, words: Tensor<B, 2, Int>) -> Tensor<B, 2> {
        let fields = &self.fields(words);
        // -1 for Black.
        let turn = fields.at(TURN, 1);
        let nibbles = fields.at(FIRST_PIECE, PIECES);
        // A nibble's highest bit is its sign: a black piece.
        let black = nibbles.clone().lower_elem(0).int();
        let kind = nibbles + black.clone() * 8;
        let theirs = (black + turn.clone()).abs();
        let codes = kind.clone() + theirs.clone() * THEIRS;
        let unmoved = kind.clone().equal_elem(UNMOVED_ROOK).int();
        let planes = kind - unmoved * (UNMOVED_ROOK - ROOK) + theirs * 6;

        let squares = self.mirror(self.squares(planes, fields), turn);
        let check = fields.at(CHECK, 1).neg();
        let threats = fields.at(THREATS, Threats::INPUTS).neg();
        Tensor::cat(vec![squares, self.castling(codes), check, threats], 1)
            .select(1, self.source.clone())
            .equal(self.expected.clone())
            .float()
    }

    /// What stands on each square, `[batch, 64]`, of the pieces' planes in the
    /// order of their squares, `[batch, 32]`.
    fn squares(&self, planes: Tensor<B, 2, Int>, fields: &Fields<B>) -> Tensor<B, 2, Int> {
        let occupied = fields.at(0, SQUARES).neg();
        let index = (occupied.clone().cumsum(1) - 1).clamp(0, PIECES as i32 - 1);
        let pieces = (planes.gather(1, index) - EMPTY) * occupied + EMPTY;
        let target = fields.at(EN_PASSANT, 1).equal(self.squares.clone()).int();
        pieces + target * (EN_PASSANT_PLANE - EMPTY)
    }

    /// Mirrors the boards on which Black is to move (`turn` is -1).
    fn mirror(&self, squares: Tensor<B, 2, Int>, turn: Tensor<B, 2, Int>) -> Tensor<B, 2, Int> {
        let mirrored = squares.clone().select(1, self.mirrored.clone());
        squares.clone() + (squares - mirrored) * turn
    }

    /// The castling rights, `[batch, 4]`: own O-O, O-O-O, their O-O, O-O-O.
    ///
    /// A rook that may castle stands on its king's rank, and so behind it in
    /// the order of the squares if it is the king's rook.
    fn castling(&self, codes: Tensor<B, 2, Int>) -> Tensor<B, 2, Int> {
        let [batch, _] = codes.dims();
        let codes = codes.reshape([batch, 1, 1, PIECES]);
        let is_king = codes.clone().equal(self.kings.clone()).int();
        let king = (is_king * self.order.clone()).sum_dim(3);
        let is_rook = codes
            .equal(self.kings.clone() + (UNMOVED_ROOK - KING))
            .int();
        let behind = self.order.clone().greater(king).int();
        let of_side = behind.equal(self.behind.clone()).int();
        (of_side * is_rook).sum_dim(3).reshape([batch, 4])
    }
}

impl<B: Backend> Fields<B> {
    fn at(&self, first: usize, count: usize) -> Tensor<B, 2, Int> {
        self.0.clone().narrow(1, first, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use burn_flex::Flex;
    use datasets::{Label, Origin, read_labelled};
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Chess};

    use crate::input::batch;
    use crate::input::position;
    use crate::network::tensors::floats;
    use crate::testing::{games, inputs_by_python};

    /// Panics unless the device makes of these records what the host does.
    fn agrees(records: Vec<Record>) {
        let device = Default::default();
        let expansion = Expansion::<Flex>::new(&device);
        let words = batch::words::<Flex>(&records, &device);
        let inputs = floats(expansion.inputs(words));
        let rows = inputs.chunks_exact(INPUTS);
        assert_eq!(rows.len(), records.len());
        for (record, row) in records.iter().zip(rows) {
            let mut expected = [0.0; INPUTS];
            for feature in position::features(record) {
                expected[feature.index()] = 1.0;
            }
            assert_eq!(row, expected, "{}", record.epd());
        }
    }

    #[test]
    fn every_position_of_real_games_is_expanded_as_on_the_host() {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/samples");
        let mut records = Vec::new();
        for sample in [
            "dump_2021-10_first499.pgn.zst",
            "dump_2026-06_annotated500.pgn.zst",
        ] {
            read_labelled(&samples.join(sample), |record| records.push(record)).expect("a sample");
        }
        let count = |which: fn(&Record) -> bool| records.iter().filter(|r| which(r)).count();
        assert!(records.len() > 30_000, "{}", records.len());
        assert!(count(|r| r.turn().is_black()) > 10_000);
        assert!(count(|r| r.castling().count() > 0) > 10_000);
        assert!(count(|r| r.in_check()) > 1_000);
        assert!(count(|r| r.en_passant().is_some()) > 10);
        assert!(count(|r| position::threats(r) != Threats::default()) > 10_000);
        assert!(count(|r| r.label().mate().is_some()) > 1_000);
        records
            .chunks(4096)
            .for_each(|chunk| agrees(chunk.to_vec()));
        agrees(games(1000));
    }

    /// They have inputs of every kind, and their inputs are python-chess's
    /// ([`position`]).
    #[test]
    fn chosen_positions_are_expanded_as_on_the_host() {
        let mut records = Vec::new();
        inputs_by_python(|record, _| records.push(record));
        assert!(records.len() > 2_000, "{}", records.len());
        records
            .chunks(4096)
            .for_each(|chunk| agrees(chunk.to_vec()));
    }

    #[test]
    fn a_castling_rook_may_stand_anywhere_on_its_kings_rank() {
        let record = |fen: &str| {
            let fen: Fen = fen.parse().expect("a FEN");
            let position: Chess = fen
                .into_position(CastlingMode::Chess960)
                .expect("a position");
            Record::new(&position, Label::from_centipawns(-35), Origin::default())
        };
        agrees(
            [
                "1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1",
                "1rk3r1/8/8/8/8/8/8/1RK3R1 b Gb - 0 1",
                "rrkr4/8/8/8/8/8/8/RRKR4 b Db - 0 1",
                "4k3/8/8/8/8/8/8/RK6 w A - 0 1",
                "6kr/8/8/8/8/8/8/4K3 b h - 0 1",
                "4k3/8/8/2Pp4/8/8/8/4K2R w K d6 0 2",
                "4k2r/8/8/8/2pP4/8/8/4K3 b k d3 0 2",
                "k7/8/8/8/8/8/8/7K b - - 0 1",
            ]
            .map(record)
            .to_vec(),
        );
    }
}
