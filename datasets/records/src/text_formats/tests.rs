use super::PositionFormat::{Csv, Epd, EvaluationJson, Text};
use super::*;
use crate::position::{GameResult, Label};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Returns a record as text, without the month.
fn row(record: &Record) -> String {
    let result = match record.result() {
        Some(GameResult::WhiteWins) => "1-0",
        Some(GameResult::Draw) => "1/2",
        Some(GameResult::BlackWins) => "0-1",
        None => "?",
    };
    format!(
        "{record:?} ply {} depth {} {result}",
        record.ply(),
        record.depth()
    )
}

fn read_as(format: PositionFormat, text: &[u8], chess960: bool) -> (Vec<String>, SourceCounts) {
    let filters = Filters {
        chess960,
        ..Filters::default()
    };
    let (mut rows, mut tally) = (Vec::new(), SourceCounts::default());
    read_positions(text, format, &filters, &mut tally, |_, records| {
        assert_eq!(records.len(), 1);
        rows.push(row(&records[0]));
    });
    (rows, tally)
}

fn read(format: PositionFormat, text: &str) -> (Vec<String>, SourceCounts) {
    read_as(format, text.as_bytes(), false)
}

/// Returns the label of a one-line text, or the reasons it was skipped.
fn label(format: PositionFormat, line: &[u8]) -> String {
    let (rows, tally) = read_as(format, line, false);
    let reasons: Vec<String> = tally
        .skipped
        .iter()
        .map(|(r, n)| format!("{r:?} {n}"))
        .collect();
    match &rows[..] {
        [row] if reasons.is_empty() => row.split(' ').nth(4).unwrap().to_string(),
        _ => reasons.join(", "),
    }
}

fn evals(fen: &str, evals: &str) -> String {
    format!("{{\"fen\":\"{fen}\",\"evals\":[{evals}]}}\n")
}

#[test]
fn the_deepest_evaluation_of_the_database_counts() {
    // The sample of Lichess's page, on one line.
    let sample = "{\"fen\":\"2bq1rk1/pr3ppn/1p2p3/7P/2pP1B1P/2P5/PPQ2PB1/R3R1K1 w - -\",\"evals\":[\
        {\"pvs\":[{\"cp\":311,\"line\":\"g2e4 f7f5 e4b7 c8b7 f2f3\"}],\"knodes\":206765,\"depth\":36},\
        {\"pvs\":[{\"cp\":292,\"line\":\"g2e4\"},{\"cp\":277,\"line\":\"f4g3\"}],\"knodes\":92958,\"depth\":34},\
        {\"pvs\":[{\"cp\":190,\"line\":\"h5h6\"},{\"cp\":186,\"line\":\"g2e4\"}],\"knodes\":162122,\"depth\":31}]}\n";
    let (rows, tally) = read(EvaluationJson, sample);
    let fen = "2bq1rk1/pr3ppn/1p2p3/7P/2pP1B1P/2P5/PPQ2PB1/R3R1K1 w - -";
    assert_eq!(rows, [format!("{fen} 311 ply 0 depth 36 ?")]);
    assert_eq!((tally.labels, tally.mates), (1, 0));
    assert_eq!(tally.months[&Month::default()], 1);
    assert_eq!((tally.games, tally.games_kept), (0, 0));
}

#[test]
fn ties_go_to_the_most_nodes_then_to_the_first() {
    let eval = |cp: i64, knodes: u64, depth: u64| {
        format!(
            "{{\"pvs\":[{{\"cp\":{cp}}},{{\"cp\":-999}}],\"knodes\":{knodes},\"depth\":{depth}}}"
        )
    };
    for (evaluations, best) in [
        ([eval(1, 9, 20), eval(2, 1, 30), eval(3, 5, 29)], "2"),
        ([eval(1, 9, 30), eval(2, 10, 30), eval(3, 5, 30)], "2"),
        ([eval(1, 9, 30), eval(2, 9, 30), eval(3, 9, 30)], "1"),
        (
            [
                eval(1, 9, 30),
                "{\"pvs\":[],\"knodes\":99,\"depth\":99}".to_string(),
                eval(3, 8, 30),
            ],
            "1",
        ),
        // Other order of names, null, an unknown name.
        (
            [
                eval(1, 1, 1),
                "{\"new\":[{}],\"depth\":3,\"pvs\":[{\"line\":\"\",\"mate\":-7,\"cp\":null}]}"
                    .to_string(),
                eval(3, 1, 1),
            ],
            "#-7",
        ),
    ] {
        let line = evals(START, &evaluations.join(","));
        assert_eq!(label(EvaluationJson, line.as_bytes()), best, "{line}");
    }
}

