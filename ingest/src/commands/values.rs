//! Parsers of command-line values, with an error text for values out of range.

use std::num::NonZero;
use std::str::FromStr;

use datasets::Month;
use engine::MAX_HASH_MIB;

/// Parses a count of at least 1.
pub fn count<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "give a whole number, 1 or more")
}

/// Parses a program with its arguments, which must not be blank.
pub fn command(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("give a program, such as stockfish"),
        command => Ok(command.to_string()),
    }
}

/// Parses a number of processes, 1 to 1024.
pub fn processes(text: &str) -> Result<NonZero<usize>, &'static str> {
    let processes = text.parse().ok();
    let processes = processes.filter(|processes: &NonZero<usize>| processes.get() <= 1024);
    processes.ok_or("give a whole number, 1 to 1024")
}

/// Parses the size of a transposition table in MiB.
pub fn hash(text: &str) -> Result<usize, String> {
    let mebibytes = text.parse().ok();
    let mebibytes = mebibytes.filter(|mebibytes| (1..=MAX_HASH_MIB).contains(mebibytes));
    mebibytes.ok_or_else(|| format!("give a whole number, 1 to {MAX_HASH_MIB}"))
}

/// Parses the percentage of games to hold out, 0 to 99.
pub fn held_out(text: &str) -> Result<u8, &'static str> {
    match text.parse() {
        Ok(percent @ 0..=99) => Ok(percent),
        Ok(100) => Err("nothing would be left to train on; give a whole number, 0 to 99"),
        _ => Err("give a whole number, 0 to 99"),
    }
}

/// Parses a month in the range that a record can hold.
pub fn month(text: &str) -> Result<Month, &'static str> {
    match Month::from(text.to_string()) {
        month if month == Month::default() => {
            Err("give a month from 2013-01 to 2034-03, such as 2021-04")
        }
        month => Ok(month),
    }
}
