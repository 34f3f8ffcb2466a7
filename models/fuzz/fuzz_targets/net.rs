//! Fuzz target: a nearly valid file; the input chooses sizes, types, values and defects.
#![no_main]

use libfuzzer_sys::fuzz_target;
use models_fuzz::{Choices, check, file};

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let bytes = file(&mut choices);
    check(&bytes, &mut choices);
});
