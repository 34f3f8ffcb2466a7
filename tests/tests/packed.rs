//! viriformat, bullet's boards and Stockfish's binpack, compared with the crates that write them.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::LazyLock;

use datasets::{
    Filters, GameResult, Label, MoveRecord, Origin, PackedFormat, Record, SkipReason, SourceCounts,
    read_labelled,
};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position};
use tests::exit::DAMAGED;
use tests::interrupted::interrupt;
use tests::{build, contents, program, run, sample, stats};
use viriformat::chess::board::{Board, DrawType, GameOutcome, WinType};
use viriformat::dataformat::{Game, WDL};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";

/// Random games as the viriformat crate writes them, and their records from the crate's own
/// positions.
struct Viri {
    games: Vec<Vec<u8>>,
    records: Vec<Vec<Record>>,
}

fn read_fen(fen: &str) -> Chess {
    let fen: Fen = fen.parse().unwrap();
    let setup = fen.into_setup();
    let position = shakmaty::FromSetup::from_setup(setup, CastlingMode::Chess960);
    position
        .or_else(shakmaty::PositionError::ignore_invalid_ep_square)
        .unwrap()
}

fn viri(games: usize, seed: u64, chess960: bool) -> Viri {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut all = Viri {
        games: Vec::new(),
        records: Vec::new(),
    };
    for _ in 0..games {
        let mut board = Board::new();
        match chess960 {
            true => board.set_dfrc_idx(random.usize(..960 * 960)),
            // The crate's own notation of castling; the moves are the same.
            false => board.set_startpos(true),
        }
        let mut game = Game::new(&board);
        let (result, outcome) = match random.u8(..3) {
            0 => (GameResult::BlackWins, GameOutcome::BlackWin(WinType::Mate)),
            1 => (GameResult::Draw, GameOutcome::Draw(DrawType::Repetition)),
            _ => (GameResult::WhiteWins, GameOutcome::WhiteWin(WinType::TB)),
        };
        game.set_outcome(outcome);
        let mut records = Vec::new();
        for _ in 0..random.usize(1..160) {
            let moves = board.legal_moves();
            // Prefer castling, which is rare among random moves.
            let castling = moves.iter().find(|m| m.is_castle());
            let chosen = castling.filter(|_| random.bool()).copied();
            let Some(m) = chosen.or_else(|| random.choice(&moves).copied()) else {
                break;
            };
            let score = match random.u8(..20) {
                0 => random.i16(31_000..32_000) * if random.bool() { 1 } else { -1 },
                _ => random.i16(-3000..3000),
            };
            let label = match score.abs() {
                size @ 31_000.. => {
                    let moves = (32_000 - size + 1) / 2;
                    Label::from_mate(i64::from(moves * score.signum())).unwrap()
                }
                _ => Label::from_centipawns(score.into()),
            };
            let origin = Origin {
                result: Some(result),
                tactical: board.is_tactical(m),
                ..Origin::default()
            };
            records.push(Record::new(&read_fen(&board.to_string()), label, origin));
            game.add_move(m, score);
            assert!(board.make_move_simple(m));
        }
        let mut bytes = Vec::new();
        game.serialise_into(&mut bytes).unwrap();
        all.games.push(bytes);
        all.records.push(records);
    }
    all
}

fn read(format: PackedFormat, bytes: &[u8]) -> (Vec<Record>, SourceCounts) {
    let (mut records, mut tally) = (Vec::new(), SourceCounts::default());
    let filters = Filters {
        chess960: true,
        ..Filters::default()
    };
    let each = |_, read: &[Record]| records.extend_from_slice(read);
    format.read(bytes, &filters, &mut tally, each);
    (records, tally)
}

#[test]
fn viriformat_is_read_as_its_crate_writes_it() {
    for chess960 in [false, true] {
        let viri = viri(400, 1, chess960);
        let bytes = viri.games.concat();
        assert_eq!(PackedFormat::detect(&bytes), Some(PackedFormat::Viriformat));
        assert_eq!(PackedFormat::Viriformat.whole(&bytes), Ok(bytes.len()));
        let (records, tally) = read(PackedFormat::Viriformat, &bytes);
        assert_eq!(records, viri.records.concat());
        assert_eq!(tally.skipped, [].into());
        assert_eq!((tally.games, tally.games_kept), (400, 400));
        assert_eq!(tally.labels as usize, records.len());
    }
}

