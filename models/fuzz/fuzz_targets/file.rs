//! Fuzz target: any bytes as a net file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use models_fuzz::{Choices, check};

fuzz_target!(|bytes: &[u8]| {
    // Positions are chosen by the end of the file, where the weights are.
    check(
        bytes,
        &mut Choices::new(&bytes[bytes.len().saturating_sub(64)..]),
    );
});