#[test]
fn hostile_json_is_counted_and_survived() {
    let pvs = |score: &str| {
        evals(
            START,
            &format!("{{\"pvs\":[{{{score}}}],\"knodes\":1,\"depth\":1}}"),
        )
    };
    let deep = format!("{{\"fen\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_pv = evals(
        START,
        &format!(
            "{{\"pvs\":[{{\"x\":{}{}}}],\"depth\":1}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        ),
    );
    for (line, said) in [
        (pvs("\"cp\":-99999999"), "-30000"),
        (pvs("\"mate\":4294967299"), "#1000"),
        (pvs("\"mate\":-9223372036854775808"), "#-1000"),
        (pvs("\"cp\":1e999"), "MalformedLine 1"),
        (pvs("\"cp\":99999999999999999999999"), "MalformedLine 1"),
        (pvs("\"cp\":NaN"), "MalformedLine 1"),
        (pvs("\"cp\":\"12\""), "MalformedLine 1"),
        (pvs("\"cp\":null"), "MalformedEval 1"),
        (pvs("\"mate\":0"), "MalformedEval 1"),
        (evals(START, ""), "MalformedEval 1"),
        (
            evals(START, "{\"pvs\":[{\"cp\":1}],\"depth\":-1}"),
            "MalformedLine 1",
        ),
        (evals(START, "null"), "MalformedLine 1"),
        (
            evals("", "{\"pvs\":[{\"cp\":1}],\"depth\":1}"),
            "MalformedLine 1",
        ),
        (
            evals(
                "8/8/8/8/8/8/8/8 w - -",
                "{\"pvs\":[{\"cp\":1}],\"depth\":1}",
            ),
            "IllegalPosition 1",
        ),
        ("{\"fen\":null,\"evals\":[]}".to_string(), "MalformedLine 1"),
        ("{\"fen\":\"".to_string(), "MalformedLine 1"),
        ("null".to_string(), "MalformedLine 1"),
        (deep, "MalformedLine 1"),
        // Skipped parts may be any JSON.
        (deep_pv, "MalformedEval 1"),
        (pvs("\"cp\":18,\"line\":\"\\ud83d\\ude00\\u0000\""), "18"),
        (pvs("\"cp\":18").replace('/', "\\/"), "18"),
    ] {
        assert_eq!(
            label(EvaluationJson, line.as_bytes()),
            said,
            "{:.200}",
            line
        );
    }
    let mut invalid = pvs("\"cp\":18,\"line\":\"x\"").into_bytes();
    let x = invalid.iter().position(|&byte| byte == b'x').unwrap();
    invalid[x] = 0xFF;
    // Skipped variations are not validated.
    assert_eq!(label(EvaluationJson, &invalid), "18");
    invalid[8] = 0xFF;
    assert_eq!(label(EvaluationJson, &invalid), "MalformedLine 1");
}

#[test]
fn csv_scores_are_from_whites_view() {
    let (rows, tally) = read(
        Csv,
        "\u{feff}FEN,Evaluation\r\n\
         rnbqk2r/pppp1ppp/5n2/2b1p3/2B1P3/2N4P/PPPP1PP1/R1BQK1NR b KQkq - 0 4,-68\r\n\
         \r\n\
         rnbq1rk1/pppp1ppp/5n2/2b1p3/2B1P3/2N4P/PPPP1PP1/R1BQK1NR w KQ - 1 5,+36,e2e4\r\n\
         \"6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 40\",\"#+1\"\r\n\
         fen,evaluation,move\n\
         R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 40,#+0\r\n",
    );
    assert_eq!(
        rows,
        [
            "rnbqk2r/pppp1ppp/5n2/2b1p3/2B1P3/2N4P/PPPP1PP1/R1BQK1NR b KQkq - -68 ply 7 depth 0 ?",
            "rnbq1rk1/pppp1ppp/5n2/2b1p3/2B1P3/2N4P/PPPP1PP1/R1BQK1NR w KQ - 36 ply 8 depth 0 ?",
            "6k1/5ppp/8/8/8/8/8/R5K1 w - - #1 ply 78 depth 0 ?",
        ]
    );
    assert_eq!((tally.labels, tally.mates), (3, 1));
    assert_eq!(tally.skipped, [(SkipReason::FinishedPosition, 1)].into());
}

#[test]
fn hostile_columns_are_counted_and_survived() {
    let line = |score: &str| format!("{START},{score}");
    for (line, said) in [
        (line("+99999999999999999999999999"), "30000"),
        (line("#-99999999999999999999999999"), "#-1000"),
        (line("NaN"), "MalformedLine 1"),
        (line("inf"), "MalformedLine 1"),
        (line("null"), "MalformedLine 1"),
        (line("0.35"), "MalformedLine 1"),
        (line("--5"), "MalformedLine 1"),
        (line("#"), "MalformedLine 1"),
        (line(""), "MalformedLine 1"),
        (line("#0"), "MalformedEval 1"),
        (line(" -5 "), "-5"),
        (START.to_string(), "MalformedLine 1"),
        (",5".to_string(), "MalformedLine 1"),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR,5".to_string(),
            "MalformedLine 1",
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0,5".to_string(),
            "MalformedLine 1",
        ),
        (format!("{START} 7,5"), "MalformedLine 1"),
        (format!("{},5", "1/".repeat(5_000_000)), "MalformedLine 1"),
        ("9".repeat(10_000_000), "MalformedLine 1"),
        (format!("{START},{}", "9".repeat(10_000_000)), "30000"),
        // White, not to move, is in check.
        (
            "4k3/8/8/8/8/8/4r3/4K3 b - - 0 1,5".to_string(),
            "IllegalPosition 1",
        ),
        (
            "4k3/8/8/8/8/8/8/4K2R w KQ - 0 1,5".to_string(),
            "IllegalPosition 1",
        ),
        (
            "7k/5Q2/8/8/8/8/8/K7 b - - 0 1,0".to_string(),
            "FinishedPosition 1",
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Qq] w KQkq - 0 1,5".to_string(),
            "Variant 1",
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 3+3 0 1,5".to_string(),
            "MalformedLine 1",
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 3+3,5".to_string(),
            "MalformedLine 1",
        ),
        (
            "4k3/8/8/8/8/8/8/4K2R w K - 4294967296 99999999999,5".to_string(),
            "5",
        ),
    ] {
        assert_eq!(label(Csv, line.as_bytes()), said, "{:.200}", line);
    }
    assert_eq!(label(Csv, b"\xff\xfe,5"), "MalformedLine 1");
    assert_eq!(
        label(Csv, &[START.as_bytes(), b",\xff5"].concat()),
        "MalformedLine 1"
    );
}

