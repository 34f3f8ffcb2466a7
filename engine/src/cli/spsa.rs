//! `engine spsa`.

use anyhow::Result;
use engine::TUNABLES;
use host::print;

/// Learning rate at the end of SPSA, the default of OpenBench and fishtest.
const R_END: f64 = 0.002;

/// Prints the search parameters as OpenBench's SPSA inputs: name, type, value, minimum, maximum,
/// `C_end`, `R_end`.
pub fn run() -> Result<()> {
    let line = |tunable: &&engine::Tunable| {
        let engine::Tunable {
            name,
            value,
            min,
            max,
            step,
            ..
        } = tunable;
        format!("{name}, int, {value}, {min}, {max}, {step}, {R_END}\n")
    };
    let lines: String = TUNABLES.iter().map(line).collect();
    Ok(print(&lines)?)
}
