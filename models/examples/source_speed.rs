//! Speed of the source code that `trainer export` writes, beside the engine's kernels.
//!
//! ```text
//! cargo run --release -p models --example source_speed -- [NET.safetensors]
//! ```
//!
//! All three play through the games of `tests/data/inputs.tsv`, once updating the accumulators by
//! the inputs that each move changes, once computing them from scratch. Needs gcc and rustc.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use models::source::{Language, Source};
use models::{Accumulated, Accumulator, Feature, Features, QuantisedNetwork, View};

/// Time to measure each figure; the fastest pass counts.
const TIME: Duration = Duration::from_secs(1);

/// A position of a game.
struct Step {
    /// Whether a game begins here.
    begins: bool,
    /// Side to move: 0 White, 1 Black.
    mover: usize,
    /// Pieces on the board.
    pieces: usize,
    /// Inputs that change with every move, as the side to move sees them.
    transient: Vec<Feature>,
    /// Inputs of the accumulators, White's and Black's.
    views: [Inputs; 2],
}

/// Inputs of an accumulator.
struct Inputs {
    all: Vec<Feature>,
    /// Inputs of the position before that are gone.
    removed: Vec<Feature>,
    /// Inputs that the position before did not have.
    added: Vec<Feature>,
}

/// Positions a second with updated and with fresh accumulators, and the sum of all values.
struct Speed {
    updated: f64,
    fresh: f64,
    sum: i64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("default.safetensors");
    let path = std::env::args_os().nth(1).map_or(shipped, Into::into);
    let network = QuantisedNetwork::from_bytes(&fs::read(path)?)?;
    let architecture = network.architecture();
    if architecture.mirrored {
        return Err("mirrored nets, which kings refresh, are not measured".into());
    }
    let steps = steps(&network);
    println!("{architecture:#}, {} positions", steps.len());
    println!(
        "{:24}{:>18}{:>18}",
        "evaluations/s", "updated", "from scratch"
    );
    let engine = measure_engine(&network, &steps);
    let row = |name: &str, speed: &Speed| {
        let cell = |rate: f64, engine: f64| format!("{:.2} M ({:.2})", rate / 1e6, rate / engine);
        let updated = cell(speed.updated, engine.updated);
        let fresh = cell(speed.fresh, engine.fresh);
        println!("{name:24}{updated:>18}{fresh:>18}");
    };
    row(&format!("engine, {}", network.kernel()), &engine);
    for (name, language) in [
        ("C, gcc -O3", Language::C),
        ("Rust, rustc -O", Language::Rust),
    ] {
        let speed = measure_source(&network, language, &steps)?;
        if speed.sum != engine.sum {
            return Err(format!("{name}: values sum to {}, not {}", speed.sum, engine.sum).into());
        }
        row(name, &speed);
    }
    Ok(())
}

/// Returns the positions of `tests/data/inputs.tsv`.
fn steps(network: &QuantisedNetwork) -> Vec<Step> {
    let features: Vec<Feature> = Feature::all().collect();
    let read = network.architecture().features;
    let mut steps: Vec<Step> = Vec::new();
    let mut fen = String::new();
    for row in test_support::inputs_by_python() {
        let mover = usize::from(row.fen.split(' ').nth(1) == Some("b"));
        let inputs = row.inputs.iter().map(|&input| features[input]);
        let inputs = inputs.filter(|&input| read.contains(input));
        // Pieces, and castling rights.
        let accumulated = |input: &Feature| input.is_piece() || (896..900).contains(&input.index());
        let (accumulated, transient): (Vec<Feature>, Vec<Feature>) = inputs.partition(accumulated);
        let before = steps.last();
        let before = before.filter(|_| row.played.is_some_and(|(_, before)| before == fen));
        let views = [0, 1].map(|view| {
            let seen = accumulated.iter().map(|&input| match view == mover {
                true => input,
                false => input.seen_by_other(),
            });
            let now: Vec<Feature> = seen.collect();
            let before = before.map_or(&[][..], |step| &step.views[view].all);
            Inputs {
                removed: without(before, &now),
                added: without(&now, before),
                all: now,
            }
        });
        steps.push(Step {
            begins: before.is_none(),
            mover,
            pieces: accumulated.iter().filter(|input| input.is_piece()).count(),
            transient,
            views,
        });
        fen = row.fen;
    }
    steps
}

/// Returns the inputs that are not among `others`.
fn without(inputs: &[Feature], others: &[Feature]) -> Vec<Feature> {
    let inputs = inputs.iter().filter(|input| !others.contains(input));
    inputs.copied().collect()
}

