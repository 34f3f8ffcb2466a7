//! Datasets of moves: equal to python-chess's, the same however they are built, and refused where
//! evaluations are needed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use datasets::{
    AnyDataset, Dataset, Filters, FromSource, Keyed, Kind, MoveRecord, Row, SourceCounts, Speed,
    Split,
};
use sha2::{Digest, Sha256};
use tests::dump::Dump;
use tests::exit::{DAMAGED, REFUSED, USAGE};
use tests::pzstd::framed;
use tests::{
    Said, build, contents_of, merge, merging, program, rows, run, sample, shard, stats, text_of,
};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OCTOBER: &str = "dump_2021-10_first499.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";

fn build_moves(sources: &[&Path], dataset: &Path) -> Said {
    build(&[&[Path::new("--moves")], sources].concat(), dataset)
}

fn contents(dataset: &Path) -> ([Vec<MoveRecord>; 2], serde_json::Value) {
    contents_of(dataset)
}

fn row(played: &MoveRecord) -> String {
    let known = |number: Option<u32>| number.map_or("?".to_string(), |number| number.to_string());
    let name = |speed| Speed::NAMES.iter().find(|named| named.0 == speed);
    format!(
        "{}\t{}\t{}\t{}\t{}\n",
        played.position().epd(),
        played.uci(),
        known(played.rating().map(u32::from)),
        played.speed().and_then(name).map_or("?", |(_, name)| name),
        known(played.time_left())
    )
}

/// Every move of every sample equals python-chess's (`tests/reference/moves.py`), compared by count
/// and digest.
#[test]
fn every_sample_move_equals_python_chess() {
    for line in include_str!("../data/moves.digests.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, count, digest] = fields[..] else {
            panic!("{line}")
        };
        let (mut ours, mut hasher) = (0u64, Sha256::new());
        let (text, mut tally) = (text_of(&sample(name)), SourceCounts::default());
        let each = |_, moves: &[MoveRecord]| {
            ours += moves.len() as u64;
            moves.iter().for_each(|played| hasher.update(row(played)));
        };
        MoveRecord::read_games(text.as_bytes(), &Filters::default(), &mut tally, each);
        let hex = format!("{:x}", hasher.finalize());
        let found = (ours.to_string(), hex);
        assert_eq!(found, (count.to_string(), digest.to_string()), "{name}");
        assert_eq!(tally.labels, ours);
    }
}

/// Compresses a sample in small frames, so that many games span two of them.
fn write_framed(name: &str, to: &Path) {
    let text = text_of(&sample(name));
    fs::write(to, framed(text.as_bytes(), 100_000)).unwrap();
}

fn build_part(source: &Path, part: &str, dataset: &Path) {
    let part = Path::new(part);
    build_moves(&[source, Path::new("--part"), part], dataset).succeeded();
}

/// Orders of sources, parts, merges that overlap, shards: all give the dataset of one build.
#[test]
fn moves_are_the_same_however_they_are_built() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (old, october) = (path("old.pgn.zst"), sample(OCTOBER));
    write_framed(OLD, &old);
    build_moves(&[&old, &october], &path("whole")).succeeded();
    let whole = contents(&path("whole"));
    assert!(whole.1["seen_on_both_sides"].as_u64() > Some(100));
    assert!(whole.1["duplicates_merged"].as_u64() > Some(10_000));

    for (name, order) in [
        ("forwards", [&old, &october]),
        ("backwards", [&october, &old]),
    ] {
        for source in order {
            build_moves(&[source], &path(name)).succeeded();
        }
        assert!(contents(&path(name)) == whole, "{name}");
        build_moves(&[&old, &october, &old], &path(name)).succeeded();
        assert!(contents(&path(name)) == whole, "{name}, repeated");
    }
    let parts: Vec<PathBuf> = (1..=3)
        .map(|part| {
            let dataset = path(&format!("part {part}"));
            build_part(&old, &format!("{part}/3"), &dataset);
            dataset
        })
        .collect();
    build_moves(&[&october], &path("october")).succeeded();
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let mut datasets = order.map(|part| parts[part].clone()).to_vec();
        datasets.insert(order[0], path("october"));
        let merged = path(&format!("merged {order:?}"));
        merge(&datasets, &merged).succeeded();
        assert!(contents(&merged) == whole, "{order:?}");
        // Datasets with a source in common: it counts once.
        merge(&[path("forwards"), parts[1].clone()], &merged).succeeded();
        assert!(contents(&merged) == whole, "{order:?}, overlapping");
    }
    for shard in ["2/2", "1/2"] {
        let datasets = [&parts[..], &[path("october")]].concat();
        run(merging(&datasets, &path("shards")).args(["--shard", shard])).succeeded();
    }
    assert!(contents(&path("shards")) == whole, "shards of a merge");
    shard(&path("whole"), "3", &path("cut")).succeeded();
    assert!(contents(&path("cut")) == whole, "shards of the whole");
}

