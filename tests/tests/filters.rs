//! Filters of `ingest build`, compared with counts from the text of the samples: tags, `+`, `x` and
//! `=` in the moves, numbers in comments.

use std::path::Path;

use datasets::{Dataset, Record, Split};
use serde_json::Value;
use tests::{Said, program, run, sample, shared, stats, text_of};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";
const OCTOBER: &str = "dump_2021-10_first499.pgn.zst";

/// Game parsed from its text alone.
struct Game {
    text: String,
    /// Moves, each with its evaluation if any.
    moves: Vec<(String, Option<String>)>,
}

impl Game {
    fn read(text: &str) -> Game {
        let (_, mut rest) = text.split_once("]\n\n").unwrap();
        let mut moves: Vec<(String, Option<String>)> = Vec::new();
        while let Some(word) = rest.split_whitespace().next() {
            let start = rest.find(word).unwrap();
            if word.starts_with('{') {
                let (comment, after) = rest.split_once('}').unwrap();
                if let Some((_, eval)) = comment.split_once("[%eval ") {
                    let eval = eval.split(']').next().unwrap().to_string();
                    moves.last_mut().unwrap().1 = Some(eval);
                }
                rest = after;
                continue;
            }
            if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
                moves.push((word.to_string(), None));
            }
            rest = &rest[start + word.len()..];
        }
        let text = text.to_string();
        Game { text, moves }
    }

    fn tag(&self, name: &str) -> Option<&str> {
        let start = format!("[{name} \"");
        let line = self.text.lines().find_map(|line| line.strip_prefix(&start));
        line.map(|line| line.split('"').next().unwrap())
    }

    fn number(&self, tag: &str) -> Option<u32> {
        self.tag(tag)?.parse().ok()
    }

    fn ratings(&self) -> Option<(u32, u32)> {
        Some((self.number("WhiteElo")?, self.number("BlackElo")?))
    }

    fn annotated(&self) -> bool {
        self.text.contains("[%eval")
    }

    fn evals(&self) -> u64 {
        self.text.matches("[%eval").count() as u64
    }

    /// Returns the speed that Lichess wrote into the Event tag.
    fn speed(&self) -> String {
        let event = self.tag("Event").unwrap();
        let words = event.split(' ').map(str::to_lowercase);
        let known = ["ultrabullet", "bullet", "blitz", "rapid", "classical"];
        words
            .into_iter()
            .find(|word| known.contains(&&word[..]))
            .unwrap()
    }
}

fn games(name: &str) -> Vec<Game> {
    let text = text_of(&sample(name));
    let starts: Vec<usize> = text.match_indices("[Event ").map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| Game::read(&text[start..end]))
        .collect()
}

fn build(sources: &[&Path], dataset: &Path, filters: &str) -> Said {
    let mut command = program("ingest");
    command.arg("build").args(sources).arg("--out").arg(dataset);
    run(command.args(filters.split_whitespace()))
}

/// Builds a sample with filters; returns the stats and the records.
fn filtered(name: &str, filters: &str) -> (Value, Vec<Record>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dataset");
    build(&[&sample(name)], &path, filters).succeeded();
    let dataset = Dataset::open(&path).unwrap();
    let records = [Split::Train, Split::Validation]
        .into_iter()
        .flat_map(|split| {
            let blocks: Vec<_> = dataset.blocks(split).unwrap().map(Result::unwrap).collect();
            blocks.concat()
        });
    let records = records.collect();
    (stats(&path), records)
}

fn skipped(stats: &Value, reason: &str) -> u64 {
    stats["skipped"][reason].as_u64().unwrap_or(0)
}

