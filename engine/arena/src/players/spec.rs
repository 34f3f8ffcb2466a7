//! Engine specifications of the command line, such as `cmd=stockfish name=sf depth=4`.

use std::path::Path;
use std::str::FromStr;

use engine::{MAX_HASH_MIB, MAX_THREADS};
use uci_client::{EvaluatorChoice, PolicyChoice, Setup};

use crate::players::beginner::Beginner;
use crate::players::pace::Pace;

/// An engine as the user specifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSpec {
    /// The program or net.
    pub program: Program,
    /// The engine's own limit, in place of the common one.
    pub pace: Option<Pace>,
    /// The specification as given.
    pub text: String,
    name: Option<String>,
}

/// A program or a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A UCI program.
    Command(Setup),
    /// A net, searched in this process.
    Net(Net),
    /// A player that does not search.
    Beginner(Beginner),
}

/// A net and its search settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    /// Evaluation: a net's file, the embedded net, or material.
    pub evaluation: EvaluatorChoice,
    /// Policy whose priors a search by PUCT has; `None` for alpha-beta.
    pub policy: Option<PolicyChoice>,
    /// Size of the transposition table in MiB; `None` for the default.
    pub hash: Option<usize>,
    pub threads: usize,
}

impl FromStr for EngineSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineSpec, String> {
        let mut parts = Parts::default();
        for word in split(text)? {
            parts.take(&word)?;
        }
        let spec = parts.finish()?;
        Ok(EngineSpec {
            text: text.to_string(),
            ..spec
        })
    }
}

/// Parsed words of a specification.
#[derive(Default)]
struct Parts {
    command: Option<Vec<String>>,
    net: Option<EvaluatorChoice>,
    policy: Option<PolicyChoice>,
    beginner: Option<Beginner>,
    name: Option<String>,
    pace: Option<Pace>,
    options: Vec<(String, String)>,
    hash: Option<usize>,
    threads: Option<usize>,
}

impl Parts {
    fn take(&mut self, word: &str) -> Result<(), String> {
        let (key, value) = word.split_once('=').unwrap_or(("net", word));
        if let Some(option) = key.strip_prefix("option.") {
            self.options.push((option.to_string(), value.to_string()));
            return Ok(());
        }
        if value.is_empty() {
            return Err(format!("{key}= has no value"));
        }
        let pace = Pace::parse(key, value).transpose()?;
        let before = match key {
            _ if pace.is_some() => std::mem::replace(&mut self.pace, pace).map(drop),
            "cmd" => self.command.replace(split(value)?).map(drop),
            "net" => self.net.replace(EvaluatorChoice::named(value)).map(drop),
            "policy" => self.policy.replace(PolicyChoice::named(value)).map(drop),
            "beginner" => self.beginner.replace(value.parse()?).map(drop),
            "name" => self.name.replace(value.to_string()).map(drop),
            "hash" => (self.hash.replace(number(key, value, MAX_HASH_MIB)?)).map(drop),
            "threads" => (self.threads.replace(number(key, value, MAX_THREADS)?)).map(drop),
            _ => {
                return Err(format!(
                    "{word:?} is none of cmd=, net=, policy=, beginner=, name=, option.NAME=, \
                     hash=, threads=, depth=, nodes=, movetime=, tc="
                ));
            }
        };
        match before {
            Some(()) if pace.is_some() => Err("give one limit for a move, not two".to_string()),
            Some(()) => Err(format!("{key}= is given twice")),
            None => Ok(()),
        }
    }

