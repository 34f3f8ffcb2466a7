//! Parser for arguments of the form `NAME=NUMBER,NAME=NUMBER`.

use std::str::FromStr;

/// Parses numbers by name and returns them in the order of `names`; `None` for an absent name.
/// `kind` names the number type in messages.
///
/// # Errors
/// A message that names the invalid part.
pub fn parse<T: FromStr, const N: usize>(
    text: &str,
    names: [&str; N],
    kind: &str,
) -> Result<[Option<T>; N], String> {
    let mut values = [const { None }; N];
    for part in text.split(',') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let place = (names.iter().position(|&known| known == name.trim()))
            .ok_or_else(|| format!("{part:?}: give {}", names.join("=, ") + "="))?;
        let value = value.trim().parse();
        let value = value.map_err(|_| format!("{part:?} has no {kind}"))?;
        if values[place].replace(value).is_some() {
            return Err(format!("{}= is given twice", names[place]));
        }
    }
    Ok(values)
}

/// Parses like [`parse`], but requires every name, with whole numbers from 0 to 65535.
pub fn parse_all<const N: usize>(text: &str, names: [&str; N]) -> Result<[u16; N], String> {
    let values = parse::<u16, N>(text, names, "whole number up to 65535")?;
    if values.iter().any(Option::is_none) {
        return Err(format!("give all of {}", names.join("=, ") + "="));
    }
    Ok(values.map(Option::unwrap_or_default))
}
