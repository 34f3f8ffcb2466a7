//! `trainer export`: writes a net for other engines.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use models::QuantisedNetwork;
use models::bullet::{BulletNet, DEFAULT_SCALE};
use models::source::{Golden, Language, Source};

use crate::commands::values;
use crate::error::TrainerError;
use crate::files;
use crate::net::{self, Net};

/// Number of golden positions.
const GOLDEN: usize = 256;

const HELP: &str = "\
Formats (docs/your-engine.md shows an engine with each):

  rust, c   source code without dependencies: NAME.rs or NAME.c evaluates in the
            integers of Kibitz's engine, NAME.bin holds the weights, and
            NAME.golden.txt positions with their inputs and centipawns. The code
            is CC0; the weights have the licence of their net.
  bullet    quantised.bin as bullet's example `simple` writes it, for engines that
            embed such a file. Only for nets of --features pieces, --view both,
            one hidden layer, and no product of neurons.

This writes a net. `ingest export` writes the positions of a dataset, for other trainers.

Examples:
  trainer export net.safetensors --format rust --out src/net.rs
  trainer export net.safetensors --format c --out net.c
  trainer export net.safetensors --format bullet --scale 100 --out quantised.bin";

/// Arguments of `trainer export`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Net to export
    #[arg(value_name = "NET.safetensors")]
    net: PathBuf,
    /// Output format
    #[arg(long, value_enum)]
    format: Format,
    /// File to write: NAME.rs or NAME.c, with others beside it; NAME.bin for bullet
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// For bullet: centipawns of an output of 1, SCALE in the engine; by default 400, as in
    /// bullet's examples. Kibitz's nets lose least to rounding with 100
    #[arg(long, value_name = "N", value_parser = values::scale)]
    scale: Option<u16>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Source code of Rust
    Rust,
    /// Source code of C11
    C,
    /// quantised.bin of bullet
    Bullet,
}

impl Format {
    /// Returns the extension of the output file.
    fn extension(self) -> &'static str {
        match self {
            Format::Rust => "rs",
            Format::C => "c",
            Format::Bullet => "bin",
        }
    }
}

/// Files to write, and how to use them.
struct Export {
    /// Paths and contents, in the order of writing.
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Text for the user.
    usage: String,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    let Arguments {
        net,
        format,
        out,
        scale,
        force,
    } = arguments;
    let name = name(&out, format)?;
    if scale.is_some() && format != Format::Bullet {
        let what = "--scale is for --format bullet: source code gives centipawns";
        return Err(TrainerError::Usage(what.to_string()));
    }
    let net = net::read(&net)?;
    let Export { files, usage } = match format {
        Format::Rust => source(&net, Language::Rust, &name, &out)?,
        Format::C => source(&net, Language::C, &name, &out)?,
        Format::Bullet => bullet(&net, scale.unwrap_or(DEFAULT_SCALE), &out)?,
    };
    for (path, _) in &files {
        host::check_free(path, force)?;
        files::check_writable(path)?;
    }
    for (path, bytes) in &files {
        files::write(path, bytes)?;
    }
    let paths = files.iter().map(|(path, _)| path.display().to_string());
    let paths: Vec<String> = paths.collect();
    Ok(host::print(&format!("{}: {usage}\n", paths.join(", ")))?)
}

/// Returns the output file's name without its extension.
///
/// # Errors
/// [`TrainerError::Usage`] if the extension is another, or the name unfit for source code.
fn name(out: &Path, format: Format) -> Result<String, TrainerError> {
    let refused = |what: &str| {
        let out = out.display();
        Err(TrainerError::Usage(format!("--out {out}: {what}")))
    };
    let extension = format.extension();
    if out.extension().is_none_or(|found| found != extension) {
        return refused(&format!("expected a name that ends with .{extension}"));
    }
    let name = out.file_stem().unwrap_or_default().to_string_lossy();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match name.bytes().all(is_word) {
        true => Ok(name.into_owned()),
        false => refused("expected a name of letters, digits and _"),
    }
}

