//! Command-line arguments of the filters of `ingest build`.

use std::fmt::Display;
use std::num::{NonZeroU64, NonZeroUsize};
use std::str::FromStr;

use anyhow::{Result, bail};
use clap::builder::{PossibleValuesParser, RangedI64ValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, ValueEnum, value_parser};
use datasets::{Filters, Label, Month, Speed, TdLambda, Termination};

use crate::commands::values;

/// Help on the filters, printed below the options.
pub const HELP: &str = "\
Filters: the default keeps every labelled position of every legal standard game,
because Stockfish's label does not depend on the players, the speed or the result.
Removals are counted by reason, games and positions apart (`ingest stats`). The
filters are part of the dataset, which accepts no data built with others.

  A filter on rating, speed or month leaves out games without that tag. Lichess
  estimates a game's duration as the clock's initial time plus 40 increments:
  under 30 s ultrabullet, 3 min bullet, 8 min blitz, 25 min rapid, 6 h classical.
  Bad months are December 2016, July and August 2020: Lichess's analysis gave
  many wrong evaluations then. They are kept by default, because the flaw affected
  some days (around 9 December) and openings (2020), not whole months.
  With --td-lambda L, each evaluation of a training game becomes (1 - w) of itself
  and w of the value after it, w = L^(plies to the next evaluation), as chances to
  win; the game's result follows the last one. Mates stay, and filters read the
  original evaluations.
  Filters of evaluations, --keep and --td-lambda do not go with --moves.
  Results of games that were abandoned, lost on time or ended by a rules
  infraction are kept as unknown, whatever the filters.
";

/// Options that filter or change evaluations, which moves do not have.
pub const OF_EVALUATIONS: [&str; 7] = [
    "keep",
    "quiet",
    "min_eval",
    "max_eval",
    "skip_mates",
    "min_depth",
    "td_lambda",
];

/// Positions that `--keep` keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Keep {
    All,
    Quiet,
}

/// Filter arguments.
#[derive(Args)]
#[command(next_help_heading = "Filters")]
pub struct FilterArguments {
    /// Games to hold out for validation, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = Filters::default().validation_percent,
          value_parser = values::held_out)]
    validation_percent: u8,
    /// Include games of Chess960
    #[arg(long)]
    chess960: bool,
    /// Only games where both players are rated at least this
    #[arg(long, value_name = "RATING")]
    min_rating: Option<u16>,
    /// Only games where both players are rated at most this
    #[arg(long, value_name = "RATING")]
    max_rating: Option<u16>,
    /// Only games of these speeds, by Lichess's classes
    #[arg(long, value_name = "SPEED,...", value_delimiter = ',', value_parser = one_of(&Speed::NAMES))]
    speeds: Vec<Speed>,
    /// Only games of this month and later
    #[arg(long, value_name = "YYYY-MM", value_parser = values::month)]
    from_month: Option<Month>,
    /// Only games of this month and earlier
    #[arg(long, value_name = "YYYY-MM", value_parser = values::month)]
    to_month: Option<Month>,
    /// Leave out the months in which Lichess's analysis was often wrong
    #[arg(long)]
    skip_bad_months: bool,
    /// Leave out games with a bot
    #[arg(long)]
    skip_bots: bool,
    /// Leave out games that ended in these ways
    #[arg(long, value_name = "TERMINATION,...", value_delimiter = ',', value_parser = one_of(&Termination::NAMES))]
    skip_terminations: Vec<Termination>,
    /// Only positions after at least this many half-moves, counted as in FEN
    #[arg(long, value_name = "PLY", default_value_t = 0)]
    min_ply: u16,
    /// Positions to keep: all, or the quiet ones, which are not in check and from which neither a
    /// capture nor a promotion was played (a PGN has no best move, so the played one is used)
    #[arg(long, value_enum, default_value_t = Keep::All)]
    keep: Keep,
    /// Earlier spelling of --keep quiet.
    #[arg(long, hide = true, conflicts_with = "keep")]
    quiet: bool,
    /// Only evaluations of at least this absolute size; mates stay
    #[arg(long, value_name = "CENTIPAWNS", default_value_t = 0, value_parser = centipawns())]
    min_eval: u16,
    /// Only evaluations of at most this absolute size; mates stay
    #[arg(long, value_name = "CENTIPAWNS", value_parser = centipawns())]
    max_eval: Option<u16>,
    /// Leave out labels that are mates
    #[arg(long)]
    skip_mates: bool,
    /// Only evaluations of at least this depth; `[%eval 0.17,20]` has depth 20, evaluations without
    /// a depth, as most of Lichess's are, are left out
    #[arg(long, value_name = "PLIES", default_value_t = 0)]
    min_depth: u8,
    /// Keep every N-th of a game's positions that pass the other filters, from a start chosen by
    /// the game's identity
    #[arg(long, value_name = "N", value_parser = values::count::<NonZeroUsize>)]
    every: Option<NonZeroUsize>,
    /// Keep at most N positions, a random sample of both sides: those of the smallest hashes
    #[arg(long, value_name = "N", value_parser = values::count::<NonZeroU64>)]
    max_positions: Option<NonZeroU64>,
    /// Train on lambda-returns: 1 - L of each evaluation and L of the values after it in its game,
    /// down to the result; 0 to 1. Held-out games keep their evaluations
    #[arg(long, value_name = "L", default_value_t = TdLambda::default(), value_parser = TdLambda::from_str)]
    td_lambda: TdLambda,
}

