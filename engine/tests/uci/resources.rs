//! Networks, books, endgame tables and levels.

use std::fs;
use std::process::Command;

use crate::process::{Uci, field};

#[test]
fn loads_another_network_and_returns_to_the_embedded_one() {
    use models::{Architecture, Metadata, Network};
    let network = Network::random(Architecture::ARTICLE, 5);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a net.safetensors");
    fs::write(
        &path,
        network.to_bytes(&Metadata::new(Architecture::ARTICLE, "test")),
    )
    .unwrap();
    let mut uci = Uci::start();
    let mut score = |setting: &str| {
        uci.send(&format!(
            "setoption name EvalFile value {setting}\nposition startpos\ngo depth 1"
        ));
        let lines = uci.until("bestmove");
        lines[0].split(" nodes ").next().unwrap().to_string()
    };
    let embedded = score("<embedded>");
    let other = score(&path.display().to_string());
    assert_ne!(embedded, other);
    assert_eq!(
        score("/no/such/net").split(' ').nth(1),
        Some("string"),
        "refused"
    );
    assert_eq!(score("<embedded>"), embedded);
}

/// Keys of the start and of 1. e4, published with the Polyglot format.
const START: u64 = 0x463b_9618_1691_fc9c;
const AFTER_E4: u64 = 0x823c_9b50_fd11_4196;

fn entry(key: u64, from: (u16, u16), to: (u16, u16), weight: u16) -> Vec<u8> {
    let mv = from.1 << 9 | from.0 << 6 | to.1 << 3 | to.0;
    let mut bytes = key.to_be_bytes().to_vec();
    bytes.extend(mv.to_be_bytes());
    bytes.extend(weight.to_be_bytes());
    bytes.extend([0; 4]);
    bytes
}

#[test]
fn plays_book_moves_until_the_book_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my book.bin");
    let entries = [
        // The move a2a3, and the illegal h2h5.
        entry(START, (0, 1), (0, 2), 1),
        entry(START, (7, 1), (7, 4), 60_000),
        entry(AFTER_E4, (0, 6), (0, 5), 1),
    ];
    fs::write(&path, entries.concat()).unwrap();
    let mut uci = Uci::start();
    uci.send(&format!(
        "setoption name BookFile value {}\nisready",
        path.display()
    ));
    assert_eq!(uci.until("readyok")[0], "info string book with 3 entries");
    let mut answer = |lines: &str| {
        uci.send(lines);
        uci.until("bestmove")
    };
    assert!(
        answer("go depth 2").len() > 1,
        "only where it is wished for"
    );
    let move_only = |best: &str| vec![format!("bestmove {best}")];
    assert_eq!(
        answer("setoption name OwnBook value true\ngo wtime 60000 btime 60000"),
        move_only("a2a3")
    );
    assert_eq!(
        answer("position startpos moves e2e4\ngo depth 9"),
        move_only("a7a6")
    );
    assert!(answer("position startpos moves d2d4\ngo depth 2").len() > 1);
    // Analysis ignores books.
    assert!(answer("position startpos\ngo depth 2 searchmoves d2d4").len() > 1);
    uci.send("go infinite");
    uci.until("info depth 2 ");
    uci.send("stop");
    uci.best_move();
    let empty = tempfile::NamedTempFile::new().unwrap();
    let line = format!("setoption name BookFile value {}", empty.path().display());
    uci.refused(&line, "multiple of 16");
    uci.send("go depth 9");
    assert_eq!(uci.until("bestmove"), ["bestmove a2a3"], "the book stays");
}

#[test]
fn probes_endgame_tables() {
    let Some(folder) = test_support::shared("syzygy34") else {
        return;
    };
    let mut uci = Uci::start();
    uci.send(&format!(
        "setoption name SyzygyPath value {}\nisready",
        folder.display()
    ));
    assert_eq!(
        uci.until("readyok")[0],
        "info string 70 Syzygy files, up to 4 pieces"
    );
    // After the capture of the pawn, the tables have the position.
    uci.send("setoption name Evaluation value material");
    uci.send("position fen 8/8/8/8/8/1k6/3p4/K2BN3 b - - 0 1\ngo depth 6");
    let lines = uci.until("bestmove");
    let last = &lines[lines.len() - 2];
    assert_ne!(field(last, "tbhits"), "0", "{lines:?}");
}

/// Returns the moves and scores of all moves at depth 2.
fn scores(uci: &mut Uci, position: &str) -> Vec<(String, i32)> {
    uci.send("setoption name Level value off\nsetoption name MultiPV value 256\nucinewgame");
    uci.send(&format!("{position}\ngo depth 2"));
    let lines = uci.until("bestmove");
    let of_depth_2 = lines.iter().filter(|line| line.contains(" depth 2 "));
    let mut scores: Vec<(String, i32)> = of_depth_2
        .map(|line| {
            (
                field(line, "pv").to_string(),
                field(line, "cp").parse().unwrap(),
            )
        })
        .collect();
    scores.sort_by_key(|(_, score)| -score);
    scores
}

