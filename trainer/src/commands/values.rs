//! Parsers of option values; invalid ones are refused before any work.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::training::plan::ResultShare;
use models::{Architecture, MAX_FIRST, MAX_LATER, QuantisedNetwork};

/// Upper limit of epochs.
const MOST_EPOCHS: u64 = 100_000;
/// Largest batch: 32 MiB of records.
const MOST_POSITIONS: usize = 1 << 20;

fn whole<T: FromStr + PartialOrd + Display>(
    text: &str,
    range: RangeInclusive<T>,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    let (least, most) = (range.start(), range.end());
    number.ok_or_else(|| format!("expected a whole number from {least} to {most}"))
}

pub fn epochs(text: &str) -> Result<u64, String> {
    whole(text, 1..=MOST_EPOCHS)
}

pub fn batch(text: &str) -> Result<usize, String> {
    whole(text, 1..=MOST_POSITIONS)
}

pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0..=u64::MAX)
}

/// Parses a number above 0 that f32 holds.
pub fn positive(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if number.is_normal() && number > 0.0 => Ok(number),
        _ => Err("expected a number above 0".to_string()),
    }
}

/// Parses a number like [`positive`], in f64.
pub fn learning_rate(text: &str) -> Result<f64, String> {
    positive(text)?;
    text.parse().map_err(|_| "expected a number".to_string())
}

/// Parses a number from 0 to 1.
pub fn weight_decay(text: &str) -> Result<f64, String> {
    let decay = text.parse().ok();
    let decay = decay.filter(|decay| (0.0..=1.0).contains(decay));
    decay.ok_or_else(|| "expected a number from 0 to 1".to_string())
}

/// Parses a power of two from 1/1024 to 1.
pub fn own_scale(text: &str) -> Result<f32, String> {
    let scale: Option<f32> = text.parse().ok();
    let powers = (0..=10).map(|halvings| 0.5f32.powi(halvings));
    let found = powers.into_iter().find(|&power| scale == Some(power));
    found.ok_or_else(|| "expected a power of two, from 0.0009765625 to 1".to_string())
}

/// Parses a number of fits that differ in their seed.
pub fn seeds(text: &str) -> Result<u64, String> {
    whole(text, 1..=100)
}

pub fn steps(text: &str) -> Result<u64, String> {
    whole(text, 0..=1_000_000_000)
}

pub fn seconds(text: &str) -> Result<Duration, String> {
    time(text, 1.0)
}

pub fn minutes(text: &str) -> Result<Duration, String> {
    time(text, 60.0)
}

fn time(text: &str, seconds: f64) -> Result<Duration, String> {
    let time = Duration::try_from_secs_f64(seconds * f64::from(positive(text)?));
    time.map_err(|_| "expected a shorter time".to_string())
}

/// Parses the sizes of one to three hidden layers; all else is as in [`Architecture::ARTICLE`].
pub fn hidden(text: &str) -> Result<Architecture, String> {
    let sizes: Result<Vec<usize>, _> = text.split(',').map(|size| size.trim().parse()).collect();
    let sizes = sizes.as_deref().unwrap_or_default();
    if !(1..=3).contains(&sizes.len()) {
        return Err("expected one to three sizes, such as 256,32,32".to_string());
    }
    let architecture = Architecture {
        first: sizes[0],
        second: sizes.get(1).copied(),
        third: sizes.get(2).copied(),
        ..Architecture::ARTICLE
    };
    let possible = architecture.check().is_ok() && QuantisedNetwork::fits(architecture);
    possible.then_some(architecture).ok_or_else(|| {
        format!("the engine plays with sizes from 1 to {MAX_FIRST}, {MAX_LATER} and {MAX_LATER}")
    })
}

pub fn buckets(text: &str) -> Result<usize, String> {
    whole(text, 1..=Architecture::MAX_BUCKETS)
}

/// Parses bullet's scale, in centipawns.
pub fn scale(text: &str) -> Result<u16, String> {
    whole(text, 1..=u16::MAX)
}

/// Parses the weight of the game's result: one, or two for the begin and the end of a run.
pub fn wdl(text: &str) -> Result<ResultShare, String> {
    let share = |text: &str| {
        let share = text.parse::<f32>().ok();
        let share = share.filter(|share| (0.0..=1.0).contains(share));
        share.ok_or_else(|| "expected A or A:B, numbers from 0 to 1".to_string())
    };
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    Ok(ResultShare {
        from: share(from)?,
        to: share(to)?,
    })
}

/// Parses a number from 1 to 10.
pub fn loss_exponent(text: &str) -> Result<f64, String> {
    let exponent = text.parse().ok();
    let exponent = exponent.filter(|exponent| (1.0..=10.0).contains(exponent));
    exponent.ok_or_else(|| "expected a number from 1 to 10".to_string())
}

