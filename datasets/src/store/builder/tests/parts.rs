//! Tests of parts: built separately and merged, they equal the whole source.

use super::*;

/// Builds part `index` of `of`, up to `batches` batches. Returns whether it finished.
fn build_part(
    source: &Path,
    dataset: &Path,
    (index, of): (usize, usize),
    batches: usize,
) -> Result<bool, Error> {
    let part = format!("{index}/{of}").parse().unwrap();
    let filters = Filters::default();
    let sources = [source.to_path_buf()];
    let mut builder = Builder::<Record>::open_part(
        dataset,
        filters.clone(),
        &sources,
        Some(part),
        Unfinished::Keep,
    )?;
    let mut added = 0;
    let finished = builder.open_source(source)?.run(&filters, 2, |batch| {
        if added == batches {
            return Err(Error::Stopped);
        }
        added += 1;
        builder.add(batch)
    });
    match finished {
        Ok(finished) => {
            builder.end_source("source", finished);
            builder.finish()?;
            Ok(true)
        }
        Err(Error::Stopped) => {
            builder.pause()?;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn merge_into(dataset: &Path, others: &[PathBuf]) -> Result<Manifest, Error> {
    let others = others.iter().map(|path| Dataset::open(path).unwrap());
    Builder::to_merge(dataset, others.collect(), Unfinished::Keep)?.finish()
}

/// Builds all parts, each to a separate dataset.
fn build_parts(source: &Path, folder: &Path, of: usize) -> Vec<PathBuf> {
    let build = |index: usize| {
        let dataset = folder.join(format!("part {index} of {of}"));
        assert!(build_part(source, &dataset, (index, of), usize::MAX).unwrap());
        dataset
    };
    (1..=of).map(build).collect()
}

/// Numbers of parts, up to more than a small source has granules.
const NUMBERS: [usize; 4] = [1, 2, 3, 7];

/// Checks that the parts of a source, merged in another order, equal the whole source.
fn check_parts_equal_whole(name: &str, source: &Path, numbers: &[usize]) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build_until(source, &path("whole"), usize::MAX);
    let whole = contents(&path("whole"));
    for &of in numbers {
        let mut parts = build_parts(source, folder.path(), of);
        let games = |path: &PathBuf| contents(path).0.tally.games;
        let total: u64 = parts.iter().map(games).sum();
        assert_eq!(total, whole.0.tally.games, "{name} in {of} parts");
        parts.rotate_left(of / 2);
        parts[..of / 2].reverse();
        let merged = path(&format!("merged of {of}"));
        merge_into(&merged, &parts).unwrap();
        assert!(contents(&merged) == whole, "{name} in {of} parts");
    }
}

#[test]
fn parts_of_every_encoding_equal_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in encodings() {
        let source = folder.path().join(name);
        std::fs::write(&source, bytes).unwrap();
        if name.starts_with("gzip") || name.starts_with("bzip2") {
            let error = build_part(&source, &folder.path().join("none"), (1, 2), 0).unwrap_err();
            let told = error.to_string();
            let lacks_parts = matches!(error, Error::Source(SourceError::NoParts { .. }));
            assert!(lacks_parts, "{told}");
            assert!(told.contains("pzstd"), "{told}");
        } else {
            check_parts_equal_whole(name, &source, &[2, 7]);
        }
    }
}

/// Cases: a part inside a long game, and a game that begins at a border or a few bytes before it.
#[test]
fn parts_of_plain_text_equal_the_whole_for_any_border() {
    let folder = tempfile::tempdir().unwrap();
    // Granule of a small source: one leaf of the digest, between which parts are cut.
    let granule = 16 << 10;
    let first = "[Event \"a\"]\n\n1. e4 { [%eval 0.3] ";
    let last = "[Event \"b\"]\n\n1. d4 { [%eval 0.2] } *\n";
    for begin in [0, 1, 5, 8, 12].map(|before| 3 * granule - before) {
        let end = " } *\n\n";
        let comment = "x".repeat(begin - first.len() - end.len());
        let rest = "[Event \"c\"]\n\n1. c4 { [%eval 0.1] } *\n\n".repeat(granule / 20);
        let text = [first, &comment, end, last, "\n", &rest].concat();
        let source = folder.path().join(format!("{begin}.pgn"));
        std::fs::write(&source, text).unwrap();
        check_parts_equal_whole(&format!("a game at {begin}"), &source, &[6]);
    }
}

#[test]
fn parts_of_the_samples_equal_the_whole() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut files = std::fs::read_dir(samples)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut count = 0;
    while let Some(file) = files.find(|file| file.extension().is_some_and(|e| e == "zst")) {
        check_parts_equal_whole(&file.to_string_lossy(), &file, &NUMBERS);
        count += 1;
    }
    assert_eq!(count, 4);
}

