//! Generator of dumps like Lichess's.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use tests::dump::{Dump, Frames};

/// Generates a dump like Lichess's: legal games with clocks, some with evaluations, compressed in
/// many zstd frames. The same seed gives the same dump on every machine.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Example: 1 GB of text, 140 MB packed, in ten minutes on two cores

  cargo run --release -p tests --bin generate_dump -- --games 455000 --out dump.pgn.zst"
)]
struct Arguments {
    /// Games to write
    #[arg(long, default_value_t = 455_000)]
    games: u64,
    /// Games with evaluations, in percent
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(..=100))]
    annotated: u32,
    /// Seed of the games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Text in a frame, in MiB
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    frame_mib: u32,
    /// Single frame of the whole text, as from `zstd FILE`
    #[arg(long, conflicts_with = "frame_mib")]
    single_frame: bool,
    /// Compression level of zstd; Lichess's 19 takes one core 35 s for 32 MiB. Lower levels give
    /// larger files that decompress faster
    #[arg(long, default_value_t = 19, value_parser = clap::value_parser!(i32).range(1..=22))]
    level: i32,
    /// Output file
    #[arg(long, value_name = "FILE.pgn.zst")]
    out: PathBuf,
}

/// Interval of progress lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let dump = Dump {
        games: arguments.games,
        annotated_percent: arguments.annotated,
        seed: arguments.seed,
        frames: if arguments.single_frame {
            Frames::One
        } else {
            Frames::Of((arguments.frame_mib as usize) << 20)
        },
        level: arguments.level,
    };
    let mut last_line = Instant::now();
    let progress = |games| {
        if last_line.elapsed() >= LINE_EVERY {
            last_line = Instant::now();
            eprintln!("{games} of {} games", dump.games);
        }
    };
    match dump.write_to(&arguments.out, progress) {
        Ok(contents) => {
            println!("{contents}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}: {error}", arguments.out.display());
            ExitCode::from(7)
        }
    }
}
