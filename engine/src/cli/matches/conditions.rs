//! What `match` and `ladder` have in common on the command line.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::super::error::FileError;
use super::adjudication::{Draw, Resign};
use super::game::Rules;
use super::openings::Book;
use super::pace::Pace;
use super::pgn::PgnFile;
use super::spec::EngineSpec;

/// How games are played.
#[derive(Args)]
pub struct Conditions {
    /// Openings: one EPD or FEN a line, or games, FILE.pgn, of which the last positions count
    #[arg(long, value_name = "FILE")]
    book: PathBuf,
    /// Chooses and orders the openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Plies a move
    #[arg(long, group = "pace", value_parser = |text: &str| pace("depth", text))]
    depth: Option<Pace>,
    /// Nodes a move
    #[arg(long, group = "pace", value_parser = |text: &str| pace("nodes", text))]
    nodes: Option<Pace>,
    /// Milliseconds a move
    #[arg(long, value_name = "MS", group = "pace", value_parser = |text: &str| pace("movetime", text))]
    movetime: Option<Pace>,
    /// Seconds a game and seconds a move, such as 10+0.1
    #[arg(long, value_name = "S+INC", group = "pace", value_parser = Pace::clock)]
    tc: Option<Pace>,
    /// How late a move may come, in milliseconds, before it loses on time
    #[arg(long, value_name = "MS", default_value_t = 20)]
    margin_ms: u64,
    /// An engine loses that calls its own position this bad for so many moves in a row, such as moves=4,score=600; by default never
    #[arg(long, value_name = "moves=N,score=CP")]
    resign: Option<Resign>,
    /// A draw where both engines see at most this much for so many moves without capture or pawn move, from a move number on, such as moves=8,score=10,from=40; by default never
    #[arg(long, value_name = "moves=N,score=CP,from=N")]
    draw: Option<Draw>,
    /// Games at a time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub concurrency: u16,
    /// Write the games here
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
}

fn pace(name: &str, value: &str) -> Result<Pace, String> {
    Pace::parse(name, value).unwrap_or_else(|| Err(format!("no pace is called {name}")))
}

impl Conditions {
    /// What each engine is given for a move: its own pace, else the common one.
    ///
    /// # Errors
    /// Where an engine has neither.
    pub fn paces(&self, specs: &[EngineSpec]) -> Result<Vec<Pace>> {
        let common = self.depth.or(self.nodes).or(self.movetime).or(self.tc);
        let paces = specs.iter().map(|spec| spec.pace.or(common));
        paces.collect::<Option<Vec<Pace>>>().context(
            "an engine needs a limit for each move: give --depth, --nodes, --movetime or --tc",
        )
    }

    /// What all games are played under.
    pub fn rules(&self) -> Rules {
        Rules {
            margin: Duration::from_millis(self.margin_ms),
            resign: self.resign,
            draw: self.draw,
        }
    }

    /// The openings in the order that the seed gives them. A book with fewer
    /// than `openings` of them is remarked on: engines that play the same
    /// again add nothing to a result.
    ///
    /// # Errors
    /// Where the file cannot be read, or something in it is no position.
    pub fn openings(&self, openings: Option<usize>) -> Result<Book> {
        let book = Book::load(&self.book, self.seed)?;
        if openings.is_some_and(|openings| openings > book.len()) {
            let (name, count) = (self.book.display(), book.len());
            eprintln!("{name} has only {count} openings, which are gone through again");
        }
        Ok(book)
    }

    /// The file for the games, where they are to be written.
    ///
    /// # Errors
    /// Where it cannot be created.
    pub fn pgn(&self) -> Result<Option<PgnFile>, FileError> {
        self.pgn.as_deref().map(PgnFile::create).transpose()
    }
}

/// An even number of games: each opening is played twice.
pub fn even(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(games) if games > 0 && games % 2 == 0 => Ok(games),
        _ => Err("each opening is played twice: give an even number".to_string()),
    }
}
