//! Statistics of a self-play output, as text and JSON.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use host::{rate, thousands};
use records::position::Phase;
use serde::Serialize;

use crate::games::ending::Ending;
use crate::selfplay::generator::{OutputRecord, Work};
use crate::selfplay::settings::Settings;
use crate::selfplay::tally::BAR_PLIES;

/// Statistics of an output, and of the run that extended it.
#[derive(Serialize)]
pub struct Report<'a> {
    out: &'a Path,
    /// Size of the output in bytes.
    bytes: u64,
    /// Whether the output is complete.
    finished: bool,
    settings: &'a Settings,
    games: u64,
    positions: u64,
    nodes_per_position: f64,
    rejected_openings: u64,
    white_wins: u64,
    draws: u64,
    black_wins: u64,
    endings: &'a BTreeMap<Ending, u64>,
    /// Lengths of games, in plies.
    lengths: Lengths<'a>,
    /// Positions by phase.
    phases: Phases,
    in_check: u64,
    tactical: u64,
    /// Work of this run; `None` if the output was complete before.
    run: Option<Run>,
}

#[derive(Serialize)]
struct Lengths<'a> {
    mean: f64,
    shortest: u64,
    longest: u64,
    /// Plies per bar of the histogram.
    histogram_step: usize,
    histogram: &'a [u64],
}

#[derive(Serialize)]
struct Phases {
    opening: u64,
    middlegame: u64,
    endgame: u64,
}

/// Work of one run of the program.
#[derive(Serialize)]
struct Run {
    concurrency: usize,
    games: u64,
    positions: u64,
    seconds: f64,
    positions_per_second: f64,
    /// Nodes per second of all threads together, while they search.
    nodes_per_second: f64,
    /// Share of the threads' time spent in searches, from 0 to 1.
    efficiency: f64,
}

impl Run {
    fn new(concurrency: usize, work: &Work) -> Run {
        let threads = concurrency as f64;
        let seconds = work.time.as_secs_f64().max(1e-9);
        let searching = work.searching.as_secs_f64();
        Run {
            concurrency,
            games: work.games,
            positions: work.positions,
            seconds,
            positions_per_second: work.positions as f64 / seconds,
            nodes_per_second: threads * work.nodes as f64 / searching.max(1e-9),
            efficiency: searching / (threads * seconds),
        }
    }
}

fn mean(sum: u64, count: u64) -> f64 {
    sum as f64 / count.max(1) as f64
}

impl<'a> Report<'a> {
    /// Returns the statistics of an output; `work` has the concurrency and the work of this run.
    pub fn new(out: &'a Path, record: &'a OutputRecord, work: Option<(usize, Work)>) -> Report<'a> {
        let tally = &record.done.counts;
        let count = |phase: Phase| tally.phases[phase as usize];
        Report {
            out,
            bytes: record.done.bytes,
            finished: record.made_by.is_enough(tally),
            settings: &record.made_by,
            games: tally.games,
            positions: tally.positions,
            nodes_per_position: mean(tally.nodes, tally.positions),
            rejected_openings: tally.rejected_openings,
            white_wins: tally.white_wins,
            draws: tally.draws,
            black_wins: tally.black_wins,
            endings: &tally.endings,
            lengths: Lengths {
                mean: mean(tally.lengths.sum, tally.games),
                shortest: tally.lengths.shortest,
                longest: tally.lengths.longest,
                histogram_step: BAR_PLIES,
                histogram: &tally.lengths.histogram,
            },
            phases: Phases {
                opening: count(Phase::Opening),
                middlegame: count(Phase::Middlegame),
                endgame: count(Phase::Endgame),
            },
            in_check: tally.in_check,
            tactical: tally.tactical,
            run: work.map(|(concurrency, work)| Run::new(concurrency, &work)),
        }
    }

    /// Returns the statistics as text.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}: {} games, {} positions by {} ({} nodes, seed {}); {} bytes\n",
            self.out.display(),
            thousands(self.games),
            thousands(self.positions),
            self.settings.net,
            thousands(self.settings.nodes),
            self.settings.seed,
            thousands(self.bytes),
        );
        if self.games > 0 {
            self.write_counts(&mut text);
        }
        if let Some(run) = &self.run {
            let _ = writeln!(
                text,
                "this run     {} positions in {:.1} s: {} positions/s, {} nodes/s, {:.1} % of \
                 the time in searches",
                thousands(run.positions),
                run.seconds,
                rate(run.positions_per_second),
                rate(run.nodes_per_second),
                100.0 * run.efficiency,
            );
        }
        text
    }

    fn write_counts(&self, text: &mut String) {
        let share = |count: u64, all: u64| 100.0 * mean(count, all);
        let (games, positions) = (self.games, self.positions);
        let _ = writeln!(
            text,
            "results      1-0 {:.1} %, 1/2-1/2 {:.1} %, 0-1 {:.1} %",
            share(self.white_wins, games),
            share(self.draws, games),
            share(self.black_wins, games),
        );
        let ending = |(ending, &count): (&Ending, &u64)| format!("{ending} {}", thousands(count));
        let endings: Vec<String> = self.endings.iter().map(ending).collect();
        let _ = writeln!(text, "endings      {}", endings.join(", "));
        let Lengths {
            mean,
            shortest,
            longest,
            ..
        } = self.lengths;
        let _ = writeln!(
            text,
            "lengths      {mean:.1} plies, from {shortest} to {longest}"
        );
        let _ = writeln!(
            text,
            "phases       opening {:.1} %, middlegame {:.1} %, endgame {:.1} %",
            share(self.phases.opening, positions),
            share(self.phases.middlegame, positions),
            share(self.phases.endgame, positions),
        );
        let _ = writeln!(
            text,
            "positions    in check {:.1} %, best move captures or promotes {:.1} %",
            share(self.in_check, positions),
            share(self.tactical, positions),
        );
        let _ = writeln!(
            text,
            "searches     {} nodes a position; {} openings were decided, and not played",
            rate(self.nodes_per_position),
            thousands(self.rejected_openings),
        );
    }
}