impl FilterArguments {
    /// Returns the filters.
    ///
    /// # Errors
    /// A usage error if no position could pass them.
    pub fn filters(&self) -> Result<Filters> {
        ascending(
            ["--min-rating", "--max-rating"],
            self.min_rating,
            self.max_rating,
        )?;
        ascending(
            ["--min-eval", "--max-eval"],
            Some(self.min_eval),
            self.max_eval,
        )?;
        ascending(
            ["--from-month", "--to-month"],
            self.from_month,
            self.to_month,
        )?;
        if self.skip_bad_months && self.has_only_bad_months() {
            bail!(wrong(
                "--skip-bad-months leaves out every month from --from-month to --to-month"
            ));
        }
        Ok(Filters {
            validation_percent: self.validation_percent,
            chess960: self.chess960,
            min_rating: self.min_rating,
            max_rating: self.max_rating,
            speeds: self.speeds.iter().copied().collect(),
            from_month: self.from_month,
            to_month: self.to_month,
            skip_bad_months: self.skip_bad_months,
            skip_bots: self.skip_bots,
            skip_terminations: self.skip_terminations.iter().copied().collect(),
            min_ply: self.min_ply,
            quiet: self.quiet || self.keep == Keep::Quiet,
            min_eval: self.min_eval,
            max_eval: self.max_eval,
            skip_mates: self.skip_mates,
            min_depth: self.min_depth,
            every: self.every,
            max_positions: self.max_positions.map(NonZeroU64::get),
            td_lambda: self.td_lambda,
        })
    }

    /// Returns whether the chosen range of months has bad months only.
    fn has_only_bad_months(&self) -> bool {
        let number = |month: Option<Month>| {
            let (year, month) = month?.calendar()?;
            Some(year * 12 + month)
        };
        let (Some(first), Some(last)) = (number(self.from_month), number(self.to_month)) else {
            return false;
        };
        let bad = Filters::BAD_MONTHS.map(|(year, month)| year * 12 + month);
        (first..=last).all(|month| bad.contains(&month))
    }
}

/// Parses an absolute evaluation in the range of labels.
fn centipawns() -> RangedI64ValueParser<u16> {
    value_parser!(u16).range(0..=i64::from(Label::MAX_CENTIPAWNS))
}

fn ascending<T: PartialOrd + Display>(
    [least, most]: [&str; 2],
    low: Option<T>,
    high: Option<T>,
) -> Result<()> {
    if let (Some(low), Some(high)) = (low, high)
        && low > high
    {
        bail!(wrong(&format!(
            "{least} {low} is above {most} {high}: nothing would be left"
        )));
    }
    Ok(())
}

fn wrong(what: &str) -> clap::Error {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{what}\n"))
}

/// Parses one of `names`, which the help lists.
fn one_of<T>(names: &'static [(T, &'static str)]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.iter().map(|&(_, name)| name)).try_map(|text| {
        let found = names.iter().find(|(_, name)| *name == text);
        found.map(|&(value, _)| value).ok_or("no such name")
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        filters: FilterArguments,
    }

    #[test]
    fn quiet_positions_have_two_spellings() {
        let quiet = |arguments: &[&str]| {
            let line = [&["build"], arguments].concat();
            Line::try_parse_from(line).map(|line| line.filters.filters().unwrap().quiet)
        };
        assert!(!quiet(&[]).unwrap() && !quiet(&["--keep", "all"]).unwrap());
        assert!(quiet(&["--keep", "quiet"]).unwrap() && quiet(&["--quiet"]).unwrap());
        assert!(quiet(&["--quiet", "--keep", "all"]).is_err());
        assert!(quiet(&["--keep", "loud"]).is_err());
    }
}
