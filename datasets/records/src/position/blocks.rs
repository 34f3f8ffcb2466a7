//! Block format of a sealed dataset: records packed bit by bit, smaller than a general compressor
//! makes them and many times faster to read. `docs/dataset.md` describes the format.

use std::io;

use crate::position::board::Board;
use crate::position::planes::{BitMoves, codes_of, piece_planes_of, with_bit_moves};
use crate::position::record::Tail;
use crate::position::{MoveRecord, ROW_BYTES, Record};

/// Records in a block: 128 KiB unpacked, large enough for one sequential read, small enough that a
/// shuffle has many blocks.
pub const BLOCK_RECORDS: usize = 4096;

/// Bits of a zigzag label in each of four classes. Half of Lichess's labels are in the first class,
/// nine in ten of all but mates in the first three.
const LABEL_BITS: [u32; 4] = [8, 10, 12, 16];

/// A row as a block packs it: its board, whose coding all rows share, and a tail.
pub(crate) trait Packed: Copy {
    /// Fields behind the board.
    type Tail;
    /// Ranges of the fields of a block's rows.
    type Common;

    fn parts(&self) -> (Board, Self::Tail);
    fn of_parts(board: Board, tail: Self::Tail) -> Self;

    /// Returns the ranges of a block's fields.
    fn common(rows: &[Self]) -> Self::Common;
    /// Appends the ranges to a block's header.
    fn write_common(common: &Self::Common, header: &mut Vec<u8>);
    /// Reads the ranges. Returns them with the rest of the block; `None` if it is invalid.
    fn read_common(block: &[u8]) -> Option<(Self::Common, &[u8])>;

    /// Appends the tail, in [`MAX_BITS`] less two bits.
    fn put(tail: Self::Tail, common: &Self::Common, rest: &mut PackedWord);
    fn take(common: &Self::Common, rest: &mut PackedWord) -> Self::Tail;
}

/// Packs up to [`BLOCK_RECORDS`] records.
pub(crate) fn pack(records: &[Record]) -> Vec<u8> {
    with_bit_moves!(pack_with(records: &[Record]) -> Vec<u8>)
}

/// Variant of [`pack`] for moves.
pub(crate) fn pack_moves(records: &[MoveRecord]) -> Vec<u8> {
    with_bit_moves!(pack_with(records: &[MoveRecord]) -> Vec<u8>)
}