/// Builds with filters on games, and compares the labels and omitted games with those of the text.
fn check_games(name: &str, filters: &str, reasons: &[&str], keep: impl Fn(&Game) -> bool) {
    let games: Vec<Game> = games(name).into_iter().filter(Game::annotated).collect();
    let (stats, _) = filtered(name, filters);
    let kept: Vec<&Game> = games.iter().filter(|game| keep(game)).collect();
    let evals: u64 = kept.iter().map(|game| game.evals()).sum();
    assert!(
        !kept.is_empty() && kept.len() < games.len(),
        "{filters} filters nothing"
    );
    let labels = stats["labels"].as_u64().unwrap();
    assert_eq!(
        labels + skipped(&stats, "finished_position"),
        evals,
        "{filters}"
    );
    let left_out: u64 = reasons.iter().map(|reason| skipped(&stats, reason)).sum();
    assert_eq!(left_out, (games.len() - kept.len()) as u64, "{filters}");
    assert_eq!(stats["games_annotated"], games.len(), "{filters}");
}

/// Builds with filters on positions, and compares kept and omitted labels with those of the text.
/// `keep` gets the ply, the move to the position, its evaluation, and the move played in it.
fn check_positions(
    filters: &str,
    reason: &str,
    keep: impl Fn(usize, &str, &str, &str) -> bool,
) -> Vec<Record> {
    let (mut kept, mut left_out) = (0u64, 0u64);
    for game in games(JUNE) {
        for (i, (san, eval)) in game.moves.iter().enumerate() {
            let next = game.moves.get(i + 1).map_or("", |(san, _)| san);
            let Some(eval) = eval else { continue };
            match keep(i + 1, san, eval, next) {
                true => kept += 1,
                false => left_out += 1,
            }
        }
    }
    assert!(kept > 0 && left_out > 0, "{filters} filters nothing");
    let (stats, records) = filtered(JUNE, filters);
    // The text does not show stalemates.
    let labels = stats["labels"].as_u64().unwrap() + skipped(&stats, "finished_position");
    assert_eq!(labels, kept, "{filters}");
    assert_eq!(skipped(&stats, reason), left_out, "{filters}");
    records
}

#[test]
fn rating_filters_apply_to_both_players() {
    let filters = "--min-rating 1500 --max-rating 2000";
    check_games(JUNE, filters, &["rating_out_of_range"], |game| {
        let (white, black) = game.ratings().unwrap();
        white.min(black) >= 1500 && white.max(black) <= 2000
    });
    check_games(
        OCTOBER,
        "--max-rating 1800",
        &["rating_out_of_range"],
        |game| {
            game.ratings()
                .is_some_and(|(white, black)| white.max(black) <= 1800)
        },
    );
}

#[test]
fn unrated_games_are_left_out_where_ratings_are_filtered() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("a.pgn");
    let game =
        "[Event \"x\"]\n[WhiteElo \"1500\"]\n[BlackElo \"?\"]\n\n1. e4 { [%eval 0.3] } *\n\n";
    std::fs::write(&source, game).unwrap();
    for (filters, unrated) in [("", 0), ("--min-rating 1", 1)] {
        let path = folder.path().join(format!("{unrated}.dataset"));
        build(&[&source], &path, filters).succeeded();
        let stats = stats(&path);
        assert_eq!(skipped(&stats, "unrated"), unrated, "{filters}");
        assert_eq!(stats["unrated"], 1 - unrated, "{filters}");
    }
}

/// Every annotated game of two dumps is in the class that Lichess wrote.
#[test]
fn speeds_match_lichess() {
    for name in [JUNE, OCTOBER] {
        let speeds = ["ultrabullet", "bullet", "blitz", "rapid", "classical"];
        for speed in speeds {
            let games = games(name);
            let annotated = games.iter().filter(|game| game.annotated());
            if annotated.filter(|game| game.speed() == speed).count() > 0 {
                let filters = format!("--speeds {speed}");
                check_games(name, &filters, &["other_speed"], |game| {
                    game.speed() == speed
                });
            }
        }
    }
    check_games(OCTOBER, "--speeds bullet,rapid", &["other_speed"], |game| {
        game.speed() == "bullet" || game.speed() == "rapid"
    });
}