#[test]
fn text_has_scores_and_results() {
    let four = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
    let line = |score: &str, result: &str| format!("{four} 0 1 | {score} | {result}\n");
    for (line, said) in [
        (line("-35", "1.0"), "-35 ply 1 depth 0 1-0"),
        (line("35", "0.5"), "35 ply 1 depth 0 1/2"),
        (line("35", "0.0"), "35 ply 1 depth 0 0-1"),
        (line("35", "?"), "35 ply 1 depth 0 ?"),
        (line("35", "1-0"), "35 ply 1 depth 0 1-0"),
        (line("35", "1/2-1/2"), "35 ply 1 depth 0 1/2"),
        (line("35", "0-1"), "35 ply 1 depth 0 0-1"),
        (line("35", "*"), "35 ply 1 depth 0 ?"),
        (line("35", "[0.5]"), "35 ply 1 depth 0 1/2"),
        (line("#-3", "0"), "#-3 ply 1 depth 0 0-1"),
        (line("31997", "1"), "#3 ply 1 depth 0 1-0"),
        (line("-31000", "?"), "#-1000 ply 1 depth 0 ?"),
        (line("30999", "?"), "30000 ply 1 depth 0 ?"),
        (line("-32002", "?"), "-30000 ply 1 depth 0 ?"),
        (format!("{four}|5|1.0"), "5 ply 1 depth 0 1-0"),
        (format!("{four} | 5"), "5 ply 1 depth 0 ?"),
    ] {
        let (rows, _) = read(Text, &line);
        let wanted = format!("{four} {said}");
        assert_eq!(rows, [wanted], "{line}");
    }
    for (score, result) in [
        ("", "1.0"),
        ("x", "1.0"),
        ("5", ""),
        ("5", "0.7"),
        ("5", "1.0 | 2"),
        ("0.1", "?"),
    ] {
        assert_eq!(
            label(Text, line(score, result).as_bytes()),
            "MalformedLine 1"
        );
    }
}

