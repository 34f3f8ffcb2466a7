//! Syzygy probes, against python-chess on the same files.

use cozy_chess::GameStatus;
use engine::{Position, Syzygy, Tablebase, TablesError, Wdl, parse_fen};

/// Returns the three- and four-piece tables in the shared folder, if present.
fn tables() -> Option<Syzygy> {
    let folder = test_support::shared("syzygy34")?;
    Some(Syzygy::open([folder]).unwrap())
}

fn wdl(number: &str) -> Wdl {
    match number {
        "-2" => Wdl::Loss,
        "-1" => Wdl::BlessedLoss,
        "0" => Wdl::Draw,
        "1" => Wdl::CursedWin,
        "2" => Wdl::Win,
        _ => panic!("{number}"),
    }
}

#[test]
fn agrees_with_python_chess() {
    let Some(tables) = tables() else { return };
    let mut cursed = 0;
    for row in include_str!("data/syzygy.tsv").lines() {
        let columns: Vec<&str> = row.split('\t').collect();
        let board = parse_fen(columns[0]).unwrap();
        assert_eq!(tables.wdl(&board), Some(wdl(columns[1])), "{row}");
        let (value, moves) = tables.root_moves(&board).unwrap();
        assert_eq!(value, wdl(columns[3]), "{row}");
        assert!(moves.iter().all(|&mv| board.is_legal(mv)), "{row}");
        cursed += usize::from(matches!(value, Wdl::CursedWin | Wdl::BlessedLoss));
    }
    assert_eq!(cursed, 44, "the fifty-move rule decides some");
}

#[test]
fn first_root_moves_win() {
    let Some(tables) = tables() else { return };
    for fen in [
        "8/8/8/3k4/8/8/8/KBN5 w - - 0 1",
        "8/8/8/8/3k4/8/8/KQ6 w - - 0 1",
        "8/8/8/4k3/8/3K4/3P4/8 w - - 0 1",
        "8/8/3k4/8/3n4/8/8/K2Q4 w - - 0 1",
    ] {
        let mut position = Position::from_fen(fen).unwrap();
        let mut expected = Wdl::Win;
        while position.board().status() == GameStatus::Ongoing {
            let (value, moves) = tables.root_moves(position.board()).unwrap();
            assert_eq!(value, expected, "{fen}: {}", position.board());
            position.play(moves[0]).unwrap();
            expected = if expected == Wdl::Win {
                Wdl::Loss
            } else {
                Wdl::Win
            };
        }
        assert_eq!(position.board().status(), GameStatus::Won, "{fen}");
    }
}

#[test]
fn positions_outside_the_tables_yield_none() {
    let Some(tables) = tables() else { return };
    assert_eq!((tables.max_pieces(), tables.files()), (4, 70));
    for fen in [
        // Castling rights; five pieces.
        "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
        "4k3/8/8/8/8/8/8/QQQ1K3 w - - 0 1",
    ] {
        let board = parse_fen(fen).unwrap();
        assert_eq!(tables.wdl(&board), None);
        assert_eq!(tables.root_moves(&board), None);
    }
}

#[test]
fn folders_without_tables_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        Syzygy::open([folder.path()]),
        Err(TablesError::Empty(path)) if path == folder.path()
    ));
    let missing = folder.path().join("missing");
    assert!(matches!(
        Syzygy::open([folder.path(), &missing]),
        Err(TablesError::Empty(_))
    ));
    assert!(matches!(
        Syzygy::open([&missing]),
        Err(TablesError::Unreadable { .. })
    ));
    // Two files with table names but invalid contents; only the one with an invalid size is
    // refused.
    std::fs::write(folder.path().join("KQvK.rtbw"), [0; 80]).unwrap();
    std::fs::write(folder.path().join("KRvK.rtbw"), [0; 81]).unwrap();
    let damaged = Syzygy::open([folder.path()]).unwrap();
    assert_eq!(damaged.files(), 1);
    let [(path, _)] = damaged.refused() else {
        panic!("{:?}", damaged.refused());
    };
    assert!(path.ends_with("KRvK.rtbw"), "{path:?}");
    let board = parse_fen("8/8/8/8/3k4/8/8/KQ6 w - - 0 1").unwrap();
    assert_eq!(damaged.wdl(&board), None);
}
