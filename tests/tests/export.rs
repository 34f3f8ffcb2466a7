//! `ingest export`, read back by bullet's own crate and pyarrow, and compared with the rows of
//! python-chess.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bulletformat::{ChessBoard, DataLoader};
use datasets::{Dataset, GameResult, Record, Split};
use serde_json::Value;
use tempfile::TempDir;
use tests::{Said, build, program, python, root, run, sample, stats, text_of};

const JUNE: &str = "dump_2026-06_annotated500";
const OLD: &str = "dump_2013-02_rewritten2551";

/// Chess960 game with two rooks on one side of the king, an en-passant capture, a depth and an
/// unknown result.
const CHESS960: &str = "\
[Event \"Rated game\"]
[Site \"https://lichess.org/abcdefgh\"]
[Result \"*\"]
[Variant \"Chess960\"]
[SetUp \"1\"]
[FEN \"rrk5/3p4/8/4P3/8/8/8/RRK5 w Bb - 0 40\"]

40. Kd1 { [%eval 0.2,31] } d5 { [%eval -0.31] } 41. exd6 { [%eval #7] } *
";

/// Dataset of the samples in a temporary folder.
struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let fixture = Fixture {
            folder: tempfile::tempdir().unwrap(),
        };
        let chess960 = fixture.path("chess960.pgn");
        std::fs::write(&chess960, CHESS960).unwrap();
        let [june, old] = [JUNE, OLD].map(|name| sample(&format!("{name}.pgn.zst")));
        run(program("ingest")
            .arg("build")
            .args([june, old, chess960])
            .args(["--chess960", "--out"])
            .arg(fixture.dataset()))
        .succeeded();
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn dataset(&self) -> PathBuf {
        self.path("dataset")
    }

    /// Returns every record with its split, in the order of the export.
    fn records(&self) -> Vec<(Split, Record)> {
        let dataset = Dataset::open(&self.dataset()).unwrap();
        let mut records = Vec::new();
        for split in [Split::Train, Split::Validation] {
            for block in dataset.blocks(split).unwrap() {
                records.extend(block.unwrap().into_iter().map(|record| (split, record)));
            }
        }
        records
    }

    fn export(&self, format: &str, out: &Path, flags: &[&str]) -> Said {
        run(export(&self.dataset(), format, out).args(flags))
    }
}

fn export(dataset: &Path, format: &str, out: &Path) -> Command {
    let mut command = program("ingest");
    command.arg("export").arg(dataset);
    command.args(["--format", format, "--out"]).arg(out);
    command
}

fn boards(path: &Path) -> Vec<ChessBoard> {
    let mut boards = Vec::new();
    let loader = DataLoader::<ChessBoard>::new(path, 1).unwrap();
    loader.map_positions(|board| boards.push(*board));
    boards
}

/// Returns the rows of python-chess for the samples: EPD, label, ply, depth.
fn reference_rows() -> HashSet<String> {
    let mut rows = HashSet::new();
    for name in [JUNE, OLD] {
        let path = root().join(format!("tests/data/{name}.rows.zst"));
        rows.extend(text_of(&path).lines().map(String::from));
    }
    for row in [
        "rrk5/3p4/8/4P3/8/8/8/RR1K4 b b -\t20\t79\t31",
        "rrk5/8/8/3pP3/8/8/8/RR1K4 w b d6\t-31\t80\t0",
        "rrk5/8/3P4/8/8/8/8/RR1K4 b b -\t#7\t81\t0",
    ] {
        rows.insert(row.to_string());
    }
    rows
}

/// Returns the first four fields of a FEN, and the ply from its sixth. Asserts that the fifth is 0.
fn split_fen(fen: &str) -> (String, u16) {
    let fields: Vec<&str> = fen.split(' ').collect();
    assert_eq!((fields.len(), fields[4]), (6, "0"), "{fen}");
    let moves: u16 = fields[5].parse().unwrap();
    (
        fields[..4].join(" "),
        2 * (moves - 1) + u16::from(fields[1] == "b"),
    )
}

fn result_text(result: Option<GameResult>, unknown: &str) -> &str {
    match result {
        Some(GameResult::BlackWins) => "0.0",
        Some(GameResult::Draw) => "0.5",
        Some(GameResult::WhiteWins) => "1.0",
        None => unknown,
    }
}

fn assert_board_is(board: ChessBoard, record: &Record) {
    let black = record.turn().is_black();
    let mirror = if black { 56 } else { 0 };
    let mut expected: Vec<(u8, u8)> = record
        .pieces()
        .map(|(square, color, role)| {
            let theirs = u8::from(color != record.turn());
            (8 * theirs + role as u8 - 1, square as u8 ^ mirror)
        })
        .collect();
    expected.sort_by_key(|&(_, square)| square);
    assert_eq!(
        board.into_iter().collect::<Vec<_>>(),
        expected,
        "{record:?}"
    );
    let king = |code| {
        expected
            .iter()
            .find(|&&(piece, _)| piece == code)
            .unwrap()
            .1
    };
    assert_eq!((board.our_ksq(), board.opp_ksq()), (king(5), king(13) ^ 56));
    let score = record.label().seen_by(record.turn()).bullet_score();
    assert_eq!(board.score, score, "{record:?}");
    let white_result = if black {
        2 - board.result
    } else {
        board.result
    };
    let result = record.result().unwrap_or(GameResult::Draw);
    assert_eq!(white_result, result as u8, "{record:?}");
    assert_eq!(board.extra(), [0; 3]);
}

#[test]
fn the_bulletformat_crate_reads_back_every_position() {
    let fixture = Fixture::new();
    let out = fixture.path("positions.bullet");
    fixture.export("bullet", &out, &[]).succeeded();
    let (boards, records) = (boards(&out), fixture.records());
    assert_eq!(boards.len(), records.len());
    for (board, (_, record)) in boards.iter().zip(&records) {
        assert_board_is(*board, record);
    }
}

/// bullet's own conversion of our text gives our boards.
#[test]
fn the_bulletformat_crate_reads_our_text_as_our_boards() {
    let fixture = Fixture::new();
    let (text, bullet) = (fixture.path("a.txt"), fixture.path("a.bullet"));
    fixture
        .export("text", &text, &["--known-results"])
        .succeeded();
    fixture
        .export("bullet", &bullet, &["--known-results"])
        .succeeded();
    let text = std::fs::read_to_string(text).unwrap();
    let boards = boards(&bullet);
    assert_eq!(text.lines().count(), boards.len());
    for (line, board) in text.lines().zip(&boards) {
        assert_eq!(line.parse::<ChessBoard>().unwrap(), *board, "{line}");
    }
    let known = |(_, record): &&(Split, Record)| record.result().is_some();
    assert_eq!(boards.len(), fixture.records().iter().filter(known).count());
}

#[test]
fn text_equals_the_dataset_and_python_chess() {
    let fixture = Fixture::new();
    let out = fixture.path("positions.txt");
    let said = fixture.export("text", &out, &["--json"]).succeeded();
    let text = std::fs::read_to_string(&out).unwrap();
    let (records, reference) = (fixture.records(), reference_rows());
    assert_eq!(text.lines().count(), records.len());
    for (line, (_, record)) in text.lines().zip(&records) {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [fen, centipawns, result] = fields[..] else {
            panic!("{line}")
        };
        let (epd, ply) = split_fen(fen);
        let label = match centipawns.parse::<i32>().unwrap() {
            mate @ 31000.. => format!("#{}", 32000 - mate),
            mate @ ..=-31000 => format!("#-{}", 32000 + mate),
            centipawns => centipawns.to_string(),
        };
        let row = format!("{epd}\t{label}\t{ply}\t{}", record.depth());
        assert!(reference.contains(&row), "{row}");
        assert_eq!(epd, record.epd());
        assert_eq!(label, record.label().to_string(), "{line}");
        assert_eq!(result, result_text(record.result(), "?"), "{line}");
    }
    assert!(text.contains("rrk5/8/8/3pP3/8/8/8/RR1K4 w b d6 0 41 | -31 | ?\n"));
    let summary: Value = serde_json::from_str(&said.out).unwrap();
    let stats = stats(&fixture.dataset());
    let count = |matches: fn(&Record) -> bool| {
        Value::from(records.iter().filter(|(_, record)| matches(record)).count())
    };
    assert_eq!(summary["positions"], count(|_| true));
    assert_eq!(summary["positions_train"], stats["positions_train"]);
    assert_eq!(
        summary["positions_validation"],
        stats["positions_validation"]
    );
    assert_eq!(summary["mates"], count(|r| r.label().mate().is_some()));
    assert_eq!(summary["unknown_results"], count(|r| r.result().is_none()));
    assert_eq!(summary["left_out"], 0);
    assert_eq!(summary["bytes"], text.len());
}

/// Reads a file with pyarrow; returns fingerprint, columns and rows.
fn read_parquet(mut python: Command, path: &Path) -> (String, String, Vec<String>) {
    let script = root().join("tests/reference/parquet_rows.py");
    let said = run(python.arg(script).arg(path)).succeeded();
    let mut lines = said.out.lines().map(String::from);
    let mut line = || lines.next().unwrap();
    (line(), line(), lines.collect())
}

#[test]
fn pyarrow_reads_back_every_row() {
    let Some(python) = python("pyarrow") else {
        return;
    };
    let fixture = Fixture::new();
    let out = fixture.path("positions.parquet");
    fixture.export("parquet", &out, &[]).succeeded();
    let (fingerprint, columns, rows) = read_parquet(python, &out);
    assert_eq!(
        Value::from(fingerprint),
        stats(&fixture.dataset())["fingerprint"]
    );
    assert_eq!(
        columns,
        "fen:string cp:int16? mate:int16? result:float? ply:uint16 month:string? \
         depth:uint8? split:string"
    );
    let (records, reference) = (fixture.records(), reference_rows());
    assert_eq!(rows.len(), records.len());
    for (row, (split, record)) in rows.iter().zip(&records) {
        let fields: Vec<&str> = row.split('\t').collect();
        let [fen, cp, mate, result, ply, month, depth, side] = fields[..] else {
            panic!("{row}")
        };
        let (epd, fen_ply) = split_fen(fen);
        let label = match (cp, mate) {
            (cp, "null") => cp.to_string(),
            ("null", mate) => format!("#{mate}"),
            _ => panic!("{row}"),
        };
        assert_eq!(ply, fen_ply.to_string(), "{row}");
        let known_depth = depth.replace("null", "0");
        let row = format!("{epd}\t{label}\t{ply}\t{known_depth}");
        assert!(reference.contains(&row), "{row}");
        assert_eq!(
            (epd, label, known_depth),
            (
                record.epd(),
                record.label().to_string(),
                record.depth().to_string()
            )
        );
        assert_eq!(result, result_text(record.result(), "null"), "{row}");
        assert_eq!(month.replace("null", "unknown"), record.month().to_string());
        assert_eq!(side == "train", *split == Split::Train, "{row}");
    }
}

#[test]
fn a_side_without_positions_is_an_empty_table() {
    let Some(python) = python("pyarrow") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(
        path("one.pgn"),
        "[Event \"x\"]\n\n1. e4 { [%eval 0.3] } *\n",
    )
    .unwrap();
    build(&[&path("one.pgn")], &path("dataset")).succeeded();
    let out = path("none.parquet");
    // A single game of unknown result: one split is empty, the other is left out.
    run(export(&path("dataset"), "parquet", &out).arg("--known-results")).succeeded();
    assert_eq!(read_parquet(python, &out).2, Vec::<String>::new());
}

#[test]
fn train_and_validation_exports_make_the_whole() {
    let fixture = Fixture::new();
    let mut whole = Vec::new();
    for split in ["train", "validation"] {
        let out = fixture.path(split);
        let said = fixture.export("text", &out, &["--split", split, "--json"]);
        let summary: Value = serde_json::from_str(&said.succeeded().out).unwrap();
        assert_eq!(summary["positions"], summary[format!("positions_{split}")]);
        whole.extend(std::fs::read(&out).unwrap());
    }
    let out = fixture.path("all");
    fixture.export("text", &out, &[]).succeeded();
    assert!(whole == std::fs::read(&out).unwrap());
    let said = fixture.export("text", Path::new("-"), &[]).succeeded();
    assert!(said.out.as_bytes() == whole);
}

/// The previous file stays until a complete one replaces it.
#[test]
fn a_broken_export_is_never_taken_for_a_whole_one() {
    let fixture = Fixture::new();
    for format in ["text", "bullet", "parquet"] {
        let out = fixture.path(format);
        let part = fixture.path(&format!("{format}.tmp"));
        std::fs::write(&out, "before").unwrap();
        let refused = fixture.export(format, &out, &[]);
        refused.failed(5, &[format, "exists already", "--force"]);
        assert_eq!(std::fs::read(&out).unwrap(), b"before");
        // Files are limited to 64 blocks of 512 bytes: a write fails, or, unless the signal is
        // ignored, the process dies.
        let limited = |trap: &str| {
            let mut command = export(&fixture.dataset(), format, &out);
            command.arg("--force");
            let script = format!("{trap} ulimit -c 0; ulimit -f 64; exec \"$0\" \"$@\"");
            run(Command::new("sh")
                .args(["-c", &script])
                .arg(command.get_program())
                .args(command.get_args()))
        };
        limited("trap '' XFSZ;").failed(7, &[format, "cannot write"]);
        assert!(!part.exists());
        assert_eq!(limited("").code, None);
        assert!(part.exists());
        assert_eq!(std::fs::read(&out).unwrap(), b"before");
        fixture.export(format, &out, &["--force"]).succeeded();
        assert!(!part.exists());
        assert!(std::fs::metadata(&out).unwrap().len() > 64 * 512);
    }
}

#[test]
fn failures_have_their_exit_codes() {
    let fixture = Fixture::new();
    fixture
        .export("text", &fixture.path("no/folder.txt"), &[])
        .failed(7, &["no/folder.txt", "cannot write"]);
    fixture
        .export("text", fixture.folder.path(), &[])
        .failed(7, &["cannot write"]);
    fixture
        .export("parquet", Path::new("/dev/full"), &[])
        .failed(7, &["/dev/full", "No space left"]);
    let out = fixture.path("out");
    run(&mut export(&fixture.path("none"), "text", &out)).failed(3, &["none"]);
    run(&mut export(fixture.folder.path(), "text", &out)).failed(5, &["not a Kibitz dataset"]);
    assert!(!out.exists() && !fixture.path("out.tmp").exists());
}

/// The file is longer than the export, and must not be truncated.
#[test]
fn recognises_every_name_of_standard_output() {
    let fixture = Fixture::new();
    let expected = fixture.export("text", Path::new("-"), &[]).succeeded();
    for name in ["/dev/stdout", "/dev/fd/1"] {
        let path = fixture.path("collected");
        std::fs::write(&path, "before\n").unwrap();
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        let mut command = export(&fixture.dataset(), "text", Path::new(name));
        let said = run_into(command.stdout(file));
        assert!(said.err.contains("positions"), "{}", said.err);
        let collected = std::fs::read_to_string(&path).unwrap();
        assert!(collected == format!("before\n{}", expected.out), "{name}");
    }
}

/// Runs a program with a redirected output.
fn run_into(command: &mut Command) -> Said {
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    Said::from(child.wait_with_output().unwrap()).succeeded()
}

#[test]
fn succeeds_when_the_reader_stops_early() {
    let fixture = Fixture::new();
    for format in ["text", "bullet", "parquet"] {
        let mut child = export(&fixture.dataset(), format, Path::new("-"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut start = [0; 10];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut start).unwrap();
        drop(stdout);
        Said::from(child.wait_with_output().unwrap()).succeeded();
    }
}