    fn finish(self) -> Result<EngineSpec, String> {
        let of_net = self.policy.is_some() || self.hash.or(self.threads).is_some();
        let program = match (self.command, self.net) {
            (None, None) if let Some(beginner) = self.beginner => {
                if of_net || !self.options.is_empty() || self.pace.is_some() {
                    return Err("a beginner has a name= alone".to_string());
                }
                // A limit that it does not need: `Conditions::paces` wants one of every engine.
                let pace = Some(Pace::Depth(1));
                return Ok(EngineSpec {
                    program: Program::Beginner(beginner),
                    pace,
                    text: String::new(),
                    name: self.name,
                });
            }
            _ if self.beginner.is_some() => {
                return Err("give a beginner, a program or a net".to_string());
            }
            (Some(command), None) if !of_net => {
                let mut words = command.into_iter();
                Program::Command(Setup {
                    program: words.next().ok_or("cmd= names no program")?.into(),
                    arguments: words.collect(),
                    options: self.options,
                    ..Setup::default()
                })
            }
            (None, Some(evaluation)) if self.options.is_empty() => Program::Net(Net {
                evaluation,
                policy: self.policy,
                hash: self.hash,
                threads: self.threads.unwrap_or(1),
            }),
            (Some(_), None) => {
                return Err(
                    "policy=, hash= and threads= are for nets; a program has option.PolicyFile= \
                     and option.Hash="
                        .to_string(),
                );
            }
            (None, Some(_)) => {
                return Err(
                    "option. is for programs; a net has policy=, hash= and threads=".to_string(),
                );
            }
            (Some(_), Some(_)) => {
                return Err(
                    "give a program or a net, not both: a word alone is a net; arguments of a \
                     program stand in quotes, cmd=\"PROGRAM ARGUMENTS\""
                        .to_string(),
                );
            }
            (None, None) => return Err("give a program, cmd=, or a net, net=".to_string()),
        };
        Ok(EngineSpec {
            program,
            pace: self.pace,
            text: String::new(),
            name: self.name,
        })
    }
}

fn number(key: &str, value: &str, most: usize) -> Result<usize, String> {
    let number = value.parse().ok();
    let number = number.filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("{key} must be a number from 1 to {most}, not {value:?}"))
}

impl EngineSpec {
    /// Returns the specification with the words of `each` that apply and that it does not set
    /// itself: `option.NAME=VALUE` for a program, `hash=` and `threads=` for a net, a limit for
    /// both.
    ///
    /// # Errors
    /// A message that names the invalid word of `each`.
    pub fn with(&self, each: &str) -> Result<EngineSpec, String> {
        let words = split(&self.text)?;
        let says = |key: &str| {
            let mut keys = words.iter().filter_map(|word| word.split_once('='));
            // UCI option names are case-insensitive.
            keys.any(|(own, _)| own.eq_ignore_ascii_case(key))
        };
        let is_net = matches!(self.program, Program::Net(_));
        let mut text = self.text.clone();
        for word in split(each)? {
            let (key, value) = word.split_once('=').unwrap_or((&word, ""));
            let suits = match key {
                "hash" | "threads" => is_net,
                _ if key.starts_with("option.") => !is_net,
                _ if Pace::parse(key, value).transpose()?.is_some() => self.pace.is_none(),
                _ => {
                    return Err(format!(
                        "{word:?} is none of option.NAME=, hash=, threads=, depth=, nodes=, \
                         movetime=, tc="
                    ));
                }
            };
            if suits && !says(key) {
                let quoted = word.split('"').map(|part| format!("\"{part}\""));
                text += &format!(" {}", quoted.collect::<Vec<_>>().join("'\"'"));
            }
        }
        text.parse()
    }

    /// Returns the given name, else the file's without folder and extension.
    fn name(&self) -> String {
        let stem = |path: &Path| {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into()
        };
        self.name.clone().unwrap_or_else(|| match &self.program {
            Program::Command(setup) => stem(&setup.program),
            Program::Beginner(beginner) => beginner.to_string(),
            Program::Net(net) => match &net.evaluation {
                EvaluatorChoice::File(path) => stem(path),
                EvaluatorChoice::Embedded => "embedded".to_string(),
                EvaluatorChoice::Material => "material".to_string(),
            },
        })
    }
}

/// Returns a one-line name for each engine; equal names are numbered.
pub fn names(specs: &[EngineSpec]) -> Vec<String> {
    let name = |spec: &EngineSpec| spec.name().replace(char::is_control, " ");
    let names: Vec<String> = specs.iter().map(name).collect();
    let numbered = |(i, name): (usize, &String)| {
        let same = |names: &[String]| names.iter().filter(|&other| other == name).count();
        match same(&names) {
            1 => name.clone(),
            _ => format!("{name} ({})", same(&names[..=i])),
        }
    };
    names.iter().enumerate().map(numbered).collect()
}