/// Parses `NAME=FILE`.
pub fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_string(), PathBuf::from(file)))
        }
        _ => Err("expected NAME=FILE".to_string()),
    }
}

/// Parses the path of a net to write. Other files of a run have other extensions, so no two
/// collide.
pub fn net(text: &str) -> Result<PathBuf, String> {
    ends_with(text, "safetensors")
}

pub fn figures(text: &str) -> Result<PathBuf, String> {
    ends_with(text, "json")
}

pub fn page(text: &str) -> Result<PathBuf, String> {
    ends_with(text, "html")
}

pub fn picture(text: &str) -> Result<PathBuf, String> {
    ends_with(text, "svg")
}

/// Parses an output path. The required extension protects inputs, which have other ones, from being
/// overwritten.
fn ends_with(text: &str, ending: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(extension) if extension == ending => Ok(path),
        _ => Err(format!("expected a name that ends with .{ending}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuses<T: std::fmt::Debug>(parse: fn(&str) -> Result<T, String>, texts: &[&str]) {
        for text in texts {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn parses_counts() {
        assert_eq!(epochs("100000"), Ok(100_000));
        refuses(epochs, &["", "0", "-1", "1e3", "100001", "2.5"]);
        assert_eq!(batch("1048576"), Ok(1_048_576));
        refuses(batch, &["", "0", "-1", "1048577", "x"]);
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        refuses(seed, &["", "-1", "18446744073709551616"]);
        let error = epochs("0").unwrap_err();
        assert_eq!(error, "expected a whole number from 1 to 100000");
    }

    #[test]
    fn parses_positive_f32_numbers() {
        assert_eq!(positive("0.5"), Ok(0.5));
        assert_eq!(learning_rate("0.003"), Ok(0.003));
        let wrong = [
            "", "0", "-0", "-1", "nan", "inf", "-inf", "1e39", "1e-50", "x",
        ];
        refuses(positive, &wrong);
        refuses(learning_rate, &wrong);
    }

    #[test]
    fn bounds_regularisation_options() {
        assert_eq!(weight_decay("0.3"), Ok(0.3));
        assert_eq!(weight_decay("0"), Ok(0.0));
        refuses(weight_decay, &["-0.1", "1.1", "nan", "", "inf"]);
        assert_eq!(own_scale("0.0625"), Ok(0.0625));
        assert_eq!(own_scale("1"), Ok(1.0));
        refuses(own_scale, &["0", "0.3", "2", "-1", "nan", ""]);
        assert_eq!(steps("0"), Ok(0));
        refuses(steps, &["-1", "0.5", ""]);
    }

    #[test]
    fn bounds_target_options() {
        let share = |from, to| Ok(ResultShare { from, to });
        assert_eq!(wdl("0.3"), share(0.3, 0.3));
        assert_eq!(wdl("0:1"), share(0.0, 1.0));
        refuses(wdl, &["", ":", "0:", "-0.1", "1.1", "nan", "0:0:1", "0,1"]);
        assert_eq!(loss_exponent("2.5"), Ok(2.5));
        refuses(loss_exponent, &["", "0.9", "nan", "inf", "11", "x"]);
    }

    #[test]
    fn parses_positive_times() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        refuses(seconds, &["", "0", "-1", "1e30", "nan", "5s"]);
        refuses(minutes, &["0", "-1", "1e30"]);
    }

    #[test]
    fn parses_hidden_layers_that_fit_the_engine() {
        assert_eq!(hidden("451, 32,32"), Ok(Architecture::ARTICLE));
        let two = hidden("1024,16").unwrap();
        assert_eq!((two.second, two.third), (Some(16), None));
        assert_eq!(hidden("8").unwrap().layers().len(), 2);
        let wrong = [
            "",
            "451,32,32,1",
            "0,32,32",
            "0,0,0",
            "1025,32,32",
            "451,33,32",
            "451,32,0",
            "-1,32,32",
            "a,b,c",
            "99999999999999999999,1,1",
            "32x32x32",
        ];
        refuses(hidden, &wrong);
        assert_eq!(buckets("8"), Ok(8));
        refuses(buckets, &["0", "9", "-1", "x"]);
    }

    #[test]
    fn requires_the_extension_of_each_output() {
        assert_eq!(net("a/n.safetensors"), Ok(PathBuf::from("a/n.safetensors")));
        refuses(
            net,
            &[
                "n",
                "n.checkpoint",
                "n.svg",
                "n.report.html",
                ".safetensors",
                "",
            ],
        );
        refuses(net, &["n.golden.json", "n.metrics.jsonl", "n.diverged.txt"]);
        assert!(page("a.html").is_ok() && picture("a.svg").is_ok());
        refuses(
            page,
            &["n.safetensors", "games.pgn.zst", "/dev/stdout", "html"],
        );
        refuses(picture, &["n.safetensors", "a.html"]);
    }
}
