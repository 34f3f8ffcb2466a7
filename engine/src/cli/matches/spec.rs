//! How a match names an engine.

use std::path::Path;
use std::str::FromStr;

/// A program, its arguments and its UCI options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSpec {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// UCI options to set, in order.
    pub options: Vec<(String, String)>,
    name: Option<String>,
}

impl FromStr for EngineSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineSpec, String> {
        let mut command = None;
        let mut name = None;
        let mut options = Vec::new();
        for word in split(text)? {
            match word.split_once('=') {
                Some(("cmd", value)) => command = Some(split(value)?),
                Some(("name", value)) => name = Some(value.to_string()),
                Some((key, value)) if key.starts_with("option.") => {
                    options.push((key["option.".len()..].to_string(), value.to_string()));
                }
                _ => return Err(format!("{word:?} is none of cmd=, name=, option.NAME=")),
            }
        }
        let mut words = command.unwrap_or_default().into_iter();
        let program = words.next().ok_or("cmd= is missing")?;
        Ok(EngineSpec {
            program,
            arguments: words.collect(),
            options,
            name,
        })
    }
}

/// Splits at spaces that stand in no quotes; the quotes fall away. Quotes of
/// the other kind within quotes stay.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for symbol in text.chars() {
        match (symbol, quote) {
            (_, Some(open)) if symbol == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(symbol);
                word.get_or_insert_default();
            }
            (_, None) if symbol.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(symbol),
        }
    }
    words.extend(word);
    if quote.is_some() {
        Err(format!("a quote is not closed in {text:?}"))
    } else {
        Ok(words)
    }
}

/// The names of both engines, told apart by a number if they are equal.
pub fn names(specs: [&EngineSpec; 2]) -> [String; 2] {
    let names = specs.map(|spec| {
        let file = Path::new(&spec.program).file_stem();
        spec.name.clone().unwrap_or_else(|| {
            file.map_or(spec.program.clone(), |stem| {
                stem.to_string_lossy().into_owned()
            })
        })
    });
    if names[0] == names[1] {
        [1, 2].map(|number| format!("{} ({number})", names[0]))
    } else {
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_spaces_together() {
        let spec: EngineSpec =
            r#"cmd="node '/a b/sf.js' -x" name=fish "option.Move Overhead=50" option.EvalFile='/a b'"#
                .parse()
                .unwrap();
        assert_eq!(spec.program, "node");
        assert_eq!(spec.arguments, ["/a b/sf.js", "-x"]);
        let option = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(
            spec.options,
            [option("Move Overhead", "50"), option("EvalFile", "/a b")]
        );
    }

    #[test]
    fn refuses_what_names_no_engine() {
        for text in ["", "name=x", "cmd=", "cmd=x depth=3", "cmd=\"x"] {
            assert!(text.parse::<EngineSpec>().is_err(), "{text}");
        }
    }

    #[test]
    fn equal_names_are_numbered() {
        let spec: EngineSpec = "cmd=/usr/games/stockfish".parse().unwrap();
        assert_eq!(names([&spec, &spec]), ["stockfish (1)", "stockfish (2)"]);
    }
}
