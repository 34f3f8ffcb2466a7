//! Any bytes as a net's file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use models_fuzz::{Choices, check};

fuzz_target!(|bytes: &[u8]| {
    // The positions follow from the file's end, where the weights are.
    check(
        bytes,
        &mut Choices::new(&bytes[bytes.len().saturating_sub(64)..]),
    );
});
