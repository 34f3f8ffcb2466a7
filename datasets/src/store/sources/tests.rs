//! Parts that fit, and parts that do not.

use super::*;

/// A part of a source of 100 bytes.
fn part(start: u64, end: u64, frames: Option<(u64, u64)>) -> SourceEntry {
    let frames = frames.map_or("null".to_string(), |(start, end)| {
        format!("{{\"start\":{start},\"end\":{end}}}")
    });
    let node = format!("{{\"level\":0,\"hash\":\"{}\"}}", "ab".repeat(32));
    let json = format!(
        "{{\"name\":\"x\",\"bytes\":40000,\"digest\":\"{start}-{end}\",\"head\":\"h\",\"part\":{{\
         \"range\":{{\"start\":{start},\"end\":{end}}},\"frames\":{frames},\"nodes\":[{node}],\
         \"damage\":null}},\"damage\":null,\"tally\":{{\"games\":1}}}}"
    );
    serde_json::from_str(&json).unwrap()
}

const CUTS: [u64; 4] = [0, 16384, 32768, 40000];

fn added(parts: &[SourceEntry]) -> Result<Vec<SourceEntry>, Error> {
    let mut sources = Vec::new();
    for part in parts {
        add(&mut sources, part.clone())?;
    }
    Ok(sources)
}

#[test]
fn all_parts_are_the_whole() {
    let [a, b, c] = [0, 1, 2].map(|i| {
        let frames = [Some((0, 20_000)), Some((20_000, 40_000)), None];
        part(CUTS[i], CUTS[i + 1], frames[i])
    });
    let orders = [[&a, &b, &c], [&c, &b, &a], [&b, &c, &a]];
    for order in orders.map(|order| order.map(Clone::clone)) {
        let two = added(&order[..2]).unwrap();
        assert_eq!(two.len(), 2);
        // A part that is there already is not taken twice.
        let again = [&order[..2], &order].concat();
        for parts in [&order[..], &again] {
            let whole = added(parts).unwrap();
            assert_eq!((whole.len(), whole[0].tally.games), (1, 3));
            assert_eq!((&whole[0].part, whole[0].bytes), (&None, 40_000));
        }
        let mut whole = added(&order).unwrap();
        add(&mut whole, b.clone()).unwrap();
        assert_eq!(whole, added(&order).unwrap());
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let first = part(CUTS[0], CUTS[1], Some((0, 20_000)));
    for (other, why) in [
        (part(0, CUTS[2], Some((0, 20_000))), "overlap"),
        (
            part(CUTS[1], CUTS[3], Some((17_000, 40_000))),
            "read the source whole",
        ),
        (part(CUTS[1], CUTS[3], None), "read the source whole"),
        // One leaf is missing.
        (
            part(CUTS[1], CUTS[3], Some((20_000, 40_000))),
            "has changed",
        ),
    ] {
        let error = added(&[first.clone(), other]).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