/// Returns the source code of a net, with its weights and golden positions.
///
/// # Errors
/// [`TrainerError::NetRefused`] if the net does not fit the integers.
fn source(net: &Net, language: Language, name: &str, out: &Path) -> Result<Export, TrainerError> {
    let network =
        QuantisedNetwork::new(&net.network).map_err(|error| TrainerError::NetRefused {
            path: net.path.clone(),
            error,
        })?;
    let source = Source::new(&network, language, name, &golden());
    let test = match language {
        Language::Rust => format!("rustc -O --test {name}.rs && ./{name}"),
        Language::C => {
            format!("cc -O2 -std=c11 -DNET_SELFTEST {name}.c -o {name} && ./{name}")
        }
    };
    Ok(Export {
        files: vec![
            (out.with_extension("bin"), source.weights),
            (out.with_extension("golden.txt"), source.golden.into()),
            (out.to_path_buf(), source.code.into()),
        ],
        usage: format!(
            "{:#}; to test, in its folder: {test}",
            network.architecture()
        ),
    })
}

/// Returns a net as bullet's file.
///
/// # Errors
/// [`TrainerError::BulletRefused`] if the format cannot hold the net.
fn bullet(net: &Net, scale: u16, out: &Path) -> Result<Export, TrainerError> {
    let bullet = BulletNet::new(&net.network, scale).map_err(|error| {
        let path = net.path.clone();
        TrainerError::BulletRefused { path, error }
    })?;
    let golden = golden();
    let distances = golden.iter().map(|Golden { features, .. }| {
        let pawns = net.network.evaluate(features);
        (f64::from(bullet.evaluate(features)) - 100.0 * f64::from(pawns)).abs()
    });
    let mean = distances.sum::<f64>() / golden.len() as f64;
    let mut usage = format!(
        "shape {}, for an engine with SCALE = {scale}; {mean:.1} centipawns from the net on \
         average",
        bullet.shape(),
    );
    let largest = bullet.largest_output_weight();
    if largest > 128 {
        usage += &format!(
            "; an output weight is {largest}: beyond 128, engines that multiply in 16 bits \
             overflow, and a larger --scale helps"
        );
    }
    Ok(Export {
        files: vec![(out.to_path_buf(), bullet.to_bytes())],
        usage,
    })
}

/// Returns consecutive positions of random games, so that tests update accumulators too.
fn golden() -> Vec<Golden> {
    let records = features::playouts::games(GOLDEN).into_iter();
    let golden = records.map(|record| Golden {
        position: record.epd(),
        features: features::active(&record).collect(),
    });
    golden.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SMALL;
    use models::{Metadata, Network};

    fn export(folder: &Path, format: Format, out: &str, force: bool) -> Result<(), TrainerError> {
        let net = folder.join("n.safetensors");
        let network = Network::random(SMALL, 1);
        std::fs::write(&net, network.to_bytes(&Metadata::new(SMALL, "a test"))).unwrap();
        run(Arguments {
            net,
            format,
            out: folder.join(out),
            scale: None,
            force,
        })
    }

    #[test]
    fn writes_three_files_and_replaces_them_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        export(folder.path(), Format::C, "net.c", false).unwrap();
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        let golden = String::from_utf8(read("net.golden.txt")).unwrap();
        assert_eq!(golden.lines().count(), GOLDEN);
        assert!(read("net.c").starts_with(b"/* CC0"));
        // The weights of another export are kept too.
        let weights = read("net.bin");
        let error = export(folder.path(), Format::Rust, "net.rs", false).unwrap_err();
        assert_eq!(error.exit_code() as u8, 5);
        assert!(error.to_string().contains("net.bin"), "{error}");
        assert!(!folder.path().join("net.rs").exists());
        export(folder.path(), Format::Rust, "net.rs", true).unwrap();
        assert_eq!(read("net.bin"), weights);
    }

    #[test]
    fn refuses_nets_that_bullets_format_cannot_hold() {
        let folder = tempfile::tempdir().unwrap();
        let error = export(folder.path(), Format::Bullet, "q.bin", false).unwrap_err();
        assert_eq!(error.exit_code() as u8, 6);
        assert!(error.to_string().contains("--hidden"), "{error}");
        assert!(!folder.path().join("q.bin").exists());
    }

    #[test]
    fn refuses_names_that_source_code_cannot_have() {
        let folder = tempfile::tempdir().unwrap();
        for (format, out) in [
            (Format::Rust, "net.c"),
            (Format::C, "net"),
            (Format::Rust, "my\"net.rs"),
            (Format::C, "a.b.c"),
            (Format::Bullet, "quantised"),
        ] {
            let error = export(folder.path(), format, out, false).unwrap_err();
            assert_eq!(error.exit_code() as u8, 2, "{error}");
        }
    }
}