#[test]
fn levels_play_any_move_within_the_margin() {
    let position = "position startpos moves e2e4 e7e5 g1f3 b8c6";
    let mut uci = Uci::start();
    let scores = scores(&mut uci, position);
    assert_eq!(scores.len(), 27, "one a move: {scores:?}");
    let least = scores[0].1 - 70;
    uci.send("setoption name MultiPV value 1\nsetoption name Level value easy");
    let mut played = Vec::new();
    for _ in 0..30 {
        uci.send(&format!("ucinewgame\n{position}\ngo movetime 10000"));
        let lines = uci.until("bestmove");
        assert!(
            lines.iter().all(|line| !line.contains("multipv 2")),
            "{lines:?}"
        );
        assert!(
            lines.iter().all(|line| !line.contains("depth 3 ")),
            "{lines:?}"
        );
        played.push(lines.last().unwrap().split(' ').nth(1).unwrap().to_string());
    }
    for mv in &played {
        let score = scores.iter().find(|(scored, _)| scored == mv).unwrap().1;
        assert!(score >= least, "{mv}: {scores:?}");
    }
    played.sort_unstable();
    played.dedup();
    assert!(played.len() > 1, "by chance: {played:?}");
}

#[test]
fn lower_elo_searches_fewer_nodes() {
    let mut uci = Uci::start();
    uci.send("setoption name UCI_LimitStrength value true");
    for (elo, nodes) in [(400, 63), (1200, 252), (2360, 1_040)] {
        uci.send(&format!(
            "setoption name UCI_Elo value {elo}\ngo movetime 100000"
        ));
        let lines = uci.until("bestmove");
        for line in lines.iter().filter(|line| line.contains(" nodes ")) {
            assert!(
                field(line, "nodes").parse::<u64>().unwrap() <= nodes,
                "{line}"
            );
        }
    }
}

/// Runs under another account with a limit on its threads.
#[cfg(target_os = "linux")]
#[test]
fn searches_with_fewer_threads_if_the_system_has_no_more() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 54_321;
    const THREADS: u32 = 12;
    let folder = tempfile::tempdir().unwrap();
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        test_support::skip("only root may run the engine under another account");
        return;
    }
    let program = folder.path().join("engine");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // Copied by another process: a file that this process has open for writing would be inherited
    // by children of other tests, and could not be executed.
    let copied = Command::new("install")
        .args(["-m", "755", env!("CARGO_BIN_EXE_engine")])
        .arg(&program)
        .status();
    assert!(copied.unwrap().success());
    let mut shell = Command::new("bash");
    let script = format!("ulimit -u {THREADS} && exec \"$0\"");
    shell
        .args(["-c", &script])
        .arg(&program)
        .uid(NOBODY)
        .gid(NOBODY);
    let mut uci = Uci::spawn(&mut shell);
    uci.send("setoption name Threads value 32\ngo infinite");
    uci.until("info depth 5 ");
    uci.ready();
    uci.send("stop");
    let lines = uci.until("bestmove ");
    let said = lines.iter().find(|line| line.starts_with("info string"));
    let said = said.unwrap_or_else(|| panic!("{lines:?}"));
    let found: u32 = field(said, "with").parse().unwrap();
    assert!((2..THREADS).contains(&found), "{said}");
    assert!(said.ends_with("32"), "{said}");
    // With one thread, no message appears.
    uci.send("setoption name Threads value 1\ngo depth 3");
    let lines = uci.until("bestmove ");
    assert!(
        lines.iter().all(|line| !line.contains("string")),
        "{lines:?}"
    );
    assert_eq!(uci.close(), "");
}

/// Mapping a large table while a clock runs would delay the first searches.
#[cfg(target_os = "linux")]
#[test]
fn the_table_is_mapped_before_readyok() {
    const TABLE: u64 = 256 << 10;
    let mut uci = Uci::start();
    for commands in [
        "setoption name Hash value 256",
        "setoption name Threads value 4\nucinewgame",
        "setoption name Clear Hash",
    ] {
        uci.send(commands);
        uci.ready();
        let has = uci.memory();
        assert!((TABLE..2 * TABLE).contains(&has), "{commands}: {has} KiB");
        // Clearing the table keeps its memory mapped.
        uci.send("go nodes 2000");
        uci.best_move();
    }
    uci.send("setoption name Hash value 1");
    uci.ready();
    assert!(uci.memory() < TABLE, "the large table is given back");
}