/// Returns the moves of each game, each checked to lead to the position of the next.
fn moves(format: PackedFormat, bytes: &[u8]) -> (Vec<Vec<MoveRecord>>, SourceCounts) {
    let (mut games, mut tally) = (Vec::new(), SourceCounts::default());
    let filters = Filters {
        chess960: true,
        ..Filters::default()
    };
    format.read_moves(bytes, &filters, &mut tally, |_, moves| {
        games.push(moves.to_vec())
    });
    let fen = |played: &MoveRecord| format!("{} 0 1", played.position().epd());
    for game in &games {
        for pair in game.windows(2) {
            let mut position = read_fen(&fen(&pair[0]));
            let m = pair[0].uci().to_move(&position).unwrap();
            position.play_unchecked(m);
            let next = Record::new(&position, Label::from_centipawns(0), Origin::default());
            assert_eq!(next.epd(), pair[1].position().epd());
        }
    }
    (games, tally)
}

/// Moves come from packed games too, scored or not, with unknown players.
#[test]
fn packed_games_bring_their_moves() {
    let epds = |records: &[Record]| records.iter().map(Record::epd).collect::<Vec<_>>();
    for chess960 in [false, true] {
        let viri = viri(100, 5, chess960);
        let (games, tally) = moves(PackedFormat::Viriformat, &viri.games.concat());
        assert_eq!((games.len(), tally.unrated), (100, 100));
        for (game, records) in games.iter().zip(&viri.records) {
            let positions = game.iter().map(MoveRecord::position).collect::<Vec<_>>();
            assert_eq!(epds(&positions), epds(records));
        }
    }
    let (bytes, records) = &*BINPACK;
    let (games, tally) = moves(PackedFormat::Binpack, bytes);
    let count: usize = games.iter().map(Vec::len).sum();
    assert!(count > records.len(), "unscored positions have moves too");
    assert_eq!(tally.labels as usize, count);
    assert_eq!(tally.skipped, [].into());
    let players = games.concat();
    assert!(
        players
            .iter()
            .all(|played| played.rating().is_none() && played.speed().is_none())
    );
}

#[test]
fn cuts_and_counts_illegal_games_of_viriformat() {
    let viri = viri(3, 2, false);
    let [first, second, third] = &viri.games[..] else {
        panic!("three games")
    };
    let (all, half) = (viri.records.concat(), viri.records[1].len() / 2);
    let mut broken = second.clone();
    broken[32 + 4 * half] ^= 0x3F;
    let (records, tally) = read(
        PackedFormat::Viriformat,
        &[&first[..], &broken, third].concat(),
    );
    assert_eq!(tally.skipped, [(SkipReason::IllegalMove, 1)].into());
    let wanted = [
        &viri.records[0][..],
        &viri.records[1][..half],
        &viri.records[2],
    ];
    assert_eq!(records, wanted.concat());
    // A missing score (Stockfish's VALUE_NONE) does not end the game.
    let mut unscored = first.clone();
    unscored[34..36].copy_from_slice(&32_002i16.to_le_bytes());
    let (records, tally) = read(PackedFormat::Viriformat, &unscored);
    assert_eq!(tally.skipped, [(SkipReason::MalformedEval, 1)].into());
    assert_eq!(records, all[1..viri.records[0].len()]);
    // Two kings of one colour.
    let mut illegal = first.clone();
    illegal[8..24].fill(0x55);
    let (records, tally) = read(PackedFormat::Viriformat, &illegal);
    assert_eq!((records.len(), tally.skipped[&SkipReason::BadFen]), (0, 1));
}

