//! Tests of joining parts.

use super::*;

/// Returns an entry for a part of a source of 40,000 bytes.
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

/// Returns the union of entries, checked for every order at once, and for entries added one by one
/// if `one_by_one`.
fn sources(entries: &[SourceEntry], one_by_one: bool) -> Vec<SourceEntry> {
    let expected = union(entries.to_vec()).unwrap();
    for order in orders(entries) {
        assert_eq!(union(order.clone()).unwrap(), expected);
        if one_by_one {
            let add = |sources: Vec<SourceEntry>, entry: SourceEntry| {
                union(sources.into_iter().chain([entry])).unwrap()
            };
            assert_eq!(order.into_iter().fold(Vec::new(), add), expected);
        }
    }
    expected
}

/// Returns all permutations of entries.
fn orders(entries: &[SourceEntry]) -> Vec<Vec<SourceEntry>> {
    if entries.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let mut rest = entries.to_vec();
        let first = rest.remove(at);
        let orders = orders(&rest).into_iter();
        orders.map(move |order| [vec![first.clone()], order].concat())
    };
    (0..entries.len()).flat_map(first).collect()
}

/// Returns all parts of a source.
fn all() -> [SourceEntry; 3] {
    [0, 1, 2].map(|i| {
        let frames = [Some((0, 20_000)), Some((20_000, 40_000)), None];
        part(CUTS[i], CUTS[i + 1], frames[i])
    })
}

/// Returns a copy of a part that is damaged and has other bytes.
fn damaged(part: &SourceEntry) -> SourceEntry {
    let json = serde_json::to_string(part).unwrap();
    let damage = "{\"offset\":9,\"message\":\"x\",\"places\":1}";
    let json = json.replace(&"ab".repeat(32), &"cd".repeat(32));
    let json = json.replacen("\"damage\":null", &format!("\"damage\":{damage}"), 1);
    let mut entry: SourceEntry = serde_json::from_str(&json).unwrap();
    entry.digest += "'";
    entry.damage = Some("x".to_string());
    entry
}

#[test]
fn joins_all_parts_to_the_whole() {
    let [a, b, c] = all();
    assert_eq!(sources(&[a.clone(), c.clone()], true).len(), 2);
    let whole = sources(&[a.clone(), b.clone(), c.clone()], true);
    assert_eq!((whole.len(), whole[0].tally.games), (1, 3));
    assert_eq!((&whole[0].part, whole[0].bytes), (&None, 40_000));
    // Known parts, and parts of known sources, are not added twice.
    assert_eq!(sources(&[a, b.clone(), c, b.clone()], true), whole);
    assert_eq!(sources(&[b, whole[0].clone()], true), whole);
}

/// Parts belong to a source only if their digests agree and neither is damaged.
#[test]
fn distinguishes_sources_of_equal_size_and_head() {
    let [a, b, c] = all();
    let good = union(all()).unwrap();
    let bad = union([a.clone(), damaged(&b), c.clone()]).unwrap();
    assert_ne!(good[0].digest, bad[0].digest);
    let both = sources(&[good[0].clone(), bad[0].clone()], true);
    assert_eq!(both.len(), 2);
    let parts = [a.clone(), b.clone(), c.clone(), bad[0].clone()];
    assert_eq!(sources(&parts, true), both);
    // A source without granules covers no part.
    let old = SourceEntry {
        granules: Vec::new(),
        ..good[0].clone()
    };
    assert_eq!(sources(&[old, b.clone()], true).len(), 2);
    assert_eq!(sources(&[bad[0].clone(), b], true).len(), 2);
}

#[test]
fn joins_parts_of_two_sources_if_unambiguous() {
    let [a, b, c] = all();
    let whole = union(all()).unwrap();
    // The damaged part is left over, whether it fits or not.
    let unfit = SourceEntry {
        part: Some(PartEntry {
            read: part(CUTS[1], CUTS[2], Some((17_000, 40_000)))
                .part
                .unwrap()
                .read,
            damage: None,
        }),
        ..damaged(&b)
    };
    for bad in [damaged(&b), unfit] {
        let found = sources(&[a.clone(), b.clone(), c.clone(), bad.clone()], false);
        assert_eq!(found.len(), 2);
        assert!(found.contains(&whole[0]) && found.contains(&bad));
    }
    // Two undamaged candidates are ambiguous.
    let other = SourceEntry {
        part: Some(PartEntry {
            damage: None,
            ..damaged(&b).part.unwrap()
        }),
        damage: None,
        ..damaged(&b)
    };
    let parts = [a, b, c, other];
    assert_eq!(sources(&parts, false).len(), 4);
    // The whole source resolves the ambiguity.
    let parts = [&parts[..], &whole].concat();
    assert_eq!(sources(&parts, false).len(), 2);
}

#[test]
fn keeps_the_least_name() {
    let named = |entry: &SourceEntry, name: &str| SourceEntry {
        name: name.to_string(),
        ..entry.clone()
    };
    let [a, b, c] = all();
    let whole = union(all()).unwrap();
    let found = sources(
        &[
            named(&whole[0], "z"),
            named(&whole[0], "y"),
            whole[0].clone(),
        ],
        true,
    );
    assert_eq!(found, whole);
    let found = sources(&[named(&a, "w"), a.clone(), b, c], true);
    assert_eq!(found[0].name, "w");
    assert_eq!(
        sources(&[named(&a, "y"), named(&a, "z")], true)[0].name,
        "y"
    );
}

#[test]
fn refuses_unfit_parts() {
    let first = part(CUTS[0], CUTS[1], Some((0, 20_000)));
    for (other, why) in [
        (part(0, CUTS[2], Some((0, 20_000))), "overlap"),
        (
            part(CUTS[1], CUTS[3], Some((17_000, 40_000))),
            "read the source whole",
        ),
        (part(CUTS[1], CUTS[3], None), "read the source whole"),
        // A leaf is missing.
        (
            part(CUTS[1], CUTS[3], Some((20_000, 40_000))),
            "has changed",
        ),
    ] {
        for order in orders(&[first.clone(), other]) {
            let error = union(order).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