/// Encodes text as a frame of uncompressed blocks.
fn raw_frame(text: &[u8]) -> Vec<u8> {
    // Header: window of 2 MiB, no checksum, no content size.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58];
    let mut blocks = text.chunks(100_000).peekable();
    while let Some(block) = blocks.next() {
        let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

fn sized(frame: &[u8]) -> Vec<u8> {
    let header = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];
    [&header, &(frame.len() as u32).to_le_bytes()[..], frame].concat()
}

/// Returns frames of raw text, with `inside` in a comment in the middle of the second frame.
fn with_bytes_inside(inside: &[u8]) -> Vec<u8> {
    let text = text();
    let (start, end) = text.split_at(900_000);
    let comment = [
        &b"[Event \"x\"]\n\n1. e4 { [%eval 0.1] } e5 { "[..],
        inside,
        b" } *\n\n",
    ];
    let half = end.len() / 2;
    let games = half
        + end[half..]
            .windows(8)
            .position(|bytes| bytes == b"[Event \"")
            .unwrap();
    let middle = [&end[..games], &comment.concat(), &end[games..]].concat();
    [sized(&raw_frame(start)), sized(&raw_frame(&middle))].concat()
}

/// Bytes inside a frame that look like a frame do not begin a part.
#[test]
fn ignores_magic_numbers_inside_a_frame() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    let random: Vec<u8> = (0..9_000).map(|i| records::hash::mix(i) as u8).collect();
    let magic = [&[0x28, 0xB5, 0x2F, 0xFD][..], &random].concat();
    let again = [&sized(&magic)[..], &sized(&random), &sized(&[]), &magic].concat();
    std::fs::write(&source, with_bytes_inside(&again)).unwrap();
    check_parts_equal_whole("a false frame", &source, &NUMBERS);
}

/// A complete frame inside a frame is indistinguishable from others without reading the bytes
/// before it. Merging detects it, so a wrong dataset is never made.
#[test]
fn merging_detects_a_frame_inside_a_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let game = b"[Event \"y\"]\n\n1. d4 { [%eval 0.2] } d5 { [%eval 0.3] } *\n\n";
    let inner = sized(&zstd::bulk::compress(&game.repeat(900), 1).unwrap());
    std::fs::write(path("source"), with_bytes_inside(&inner)).unwrap();
    build_until(&path("source"), &path("whole"), usize::MAX);
    let whole = contents(&path("whole"));
    let mut refused = 0;
    for of in 1..=7 {
        let parts = build_parts(&path("source"), folder.path(), of);
        let merged = path(&format!("merged {of}"));
        match merge_into(&merged, &parts) {
            Ok(_) => assert!(contents(&merged) == whole, "{of} parts"),
            Err(error) => {
                assert!(
                    error.to_string().contains("read the source whole"),
                    "{error}"
                );
                assert!(!merged.exists());
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn resumes_a_part_from_any_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, bytes) in encodings() {
        if !["frames", "corrupt frames", "one frame", "text"].contains(&name) {
            continue;
        }
        let source = path(name);
        std::fs::write(&source, bytes).unwrap();
        let parts = build_parts(&source, folder.path(), 3);
        for index in 1..=3 {
            let expected = contents(&parts[index - 1]);
            let dataset = path(&format!("{name} {index} again"));
            let mut stops = 0;
            while !build_part(&source, &dataset, (index, 3), 2 + stops % 5).unwrap() {
                stops += 1;
                assert!(stops < 100, "{name}");
            }
            assert!(stops > 0 || expected.0.tally.games == 0, "{name} {index}");
            assert!(
                contents(&dataset) == expected,
                "{name} {index}, {stops} stops"
            );
        }
        parts
            .iter()
            .for_each(|part| std::fs::remove_dir_all(part).unwrap());
    }
}

/// Merging is independent of order and grouping, and idempotent.
#[test]
fn merges_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = text();
    let cut = |at: usize| {
        at + text[at..]
            .windows(9)
            .position(|w| w == b"\n[Event \"")
            .unwrap()
            + 1
    };
    let (a, b) = (cut(text.len() / 3), cut(text.len() / 2));
    // The first two texts share games, which stay on one side of the split, and positions on both.
    let texts = [&text[..b], &text[a..], &text[..a]];
    let sources: Vec<PathBuf> = (0..3).map(|i| path(&format!("{i}.pgn"))).collect();
    let filters = Filters {
        validation_percent: 40,
        ..Filters::default()
    };
    let build = |name: &str, sources: &[PathBuf]| {
        let mut builder = Builder::open(&path(name), filters.clone(), sources).unwrap();
        for source in sources {
            let reading = builder.open_source(source).unwrap();
            let name = reading.source().name().to_string();
            let finished = reading
                .run(&filters, 2, |batch| builder.add(batch))
                .unwrap();
            builder.end_source(&name, finished);
        }
        builder.finish().unwrap();
        path(name)
    };
    for (source, text) in sources.iter().zip(texts) {
        std::fs::write(source, text).unwrap();
    }
    let whole = contents(&build("whole", &sources));
    assert!(whole.0.counts.seen_on_both_sides > 100);
    let apart: Vec<PathBuf> = (0..3)
        .map(|i| build(&format!("alone {i}"), &sources[i..=i]))
        .collect();
    let shadowed: u64 = apart
        .iter()
        .map(|path| contents(path).0.counts.seen_on_both_sides)
        .sum();
    assert_ne!(shadowed, whole.0.counts.seen_on_both_sides);
    for (i, order) in [[0, 1, 2], [2, 1, 0], [1, 2, 0]].iter().enumerate() {
        let merged = path(&format!("at once {i}"));
        merge_into(&merged, &order.map(|i| apart[i].clone())).unwrap();
        assert!(contents(&merged) == whole, "{order:?}");
        // A repeated merge changes nothing.
        merge_into(&merged, &apart).unwrap();
        assert!(contents(&merged) == whole, "{order:?}");

        let merged = path(&format!("one by one {i}"));
        for &dataset in order {
            merge_into(&merged, &[apart[dataset].clone()]).unwrap();
        }
        let (manifest, records) = contents(&merged);
        let generation = whole.0.generation;
        let manifest = Manifest {
            generation,
            ..manifest
        };
        assert!((manifest, records) == whole, "{order:?}");
    }
    // Datasets with common sources.
    let two = build("two", &sources[..2]);
    let merged = path("overlapping");
    merge_into(&merged, &[apart[1].clone(), two, apart[2].clone()]).unwrap();
    assert!(contents(&merged) == whole);
}