/// Standard input turns out to be known only after it was read: its moves must not count twice.
#[test]
fn a_source_that_is_known_at_its_end_adds_no_move() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("a");
    let source = sample(OCTOBER);
    build_moves(&[&source], &dataset).succeeded();
    let before = contents(&dataset);
    let mut piped = program("ingest");
    piped.args(["build", "--moves", "-", "--out"]).arg(&dataset);
    piped.stdin(fs::File::open(&source).unwrap());
    let said = run(&mut piped).succeeded();
    assert!(said.err.contains("already in the dataset"), "{}", said.err);
    assert!(contents(&dataset) == before);
}

/// A cap counts positions, with all moves of each, in any order of the sources.
#[test]
fn a_cap_keeps_the_moves_of_the_smallest_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (june, october) = (sample(JUNE), sample(OCTOBER));
    build_moves(&[&june, &october], &path("all")).succeeded();
    let keyed = |dataset: &Path| {
        let mut all = BTreeMap::<u64, Vec<MoveRecord>>::new();
        for split in [Split::Train, Split::Validation] {
            for played in rows(dataset, split) {
                all.entry(Keyed::new(played).key).or_default().push(played);
            }
        }
        all
    };
    let all = keyed(&path("all"));
    for most in [1, 1000, 20_000, all.len() + 1] {
        let option = format!("--max-positions={most}");
        let name = |how: &str| path(&format!("{how} {most}"));
        let option = Path::new(&option);
        build_moves(&[&june, &october, option], &name("at once")).succeeded();
        build_moves(&[&october, option], &name("later")).succeeded();
        build_moves(&[&june, option], &name("later")).succeeded();
        let kept = keyed(&name("at once"));
        assert!(kept.iter().eq(all.iter().take(most)), "{most}");
        assert!(
            contents(&name("at once")) == contents(&name("later")),
            "{most}"
        );
    }
}

/// The start position of 2,413 games, some of which the sample has twice, keeps 256 of its moves, in
/// the proportions that they were played in; a position of few games keeps all.
#[test]
fn repeated_openings_weigh_little() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("a");
    build_moves(
        &[&sample(OLD), Path::new("--validation-percent=0")],
        &dataset,
    )
    .succeeded();
    let mut positions = BTreeMap::<u64, Vec<MoveRecord>>::new();
    for played in rows::<MoveRecord>(&dataset, Split::Train) {
        let key = Keyed::new(played).key;
        positions.entry(key).or_default().push(played);
    }
    let (mut all, mut tally) = (Vec::new(), SourceCounts::default());
    let text = text_of(&sample(OLD));
    let each = |_, moves: &[MoveRecord]| all.extend_from_slice(moves);
    MoveRecord::read_games(text.as_bytes(), &Filters::default(), &mut tally, each);
    let mut played = BTreeMap::<u64, Vec<MoveRecord>>::new();
    all.sort();
    all.dedup();
    for row in all {
        played.entry(Keyed::new(row).key).or_default().push(row);
    }
    assert!(played.keys().eq(positions.keys()));
    for (played, kept) in played.values().zip(positions.values()) {
        assert_eq!(kept.len(), played.len().min(MoveRecord::MOST));
    }
    let start = start_key(&positions);
    let share = |rows: &[MoveRecord]| {
        let e4 = rows.iter().filter(|row| row.uci().to_string() == "e2e4");
        e4.count() as f64 / rows.len() as f64
    };
    let (all, kept) = (&played[&start], &positions[&start]);
    assert_eq!((all.len(), kept.len()), (2_413, 256));
    // Three standard deviations of a sample of 256.
    assert!((share(all) - share(kept)).abs() < 0.1);
}

fn start_key(positions: &BTreeMap<u64, Vec<MoveRecord>>) -> u64 {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    let is_start = |rows: &&Vec<MoveRecord>| rows[0].position().epd() == start;
    let rows = positions.values().find(is_start).expect("the start");
    Keyed::new(rows[0]).key
}

#[test]
fn stats_show_moves_by_rating_speed_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let rated = "[Event \"a\"]\n[WhiteElo \"1612\"]\n[BlackElo \"2240\"]\n[TimeControl \"180+0\"]\n\n\
                 1. e4 { [%clk 0:03:00] } e5 { [%clk 0:02:59] } 2. Nf3 { [%clk 0:00:30] } *\n\n";
    let unrated = "[Event \"b\"]\n[WhiteElo \"?\"]\n[BlackElo \"?\"]\n\n1. d4 d5 *\n\n\
                   [Event \"c\"]\n\n*\n";
    fs::write(path("games.pgn"), [rated, unrated].concat()).unwrap();
    let none_held_out = Path::new("--validation-percent=0");
    let said = build_moves(&[&path("games.pgn"), none_held_out], &path("d")).succeeded();
    assert!(
        said.out.contains("1 games of unrated players"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("left out: 1 games without a move"),
        "{}",
        said.out
    );
    let Ok(AnyDataset::Moves(dataset)) = AnyDataset::open(&path("d")) else {
        panic!("no dataset of moves");
    };
    assert_eq!(dataset.manifest().kind, Kind::Moves);
    let found = stats(&path("d"));
    assert_eq!(found["kind"], "moves");
    assert_eq!(
        (&found["labels"], &found["unrated"]),
        (&5.into(), &1.into())
    );
    let train = &found["train"];
    assert_eq!(
        (&train["ratings"][16], &train["ratings"][22]),
        (&2.into(), &1.into())
    );
    let last = |name: &str| train[name].as_array().unwrap().last().cloned();
    assert_eq!(
        [last("ratings"), last("speeds")],
        [Some(2.into()), Some(2.into())]
    );
    assert_eq!(
        (last("seconds_left"), &train["speeds"][2]),
        (Some(2.into()), &3.into())
    );
    let mut command = program("ingest");
    command.arg("stats").arg(path("d"));
    let said = run(command.arg("--plot").arg(path("p.svg"))).succeeded();
    for words in [
        "1600 to 1699",
        "unknown",
        "blitz",
        "seconds on the player's clock",
    ] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    let picture = fs::read_to_string(path("p.svg")).unwrap();
    assert!(picture.contains("Time left") && picture.contains("Speeds"));
}