/// Arbitrary changes and cuts never panic, and records before the damage are read.
#[test]
fn survives_changed_bytes() {
    let mut random = fastrand::Rng::with_seed(3);
    let viri = viri(20, 3, true).games.concat();
    let binpack = binpack(20, 3).0;
    let bullet = bullet(&read(PackedFormat::Viriformat, &viri).0);
    for (format, bytes) in [
        (PackedFormat::Viriformat, viri),
        (PackedFormat::Bullet, bullet),
        (PackedFormat::Binpack, binpack),
    ] {
        let whole = read(format, &bytes).0;
        assert!(whole.len() > 500, "{format:?}");
        for _ in 0..2000 {
            let mut bytes = bytes.clone();
            let mut intact = bytes.len();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
                intact = intact.min(at);
            }
            bytes.truncate(random.usize(..=bytes.len()));
            intact = intact.min(bytes.len());
            let (records, _) = read(format, &bytes);
            let before = format.whole(&bytes[..intact]).unwrap();
            let before = read(format, &bytes[..before]).0;
            assert!(records.starts_with(&before) && whole.starts_with(&before));
            PackedFormat::detect(&bytes);
        }
        let noise: Vec<u8> = (0..100_000).map(|_| random.u8(..)).collect();
        assert_eq!(PackedFormat::detect(&noise), None);
        read(format, &noise);
    }
}

/// Exports are read by the viriformat crate, with every move legal, and by `ingest build`, which
/// restores all that the format can hold.
#[test]
fn viriformat_comes_back_from_a_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let games = viri(300, 7, true);
    fs::write(path("x"), games.games.concat()).unwrap();
    let build = |source: &Path, dataset: &Path| {
        let mut command = program("ingest");
        command.args(["build", "--chess960", "--validation-percent", "0"]);
        run(command.arg(source).arg("--out").arg(dataset)).succeeded()
    };
    build(&path("x"), &path("d"));
    let mut export = program("ingest");
    export.arg("export").arg(path("d"));
    export.args(["--format", "viriformat", "--out"]);
    run(export.arg(path("y"))).succeeded();
    let bytes = fs::read(path("y")).unwrap();
    let records = tests::records(&path("d"), datasets::Split::Train);
    let mut reader = &bytes[..];
    let mut mates = 0;
    for record in &records {
        // With assertions enabled, this checks that board and move are legal.
        let game = Game::deserialise_from(&mut reader, Vec::new()).unwrap();
        let outcome = match record.result().unwrap() {
            GameResult::WhiteWins => WDL::Win,
            GameResult::Draw => WDL::Draw,
            GameResult::BlackWins => WDL::Loss,
        };
        assert_eq!(game.outcome(), outcome);
        let m = game.moves().next().unwrap();
        let tactical = game.initial_position().is_tactical(m);
        assert_eq!(tactical, record.is_tactical(), "{record:?}");
        let mut seen = Vec::new();
        game.visit_positions(|board, score| {
            let position = read_fen(&board.to_string());
            let origin = Origin {
                result: record.result(),
                tactical: record.is_tactical(),
                ..Origin::default()
            };
            match record.label().mate() {
                Some(moves) => {
                    let plies = 32_000 - score.abs();
                    assert_eq!((plies + 1) / 2 * score.signum(), moves);
                    // The mating side plays the last ply.
                    assert_eq!(plies % 2 == 1, (moves > 0) == record.turn().is_white());
                    mates += 1;
                }
                None => assert_eq!(Some(score), record.label().centipawns()),
            }
            seen.push(Record::new(&position, record.label(), origin));
        });
        assert_eq!(seen, [*record]);
    }
    assert!(reader.is_empty());
    let tactical = records.iter().filter(|record| record.is_tactical());
    assert!(tactical.count() > records.len() / 20);
    assert!(mates > 100);
    build(&path("y"), &path("again"));
    assert!(tests::records(&path("again"), datasets::Split::Train) == records);
}

/// Returns a record as a board of bullet's own crate.
fn board(record: &Record) -> bulletformat::ChessBoard {
    let result = match record.result() {
        Some(GameResult::WhiteWins) => "1.0",
        Some(GameResult::BlackWins) => "0.0",
        _ => "0.5",
    };
    let score = record.label().bullet_score();
    let line = format!("{} 0 1 | {score} | {result}", record.epd());
    line.parse().unwrap()
}

fn bullet(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for board in records.iter().map(board) {
        bytes.extend(board.occ.to_le_bytes());
        bytes.extend(board.pcs);
        bytes.extend(board.score.to_le_bytes());
        bytes.extend([board.result, board.ksq, board.opp_ksq, 0, 0, 0]);
    }
    bytes
}

