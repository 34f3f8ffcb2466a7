//! Arbitrary bytes as a file: frames, compression and text at once.
#![no_main]

use std::sync::LazyLock;

use datasets::Filters;
use datasets_fuzz::{Scratch, chess960, read, transcribe};
use libfuzzer_sys::fuzz_target;

static SCRATCH: LazyLock<Scratch> = LazyLock::new(Scratch::new);

fuzz_target!(|bytes: &[u8]| {
    let path = SCRATCH.file("source", bytes);
    let opened = read(&path, &Filters::default()).is_ok();
    if opened {
        // A source that opens once opens again.
        assert!(read(&path, &chess960()).is_ok());
    }
    // Only PGN sources can be transcribed.
    assert!(transcribe(&path).is_err() || opened);
});