/// Returns the number of positions of the longest game.
fn longest(steps: &[Step]) -> usize {
    let games = steps.chunk_by(|_, next| !next.begins);
    games.map(<[Step]>::len).max().unwrap_or(0)
}

/// Measures the engine's kernel.
fn measure_engine(network: &QuantisedNetwork, steps: &[Step]) -> Speed {
    let both = network.architecture().view == View::Both;
    let empty = network.accumulator(&[]);
    let mut stack = vec![[Accumulator::ZERO, Accumulator::ZERO]; longest(steps)];
    let mut pass = |fresh: bool| {
        let (mut sum, mut ply) = (0, 0);
        for step in steps {
            ply = if step.begins { 0 } else { ply + 1 };
            let (before, now) = stack.split_at_mut(ply);
            for (view, inputs) in step.views.iter().enumerate() {
                let child = &mut now[0][view];
                match before.last() {
                    Some(parent) if !fresh => {
                        network.update(&parent[view], &inputs.added, &inputs.removed, child);
                    }
                    _ => network.update(&empty, &inputs.all, &[], child),
                }
            }
            sum += i64::from(network.evaluate(&Accumulated {
                own: &now[0][step.mover],
                other: both.then_some(&now[0][1 - step.mover]),
                transient: &step.transient,
                pieces: step.pieces,
            }));
        }
        sum
    };
    let sum = pass(true);
    let mut rate = |fresh: bool| {
        let (began, mut fastest) = (Instant::now(), f64::INFINITY);
        while began.elapsed() < TIME {
            let start = Instant::now();
            let found = black_box(pass(fresh));
            fastest = fastest.min(start.elapsed().as_secs_f64());
            assert_eq!(found, sum, "updated accumulators equal fresh ones");
        }
        steps.len() as f64 / fastest
    };
    Speed {
        updated: rate(false),
        fresh: rate(true),
        sum,
    }
}

/// Compiles the source code of a net with a program that plays through `steps`, and runs it.
fn measure_source(
    network: &QuantisedNetwork,
    language: Language,
    steps: &[Step],
) -> Result<Speed, Box<dyn Error>> {
    let architecture = network.architecture();
    let source = Source::new(network, language, "net", &[]);
    let (extension, program, compile, other, transient) = match language {
        Language::C => ("c", C, GCC, "&now[!mover], ", "changing, count, "),
        Language::Rust => ("rs", RUST, RUSTC, "&now[1 - mover], ", "changing, "),
    };
    let only_if = |there: bool, text| if there { text } else { "" };
    let program = program
        .replace("@POSITIONS@", &steps.len().to_string())
        .replace("@PLIES@", &longest(steps).to_string())
        .replace("@SECONDS@", &TIME.as_secs().to_string())
        .replace("@OTHER@", only_if(architecture.view == View::Both, other))
        .replace(
            "@CHANGING@",
            only_if(architecture.features == Features::All, transient),
        );
    let words = words(steps).into_iter().flat_map(i32::to_le_bytes);
    let folder = tempfile::tempdir()?;
    for (name, bytes) in [
        (format!("net.{extension}"), source.code.into_bytes()),
        (format!("main.{extension}"), program.into_bytes()),
        ("net.bin".to_string(), source.weights),
        ("words.bin".to_string(), words.collect()),
    ] {
        fs::write(folder.path().join(name), bytes)?;
    }
    run(folder.path(), compile[0], &compile[1..])?;
    let program = folder.path().join("main");
    let text = run(folder.path(), &program.to_string_lossy(), &[])?;
    let numbers: Vec<&str> = text.split_whitespace().collect();
    let [updated, fresh, sum] = numbers[..] else {
        return Err(format!("the program printed {text:?}").into());
    };
    Ok(Speed {
        updated: updated.parse()?,
        fresh: fresh.parse()?,
        sum: sum.parse()?,
    })
}

/// Runs a command in a folder; returns its standard output.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?),
        false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Serialises steps for the programs below: their fields in order, each list after its length.
fn words(steps: &[Step]) -> Vec<i32> {
    let mut words = Vec::new();
    for step in steps {
        words.extend([
            i32::from(step.begins),
            step.mover as i32,
            step.pieces as i32,
        ]);
        let views = step.views.iter();
        let lists = views.flat_map(|view| [&view.all, &view.removed, &view.added]);
        for list in [&step.transient].into_iter().chain(lists) {
            words.push(list.len() as i32);
            words.extend(list.iter().map(|input| input.index() as i32));
        }
    }
    words
}

/// Command that compiles [`C`].
const GCC: &[&str] = &[
    "gcc",
    "-O3",
    "-march=native",
    "-std=c11",
    "main.c",
    "-o",
    "main",
];