#[test]
fn datasets_of_the_other_kind_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let october = sample(OCTOBER);
    build_moves(&[&october], &path("m")).succeeded();
    build(&[&october], &path("e")).succeeded();
    let moves = ["m: a dataset of moves, where one of evaluations is needed"];
    let evaluations = [
        "e: a dataset of evaluations, where one of moves is needed",
        "--moves",
    ];
    let before = contents(&path("m"));
    build(&[&sample(JUNE)], &path("m")).failed(REFUSED, &moves);
    build_moves(&[&sample(JUNE)], &path("e")).failed(REFUSED, &evaluations);
    let both = [path("e"), path("m")];
    merge(&both, &path("x")).failed(REFUSED, &moves);
    merge(&[path("m"), path("e")], &path("x")).failed(REFUSED, &evaluations);
    merge(&both[..1], &path("m")).failed(REFUSED, &moves);
    assert!(!path("x").exists());
    let mut export = program("ingest");
    export.arg("export").arg(path("m"));
    export.args(["--format", "text", "--out"]).arg(path("y"));
    run(&mut export).failed(REFUSED, &moves);
    assert!(contents(&path("m")) == before);
    // Shards too.
    shard(&path("m"), "2", &path("shards")).succeeded();
    let error = Dataset::open(&path("shards")).err().unwrap().to_string();
    assert!(error.contains("a dataset of moves"), "{error}");
}

#[test]
fn the_trainer_refuses_moves_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build_moves(&[&sample(OCTOBER)], &path("m")).succeeded();
    let mut fit = program("trainer");
    fit.arg("fit").arg("--data").arg(path("m"));
    let words = ["m: a dataset of moves, where one of evaluations is needed"];
    run(fit.arg("--out").arg(path("n.safetensors"))).failed(REFUSED, &words);
}

#[test]
fn sources_and_options_of_evaluations_alone_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let june = sample(JUNE);
    for option in [
        "--keep=quiet",
        "--quiet",
        "--min-eval=10",
        "--max-eval=10",
        "--skip-mates",
        "--min-depth=9",
        "--td-lambda=0.5",
    ] {
        let said = build_moves(&[&june, Path::new(option)], &path("x"));
        assert_eq!(said.code, Some(USAGE), "{}", said.err);
    }
    fs::write(
        path("p.csv"),
        "FEN,Evaluation\n8/8/8/4k3/8/8/4K3/7R w - - 0 1,+500\n",
    )
    .unwrap();
    let words = ["p.csv: has positions but no moves"];
    build_moves(&[&path("p.csv")], &path("x")).failed(DAMAGED, &words);
    assert!(!path("x").exists());
    // Other sources are kept.
    build_moves(&[&path("p.csv"), &june], &path("y")).failed(DAMAGED, &words);
    build_moves(&[&june], &path("z")).succeeded();
    assert!(contents(&path("y")) == contents(&path("z")));
}

/// `--speeds`, `--min-ply` and the like choose among moves as among evaluations.
#[test]
fn filters_choose_games_and_positions() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    Dump::annotated(300)
        .write_to(&path("d.pgn"), |_| {})
        .unwrap();
    let dump = path("d.pgn");
    build_moves(&[&dump], &path("all")).succeeded();
    let options = [
        "--speeds=blitz",
        "--min-rating=1500",
        "--min-ply=10",
        "--skip-bots",
    ];
    let options = options.map(Path::new);
    build_moves(&[&[&*dump], &options[..]].concat(), &path("some")).succeeded();
    let some: Vec<MoveRecord> = rows(&path("some"), Split::Train);
    assert!(
        some.iter().all(|played| {
            played.speed() == Some(Speed::Blitz) && played.rating() >= Some(1500)
        })
    );
    let found = stats(&path("some"));
    for reason in ["other_speed", "rating_out_of_range", "early_ply"] {
        assert!(found["skipped"][reason].as_u64() > Some(0), "{found}");
    }
    let kept = found["games_kept"].as_u64();
    assert!(kept > Some(10) && kept < stats(&path("all"))["games_kept"].as_u64());
}
