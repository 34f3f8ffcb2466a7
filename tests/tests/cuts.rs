//! Records read from a source do not depend on where its frames are cut.

use std::path::Path;

use datasets::{Batch, Filters, Reading, Record, Source, SourceCounts};
use tests::pzstd::framed;

const JSON: &str = "{\"fen\":\"8/8/8/4k3/8/8/4K3/7R w - -\",\"evals\":\
                    [{\"pvs\":[{\"cp\":500,\"line\":\"h1h5\"}],\"knodes\":9,\"depth\":20}]}\n";

/// Records, counts, and whether the source was damaged.
type Read = (Vec<Record>, SourceCounts, bool);

fn read(path: &Path) -> Read {
    let filters = Filters {
        validation_percent: 0,
        ..Filters::default()
    };
    let (mut records, mut tally) = (Vec::new(), SourceCounts::default());
    let finished = Reading::from(Source::open(path).unwrap())
        .run(&filters, 2, |batch: Batch| {
            records.extend(batch.train);
            tally.add(&batch.tally);
            Ok(())
        })
        .unwrap();
    (records, tally, finished.damage.is_some())
}

/// Reads `text` after a head frame that identifies its format, first in one frame, then in two, cut
/// at every byte. Asserts that all reads are equal; returns them.
fn read_cut_anywhere(head: &str, text: &str) -> Read {
    let (head, text) = (head.as_bytes(), text.as_bytes());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("source");
    let read_frames = |texts: &[&[u8]]| {
        let bytes: Vec<u8> = texts
            .iter()
            .flat_map(|text| framed(text, 1 << 20))
            .collect();
        std::fs::write(&file, bytes).unwrap();
        read(&file)
    };
    let whole = read_frames(&[&[head, text].concat()]);
    for cut in 0..=text.len() {
        let (start, end) = text.split_at(cut);
        let read = read_frames(&[head, start, end]);
        assert_eq!(read, whole, "cut before {:?}", String::from_utf8_lossy(end));
    }
    whole
}

#[test]
fn games_are_the_same_wherever_they_are_cut() {
    let head = "[Event \"a\"]\n\n*\n\n";
    for (text, games, labels) in [
        // Other tags before Event.
        (
            "[Round \"1\"]\n[White \"b\"]\n[Event \"c\"]\r\n\r\n1. e4 { [%eval 0.3] } *\r\n\r\n\
             [Round \"2\"]\n[Event \"d\"]\n\n1. d4 { [%eval 0.3] } *\n",
            3,
            2,
        ),
        // A misplaced evaluation, or text that looks like a tag.
        (
            "[Round \"[%eval 1.0]\"]\n[Event \"b\"]\n\n1. e4 {[%eval 1.0]} *\n\n\
             [Event \"c\"]\n\n1. e4 { [%eval 1.0]\n[x \"]\n[Event \"d\"]\n\n1. e4 *\n",
            4,
            1,
        ),
        // An Event tag among the tags of another game.
        (
            "[Round \"1\"]\n[Event \"b\"]\n[Round \"2\"]\n[Event \"c\"]\n\n\
             1. e4 { [%eval 0.3] } *\n",
            3,
            1,
        ),
        // Truncated text keeps the games before.
        (
            "[Event \"b\"]\n\n1. e4 { [%eval 1] } *\n\n[Event \"c\"]\n\n1. e4",
            2,
            1,
        ),
    ] {
        let (records, tally, _) = read_cut_anywhere(head, text);
        assert_eq!((tally.games, records.len()), (games, labels), "{text}");
    }
}

/// Too many tags for all to be searched for the start of the game.
#[test]
fn games_of_many_tags_are_the_same_wherever_they_are_cut() {
    let tags = |count| "[A \"\"]\n".repeat(count);
    let (few, many) = (tags(3), tags(62));
    let text = format!("{few}[Event \"b\"]\n{many}[Event \"c\"]\n\n1. e4 {{ [%eval 0.3] }} *\n");
    let (records, tally, _) = read_cut_anywhere("[Event \"a\"]\n\n*\n\n", &text);
    assert_eq!((tally.games, records.len()), (3, 1));
}

#[test]
fn games_without_event_tags_are_the_same_wherever_they_are_cut() {
    let text = "[White \"b\"]\n\n1. e4 { [%eval 0.3]\n\n[%clk 1] } e5 { [%eval 0.3] } *\r\n\r\n\
                [White \"c\"]\n\n1. e4 Sf6 2. d4 { [%eval 0.3] } *\n\n\n\
                [White \"d\"]\n\n[Black \"e\"]\n\n1. e4 { [%eval 0.3] } *\n";
    read_cut_anywhere("[White \"a\"]\n\n*\n\n", text);
}

#[test]
fn lines_are_the_same_wherever_they_are_cut() {
    let text = format!("{JSON}\n\u{feff}{JSON}x\r\n{JSON}\u{feff}\u{feff}{JSON}");
    let (records, ..) = read_cut_anywhere(JSON, &text);
    assert_eq!(records.len(), 4);
}