/// `FEN | stored label | result` round-trips.
#[test]
fn every_stored_label_comes_back_from_text() {
    let scores = (-30_000..=30_000).map(Label::from_centipawns);
    let mates = (-1000..=1000).filter_map(Label::from_mate);
    for label in scores.chain(mates) {
        let line = format!("{START} | {} | ?", label.stored());
        let parsed = Text.parse(line.as_bytes()).unwrap().label;
        assert_eq!(parsed, Some(label));
    }
}

#[test]
fn epd_scores_are_from_the_movers_view() {
    let (white, black) = ("4k3/8/8/8/8/8/8/4K2R w K -", "4k2r/8/8/8/8/8/8/4K3 b k -");
    for (operations, as_white, as_black) in [
        ("ce 120;", "120", "-120"),
        ("ce -120; acd 12;", "-120", "120"),
        (
            "acn 5; ce +7; bm Rh8+; id \"a; ce 99;\"; c0 \"x\";",
            "7",
            "-7",
        ),
        ("dm 3;", "#3", "#-3"),
        ("ce 5; dm 3", "#3", "#-3"),
        // Edwards's examples: mate in one and five, mated in one and five.
        ("ce 32766;", "#1", "#-1"),
        ("ce 32758;", "#5", "#-5"),
        ("ce -32765;", "#-1", "#1"),
        ("ce -32757;", "#-5", "#5"),
        ("ce 32000;", "30000", "-30000"),
        ("0 1; ce 120;", "120", "-120"),
        ("0 1 ce 120", "120", "-120"),
        ("bm Rh8+;", "MalformedEval 1", "MalformedEval 1"),
        ("", "MalformedEval 1", "MalformedEval 1"),
        ("dm 0;", "MalformedEval 1", "MalformedEval 1"),
        (
            "ce 99999999999999999999;",
            "MalformedEval 1",
            "MalformedEval 1",
        ),
        ("ce;", "MalformedLine 1", "MalformedLine 1"),
        ("ce 1.5;", "MalformedLine 1", "MalformedLine 1"),
        ("ce NaN;", "MalformedLine 1", "MalformedLine 1"),
        ("dm #3;", "MalformedLine 1", "MalformedLine 1"),
    ] {
        let said = |fen| label(Epd, format!("{fen} {operations}").as_bytes());
        assert_eq!(
            (said(white), said(black)),
            (as_white.to_string(), as_black.to_string()),
            "{operations}"
        );
    }
    let (rows, _) = read(
        Epd,
        &format!("{black} ce 5; acd 999;\n{black} 3 21; ce 5; acd 12;\n"),
    );
    assert_eq!(rows[0], format!("{black} -5 ply 1 depth 255 ?"));
    assert_eq!(rows[1], format!("{black} -5 ply 41 depth 12 ?"));
    let (rows, _) = read(
        Epd,
        &format!(
            "{black} hmvc 3; fmvn 21; ce 5;\n{black} fmvn 4; ce 5\n{black} 0 2; ce 5; fmvn 9;\n"
        ),
    );
    let plies = [41, 7, 3].map(|ply| format!("{black} -5 ply {ply} depth 0 ?"));
    assert_eq!(rows, plies);
    assert_eq!(
        label(Epd, format!("{black} fmvn x; ce 5;").as_bytes()),
        "MalformedLine 1"
    );
    for line in [
        "",
        " ",
        "x",
        "; ; ; ;",
        "a b c d",
        "4k3/8/8/8/8/8/8/4K2R w K ce 5;",
        "\u{1F600} b - - ce 5;",
    ] {
        let reasons = label(Epd, line.as_bytes());
        let wanted = if line.trim().is_empty() {
            ""
        } else {
            "MalformedLine 1"
        };
        assert_eq!(reasons, wanted, "{line}");
    }
}

