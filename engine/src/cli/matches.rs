//! `engine match`: two UCI engines, each opening played twice with colours
//! swapped.

mod game;
mod openings;
mod pgn;
mod player;
mod spec;
mod tally;
mod tournament;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{ArgGroup, Args};

use spec::EngineSpec;
use tally::Tally;

/// Arguments of `engine match`.
#[derive(Args)]
#[command(group(ArgGroup::new("pace").required(true)))]
pub struct MatchArgs {
    /// An engine, given twice: `cmd="PROGRAM ARGUMENTS" name=NAME option.NAME=VALUE`; quote what holds spaces
    #[arg(long = "engine", value_name = "SPEC", required = true)]
    engines: Vec<EngineSpec>,
    /// Openings, one EPD or FEN a line
    #[arg(long, value_name = "FILE.epd")]
    book: PathBuf,
    /// Games in all, an even number
    #[arg(long, value_parser = even)]
    games: usize,
    /// Plies a move
    #[arg(long, group = "pace")]
    depth: Option<u32>,
    /// Nodes a move
    #[arg(long, group = "pace")]
    nodes: Option<u64>,
    /// Milliseconds a move
    #[arg(long, value_name = "MS", group = "pace")]
    movetime: Option<u64>,
    /// Seconds a game and seconds a move, such as 10+0.1
    #[arg(long, value_name = "S+INC", group = "pace", value_parser = time_control)]
    tc: Option<Pace>,
    /// How late a move may come, in milliseconds, before it loses on time
    #[arg(long, value_name = "MS", default_value_t = 20)]
    margin_ms: u64,
    /// Games at a time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// Chooses and orders the openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the games here
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// What an engine is given for a move.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    Depth(u32),
    Nodes(u64),
    MoveTime(Duration),
    Clock { base: Duration, increment: Duration },
}

impl MatchArgs {
    fn pace(&self) -> Option<Pace> {
        let movetime = |ms| Pace::MoveTime(Duration::from_millis(ms));
        self.depth
            .map(Pace::Depth)
            .or(self.nodes.map(Pace::Nodes))
            .or(self.movetime.map(movetime))
            .or(self.tc)
    }
}

/// Plays the match and prints its result.
///
/// # Errors
/// Where a file cannot be used or an engine cannot be started at all. A lost
/// or broken game is no error.
pub fn run(args: &MatchArgs) -> Result<()> {
    let [first, second] = args.engines.as_slice() else {
        anyhow::bail!(
            "a match needs --engine twice, not {} times",
            args.engines.len()
        );
    };
    let pace = args
        .pace()
        .ok_or_else(|| anyhow::anyhow!("a match needs a limit for each move"))?;
    let openings = openings::load(&args.book, args.games / 2, args.seed)?;
    let names = spec::names([first, second]);
    let rules = game::Rules {
        pace,
        margin: Duration::from_millis(args.margin_ms),
    };
    let tournament = tournament::Tournament {
        specs: [first, second],
        names: &names,
        openings: &openings,
        rules: &rules,
        concurrency: usize::from(args.concurrency),
    };
    let mut pgn = args.pgn.as_deref().map(pgn::PgnFile::create).transpose()?;
    let mut tally = Tally::default();
    tournament.play(&mut tally, &mut pgn)?;
    if args.json {
        println!("{}", serde_json::to_string(&tally.summary(&names))?);
    } else {
        print!("{}", tally.table(&names));
    }
    Ok(())
}

fn even(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(games) if games > 0 && games % 2 == 0 => Ok(games),
        _ => Err("each opening is played twice: give an even number".to_string()),
    }
}

fn time_control(text: &str) -> Result<Pace, String> {
    let seconds = |text: &str| {
        text.parse()
            .ok()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    };
    let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
    match (seconds(base), seconds(increment)) {
        (Some(base), Some(increment)) => Ok(Pace::Clock { base, increment }),
        _ => Err("give seconds and increment, such as 10+0.1".to_string()),
    }
}
