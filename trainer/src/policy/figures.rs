//! Figures of a policy on held-out moves: how many it foretells.

use std::fmt::{self, Write};

use datasets::{Dataset, MoveRecord, Phase, Split};
use features::PlayedMove;
use host::thousands;
use models::{PolicyNetwork, RatingBand};
use network::{PolicyEvaluator, PolicySamples};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;
use crate::policy::baseline::TrainingMoves;

/// Figures over a set of moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Number of moves.
    pub count: u64,
    /// Share of moves that the policy holds for the likeliest.
    pub first: f64,
    /// Share of moves among its three likeliest.
    pub first_three: f64,
    /// Mean of the played move's negative log-probability, in nats.
    pub log_loss: f64,
    /// Share foretold by the baseline: the legal move most often played by the same piece to the
    /// same square.
    pub usual_move: f64,
}

/// Figures of a part of the moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Name of the part.
    pub name: String,
    /// Figures of its moves.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures over all moves and by parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyReport {
    /// Figures over all moves.
    pub all: Figures,
    /// Figures by the mover's rating; bands without moves are left out.
    pub by_rating: Vec<Part>,
    /// Figures by phase of the game.
    pub by_phase: Vec<Part>,
    /// Figures by the time on the mover's clock.
    pub by_time_left: Vec<Part>,
}

/// Names of the clock's classes, with the first second beyond each but the last two.
const CLOCKS: [(&str, u32); 4] = [
    ("below 10 s", 10),
    ("10 s to a minute", 60),
    ("1 to 5 minutes", 300),
    ("more", u32::MAX),
];
const NO_CLOCK: &str = "unknown";

/// Sums of a set of moves.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: u64,
    first: u64,
    first_three: u64,
    usual: u64,
    log_loss: f64,
}

impl Sums {
    fn add(&mut self, other: Sums) {
        self.count += other.count;
        self.first += other.first;
        self.first_three += other.first_three;
        self.usual += other.usual;
        self.log_loss += other.log_loss;
    }

    fn figures(self) -> Figures {
        let share = |part: f64| part / self.count.max(1) as f64;
        Figures {
            count: self.count,
            first: share(self.first as f64),
            first_three: share(self.first_three as f64),
            log_loss: share(self.log_loss),
            usual_move: share(self.usual as f64),
        }
    }
}

/// Place of a move in each partition.
#[derive(Clone, Copy)]
struct Places {
    rating: usize,
    phase: usize,
    clock: usize,
}

/// Measures a policy on the held-out moves. `None` without any.
///
/// # Errors
/// [`TrainerError::Data`] if the dataset cannot be read.
pub fn measure(
    network: &PolicyNetwork,
    dataset: &Dataset<MoveRecord>,
    training: &TrainingMoves,
) -> Result<Option<PolicyReport>, TrainerError> {
    let evaluator = PolicyEvaluator::new(network);
    let mut all = Sums::default();
    let mut by_rating = vec![Sums::default(); RatingBand::all().len()];
    let mut by_phase = [Sums::default(); Phase::ALL.len()];
    let mut by_clock = [Sums::default(); CLOCKS.len() + 1];
    let mut blocks = dataset.blocks(Split::Validation)?;
    loop {
        let next: Vec<Vec<MoveRecord>> = blocks.by_ref().take(64).collect::<Result<_, _>>()?;
        if next.is_empty() {
            break;
        }
        let found = next.par_iter().flat_map_iter(|records| {
            let parts = records.chunks(1024);
            parts.flat_map(|records| measured(&evaluator, records, training))
        });
        // In order, so that rounding does not depend on the threads.
        for (places, sums) in found.collect::<Vec<_>>() {
            all.add(sums);
            by_rating[places.rating].add(sums);
            by_phase[places.phase].add(sums);
            by_clock[places.clock].add(sums);
        }
    }
    let clocks = CLOCKS.iter().map(|(name, _)| *name).chain([NO_CLOCK]);
    Ok((all.count > 0).then(|| PolicyReport {
        all: all.figures(),
        by_rating: parts(RatingBand::all().map(|band| band.to_string()), &by_rating),
        by_phase: parts(
            Phase::ALL.map(|p| p.name().to_string()).into_iter(),
            &by_phase,
        ),
        by_time_left: parts(clocks.map(str::to_string), &by_clock),
    }))
}

/// Returns the parts that have moves.
fn parts(names: impl Iterator<Item = String>, sums: &[Sums]) -> Vec<Part> {
    let parts = names.zip(sums).filter(|(_, sums)| sums.count > 0);
    let parts = parts.map(|(name, sums)| Part {
        name,
        figures: sums.figures(),
    });
    parts.collect()
}

/// Measures at most 1,024 moves, each as sums of one.
fn measured(
    evaluator: &PolicyEvaluator,
    records: &[MoveRecord],
    training: &TrainingMoves,
) -> Vec<(Places, Sums)> {
    let played = records
        .iter()
        .filter_map(|record| Some((record, PlayedMove::new(record)?)));
    let (records, played): (Vec<&MoveRecord>, Vec<PlayedMove>) = played.unzip();
    let probabilities = evaluator.probabilities(&PolicySamples::of(&played));
    let moves = records.into_iter().zip(&played).zip(probabilities);
    let measured = moves.map(|((record, played), probabilities)| {
        let own = probabilities[played.played];
        let likelier = probabilities.iter().filter(|&&p| p > own).count();
        let position = record.position();
        let usual = training.most_usual(played);
        let clock = match record.time_left() {
            None => CLOCKS.len(),
            Some(seconds) => CLOCKS.iter().take_while(|(_, end)| seconds >= *end).count(),
        };
        let places = Places {
            rating: played.band().index(),
            phase: Phase::of(&position) as usize,
            clock: clock.min(CLOCKS.len()),
        };
        let sums = Sums {
            count: 1,
            first: u64::from(likelier == 0),
            first_three: u64::from(likelier < 3),
            usual: u64::from(usual == played.played),
            log_loss: -f64::from(own.max(f32::MIN_POSITIVE)).ln(),
        };
        (places, sums)
    });
    measured.collect()
}

/// Formats a share in per cent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

impl Figures {
    /// Formats the figures in a sentence.
    pub fn in_words(&self) -> String {
        format!(
            "{} of {} moves foretold, {} among three, log-loss {:.3} (usual move {})",
            percent(self.first),
            thousands(self.count),
            percent(self.first_three),
            self.log_loss,
            percent(self.usual_move),
        )
    }
}

impl fmt::Display for PolicyReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(
            f,
            "{:26}{:>12}  {:>8}  {:>8}  {:>8}  {:>10}",
            "", "moves", "first", "of three", "log-loss", "usual move"
        )?;
        row(f, "all", &self.all)?;
        for (title, parts) in [
            ("by the mover's rating", &self.by_rating),
            ("by phase", &self.by_phase),
            ("by time on the clock", &self.by_time_left),
        ] {
            writeln!(f, "{title}")?;
            for part in parts {
                row(f, &format!("  {}", part.name), &part.figures)?;
            }
        }
        Ok(())
    }
}

fn row(f: &mut impl Write, name: &str, figures: &Figures) -> fmt::Result {
    writeln!(
        f,
        "{name:26}{:>12}  {:>8}  {:>8}  {:>8.3}  {:>10}",
        thousands(figures.count),
        percent(figures.first),
        percent(figures.first_three),
        figures.log_loss,
        percent(figures.usual_move),
    )
}
