//! `engine spsa`.

use anyhow::Result;
use engine::TUNABLES;
use host::print;

/// The rate of learning at the end, as OpenBench and fishtest have it by default.
const R_END: f64 = 0.002;

/// Prints the numbers of the search as OpenBench wants the inputs of SPSA: name, type,
/// value, least, most, `C_end`, `R_end`.
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
