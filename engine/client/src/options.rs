//! Options declared by an engine, and validation of their values.

/// An option declared by a line such as `option name Hash type spin default 16 min 1 max 1024`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EngineOption {
    /// Name; case-insensitive in UCI, may contain blanks.
    pub name: String,
    /// Default value; empty if none is declared.
    pub default: String,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Check,
    /// An integer from the first to the second, inclusive.
    Spin(i64, i64),
    /// A word of this list.
    Combo(Vec<String>),
    Button,
    /// Any text: a `string`, or a declaration that UCI does not define.
    Text,
}

impl EngineOption {
    /// Parses the text after `option`; `None` if it is not a declaration.
    pub fn read(text: &str) -> Option<EngineOption> {
        let (name, kind) = text.strip_prefix("name ")?.split_once(" type ")?;
        let (kind, details) = kind.split_once(' ').unwrap_or((kind, ""));
        Some(EngineOption {
            name: printable(name.trim()),
            default: default(details),
            kind: match kind {
                "check" => Kind::Check,
                "button" => Kind::Button,
                "spin" => spin(details).unwrap_or(Kind::Text),
                "combo" => combo(details),
                _ => Kind::Text,
            },
        })
    }

    /// Returns whether this is the option with that name.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Returns the command that sets the value; empty for a button.
    ///
    /// # Errors
    /// The accepted values, if `value` is not among them. An engine would silently ignore the
    /// command.
    pub fn set(&self, value: &str) -> Result<String, String> {
        let name = &self.name;
        let refuse = |wanted: &str| Err(wanted.to_string());
        match &self.kind {
            _ if value.contains(['\n', '\r']) => refuse("one line"),
            Kind::Button if value.is_empty() => Ok(format!("setoption name {name}")),
            Kind::Button => refuse("no value: it is a button"),
            Kind::Check if !["true", "false"].contains(&value) => refuse("true or false"),
            &Kind::Spin(least, most) if !is_between(value, least, most) => {
                Err(format!("a number from {least} to {most}"))
            }
            Kind::Combo(words) if !words.iter().any(|word| word.eq_ignore_ascii_case(value)) => {
                Err(format!("one of: {}", words.join(", ")))
            }
            _ => Ok(format!("setoption name {name} value {value}")),
        }
    }
}

fn is_between(value: &str, least: i64, most: i64) -> bool {
    let number = value.parse::<i64>();
    number.is_ok_and(|number| (least..=most).contains(&number))
}

/// Returns the value of `default`, up to the next UCI keyword: values may contain blanks.
fn default(details: &str) -> String {
    let details = format!(" {details} ");
    let value = details
        .split_once(" default ")
        .map_or("", |(_, value)| value);
    let ends = [" min ", " max ", " var "].map(|word| value.find(word));
    let end = ends.into_iter().flatten().min();
    printable(value[..end.unwrap_or(value.len())].trim())
}

/// Parses `default 16 min 1 max 1024`.
fn spin(details: &str) -> Option<Kind> {
    let words: Vec<&str> = details.split_ascii_whitespace().collect();
    let after = |name| {
        let place = words.iter().position(|&word| word == name)?;
        words.get(place + 1)?.parse().ok()
    };
    Some(Kind::Spin(after("min")?, after("max")?))
}

/// Parses `default Normal var Solid var Normal`.
fn combo(details: &str) -> Kind {
    let details = format!(" {details}");
    let words = details.split(" var ").skip(1);
    let words: Vec<String> = words.map(|word| printable(word.trim())).collect();
    if words.is_empty() {
        Kind::Text
    } else {
        Kind::Combo(words)
    }
}

/// Returns text without control characters, which a terminal might obey.
pub(crate) fn printable(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(declared: &str, value: &str) -> Result<String, String> {
        EngineOption::read(declared).unwrap().set(value)
    }

    #[test]
    fn values_are_checked_against_the_declaration() {
        let hash = "name Hash type spin default 16 min 1 max 1024";
        assert_eq!(set(hash, "64").unwrap(), "setoption name Hash value 64");
        for value in ["0", "1025", "64MB", ""] {
            assert_eq!(set(hash, value).unwrap_err(), "a number from 1 to 1024");
        }
        let ponder = "name Ponder type check default false";
        assert!(set(ponder, "true").is_ok() && set(ponder, "on").is_err());
        let style = "name Style type combo default Normal var Very Solid var Normal";
        assert!(set(style, "very solid").is_ok());
        let opening = "name Book type combo default Any var Any var Bolivar Attack";
        assert!(set(opening, "Bolivar Attack").is_ok());
        assert_eq!(
            set(style, "Wild").unwrap_err(),
            "one of: Very Solid, Normal"
        );
        let clear = "name Clear Hash type button";
        assert_eq!(set(clear, "").unwrap(), "setoption name Clear Hash");
        assert!(set(clear, "now").is_err());
        let file = "name Log File type string default ";
        assert_eq!(
            set(file, "a b").unwrap(),
            "setoption name Log File value a b"
        );
        assert!(set(file, "a\nquit").is_err());
        // A spin without bounds accepts any value.
        assert!(set("name Skill type spin default 3", "7").is_ok());
    }

    #[test]
    fn defaults_may_hold_blanks_or_nothing() {
        for (declared, value) in [
            ("name Hash type spin default 16 min 1 max 1024", "16"),
            ("name Hash type spin min 1 max 1024 default 16", "16"),
            (
                "name File type string default /a b/net.nnue",
                "/a b/net.nnue",
            ),
            (
                "name Style type combo default Very Solid var Normal",
                "Very Solid",
            ),
            ("name File type string default", ""),
            ("name Clear Hash type button", ""),
        ] {
            assert_eq!(EngineOption::read(declared).unwrap().default, value);
        }
    }

    #[test]
    fn other_lines_are_not_declarations() {
        for text in ["", "name Hash", "Hash type spin", "name  type"] {
            assert_eq!(EngineOption::read(text), None, "{text}");
        }
    }
}
