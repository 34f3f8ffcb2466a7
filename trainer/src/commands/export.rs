//! `trainer export`: writes a net for other engines.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use models::QuantisedNetwork;
use models::source::{Golden, Language, Source};

use crate::error::TrainerError;
use crate::files;
use crate::input::position;
use crate::net::{self, Net};

/// Number of golden positions.
const GOLDEN: usize = 256;

const HELP: &str = "\
Formats (docs/your-engine.md shows an engine with each):

  rust, c   source code without dependencies: NAME.rs or NAME.c evaluates in the
            integers of Kibitz's engine, NAME.bin holds the weights, and
            NAME.golden.txt positions with their inputs and centipawns. The code
            is CC0; the weights have the licence of their net.

This writes a net. `ingest export` writes the positions of a dataset, for other trainers.

Examples:
  trainer export net.safetensors --format rust --out src/net.rs
  trainer export net.safetensors --format c --out net.c";

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
    /// File to write: NAME.rs or NAME.c; other files lie beside it
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
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
}

impl Format {
    /// Returns the extension of the output file.
    fn extension(self) -> &'static str {
        match self {
            Format::Rust => "rs",
            Format::C => "c",
        }
    }
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
        force,
    } = arguments;
    let name = name(&out, format)?;
    let net = net::read(&net)?;
    let (language, test) = match format {
        Format::Rust => (
            Language::Rust,
            format!("rustc -O --test {name}.rs && ./{name}"),
        ),
        Format::C => (
            Language::C,
            format!("cc -O2 -std=c11 -DNET_SELFTEST {name}.c -o {name} && ./{name}"),
        ),
    };
    let files = source(&net, language, &name, &out)?;
    for (path, _) in &files {
        host::check_free(path, force)?;
        files::check_writable(path)?;
    }
    for (path, bytes) in &files {
        files::write(path, bytes)?;
    }
    let paths: Vec<String> = files
        .iter()
        .map(|(path, _)| path.display().to_string())
        .collect();
    Ok(host::print(&format!(
        "{}: {:#}; to test: {test}\n",
        paths.join(", "),
        net.network.architecture()
    ))?)
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

/// Returns the files of the source code with their paths, the code last.
///
/// # Errors
/// [`TrainerError::NetRefused`] if the net does not fit the integers.
fn source(
    net: &Net,
    language: Language,
    name: &str,
    out: &Path,
) -> Result<[(PathBuf, Vec<u8>); 3], TrainerError> {
    let network =
        QuantisedNetwork::new(&net.network).map_err(|error| TrainerError::NetRefused {
            path: net.path.clone(),
            error,
        })?;
    // Consecutive positions of games, so that the test also updates accumulators.
    let records = position::playouts::games(GOLDEN).into_iter();
    let golden: Vec<Golden> = records
        .map(|record| Golden {
            position: record.epd(),
            features: position::features(&record).collect(),
        })
        .collect();
    let source = Source::new(&network, language, name, &golden);
    Ok([
        (out.with_extension("bin"), source.weights),
        (out.with_extension("golden.txt"), source.golden.into()),
        (out.to_path_buf(), source.code.into()),
    ])
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
    fn refuses_names_that_source_code_cannot_have() {
        let folder = tempfile::tempdir().unwrap();
        for (format, out) in [
            (Format::Rust, "net.c"),
            (Format::C, "net"),
            (Format::Rust, "my\"net.rs"),
            (Format::C, "a.b.c"),
        ] {
            let error = export(folder.path(), format, out, false).unwrap_err();
            assert_eq!(error.exit_code() as u8, 2, "{error}");
        }
    }
}