/// Splits at spaces outside quotes and removes the quotes. Quotes of the other kind within quotes
/// stay.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> EngineSpec {
        text.parse().unwrap()
    }

    #[test]
    fn quotes_keep_spaces_together() {
        let spec = spec(
            r#"cmd="node '/a b/sf.js' -x" name=fish "option.Move Overhead=50" option.EvalFile='/a b' depth=4"#,
        );
        let option = |name: &str, value: &str| (name.to_string(), value.to_string());
        let setup = Setup {
            program: "node".into(),
            arguments: vec!["/a b/sf.js".to_string(), "-x".to_string()],
            options: vec![option("Move Overhead", "50"), option("EvalFile", "/a b")],
            ..Setup::default()
        };
        assert_eq!(spec.program, Program::Command(setup));
        assert_eq!((spec.pace, &*spec.name()), (Some(Pace::Depth(4)), "fish"));
    }

    #[test]
    fn parses_nets() {
        let file = spec("nets/7.safetensors");
        assert_eq!(file.program, spec("net=nets/7.safetensors").program);
        assert_eq!(file.name(), "7");
        let net = |evaluation, hash, threads| {
            Program::Net(Net {
                evaluation,
                policy: None,
                hash,
                threads,
            })
        };
        let program = spec("net=embedded hash=4 threads=2 name=x").program;
        assert_eq!(program, net(EvaluatorChoice::Embedded, Some(4), 2));
        assert_eq!(
            spec("material").program,
            net(EvaluatorChoice::Material, None, 1)
        );
        let policy = |text| match spec(text).program {
            Program::Net(net) => net.policy,
            other => panic!("{other:?}"),
        };
        let file = PolicyChoice::File("7.policy".into());
        assert_eq!(policy("7.net policy=7.policy"), Some(file));
        assert_eq!(
            policy("material policy=uniform"),
            Some(PolicyChoice::Uniform)
        );
    }

    #[test]
    fn beginners_need_no_limit() {
        let greedy = spec("beginner=greedy");
        assert_eq!(greedy.program, Program::Beginner(Beginner::Greedy));
        assert_eq!(
            (greedy.name(), greedy.pace),
            ("greedy".into(), Some(Pace::Depth(1)))
        );
        let named = spec("beginner=random name=dice")
            .with("nodes=5 hash=4")
            .unwrap();
        assert_eq!(
            (named.name(), named.pace),
            ("dice".into(), Some(Pace::Depth(1)))
        );
    }

    #[test]
    fn each_adds_what_applies_and_overrides_nothing() {
        let each = "option.Hash=64 'option.Move Overhead=50' hash=32 depth=9";
        let given = |text: &str| spec(text).with(each).unwrap();
        assert_eq!(
            given("cmd=x option.Hash=8").text,
            "cmd=x option.Hash=8 \"option.Move Overhead=50\" \"depth=9\""
        );
        let net = given("embedded nodes=100");
        assert_eq!(net.text, "embedded nodes=100 \"hash=32\"");
        assert_eq!(net.pace, Some(Pace::Nodes(100)));
        assert_eq!(given("cmd=x").pace, Some(Pace::Depth(9)));
        assert!(!given("cmd=x option.hash=8").text.contains("Hash=64"));
        let quotes = spec("cmd=x")
            .with(r#"option.A='"' option.B="it's""#)
            .unwrap();
        let Program::Command(setup) = quotes.program else {
            panic!("{quotes:?}");
        };
        let option = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(setup.options, [option("A", "\""), option("B", "it's")]);
        for wrong in ["name=x", "cmd=x", "fast", "plies=3", "depth=0", "'open"] {
            assert!(spec("cmd=x").with(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn refuses_invalid_specifications() {
        for text in [
            "",
            "name=x",
            "cmd=",
            "cmd=x plies=3",
            "cmd=x depth=0",
            "cmd=\"x",
            "cmd=x net=y",
            "cmd=x hash=4",
            "net=x option.Hash=4",
            "net=x hash=much",
            "net=x threads=0",
            "net=",
            "name= material",
            "material depth=2 depth=3",
            "material depth=2 nodes=3",
            "material embedded",
            "material name=a name=b",
            "cmd=x policy=uniform",
            "beginner=grandmaster",
            "beginner=random net=material",
            "beginner=random depth=2",
            "beginner=random policy=uniform",
            "policy=uniform",
        ] {
            assert!(text.parse::<EngineSpec>().is_err(), "{text}");
        }
    }

    #[test]
    fn equal_names_are_numbered() {
        let (fish, net) = (spec("cmd=/usr/games/stockfish"), spec("embedded"));
        let names = names(&[fish.clone(), net, fish]);
        assert_eq!(names, ["stockfish (1)", "embedded", "stockfish (2)"]);
    }
}