#[test]
fn bullets_boards_come_back_from_a_dataset_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, file) = (path("d"), path("x"));
    build(&[&sample(JUNE)], &dataset).succeeded();
    run(program("ingest")
        .arg("export")
        .arg(&dataset)
        .args(["--format", "bullet", "--out"])
        .arg(&file))
    .succeeded();
    let bytes = fs::read(&file).unwrap();
    assert_eq!(PackedFormat::detect(&bytes), Some(PackedFormat::Bullet));
    let mut records = Vec::new();
    read_labelled(&file, |record| records.push(record)).unwrap();
    assert_eq!(records.len(), bytes.len() / 32);
    assert!(records.iter().all(|record| {
        record.turn() == Color::White && record.castling().count() == 0 && record.ply() == 0
    }));
    assert!(bullet(&records) == bytes);
    build(&[&file], &path("again")).succeeded();
    let again = stats(&path("again"));
    assert_eq!(again["labels"], records.len());
    assert_eq!(again["skipped"], serde_json::json!({}));
}

/// Chains of three thousand games, and their records.
static BINPACK: LazyLock<(Vec<u8>, Vec<Record>)> = LazyLock::new(|| binpack(3000, 5));

/// Returns chains written by the sfbinpack crate, and the records according to its reader.
fn binpack(games: usize, seed: u64) -> (Vec<u8>, Vec<Record>) {
    use sfbinpack::chess::coords::Square;
    use sfbinpack::chess::r#move::{Move, MoveType};
    use sfbinpack::chess::{piece::Piece, piecetype::PieceType};
    use sfbinpack::{CompressedTrainingDataEntryReader, CompressedTrainingDataEntryWriter};
    let square = |square: shakmaty::Square| Square::new(square as u32);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut writer = CompressedTrainingDataEntryWriter::new_in_memory().unwrap();
    for _ in 0..games {
        let mut position = Chess::new();
        let mut result = random.i16(-1..=1);
        for ply in 0..random.u16(1..160) {
            let moves = position.legal_moves();
            let castling = moves
                .iter()
                .find(|m| m.is_castle())
                .filter(|_| random.bool());
            let Some(m) = castling.or_else(|| random.choice(&moves)).copied() else {
                break;
            };
            let (from, to) = (square(m.from().unwrap()), square(m.to()));
            let mv = match m {
                shakmaty::Move::Castle { rook, .. } => Move::castle(from, square(rook)),
                shakmaty::Move::EnPassant { .. } => Move::en_passant(from, to),
                _ => match m.promotion() {
                    Some(role) => {
                        let kind = PieceType::from_ordinal(role as u8 - 1);
                        let color = position.turn().fold_wb(
                            sfbinpack::chess::color::Color::White,
                            sfbinpack::chess::color::Color::Black,
                        );
                        Move::promotion(from, to, Piece::new(kind, color))
                    }
                    None => Move::normal(from, to),
                },
            };
            let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
            let score = match random.u8(..20) {
                0 => random.i16(31_500..32_003) * if random.bool() { 1 } else { -1 },
                _ => random.i16(-3000..3000),
            };
            let pos = sfbinpack::chess::position::Position::from_fen(&fen).unwrap();
            let entry = sfbinpack::TrainingDataEntry {
                pos,
                mv,
                score,
                ply,
                result,
            };
            writer.write_entry(&entry).unwrap();
            position.play_unchecked(m);
            result = -result;
        }
    }
    let bytes = writer.into_bytes().unwrap();
    let mut reader = CompressedTrainingDataEntryReader::from_slice(&bytes[..]).unwrap();
    let mut records = Vec::new();
    while reader.has_next() {
        let entry = reader.next();
        let position = read_fen(&entry.pos.fen().unwrap());
        let turn = position.turn();
        let size = 32_000 - i32::from(entry.score.unsigned_abs());
        let sign = i64::from(entry.score.signum());
        let label = match size {
            ..=0 => continue,
            1..=246 => Label::from_mate(sign * i64::from((size + 1) / 2)).unwrap(),
            _ => Label::from_centipawns(entry.score.into()),
        };
        let result = match entry.result * turn.fold_wb(1, -1) {
            1 => GameResult::WhiteWins,
            0 => GameResult::Draw,
            _ => GameResult::BlackWins,
        };
        let (to, kind) = (
            shakmaty::Square::new(entry.mv.to().index()),
            entry.mv.mtype(),
        );
        let origin = Origin {
            result: Some(result),
            // Castling is written as the king's capture of its rook.
            tactical: match kind {
                MoveType::Normal => position.board().occupied().contains(to),
                MoveType::Castle => false,
                MoveType::Promotion | MoveType::EnPassant => true,
            },
            ..Origin::default()
        };
        records.push(Record::new(&position, label.seen_by(turn), origin));
    }
    (bytes, records)
}

