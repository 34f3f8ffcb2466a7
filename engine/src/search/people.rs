//! Play like people: a policy's move of a rating, guarded by a small search against what people of
//! that rating do not overlook.

use cozy_chess::{Board, Move};
use models::{NetError, PolicyMetadata, PolicyNetwork, QuantisedPolicy, RatingBand};

use crate::evaluation::Score;
use crate::evaluation::chances::WinModel;
use crate::evaluation::policy::people_moves;
use crate::search::levels::{Handicap, MAX_ELO, MIN_ELO};
use crate::search::limits::Limits;
use crate::search::report::Line;

/// Loss of expected score, of 1 a game, that a person of [`MIN_ELO`] overlooks.
const OVERLOOKED: f64 = 0.4;
/// Elo that halves it. Chosen so that moves of people rated 2000 to 2900 are foretold best
/// (docs/experiments.md, "Policies").
const HALVED_BY: f64 = 430.0;

/// A policy, and the ratings it knows.
pub struct People {
    policy: QuantisedPolicy,
    metadata: PolicyMetadata,
}

/// A person of a rating.
#[derive(Clone, Copy)]
pub struct Person<'a> {
    people: &'a People,
    elo: u32,
}

impl People {
    /// Returns the people whose moves a policy has learned.
    ///
    /// # Errors
    /// As [`QuantisedPolicy::new`].
    pub fn new(policy: &PolicyNetwork, metadata: PolicyMetadata) -> Result<People, NetError> {
        let policy = QuantisedPolicy::new(policy)?;
        Ok(People { policy, metadata })
    }

    /// Returns people who play all legal moves alike.
    pub fn uniform() -> People {
        let policy = PolicyNetwork::uniform();
        let metadata = PolicyMetadata::new(policy.neurons(), "uniform");
        People::new(&policy, metadata).expect("weights of zero are within all bounds")
    }

    /// Reads the safetensors file of a policy.
    ///
    /// # Errors
    /// As [`PolicyNetwork::from_bytes`] and [`People::new`].
    pub fn from_bytes(bytes: &[u8]) -> Result<People, NetError> {
        let (policy, metadata) = PolicyNetwork::from_bytes(bytes)?;
        People::new(&policy, metadata)
    }

    /// Returns what the policy learned from.
    pub fn metadata(&self) -> &PolicyMetadata {
        &self.metadata
    }

    /// Returns the least rating of each band that the policy knows, in ascending order.
    pub fn ratings(&self) -> impl Iterator<Item = u16> {
        self.metadata.known_bands().filter_map(RatingBand::least)
    }

    /// Returns a person of the highest rating that the policy knows.
    pub fn strongest(&self) -> Person<'_> {
        self.person(MAX_ELO)
    }

    /// Returns a person, with the rating clamped to [`MIN_ELO`]`..=`[`MAX_ELO`].
    pub fn person(&self, elo: u32) -> Person<'_> {
        Person {
            people: self,
            elo: elo.clamp(MIN_ELO, MAX_ELO),
        }
    }
}

impl Person<'_> {
    /// Returns the rating.
    pub fn elo(&self) -> u32 {
        self.elo
    }

    /// Returns the nearest rating that the policy knows.
    pub fn band(&self) -> RatingBand {
        self.people.metadata.nearest_band(self.elo as u16)
    }

    /// Returns whether the policy knows people of this very rating, and not only of the nearest.
    pub fn is_known(&self) -> bool {
        self.band() == RatingBand::of(Some(self.elo as u16))
    }

    /// Returns the legal moves with the probability of each, of [`Person::band`].
    pub fn moves(&self, board: &Board) -> Vec<(Move, f32)> {
        people_moves(&self.people.policy, board, self.band())
    }

    /// Returns the probability of a legal move, of [`Person::band`].
    pub fn probability(&self, board: &Board, mv: Move) -> f32 {
        let moves = self.moves(board);
        let found = moves.iter().find(|(other, _)| *other == mv);
        found.map_or(0.0, |(_, probability)| *probability)
    }

    /// Tightens the limits of the guarding search: the nodes of `UCI_Elo`, and a score for every
    /// move.
    pub fn apply(&self, limits: &mut Limits) {
        Handicap::of_elo(self.elo).apply(limits);
        limits.lines = usize::MAX;
    }

    /// Returns the line to play, drawn by the policy's probabilities. Those of moves that lose
    /// expected score against the best shrink by `exp(-loss / overlooked)`. `draw` is a random
    /// number from 0 to 1; `lines` is sorted best first. `None` without lines.
    pub fn choose<'a>(&self, board: &Board, lines: &'a [Line], draw: f64) -> Option<&'a Line> {
        let best = expected(lines.first()?.score, board);
        let moves = self.moves(board);
        let weight = |line: &Line| {
            let loss = best - expected(line.score, board);
            let found = moves.iter().find(|(mv, _)| *mv == line.pv[0]);
            let probability = found.map_or(0.0, |(_, probability)| f64::from(*probability));
            probability * (-loss / self.overlooked()).exp()
        };
        let weights: Vec<f64> = lines.iter().map(weight).collect();
        let mut rest = draw * weights.iter().sum::<f64>();
        let chosen = weights.iter().position(|weight| {
            rest -= weight;
            rest < 0.0
        });
        // The best where rounding, or a policy that expects no line, leaves none.
        lines.get(chosen.unwrap_or(0))
    }

    /// Returns the loss of expected score at which the person plays a move `e` times less often
    /// than the policy says.
    fn overlooked(&self) -> f64 {
        OVERLOOKED * (-f64::from(self.elo - MIN_ELO) / HALVED_BY).exp2()
    }
}

