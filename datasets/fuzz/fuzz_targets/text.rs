//! Text in many frames must give the same results as in one, wherever it is cut.
//!
//! An input is the text and nine bytes: the cuts (four `u16`) and the mode.
#![no_main]

use std::sync::LazyLock;

use datasets::{Filters, PositionFormat, SourceCounts, games, read_games, read_positions};
use datasets_fuzz::{Scratch, check_record, check_tally, chess960, pack, read, transcribe};
use libfuzzer_sys::fuzz_target;
use records::games::is_plain;

static SCRATCH: LazyLock<Scratch> = LazyLock::new(Scratch::new);

/// First frame of the text for each mode: it determines the format of the rest.
const HEADS: [&str; 6] = [
    "[Event \"a\"]\n\n*\n\n",
    "[White \"a\"]\n\n*\n\n",
    "fen,evaluation\n",
    "8/8/8/4k3/8/8/4K3/7R w - - 0 1 | 500 | 1.0\n",
    "8/8/8/4k3/8/8/4K3/7R w - - ce 500;\n",
    "{\"fen\":\"8/8/8/4k3/8/8/4K3/7R w - -\",\"evals\":[{\"pvs\":[{\"cp\":500,\"line\":\"h1h5\"}],\"knodes\":9,\"depth\":20}]}\n",
];

fuzz_target!(|input: &[u8]| {
    let Some((text, choice)) = input.split_last_chunk::<9>() else {
        return;
    };
    let mode = usize::from(choice[8]);
    let filters = match mode & 8 {
        0 => Filters::default(),
        _ => chess960(),
    };
    let head = HEADS[mode % 8 % HEADS.len()].as_bytes();
    in_memory(&[head, text].concat(), head, &filters);
    in_frames(head, text, &cuts(text.len(), choice, mode), &filters);
});

/// Returns the cut positions: four chosen ones, or every few bytes.
fn cuts(length: usize, choice: &[u8; 9], mode: usize) -> Vec<usize> {
    if mode & 16 != 0 {
        let step = 1 + usize::from(choice[0]);
        return (0..length).step_by(step.max(length / 64 + 1)).collect();
    }
    let place = |pair: &[u8]| usize::from(u16::from_le_bytes([pair[0], pair[1]])) % (length + 1);
    let mut cuts: Vec<usize> = choice[..8].chunks(2).map(place).collect();
    cuts.sort_unstable();
    cuts
}

fn in_memory(text: &[u8], head: &[u8], filters: &Filters) {
    let mut tally = SourceCounts::default();
    let mut records = 0;
    let mut each = |_, read: &[datasets::Record]| {
        read.iter().for_each(check_record);
        records += read.len() as u64;
    };
    match PositionFormat::detect(head) {
        None => {
            read_games(text, filters, &mut tally, &mut each);
            games(text).for_each(|game| as_any_other(game, filters));
        }
        Some(format) => read_positions(text, format, filters, &mut tally, &mut each),
    }
    check_tally(&tally, records);
}

/// Checks the fast path for plain games against the general reader; `is_plain` asserts it.
fn as_any_other(game: &[u8], filters: &Filters) {
    let quiet = Filters {
        quiet: true,
        ..filters.clone()
    };
    is_plain(game, filters);
    is_plain(game, &quiet);
}

fn in_frames(head: &[u8], text: &[u8], cuts: &[usize], filters: &Filters) {
    // Without Event tags games are separated by another rule, chosen from the first frame only, so
    // a text with both cannot be compared.
    let has_event = text.windows(8).any(|tag| tag == b"[Event \"");
    if head.starts_with(b"[White") && has_event {
        return;
    }
    let mut pieces = vec![head];
    let mut from = 0;
    for &cut in cuts.iter().chain([&text.len()]) {
        pieces.push(&text[from..cut]);
        from = cut;
    }
    let whole = [head, text].concat();
    let one = SCRATCH.file("one", &pack(&[&whole]));
    let many = SCRATCH.file("many", &pack(&pieces));
    let expected = read(&one, filters).expect("the head is understood");
    assert_eq!(
        read(&many, filters).expect("the head is understood"),
        expected
    );
    if head.starts_with(b"[") {
        let transcribed = transcribe(&one).expect("the head is understood");
        assert_eq!(
            transcribe(&many).expect("the head is understood"),
            transcribed
        );
        assert!(expected.damaged || transcribed == (whole.clone(), true));
    }
    if expected.damaged {
        return;
    }
    let plain = SCRATCH.file("plain", &whole);
    assert_eq!(
        read(&plain, filters).expect("the head is understood"),
        expected
    );
}