#[test]
fn binpack_is_read_as_its_crate_reads_it() {
    let (bytes, wanted) = &*BINPACK;
    assert_eq!(PackedFormat::detect(bytes), Some(PackedFormat::Binpack));
    assert_eq!(PackedFormat::Binpack.whole(bytes), Ok(bytes.len()));
    let (records, tally) = read(PackedFormat::Binpack, bytes);
    assert_eq!(records.len(), wanted.len());
    for (record, wanted) in records.iter().zip(wanted) {
        assert_eq!((record, record.ply()), (wanted, wanted.ply()));
        assert_eq!(record.result(), wanted.result());
    }
    // VALUE_NONE and scores as large.
    let unscored = tally.skipped[&SkipReason::MalformedEval];
    assert!(
        unscored > 0 && tally.skipped.len() == 1,
        "{:?}",
        tally.skipped
    );
    assert_eq!(tally.games, 3000);
}

/// Every format through the program: compressed or not, from a file, on any number of threads.
#[test]
fn a_build_takes_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let games = viri(4000, 5, false);
    let (viri, records) = (games.games.concat(), games.records.concat());
    let some = &records[..50_000];
    let bullet = bullet(some);
    // More than one piece of a megabyte.
    assert!(viri.len() > 1 << 20 && bullet.len() > 1 << 20);
    for (name, bytes, labels) in [
        ("viri", viri, records.len()),
        ("bullet", bullet, some.len()),
        ("binpack", BINPACK.0.clone(), 0),
    ] {
        let (plain, packed) = (path(name), path(&format!("{name}.zst")));
        fs::write(&plain, &bytes).unwrap();
        fs::write(&packed, zstd::encode_all(Cursor::new(&bytes), 1).unwrap()).unwrap();
        let of = |source: &Path, threads: &str| {
            let dataset = path(&format!("{name} {threads}"));
            let _ = fs::remove_dir_all(&dataset);
            let mut command = program("ingest");
            command.arg("build").arg(source).arg("--out").arg(&dataset);
            run(command.env("RAYON_NUM_THREADS", threads)).succeeded();
            let (records, mut stats) = contents(&dataset);
            let sources = stats.as_object_mut().unwrap().remove("sources");
            (records, stats, sources)
        };
        let (records, said, _) = of(&plain, "1");
        if labels > 0 {
            assert_eq!(said["labels"], labels, "{name}");
        }
        for (source, threads) in [(&plain, "3"), (&packed, "2")] {
            let (others, other, _) = of(source, threads);
            assert!(records == others && said == other, "{name}");
        }
        // Truncated files keep the records before the cut.
        fs::write(&plain, &bytes[..bytes.len() - 7]).unwrap();
        let cut = path(&format!("{name} cut"));
        build(&[&plain], &cut).failed(DAMAGED, &["ends inside"]);
        assert!(
            name == "binpack"
                || stats(&cut)["labels"].as_u64() > said["labels"].as_u64().map(|all| all - 200)
        );
    }
}

#[test]
fn kill_9_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // More records than one spilled run.
    let bytes = viri(1000, 6, false).games.concat().repeat(5);
    fs::write(path("x"), &bytes).unwrap();
    fs::write(
        path("x.zst"),
        zstd::encode_all(Cursor::new(&bytes), 1).unwrap(),
    )
    .unwrap();
    for name in ["x", "x.zst"] {
        let (dataset, clean) = (
            path(&format!("{name} killed")),
            path(&format!("{name} clean")),
        );
        interrupt(&[&path(name)], &dataset);
        let said = build(&[&path(name)], &dataset).succeeded();
        assert!(said.err.contains("going on behind game"), "{}", said.err);
        build(&[&path(name)], &clean).succeeded();
        assert!(contents(&dataset) == contents(&clean), "{name}");
    }
}