#[test]
fn months_are_a_range() {
    let folder = tempfile::tempdir().unwrap();
    let annotated = |name| games(name).into_iter().filter(Game::annotated).count() as u64;
    let (old, october) = (annotated(OLD), annotated(OCTOBER));
    for (filters, kept, left_out) in [
        ("--to-month 2013-02", old, october),
        ("--from-month 2021-10", october, old),
        ("--from-month 2013-02 --to-month 2021-10", old + october, 0),
        ("--from-month 2013-03 --to-month 2021-09", 0, old + october),
    ] {
        let path = folder.path().join(filters);
        build(&[&sample(OLD), &sample(OCTOBER)], &path, filters).succeeded();
        let stats = stats(&path);
        assert_eq!(stats["games_kept"], kept, "{filters}");
        assert_eq!(skipped(&stats, "other_month"), left_out, "{filters}");
    }
}

#[test]
fn bots_and_terminations_are_left_out_on_request() {
    let bot = |game: &Game| {
        game.tag("WhiteTitle") == Some("BOT") || game.tag("BlackTitle") == Some("BOT")
    };
    check_games(JUNE, "--skip-bots", &["bot"], |game| !bot(game));
    check_games(
        JUNE,
        "--skip-terminations time-forfeit",
        &["termination"],
        |game| game.tag("Termination") != Some("Time forfeit"),
    );
    let filters = "--skip-bots --skip-terminations normal,abandoned --min-rating 1500";
    check_games(
        JUNE,
        filters,
        &["bot", "termination", "rating_out_of_range"],
        |game| {
            let (white, black) = game.ratings().unwrap();
            !bot(game)
                && game.tag("Termination") == Some("Time forfeit")
                && white.min(black) >= 1500
        },
    );
}

#[test]
fn quiet_positions_are_neither_in_check_nor_before_a_capture_or_promotion() {
    let records = check_positions("--keep quiet", "not_quiet", |_, san, _, next| {
        !san.contains('+') && !next.contains('x') && !next.contains('=')
    });
    assert!(records.iter().all(|record| !record.in_check()));
}

#[test]
fn filters_by_lowest_ply() {
    let records = check_positions("--min-ply 20", "early_ply", |ply, _, _, _| ply >= 20);
    assert!(records.iter().all(|record| record.ply() >= 20));
}

#[test]
fn filters_by_evaluation_range_and_mates() {
    let size = |eval: &str| {
        let pawns = eval.parse::<f64>().ok();
        pawns.map(|pawns| (100.0 * pawns.abs()).round())
    };
    let records = check_positions(
        "--min-eval 50 --max-eval 300",
        "eval_out_of_range",
        |_, _, eval, _| size(eval).is_none_or(|size| (50.0..=300.0).contains(&size)),
    );
    assert!(records.iter().any(|record| record.label().mate().is_some()));
    let records = check_positions("--skip-mates", "mate", |_, _, eval, _| size(eval).is_some());
    assert!(records.iter().all(|record| record.label().mate().is_none()));
}

#[test]
fn reads_the_depth_of_the_comment() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (folder.path().join("a.pgn"), folder.path().join("a.dataset"));
    let evals = "1. e4 { [%eval 0.3,19] } e5 { [%eval 0.3,20] } 2. d4 { [%eval 0.3] } *";
    std::fs::write(&source, format!("[Event \"x\"]\n\n{evals}\n")).unwrap();
    build(&[&source], &path, "--min-depth 20").succeeded();
    let stats = stats(&path);
    assert_eq!(
        (&stats["labels"], skipped(&stats, "low_depth")),
        (&1.into(), 2)
    );
}

/// Two million evaluations with depths, from engine games.
#[test]
fn reads_the_depth_of_the_comment_in_engine_games() {
    let Some(source) = shared("engine_pgn/tcec_to_s25.pgn.zst") else {
        return;
    };
    let text = text_of(&source);
    let standard = text.split("[Event ").filter(|game| {
        let variant = game.contains("[Variant ");
        !variant || game.contains("[Variant \"normal\"]")
    });
    let evals = standard.flat_map(|game| game.split("[%eval ").skip(1));
    let depths = evals.map(|eval| {
        let depth = eval.split(']').next().unwrap().split_once(',');
        depth.map_or(0, |(_, depth)| depth.parse().unwrap())
    });
    let (deep, shallow): (Vec<u32>, Vec<u32>) = depths.partition(|&depth| depth >= 30);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dataset");
    build(&[&source], &path, "--min-depth 30").succeeded();
    let stats = stats(&path);
    let labels = stats["labels"].as_u64().unwrap() + skipped(&stats, "finished_position");
    assert_eq!(labels, deep.len() as u64);
    assert_eq!(skipped(&stats, "low_depth"), shallow.len() as u64);
}

