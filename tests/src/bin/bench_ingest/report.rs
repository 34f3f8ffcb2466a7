//! Benchmark report, as JSON and as a table.

use serde_json::{Value, json};
use tests::measure::Usage;
use tests::pzstd::cores;

use crate::contender::{Contender, Found, Input};
use crate::files::Files;
use crate::reading::Reading;

/// JSON of `ingest stats` for both datasets.
pub struct Stats {
    /// Dataset of evaluations.
    pub dataset: Value,
    /// Dataset of moves.
    pub moves: Value,
}

/// Returns the report as JSON.
pub fn report(
    files: &Files,
    stats: &Stats,
    contenders: &[Contender],
    reading: &[Reading],
) -> Value {
    let rows: Vec<Value> = contenders
        .iter()
        .map(|contender| row(files, stats, contender, contenders))
        .collect();
    let Stats { dataset, moves } = stats;
    let rate = |time: fn(&Reading) -> f64| {
        median(reading.iter().map(|run| run.records as f64 / time(run)))
    };
    json!({
        "cores": cores(),
        "runs": reading.len(),
        "text_bytes": files.text_bytes,
        "slice_bytes": files.slice_bytes,
        "dump_bytes": size(&files.dump),
        "single_frame_bytes": files.single_frame.as_deref().map(size),
        "dataset": {
            "games": dataset["games"],
            "games_annotated": dataset["games_annotated"],
            "labels": dataset["labels"],
            "duplicates_merged": dataset["duplicates_merged"],
            "bytes_on_disk": dataset["bytes_on_disk"],
            "bytes_per_position": dataset["bytes_per_position"],
        },
        "moves": {
            "labels": moves["labels"],
            "duplicates_merged": moves["duplicates_merged"],
            "bytes_on_disk": moves["bytes_on_disk"],
            "bytes_per_position": moves["bytes_per_position"],
        },
        "contenders": rows,
        "shuffled_records_per_second": rate(|run| run.wall.as_secs_f64()),
        "shuffled_records_per_cpu_second": rate(|run| run.cpu.as_secs_f64()),
    })
}

fn row(files: &Files, stats: &Stats, contender: &Contender, all: &[Contender]) -> Value {
    let (wall, cpu) = (wall(contender), cpu(contender));
    let bytes = match contender.input {
        Input::Slice => files.slice_bytes,
        Input::Dump | Input::SingleFrame => files.text_bytes,
    };
    // The slice is assumed to be like the rest of the text.
    let share = bytes as f64 / files.text_bytes.max(1) as f64;
    let dataset = match contender.finds {
        Found::Moves => &stats.moves,
        Found::Labels | Found::Nothing => &stats.dataset,
    };
    let per_second = |key: &str| dataset[key].as_f64().map(|total| total * share / wall);
    let yardstick = all
        .iter()
        .find(|other| other.name == "zstd -dc" && other.input == contender.input);
    let per_byte = |one: &Contender| one.instructions.map(|count| count as f64 / bytes as f64);
    json!({
        "name": contender.name,
        "input": match contender.input {
            Input::Dump => "dump",
            Input::SingleFrame => "single frame",
            Input::Slice => "slice",
        },
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "peak_bytes": contender.runs.iter().map(|run| run.peak_bytes).max(),
        "megabytes_per_second": bytes as f64 / 1e6 / wall,
        "games_per_second": per_second("games"),
        "labels_per_second": per_second("labels").filter(|_| contender.finds != Found::Nothing),
        "wall_to_zstd": yardstick.map(|other| wall / self::wall(other)),
        "cpu_to_zstd": yardstick.map(|other| cpu / self::cpu(other)),
        "instructions_per_byte": per_byte(contender),
        "instructions_to_zstd": yardstick
            .and_then(|other| Some(per_byte(contender)? / per_byte(other)?)),
        "runs": contender.runs.iter().map(run).collect::<Vec<Value>>(),
    })
}

fn run(usage: &Usage) -> Value {
    json!({
        "wall_seconds": usage.wall.as_secs_f64(),
        "cpu_seconds": usage.cpu.as_secs_f64(),
        "peak_bytes": usage.peak_bytes,
    })
}

fn wall(contender: &Contender) -> f64 {
    median(contender.runs.iter().map(|run| run.wall.as_secs_f64()))
}

fn cpu(contender: &Contender) -> f64 {
    median(contender.runs.iter().map(|run| run.cpu.as_secs_f64()))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        (values[middle - 1] + values[middle]) / 2.0
    }
}

fn size(path: &std::path::Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Returns the report as a table.
pub fn table(report: &Value) -> String {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let dataset = &report["dataset"];
    let mut text = format!(
        "{:.0} MB of text, {:.0} MB packed; {} games, {} annotated, {} labels; \
         {} cores; medians of {}\n\n\
         {:<14} {:<12} {:>8} {:>8} {:>8} {:>8} {:>9} {:>10} {:>9} {:>8} {:>8} {:>10}\n",
        number(&report["text_bytes"]) / 1e6,
        number(&report["dump_bytes"]) / 1e6,
        dataset["games"],
        dataset["games_annotated"],
        dataset["labels"],
        report["cores"],
        report["runs"],
        "",
        "input",
        "wall s",
        "CPU s",
        "peak MiB",
        "MB/s",
        "games/s",
        "labels/s",
        "wall:zstd",
        "CPU:zstd",
        "instr/B",
        "instr:zstd",
    );
    for row in report["contenders"].as_array().into_iter().flatten() {
        let cell = |key: &str, scale: f64, width: usize, decimals: usize| {
            row[key]
                .as_f64()
                .map(|value| format!("{:>width$.decimals$}", value / scale))
                .unwrap_or_else(|| format!("{:>width$}", "-"))
        };
        text += &format!(
            "{:<14} {:<12} {} {} {} {} {} {} {} {} {} {}\n",
            row["name"].as_str().unwrap_or_default(),
            row["input"].as_str().unwrap_or_default(),
            cell("wall_seconds", 1.0, 8, 2),
            cell("cpu_seconds", 1.0, 8, 2),
            cell("peak_bytes", f64::from(1 << 20), 8, 1),
            cell("megabytes_per_second", 1.0, 8, 1),
            cell("games_per_second", 1.0, 9, 0),
            cell("labels_per_second", 1.0, 10, 0),
            cell("wall_to_zstd", 1.0, 9, 2),
            cell("cpu_to_zstd", 1.0, 8, 2),
            cell("instructions_per_byte", 1.0, 8, 2),
            cell("instructions_to_zstd", 1.0, 10, 3),
        );
    }
    text + &format!(
        "\non disk: {:.1} bytes a position ({} in all), {:.1} a move ({} in all), sealed; flat \
         records take 32\n\
         shuffled reading, one thread: {:.1} million records/s by the clock, \
         {:.1} by processor time\n",
        number(&dataset["bytes_per_position"]),
        dataset["bytes_on_disk"],
        number(&report["moves"]["bytes_per_position"]),
        report["moves"]["bytes_on_disk"],
        number(&report["shuffled_records_per_second"]) / 1e6,
        number(&report["shuffled_records_per_cpu_second"]) / 1e6,
    )
}