/// Returns the expected score of a game, from 0 to 1.
fn expected(score: Score, board: &Board) -> f64 {
    (1.0 + WinModel::of(board).expected(score)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{parse_fen, parse_move};

    /// Returns people who play by an untrained policy, and the start position.
    fn people() -> (People, Board) {
        let policy = PolicyNetwork::random(16, 1);
        let metadata = PolicyMetadata::new(16, "test");
        (People::new(&policy, metadata).unwrap(), Board::default())
    }

    fn lines(board: &Board, scores: &[(&str, i32)]) -> Vec<Line> {
        let line = |&(mv, score): &(&str, i32)| Line {
            score: Score::from_centipawns(score),
            pv: vec![parse_move(board, mv).unwrap()],
        };
        scores.iter().map(line).collect()
    }

    #[test]
    fn moves_are_drawn_by_their_probabilities() {
        let (people, board) = people();
        let person = people.person(1500);
        let moves = person.moves(&board);
        let sum: f32 = moves.iter().map(|(_, probability)| probability).sum();
        assert!(moves.len() == 20 && (sum - 1.0).abs() < 1e-5);
        let lines = lines(&board, &[("e2e4", 20), ("d2d4", 20), ("g1f3", 20)]);
        let likely = |line: &Line| moves.iter().find(|(mv, _)| *mv == line.pv[0]).unwrap().1;
        let total: f32 = lines.iter().map(likely).sum();
        for (index, line) in lines.iter().enumerate() {
            let draws = (0..1000).map(|i| f64::from(i) / 1000.0);
            let chosen = draws.filter(|&draw| person.choose(&board, &lines, draw) == Some(line));
            let share = chosen.count() as f32 / 1000.0;
            assert!(
                (share - likely(line) / total).abs() < 2e-3,
                "line {index}: {share}"
            );
        }
        assert_eq!(person.choose(&board, &[], 0.5), None);
    }

    #[test]
    fn blunders_of_weaker_people_are_not_played() {
        let (people, board) = people();
        let lines = lines(&board, &[("e2e4", 30), ("d2d4", -100), ("g2g4", -900)]);
        let worst = |elo| {
            let person = people.person(elo);
            let draws = (0..100).map(|i| f64::from(i) / 100.0);
            let chosen = draws.filter_map(|draw| person.choose(&board, &lines, draw));
            chosen.map(|line| line.score.centipawns()).min()
        };
        assert_eq!(worst(MAX_ELO), Some(30));
        assert_eq!(worst(1500), Some(-100));
        assert_eq!(worst(MIN_ELO), Some(-900));
    }

    #[test]
    fn moves_of_both_colours_mirror() {
        let (people, _) = people();
        let person = people.person(2000);
        let chances = |fen: &str| {
            let board = parse_fen(fen).unwrap();
            let mut chances: Vec<f32> = person.moves(&board).iter().map(|(_, p)| *p).collect();
            chances.sort_by(f32::total_cmp);
            chances
        };
        let white = chances("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1");
        let black = chances("r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1");
        assert_eq!(white.len(), black.len());
        for (white, black) in white.iter().zip(&black) {
            assert!((white - black).abs() < 1e-6, "{white} {black}");
        }
    }
}
