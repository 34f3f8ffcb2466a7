//! Property tests: the result of a merge is independent of the division into runs, their order, and
//! earlier sealings.

use super::*;
use crate::source::PartOf;
use crate::store::ranges::{RANGES, RangesDigest, of_shard, range_of};
use crate::store::spill::Sorted;
use fastrand::Rng;
use records::position::{Label, Month, MoveRecord, Mover, Origin, Record};
use sha2::{Digest, Sha256};

struct Random(Rng);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }

    /// Returns a legal position with a rook on one of `squares` squares.
    fn position(&mut self, squares: usize) -> shakmaty::Chess {
        let (white, rook, black) = (self.below(8), 16 + self.below(squares), 56 + self.below(8));
        let turn = ["w", "b"][self.below(2)];
        let mut board = [['1'; 8]; 8];
        for (square, piece) in [(white, 'K'), (rook, 'R'), (black, 'k')] {
            board[7 - square / 8][square % 8] = piece;
        }
        let rows = board.map(|row| row.iter().collect::<String>());
        let fen = format!("{} {turn} - - 0 1", rows.join("/"));
        let fen: shakmaty::fen::Fen = fen.parse().expect("a FEN");
        let setup = fen.into_position::<shakmaty::Chess>(shakmaty::CastlingMode::Standard);
        setup.unwrap_or_else(|_| self.position(squares))
    }

    /// Returns a record from few positions, so that many are joined.
    fn record(&mut self) -> Record {
        let position = self.position(40);
        let origin = Origin {
            result: None,
            month: [Month::default(), Month::new(2013, 2), Month::new(2026, 6)][self.below(3)],
            depth: [0, 0, 20][self.below(3)],
            tactical: self.below(2) == 1,
        };
        let label = Label::from_centipawns(self.below(5) as i64);
        Record::new(&position, label, origin)
    }

    /// Returns a move from a few positions, some with more moves than are kept.
    fn played(&mut self) -> MoveRecord {
        let position = match self.below(3) {
            0 => self.position(1),
            _ => "k7/8/8/8/8/8/8/K6R w - - 0 1"
                .parse::<shakmaty::fen::Fen>()
                .expect("a FEN")
                .into_position(shakmaty::CastlingMode::Standard)
                .expect("a position"),
        };
        let moves = shakmaty::Position::legal_moves(&position);
        let mover = Mover {
            rating: Some(1500 + self.below(3) as u16),
            ..Mover::default()
        };
        MoveRecord::new(
            &position,
            moves[self.below(moves.len())],
            mover,
            self.below(50) as u64,
        )
    }

    /// Distributes rows randomly over up to `most` sorted runs.
    fn runs<R: Row>(&mut self, records: &[R], most: usize) -> Memory<R> {
        let mut runs = vec![Vec::new(); 1 + self.below(most)];
        for &record in records {
            let run = self.below(runs.len());
            let at = self.below(runs[run].len() + 1);
            runs[run].insert(at, record);
        }
        Memory(runs.into_iter().map(Sorted::new).collect())
    }
}

struct Memory<R>(Vec<Sorted<R>>);

impl<R: Row> Runs<R> for Memory<R> {
    fn least_step(&self) -> u64 {
        0
    }

    fn len(&self) -> u64 {
        self.0.iter().map(|run| run.len() as u64).sum()
    }

    fn read(&self, ranges: &Range<usize>, records: &mut Vec<R>) -> Result<(), StoreError> {
        for run in &self.0 {
            records.extend(run.within(ranges));
        }
        Ok(())
    }
}

fn merged<R: Row>(
    train: &Memory<R>,
    validation: &Memory<R>,
    step: usize,
    room: u64,
) -> [Vec<R>; 3] {
    let mut sets = [Vec::new(), Vec::new(), Vec::new()];
    let mut left = room;
    for start in (0..RANGES).step_by(step) {
        let mut merged = merge(train, validation, &(start..(start + step).min(RANGES))).unwrap();
        left -= merged.truncate(left);
        for (set, records) in sets.iter_mut().zip(merged.into_sets()) {
            set.extend(records);
        }
    }
    sets
}

#[test]
fn merge_is_independent_of_runs() {
    merges_are_equal(Random::record);
    merges_are_equal(Random::played);
}

fn merges_are_equal<R: Row>(row: fn(&mut Random) -> R) {
    let mut random = Random(Rng::with_seed(1));
    for trial in 0..40 {
        let count = 1 + random.below(3000);
        let [train, validation]: [Vec<R>; 2] =
            std::array::from_fn(|_| (0..count).map(|_| row(&mut random)).collect());
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
        // Runs that are there twice change nothing.
        let [twice, validation_twice] = [&train, &validation]
            .map(|side| random.runs(&[&side[..], &side[..count / 2]].concat(), 9));
        assert!(merged(&twice, &validation_twice, 64, room) == expected);
        // Seal in two steps, in either order.
        let cut = random.below(count + 1);
        for first in [0..cut, cut..count] {
            let is_first = |at: &usize| first.contains(at);
            let half = |side: &[R], wanted: bool| -> Vec<R> {
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

/// A position keeps its distinct moves, up to 256 of them, which are a fair sample.
#[test]
fn moves_of_a_position_are_a_sample() {
    let mut random = Random(Rng::with_seed(3));
    let moves: Vec<MoveRecord> = (0..20_000).map(|_| random.played()).collect();
    let none = random.runs(&[], 1);
    let [kept, ..] = merged(&random.runs(&moves, 3), &none, RANGES, u64::MAX);
    let mut all: Vec<MoveRecord> = moves.clone();
    all.sort();
    all.dedup();
    let positions = |rows: &[MoveRecord]| {
        let mut groups = std::collections::BTreeMap::<u64, Vec<MoveRecord>>::new();
        for &row in rows {
            groups.entry(Keyed::new(row).key).or_default().push(row);
        }
        groups
    };
    let (all, kept) = (positions(&all), positions(&kept));
    assert!(all.keys().eq(kept.keys()));
    for (played, kept) in all.values().zip(kept.values()) {
        assert_eq!(kept.len(), played.len().min(MoveRecord::MOST));
        assert!(kept.iter().all(|row| played.contains(row)));
    }
    let (played, kept) = all
        .values()
        .zip(kept.values())
        .max_by_key(|(played, _)| played.len())
        .expect("a position");
    assert!(played.len() > 3 * MoveRecord::MOST, "{}", played.len());
    let share = |rows: &[MoveRecord]| {
        let of_rook = |row: &&MoveRecord| row.uci().to_string().starts_with("h1");
        rows.iter().filter(of_rook).count() as f64 / rows.len() as f64
    };
    assert!((share(played) - share(kept)).abs() < 0.1);
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