/// Command that compiles [`RUST`].
const RUSTC: &[&str] = &[
    "rustc",
    "-O",
    "-Ctarget-cpu=native",
    "--edition=2021",
    "main.rs",
    "-o",
    "main",
];

/// Program around `net.c`; prints the figures of [`Speed`].
const C: &str = r#"
#include "net.c"
#include <time.h>

static int *words;
static net_accumulator stack[@PLIES@][2];

static const int *list(const int **next, int *count) {
    *count = *(*next)++;
    const int *items = *next;
    *next += *count;
    return items;
}

static long long pass(int fresh) {
    const int *next = words;
    long long sum = 0;
    int ply = 0;
    for (int i = 0; i < @POSITIONS@; i++) {
        int begins = *next++, mover = *next++, pieces = *next++, count, all, gone, come;
        const int *changing = list(&next, &count);
        (void)changing;
        ply = begins ? 0 : ply + 1;
        net_accumulator *now = stack[ply];
        for (int view = 0; view < 2; view++) {
            const int *inputs = list(&next, &all);
            const int *removed = list(&next, &gone), *added = list(&next, &come);
            if (fresh || begins) {
                net_refresh(&now[view], inputs, all);
                continue;
            }
            now[view] = stack[ply - 1][view];
            for (int j = 0; j < gone; j++)
                net_remove(&now[view], removed[j]);
            for (int j = 0; j < come; j++)
                net_add(&now[view], added[j]);
        }
        sum += net_evaluate(&now[mover], @OTHER@@CHANGING@pieces);
    }
    return sum;
}

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void) {
    FILE *file = fopen("words.bin", "rb");
    if (file == NULL || net_load("net.bin") != 0)
        return 1;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    words = malloc(size);
    if (words == NULL || fread(words, size, 1, file) != 1)
        return 1;
    long long sum = 0;
    for (int fresh = 0; fresh < 2; fresh++) {
        double began = seconds(), fastest = 1e9;
        while (seconds() - began < @SECONDS@) {
            double start = seconds();
            sum = pass(fresh);
            double time = seconds() - start;
            fastest = time < fastest ? time : fastest;
        }
        printf("%.0f ", @POSITIONS@ / fastest);
    }
    printf("%lld\n", sum);
    return 0;
}
"#;

/// Program around `net.rs`, like [`C`].
const RUST: &str = r#"
mod net;
use net::{Accumulator, evaluate};
use std::time::Instant;

fn list<'a>(rest: &mut &'a [usize]) -> &'a [usize] {
    let (items, after) = rest[1..].split_at(rest[0]);
    *rest = after;
    items
}

#[allow(unused_variables)]
fn pass(words: &[usize], stack: &mut [[Accumulator; 2]], fresh: bool) -> i64 {
    let (mut rest, mut sum, mut ply) = (words, 0, 0);
    while let [begins, mover, pieces, after @ ..] = rest {
        rest = after;
        let (begins, mover, pieces) = (*begins == 1, *mover, *pieces);
        let changing = list(&mut rest);
        ply = if begins { 0 } else { ply + 1 };
        let (before, now) = stack.split_at_mut(ply);
        let now = &mut now[0];
        for view in 0..2 {
            let (inputs, removed, added) = (list(&mut rest), list(&mut rest), list(&mut rest));
            if fresh || begins {
                now[view] = Accumulator::refresh(inputs);
                continue;
            }
            now[view].clone_from(&before[ply - 1][view]);
            removed.iter().for_each(|&input| now[view].remove(input));
            added.iter().for_each(|&input| now[view].add(input));
        }
        sum += i64::from(evaluate(&now[mover], @OTHER@@CHANGING@pieces));
    }
    sum
}

fn main() {
    let words: Vec<usize> = include_bytes!("words.bin")
        .chunks_exact(4)
        .map(|word| i32::from_le_bytes(word.try_into().unwrap()) as usize)
        .collect();
    let empty = || Accumulator::refresh(&[]);
    let mut stack: Vec<[Accumulator; 2]> = (0..@PLIES@).map(|_| [empty(), empty()]).collect();
    let mut sum = 0;
    for fresh in [false, true] {
        let (began, mut fastest) = (Instant::now(), f64::INFINITY);
        while began.elapsed().as_secs() < @SECONDS@ {
            let start = Instant::now();
            sum = std::hint::black_box(pass(&words, &mut stack, fresh));
            fastest = fastest.min(start.elapsed().as_secs_f64());
        }
        print!("{:.0} ", @POSITIONS@ as f64 / fastest);
    }
    println!("{sum}");
}
"#;
