//! Arguments of the form `NAME=NUMBER,NAME=NUMBER`.

/// The numbers by name, in the order of `names`; `None` for those not given.
///
/// # Errors
/// Says which part is no such pair.
pub fn parse<const N: usize>(text: &str, names: [&str; N]) -> Result<[Option<f64>; N], String> {
    let mut values = [None; N];
    for part in text.split(',') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let place = (names.iter().position(|&known| known == name.trim()))
            .ok_or_else(|| format!("{part:?}: give {}", names.join("=, ") + "="))?;
        let value = value
            .trim()
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite());
        values[place] = Some(value.ok_or_else(|| format!("{part:?} has no number"))?);
    }
    Ok(values)
}

/// As [`parse`], all of them needed, each a number from 0 to 65535.
pub fn parse_all<const N: usize>(text: &str, names: [&str; N]) -> Result<[u16; N], String> {
    let range = 0.0..=f64::from(u16::MAX);
    let values = parse(text, names)?.map(|value| value.filter(|value| range.contains(value)));
    if values.iter().any(Option::is_none) {
        return Err(format!("give all of {}", names.join("=, ") + "="));
    }
    Ok(values.map(|value| value.unwrap_or_default() as u16))
}