/// A third of each game, from varying starts: the expected number, reproducible, of both sides to
/// move, and a subset of the unfiltered records.
#[test]
fn every_nth_position_is_a_sample() {
    let evals = games(JUNE).iter().map(Game::evals).collect::<Vec<_>>();
    let (stats, records) = filtered(JUNE, "--every 3");
    let labels = stats["labels"].as_u64().unwrap();
    let least = evals.iter().map(|n| n / 3).sum::<u64>();
    let most = evals.iter().map(|n| n.div_ceil(3)).sum::<u64>();
    assert!(
        least < labels && labels < most,
        "{least} to {most}: {labels}"
    );
    assert_eq!(
        labels + skipped(&stats, "thinned") + skipped(&stats, "finished_position"),
        evals.iter().sum::<u64>()
    );
    assert_eq!(records, filtered(JUNE, "--every 3").1);
    let (_, all) = filtered(JUNE, "");
    let all: std::collections::HashSet<String> = all.iter().map(Record::epd).collect();
    assert!(records.iter().all(|record| all.contains(&record.epd())));
    let (_, pairs) = filtered(JUNE, "--every 2");
    let black = pairs
        .iter()
        .filter(|record| record.turn().is_black())
        .count();
    assert!(
        (2..3).contains(&(5 * black / pairs.len())),
        "{black} of {}",
        pairs.len()
    );
}

/// Without filters every possible label is kept.
#[test]
fn by_default_every_evaluation_is_kept() {
    for name in [JUNE, OLD, OCTOBER] {
        let (stats, _) = filtered(name, "");
        let reasons = stats["skipped"].as_object().unwrap().keys();
        let evals: u64 = games(name).iter().map(Game::evals).sum();
        for reason in reasons {
            assert!(
                ["unannotated", "finished_position"].contains(&&reason[..]),
                "{reason}"
            );
        }
        assert_eq!(
            stats["labels"].as_u64().unwrap() + skipped(&stats, "finished_position"),
            evals
        );
        assert_eq!(
            stats["filters"],
            serde_json::json!({"validation_percent": 5, "chess960": false})
        );
    }
}

#[test]
fn the_report_counts_kept_games_by_rating() {
    let (stats, _) = filtered(OLD, "");
    let mut expected = std::collections::BTreeMap::<String, u64>::new();
    for game in games(OLD).iter().filter(|game| game.annotated()) {
        let (white, black) = game.ratings().unwrap();
        *expected
            .entry(((white + black) / 2 / 100 * 100).to_string())
            .or_default() += 1;
    }
    assert_eq!(stats["ratings"], serde_json::to_value(&expected).unwrap());
    assert_eq!(stats["unrated"], 0);
}

#[test]
fn a_dataset_keeps_its_filters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dataset");
    build(&[&sample(OLD)], &path, "--speeds rapid,blitz --min-ply 8").succeeded();
    let filters = &stats(&path)["filters"];
    assert_eq!(filters["speeds"], serde_json::json!(["blitz", "rapid"]));
    build(&[&sample(OLD)], &path, "--min-ply 8 --speeds blitz,rapid").succeeded();
    build(&[&sample(OLD)], &path, "--min-ply 9 --speeds blitz,rapid")
        .failed(5, &["filters", "min_ply 8, now 9"]);
}

