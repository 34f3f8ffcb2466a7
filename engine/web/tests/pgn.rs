//! The PGN parser against python-chess (`engine/web/tests/pgn/golden.py`).

use std::fs;

use serde_json::{Value, json};
use web::{Host, Session};

struct TestHost;

impl Host for TestHost {
    fn now(&self) -> f64 {
        0.0
    }
    fn report(&self, _: &str) {}
}

fn folder() -> String {
    format!("{}/tests/pgn", env!("CARGO_MANIFEST_DIR"))
}

fn read(text: &str) -> Value {
    let mut session = Session::new().unwrap();
    let request = json!({ "op": "readPgn", "text": text }).to_string();
    let answer: Value = serde_json::from_str(&session.answer(&request, &TestHost)).unwrap();
    answer["ok"]["readPgn"].clone()
}

/// A node in the reference's form, with whitespace and the order of glyphs normalised.
fn node(node: &Value) -> Value {
    let words = |text: &Value| -> Vec<String> {
        let words = text.as_str().unwrap().split_whitespace();
        words.map(str::to_string).collect()
    };
    let mut glyphs: Vec<u64> = (node["glyphs"].as_array().unwrap().iter())
        .map(|glyph| glyph.as_u64().unwrap())
        .collect();
    glyphs.sort_unstable();
    json!({
        "parent": node["parent"],
        "uci": node["uci"],
        "before": words(&node["before"]),
        "comment": words(&node["comment"]),
        "glyphs": glyphs,
        "eval": node["eval"],
        "depth": node["depth"],
        "clock": node["clock"],
    })
}

#[test]
fn games_are_read_as_python_chess_reads_them() {
    let golden = fs::read_to_string(format!("{}/golden.json", folder())).unwrap();
    let golden: Value = serde_json::from_str(&golden).unwrap();
    let golden = golden.as_object().unwrap();
    assert!(golden.len() >= 3);
    for (file, expected) in golden {
        let game = read(&fs::read_to_string(format!("{}/{file}", folder())).unwrap());
        assert_eq!(game["faults"], json!([]), "{file}");
        let nodes = game["tree"]["nodes"].as_array().unwrap();
        let expected_nodes = expected["nodes"].as_array().unwrap();
        for (index, (ours, theirs)) in nodes.iter().zip(expected_nodes).enumerate() {
            assert_eq!(node(ours), *theirs, "{file}, node {index}");
        }
        assert_eq!(nodes.len(), expected_nodes.len(), "{file}");
        let tags = expected["tags"].as_object().unwrap();
        for tag in game["tree"]["tags"].as_array().unwrap() {
            assert_eq!(tags[tag[0].as_str().unwrap()], tag[1], "{file}");
        }
    }
}
