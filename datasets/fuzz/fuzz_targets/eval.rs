//! Evaluation comments: a parsed comment survives formatting and parsing again.
#![no_main]

use datasets::{EvalComment, format_eval, parse_eval};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|comment: &[u8]| {
    let read = parse_eval(comment);
    if let EvalComment::Eval { label, depth } = read {
        assert_eq!(parse_eval(format_eval(label, depth).as_bytes()), read);
    }
});