/// Absurd ratings are drawn like others.
#[test]
fn the_highest_ratings_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let game = "[WhiteElo \"65535\"]\n[BlackElo \"65535\"]\n\n1. e4 { [%eval 0.3] } *\n";
    std::fs::write(path("a.pgn"), game).unwrap();
    build(&[&path("a.pgn")], &path("dataset"), "").succeeded();
    let mut command = program("ingest");
    command.arg("stats").arg(path("dataset")).arg("--plot");
    run(command.arg(path("a.svg"))).succeeded();
    let svg = std::fs::read_to_string(path("a.svg")).unwrap();
    assert!(svg.contains("65500 to 65599"), "{svg}");
}

#[test]
fn rejects_contradictory_filters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dataset");
    for (filters, word) in [
        (
            "--min-rating 2000 --max-rating 1000",
            "--min-rating 2000 is above --max-rating 1000",
        ),
        (
            "--from-month 2021-02 --to-month 2021-01",
            "--from-month 2021-02 is above --to-month 2021-01",
        ),
        (
            "--min-eval 300 --max-eval 100",
            "--min-eval 300 is above --max-eval 100",
        ),
        ("--min-eval 30001", "30000"),
        ("--max-eval 40000", "30000"),
        (
            "--from-month 2020-07 --to-month 2020-08 --skip-bad-months",
            "--skip-bad-months leaves out every month",
        ),
        ("--from-month 2012-12", "2013-01 to 2034-03"),
        ("--to-month 2099-01", "2013-01 to 2034-03"),
        ("--speeds quick", "ultrabullet, bullet, blitz"),
        ("--skip-terminations lost", "time-forfeit, abandoned"),
        ("--from-month 2021-13", "2021-04"),
        ("--every 0", "1 or more"),
        ("--max-positions 0", "1 or more"),
        (
            "--validation-percent 100",
            "nothing would be left to train on; give",
        ),
        ("--validation-percent 101", "0 to 99"),
    ] {
        let said = build(&[&sample(OLD)], &path, filters);
        assert_eq!(said.code, Some(2), "{filters}: {}", said.err);
        assert!(said.err.contains(word), "{filters}: {}", said.err);
        assert!(!path.exists(), "{filters}");
    }
    // A range with one good month is accepted.
    let months = "--from-month 2020-07 --to-month 2020-09 --skip-bad-months";
    build(&[&sample(OLD)], &path, months).succeeded();
}

/// An omitted game counts for one reason only, and its moves are not parsed.
#[test]
fn a_game_left_out_is_counted_for_one_reason() {
    let folder = tempfile::tempdir().unwrap();
    for (name, tag, filters) in [
        ("variant", "[Variant \"Antichess\"]", ""),
        (
            "bad_tags",
            "[Round \"1\"] [TimeControl \"15'/game & 10\"/move\"]",
            "",
        ),
        ("bad_fen", "[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]", ""),
        (
            "rating_out_of_range",
            "[WhiteElo \"900\"]\n[BlackElo \"2500\"]",
            "--min-rating 1500",
        ),
        ("unrated", "[WhiteElo \"?\"]", "--min-rating 1500"),
        ("other_speed", "[TimeControl \"60+0\"]", "--speeds blitz"),
        (
            "other_month",
            "[UTCDate \"2020.01.01\"]",
            "--from-month 2021-01",
        ),
        ("bot", "[WhiteTitle \"BOT\"]", "--skip-bots"),
        (
            "termination",
            "[Termination \"Abandoned\"]",
            "--skip-terminations abandoned",
        ),
    ] {
        let (file, dataset) = (
            folder.path().join(name),
            folder.path().join(format!("{name}.dataset")),
        );
        // `Sf3`, German notation of a knight move, is unreadable.
        let moves = "1. e4 { [%eval 0.3] } e5 { [%eval 0.2] } 2. Sf3 { [%eval 0.3] } *";
        std::fs::write(&file, format!("[Event \"x\"]\n{tag}\n\n{moves}\n")).unwrap();
        build(&[&file], &dataset, filters).succeeded();
        let expected = serde_json::json!({ name: 1 });
        assert_eq!(stats(&dataset)["skipped"], expected, "{name}");
    }
}