/// Writes the sample, and a copy with 64 bytes flipped, to a folder.
fn good_and_bad(folder: &Path) -> [PathBuf; 2] {
    let sample =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/dump_2026-06_annotated500.pgn.zst");
    let mut bytes = std::fs::read(sample).unwrap();
    let good = folder.join("good");
    std::fs::write(&good, &bytes).unwrap();
    bytes[100_000..100_064]
        .iter_mut()
        .for_each(|byte| *byte ^= 0xFF);
    let bad = folder.join("bad");
    std::fs::write(&bad, bytes).unwrap();
    [good, bad]
}

/// Returns all permutations of `0..count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for next in 0..count {
        let with_next = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            let at = |at: usize| [&order[..at], &[next], &order[at..]].concat();
            (0..=order.len()).map(at).collect()
        };
        orders = orders.iter().flat_map(with_next).collect();
    }
    orders
}

/// Sources of equal size and head stay distinct: every position is kept, for any merge order.
#[test]
fn merges_damaged_and_undamaged_sources_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [good, bad] = good_and_bad(folder.path());
    build_until(&good, &path("whole"), usize::MAX);
    let whole = contents(&path("whole"));
    assert_eq!(whole.0.counts.positions_train, 30_046);
    build_until(&bad, &path("bad whole"), usize::MAX);
    let sub = |name: &str| {
        std::fs::create_dir(path(name)).unwrap();
        path(name)
    };
    let good_parts = build_parts(&good, &sub("good parts"), 2);
    let bad_parts = build_parts(&bad, &sub("bad parts"), 2);
    let damaged = bad_parts
        .iter()
        .map(|part| contents(part).0.sources[0].damage.is_some());
    assert_eq!(damaged.filter(|&damaged| damaged).count(), 1);
    let sets: [&[&PathBuf]; 4] = [
        &[&path("bad whole"), &good_parts[0], &good_parts[1]],
        &[&path("bad whole"), &path("whole")],
        &[
            &path("bad whole"),
            &path("whole"),
            &bad_parts[0],
            &good_parts[1],
        ],
        &[&good_parts[0], &good_parts[1], &bad_parts[0], &bad_parts[1]],
    ];
    for (number, set) in sets.iter().enumerate() {
        let mut manifests = Vec::new();
        // All orders of three, and some of four.
        let every = if set.len() < 4 { 1 } else { 5 };
        for (i, order) in orders(set.len()).into_iter().step_by(every).enumerate() {
            let merged = path(&format!("merged {number} {i}"));
            let parts: Vec<PathBuf> = order.iter().map(|&i| set[i].clone()).collect();
            merge_into(&merged, &parts).unwrap();
            let (manifest, records) = contents(&merged);
            assert!(records == whole.1, "set {number}, {order:?}");
            assert_eq!(manifest.fingerprint, whole.0.fingerprint);
            manifests.push(manifest);
            std::fs::remove_dir_all(&merged).unwrap();
        }
        assert!(
            manifests.iter().all(|manifest| *manifest == manifests[0]),
            "{number}"
        );
    }
    // Merge them one by one too.
    for order in orders(3) {
        let merged = path("one by one");
        for &i in &order {
            merge_into(&merged, &[sets[0][i].clone()]).unwrap();
        }
        let (manifest, records) = contents(&merged);
        assert!(records == whole.1, "{order:?}");
        assert_eq!(manifest.sources.len(), 2);
        std::fs::remove_dir_all(&merged).unwrap();
    }
}