#[test]
fn chess960_is_read_only_on_request() {
    let text = "1r2k1r1/8/8/8/8/8/8/RR2K1R1 w BGbg - 0 1,5\n\
                4k3/8/8/8/8/8/8/4K1R1 w K - 0 1,5\n\
                4k3/8/8/8/8/8/8/4K1R1 w G - 0 1,5\n";
    let (rows, tally) = read(Csv, text);
    assert_eq!(rows, [""; 0]);
    assert_eq!(tally.skipped, [(SkipReason::Variant, 3)].into());
    let (rows, tally) = read_as(Csv, text.as_bytes(), true);
    assert!(tally.skipped.is_empty());
    assert!(
        rows[0].starts_with("1r2k1r1/8/8/8/8/8/8/RR2K1R1 w KBkq - 5"),
        "{}",
        rows[0]
    );
    assert_eq!(rows[1], rows[2]);
    let standard = format!("{START},5");
    assert_eq!(
        read_as(Csv, standard.as_bytes(), true),
        read(Csv, &standard)
    );
}

#[test]
fn game_ids_depend_on_the_position_alone() {
    let ids = |format, text: &str| {
        let (mut ids, mut tally) = (Vec::new(), SourceCounts::default());
        read_positions(
            text.as_bytes(),
            format,
            &Filters::default(),
            &mut tally,
            |id, _| ids.push(id),
        );
        ids
    };
    let fen = "r3k2r/p1pp1pb1/bn2Qnp1/2qPN3/1p2P3/2N5/PPPBBPPP/R3K2R b KQkq -";
    let twin = "r3k2r/pppbbppp/2n5/1P2p3/2Qpn3/BN2qNP1/P1PP1PB1/R3K2R w KQkq -";
    let other = "r3k2r/pppbbppp/2n5/1P2p3/2Qpn3/BN2qNP1/P1PP1PB1/R3K2R w KQk -";
    let csv = ids(
        Csv,
        &format!("{fen} 3 2,50\n{fen} 0 9,-9\n{twin} 0 1,3\n{other} 0 1,3\n"),
    );
    let epd = ids(Epd, &format!("{fen} ce 5;\n"));
    assert_eq!(csv[..3], [epd[0]; 3]);
    assert_ne!(csv[3], epd[0]);
}

#[test]
fn one_bad_line_does_not_spoil_the_next() {
    let mut text = b"\xff\xff\n{\n".to_vec();
    text.extend(vec![b'x'; 10 << 20]);
    text.extend(format!("\n{START},5\nx\n{START},7").as_bytes());
    let (rows, tally) = read_as(Csv, &text, false);
    assert_eq!(rows.len(), 2);
    assert_eq!(tally.skipped, [(SkipReason::MalformedLine, 4)].into());
}

#[test]
fn formats_are_detected_by_their_first_lines() {
    let json = evals(START, "{\"pvs\":[{\"cp\":1}],\"depth\":1}");
    let cut = &json[..json.len() - 30];
    for (text, format) in [
        (json.clone(), Some(EvaluationJson)),
        (format!("\u{feff}\n\n{cut}"), Some(EvaluationJson)),
        (
            json.replace("{\"fen\":", "{ \"fen\" : "),
            Some(EvaluationJson),
        ),
        ("FEN,Evaluation\n".to_string(), Some(Csv)),
        (format!("{START},+56\n"), Some(Csv)),
        (format!("{START} | 56 | 0.5\n"), Some(Text)),
        (format!("garbage\n{START} | 56 | 0.5\n"), Some(Text)),
        ("4k3/8/8/8/8/8/8/4K2R w K - ce 5;\n".to_string(), Some(Epd)),
        ("4k3/8/8/8/8/8/8/4K2R w K - bm Rh8+;\n".to_string(), None),
        (START.to_string(), None),
        (format!("[Event \"x\"]\n\n1. e4 *\n{START},5\n"), None),
        (format!("{START},x\n"), None),
        ("{ a comment }\n".to_string(), None),
        (String::new(), None),
        ("\u{0}".repeat(1000), None),
    ] {
        assert_eq!(
            PositionFormat::detect(text.as_bytes()),
            format,
            "{text:.80}"
        );
    }
}
