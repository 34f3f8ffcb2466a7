//! Property tests: the result of a merge is independent of the division into runs, their order, and
//! earlier sealings.

use super::*;
use crate::source::PartOf;
use crate::store::ranges::{RANGES, RangesDigest, of_shard, range_of};
use crate::store::spill::Sorted;
use fastrand::Rng;
use records::position::{Label, Month, Origin};
use sha2::{Digest, Sha256};

struct Random(Rng);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }

    /// Returns a record from few positions, so that many are joined.
    fn record(&mut self) -> Record {
        let (white, rook, black) = (self.below(8), 16 + self.below(40), 56 + self.below(8));
        let turn = ["w", "b"][self.below(2)];
        let mut board = [['1'; 8]; 8];
        for (square, piece) in [(white, 'K'), (rook, 'R'), (black, 'k')] {
            board[7 - square / 8][square % 8] = piece;
        }
        let rows = board.map(|row| row.iter().collect::<String>());
        let fen = format!("{} {turn} - - 0 1", rows.join("/"));
        let fen: shakmaty::fen::Fen = fen.parse().expect("a FEN");
        let setup = fen.into_position::<shakmaty::Chess>(shakmaty::CastlingMode::Standard);
        let Ok(position) = setup else {
            return self.record();
        };
        let origin = Origin {
            result: None,
            month: [Month::default(), Month::new(2013, 2), Month::new(2026, 6)][self.below(3)],
            depth: [0, 0, 20][self.below(3)],
            tactical: self.below(2) == 1,
        };
        let label = Label::from_centipawns(self.below(5) as i64);
        Record::new(&position, label, origin)
    }

    /// Distributes records randomly over up to `most` sorted runs.
    fn runs(&mut self, records: &[Record], most: usize) -> Memory {
        let mut runs = vec![Vec::new(); 1 + self.below(most)];
        for &record in records {
            let run = self.below(runs.len());
            let at = self.below(runs[run].len() + 1);
            runs[run].insert(at, record);
        }
        Memory(runs.into_iter().map(Sorted::new).collect())
    }
}

struct Memory(Vec<Sorted>);

impl Runs for Memory {
    fn least_step(&self) -> u64 {
        0
    }

    fn len(&self) -> u64 {
        self.0.iter().map(|run| run.len() as u64).sum()
    }

    fn read(&self, ranges: &Range<usize>, records: &mut Vec<Record>) -> Result<(), StoreError> {
        for run in &self.0 {
            records.extend(run.within(ranges));
        }
        Ok(())
    }
}

fn merged(train: &Memory, validation: &Memory, step: usize, room: u64) -> [Vec<Record>; 3] {
    let mut sets = [Vec::new(), Vec::new(), Vec::new()];
    let mut left = room;
    for start in (0..RANGES).step_by(step) {
        let mut merged = merge(train, validation, &(start..(start + step).min(RANGES))).unwrap();
        merged.truncate(left);
        left -= merged.len();
        for (set, records) in sets.iter_mut().zip(merged.into_sets()) {
            set.extend(records);
        }
    }
    sets
}

#[test]
fn merge_is_independent_of_runs() {
    let mut random = Random(Rng::with_seed(1));
    for trial in 0..40 {
        let count = 1 + random.below(3000);
        let [train, validation]: [Vec<Record>; 2] =
            std::array::from_fn(|_| (0..count).map(|_| random.record()).collect());
        let steps = [1, 7, 512, RANGES];
        let room = [u64::MAX, 1, 100][trial % 3];
        let expected = merged(
            &random.runs(&train, 1),
            &random.runs(&validation, 1),
            RANGES,
            room,
        );
        for step in steps {
            let [train, validation] = [&train, &validation].map(|side| random.runs(side, 9));
            assert!(merged(&train, &validation, step, room) == expected);
        }
        // Seal in two steps, in either order.
        let cut = random.below(count + 1);
        for first in [0..cut, cut..count] {
            let is_first = |at: &usize| first.contains(at);
            let half = |side: &[Record], wanted: bool| -> Vec<Record> {
                let chosen = (0..count).filter(|at| is_first(at) == wanted);
                chosen.map(|at| side[at]).collect()
            };
            let [train_before, held_out, shadowed] = merged(
                &random.runs(&half(&train, true), 3),
                &random.runs(&half(&validation, true), 3),
                64,
                room,
            );
            let train = [train_before, half(&train, false)].concat();
            let validation = [held_out, shadowed, half(&validation, false)].concat();
            let [train, validation] = [train, validation].map(|side| random.runs(&side, 5));
            assert!(merged(&train, &validation, 64, room) == expected, "{cut}");
        }
    }
}

/// Reference digest by the definition in docs/dataset.md: one tree over all ranges as leaves.
#[test]
fn digest_equals_the_tree_over_all_ranges() {
    let mut random = Random(Rng::with_seed(7));
    let mut records: Vec<Record> = (0..3_000).map(|_| random.record()).collect();
    records.sort_by_key(|record| Keyed::new(*record).key);
    let mut leaves = vec![Sha256::new_with_prefix([0]); RANGES];
    for record in &records {
        leaves[range_of(Keyed::new(*record).key)].update(Record::bytes_of(&[*record]));
    }
    let mut nodes: Vec<[u8; 32]> = leaves
        .into_iter()
        .map(|leaf| leaf.finalize().into())
        .collect();
    while nodes.len() > 1 {
        let over = nodes.chunks(2).map(|pair| {
            let node = Sha256::new_with_prefix([1]).chain_update(pair.concat());
            node.finalize().into()
        });
        nodes = over.collect();
    }
    let expected = crate::source::hex(&nodes[0]);
    for shards in [1, 2, 3, 7, 4_096, 5_000] {
        let first = PartOf::first_of(std::num::NonZero::new(shards).unwrap());
        let mut joints = Vec::new();
        for part in first.all() {
            let ranges = of_shard(part);
            let own: Vec<Record> = records
                .iter()
                .filter(|record| ranges.contains(&range_of(Keyed::new(**record).key)))
                .copied()
                .collect();
            let mut digest = RangesDigest::over(ranges);
            let mut rest = &own[..];
            while !rest.is_empty() {
                let (now, later) = rest.split_at(1 + random.below(rest.len()));
                digest.update(now);
                rest = later;
            }
            joints.extend(digest.into_tree().into_nodes());
        }
        let joined = crate::source::joined(joints.iter(), RANGES as u64);
        assert_eq!(joined.as_deref(), Some(&*expected), "{shards} shards");
    }
}