/// Appends a block's records to `records`.
///
/// # Errors
/// If the block is truncated or invalid.
pub(crate) fn unpack(block: &[u8], records: &mut Vec<Record>) -> io::Result<()> {
    fn read(block: &[u8], records: &mut Vec<Record>) -> Option<()> {
        with_bit_moves!(unpack_with(block: &[u8], records: &mut Vec<Record>) -> Option<()>)
    }
    read(block, records).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Variant of [`unpack`] for moves.
pub(crate) fn unpack_moves(block: &[u8], records: &mut Vec<MoveRecord>) -> io::Result<()> {
    fn read(block: &[u8], records: &mut Vec<MoveRecord>) -> Option<()> {
        with_bit_moves!(unpack_with(block: &[u8], records: &mut Vec<MoveRecord>) -> Option<()>)
    }
    read(block, records).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Packs and unpacks records, for the fuzz targets.
///
/// # Errors
/// If a block is truncated.
#[cfg(fuzzing)]
pub fn packed_and_unpacked(records: &[Record]) -> io::Result<Vec<Record>> {
    let mut unpacked = Vec::new();
    for block in records.chunks(BLOCK_RECORDS) {
        unpack(&pack(block), &mut unpacked)?;
    }
    Ok(unpacked)
}

/// Ranges of the fields of a block's records.
pub(crate) struct Common {
    /// Bits of a ply, enough for every record.
    ply_bits: u32,
    depth_bits: u32,
    /// Earliest month.
    month: u8,
    /// Bits of a month, counted from the earliest.
    month_bits: u32,
}

impl Packed for Record {
    type Tail = Tail;
    type Common = Common;

    #[inline]
    fn parts(&self) -> (Board, Tail) {
        (self.board(), self.tail())
    }

    #[inline]
    fn of_parts(board: Board, tail: Tail) -> Record {
        Record::of_parts(board, tail)
    }

    fn common(records: &[Record]) -> Common {
        let (mut ply, mut depth, mut first, mut last) = (0, 0, u8::MAX, 0);
        for tail in records.iter().map(Record::tail) {
            ply |= tail.ply;
            depth |= tail.depth;
            first = first.min(tail.month);
            last = last.max(tail.month);
        }
        Common {
            ply_bits: u16::BITS - ply.leading_zeros(),
            depth_bits: u8::BITS - depth.leading_zeros(),
            month: first,
            month_bits: u8::BITS - last.saturating_sub(first).leading_zeros(),
        }
    }

    fn write_common(common: &Common, header: &mut Vec<u8>) {
        let bits = [common.ply_bits, common.depth_bits, common.month_bits].map(|bits| bits as u8);
        header.extend_from_slice(&[bits[0], bits[1], common.month, bits[2]]);
    }

    fn read_common(block: &[u8]) -> Option<(Common, &[u8])> {
        let (&[ply_bits, depth_bits, month, month_bits], block) = block.split_first_chunk()?;
        let fits = ply_bits <= 16 && depth_bits <= 8 && month_bits <= 8;
        let common = fits.then_some(Common {
            ply_bits: ply_bits.into(),
            depth_bits: depth_bits.into(),
            month,
            month_bits: month_bits.into(),
        })?;
        Some((common, block))
    }

    #[inline]
    fn put(tail: Tail, common: &Common, rest: &mut PackedWord) {
        rest.put(tail.flags.into(), 4);
        let label = zigzag(tail.label);
        let fits = |&class: &usize| u32::from(label) >> LABEL_BITS[class] == 0;
        let class = (0..LABEL_BITS.len()).find(fits).unwrap_or_default();
        rest.put(class as u64, 2);
        rest.put(label.into(), LABEL_BITS[class]);
        rest.put(tail.ply.into(), common.ply_bits);
        rest.put(tail.depth.into(), common.depth_bits);
        rest.put((tail.month - common.month).into(), common.month_bits);
    }

    #[inline]
    fn take(common: &Common, rest: &mut PackedWord) -> Tail {
        let flags = rest.take(4) as u8;
        let class = rest.take(2) as usize;
        Tail {
            flags,
            label: unzigzag(rest.take(LABEL_BITS[class]) as u16),
            ply: rest.take(common.ply_bits) as u16,
            depth: rest.take(common.depth_bits) as u8,
            month: common
                .month
                .wrapping_add(rest.take(common.month_bits) as u8),
        }
    }
}

impl Packed for MoveRecord {
    /// The word of [`MoveRecord::word`].
    type Tail = u64;
    type Common = ();

    #[inline]
    fn parts(&self) -> (Board, u64) {
        (self.board(), self.word())
    }

    #[inline]
    fn of_parts(board: Board, word: u64) -> MoveRecord {
        MoveRecord::of_parts(board, word)
    }

    fn common(_: &[MoveRecord]) {}

    fn write_common((): &(), _: &mut Vec<u8>) {}

    fn read_common(block: &[u8]) -> Option<((), &[u8])> {
        Some(((), block))
    }

    #[inline]
    fn put(word: u64, (): &(), rest: &mut PackedWord) {
        rest.put(word, MoveRecord::WORD_BITS);
    }

    #[inline]
    fn take((): &(), rest: &mut PackedWord) -> u64 {
        rest.take(MoveRecord::WORD_BITS)
    }
}

#[inline(always)]
fn pack_with<R: Packed>(moves: impl BitMoves, rows: &[R]) -> Vec<u8> {
    let common = R::common(rows);
    let mut bytes = Vec::with_capacity((rows.len() + 1) * ROW_BYTES);
    bytes.extend_from_slice(&(rows.len() as u16).to_le_bytes());
    R::write_common(&common, &mut bytes);
    for row in rows {
        bytes.extend_from_slice(&row.parts().0.occupied.to_le_bytes());
    }
    let mut bits = BitWriter::new(bytes);
    for (board, tail) in rows.iter().map(R::parts) {
        let pieces = board.occupied.count_ones();
        let [low, middle, high, black] = piece_planes_of(moves, &board.codes);
        // Pawns have code 0 apart from the colour bit, so only officers need the three planes.
        let officers = low | middle | high;
        bits.put(black, pieces);
        bits.put(officers, pieces);
        for plane in [low, middle, high] {
            bits.put(moves.gather(plane, officers), officers.count_ones());
        }

        let mut rest = PackedWord::default();
        rest.put(board.black_to_move.into(), 1);
        rest.put(board.en_passant.is_some().into(), 1);
        R::put(tail, &common, &mut rest);
        bits.put(rest.word, rest.bits);
        if let Some(square) = board.en_passant {
            bits.put(square.into(), 6);
        }
    }
    bits.finish()
}

#[inline(always)]
fn unpack_with<R: Packed>(moves: impl BitMoves, block: &[u8], rows: &mut Vec<R>) -> Option<()> {
    let (count, block) = block.split_first_chunk()?;
    let (common, block) = R::read_common(block)?;
    let count = usize::from(u16::from_le_bytes(*count));
    let (occupied, bits) = block.split_at_checked(8 * count)?;
    let (occupied, _) = occupied.as_chunks::<8>();
    let mut bits = BitReader { bytes: bits, at: 0 };
    rows.reserve(occupied.len());
    for &occupied in occupied {
        let occupied = u64::from_le_bytes(occupied);
        let pieces = occupied.count_ones();
        if pieces > 32 {
            return None;
        }
        let black = bits.take(pieces)?;
        let officers = bits.take(pieces)?;
        let count = officers.count_ones();
        let mut plane = || Some(moves.scatter(bits.take(count)?, officers));
        let planes = [plane()?, plane()?, plane()?, black];

        let mut rest = PackedWord {
            word: bits.peek()?,
            bits: 0,
        };
        let black_to_move = rest.take(1) == 1;
        let en_passant = rest.take(1) == 1;
        let tail = R::take(&common, &mut rest);
        bits.at += rest.bits as usize;
        let en_passant = match en_passant {
            true => Some(bits.take(6)? as u8),
            false => None,
        };
        let board = Board {
            occupied,
            codes: codes_of(moves, &planes),
            black_to_move,
            en_passant,
        };
        rows.push(R::of_parts(board, tail));
    }
    Some(())
}

/// Zigzag code: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
fn zigzag(label: i16) -> u16 {
    (label << 1 ^ label >> 15) as u16
}

fn unzigzag(label: u16) -> i16 {
    (label >> 1) as i16 ^ -((label & 1) as i16)
}

/// Several numbers packed in one word, the first in the lowest bits.
#[derive(Default)]
pub(crate) struct PackedWord {
    word: u64,
    /// Bits written or read so far.
    bits: u32,
}

impl PackedWord {
    fn put(&mut self, value: u64, bits: u32) {
        self.word |= value << self.bits;
        self.bits += bits;
    }

    fn take(&mut self, bits: u32) -> u64 {
        let value = self.word >> self.bits & low_bits(bits);
        self.bits += bits;
        value
    }
}

/// Widest number that one eight-byte read covers at any bit offset.
const MAX_BITS: u32 = 57;

/// Returns a mask of the lowest `bits`, at most 63.
fn low_bits(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Bit writer, lowest bit first.
struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a word yet.
    word: u64,
    filled: u32,
}

impl BitWriter {
    fn new(bytes: Vec<u8>) -> BitWriter {
        BitWriter {
            bytes,
            word: 0,
            filled: 0,
        }
    }

    #[inline(always)]
    fn put(&mut self, value: u64, bits: u32) {
        debug_assert!(bits <= MAX_BITS && value >> bits == 0);
        self.word |= value << self.filled;
        self.filled += bits;
        if self.filled >= u64::BITS {
            self.bytes.extend_from_slice(&self.word.to_le_bytes());
            self.filled -= u64::BITS;
            self.word = value >> (bits - self.filled);
        }
    }

    /// Returns the bytes, padded for the eight-byte read of the last number.
    fn finish(mut self) -> Vec<u8> {
        let rest = self.filled.div_ceil(8) as usize;
        self.bytes
            .extend_from_slice(&self.word.to_le_bytes()[..rest]);
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes
    }
}

/// Bit reader for the output of [`BitWriter`].
struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits read so far.
    at: usize,
}

impl BitReader<'_> {
    /// Returns at least the next [`MAX_BITS`] bits. `None` near the end of the bytes.
    #[inline(always)]
    fn peek(&self) -> Option<u64> {
        let bytes = self.bytes.get(self.at / 8..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes) >> (self.at % 8))
    }

    #[inline(always)]
    fn take(&mut self, bits: u32) -> Option<u64> {
        let value = self.peek()? & low_bits(bits);
        self.at += bits as usize;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use crate::position::planes::Portable;

    /// Returns random rows that cover every value of every field, legal or not.
    fn rows<R: Packed>(
        seed: u64,
        count: u64,
        tail: impl Fn(&dyn Fn(u64) -> u64) -> R::Tail,
    ) -> Vec<R> {
        let row = |number: u64| {
            let random = |field| mix(mix(seed ^ number << 8) ^ field);
            let mut occupied = random(0);
            while occupied.count_ones() > (random(1) % 33) as u32 {
                occupied &= occupied - 1;
            }
            let pieces = low_bits(occupied.count_ones());
            let [low, middle, high, black] = [2, 3, 4, 5].map(|field| random(field) & pieces);
            let board = Board {
                occupied,
                codes: codes_of(Portable, &[low & !high, middle, high, black]),
                black_to_move: random(6) & 1 == 1,
                en_passant: (random(7) & 3 == 0).then_some((random(7) >> 2 & 63) as u8),
            };
            R::of_parts(board, tail(&random))
        };
        (0..count).map(row).collect()
    }

    fn records(seed: u64, count: u64) -> Vec<Record> {
        rows(seed, count, |random| Tail {
            depth: (random(8) >> (random(9) % 9)) as u8,
            ply: (random(10) as u16) >> (random(11) % 17).min(15),
            label: (random(12) as i16) >> (random(13) % 16),
            flags: (random(14) & 15) as u8,
            month: (random(15) as u8) | (seed as u8),
        })
    }

    fn moves(seed: u64, count: u64) -> Vec<MoveRecord> {
        rows(seed, count, |random| {
            random(8) & low_bits(MoveRecord::WORD_BITS)
        })
    }

    fn round_trip<R: Packed + PartialEq + std::fmt::Debug>(rows: &[R], pack: fn(&[R]) -> Vec<u8>) {
        let block = pack(rows);
        assert_eq!(pack_with(Portable, rows), block);
        let mut unpacked: Vec<R> = Vec::new();
        unpack_with(Portable, &block, &mut unpacked).unwrap();
        assert_eq!(unpacked, rows);
    }

    #[test]
    fn packing_round_trips() {
        for seed in 0..64 {
            let count = [0, 1, 7, 500][seed as usize % 4];
            let (records, moves) = (records(seed, count), moves(seed, count));
            round_trip(&records, pack);
            round_trip(&moves, pack_moves);
            let (mut unpacked, mut unpacked_moves) = (Vec::new(), Vec::new());
            unpack(&pack(&records), &mut unpacked).unwrap();
            unpack_moves(&pack_moves(&moves), &mut unpacked_moves).unwrap();
            assert_eq!((unpacked, unpacked_moves), (records, moves));
        }
    }

    /// A checksum guards the bytes, yet damaged ones must not cause harm.
    #[test]
    fn a_truncated_block_is_an_error() {
        let records = records(1, 100);
        let block = pack(&records);
        for end in 0..block.len() - 8 {
            assert!(unpack(&block[..end], &mut Vec::new()).is_err(), "{end}");
        }
        let full = [block[..6].to_vec(), vec![0xFF; 4096]].concat();
        assert!(unpack(&full, &mut Vec::new()).is_err());
        for seed in 0..10_000 {
            let mut other = block.clone();
            other[mix(seed) as usize % block.len()] ^= (mix(seed) >> 32) as u8;
            let mut unpacked = Vec::new();
            if unpack(&other, &mut unpacked).is_ok() {
                assert!(unpacked.len() <= other.len());
            }
        }
    }
}
