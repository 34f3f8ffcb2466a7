//! Shell completions and man pages, generated from a program's command line.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use clap::{Command, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::file::{Action, FileError};

/// Commands of every program that help to install it.
#[derive(Clone, Debug, Subcommand)]
pub enum InstallCommand {
    /// Print completions for a shell, to be sourced or put where the shell looks for them
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write man pages: one for the program, and one for each command
    Man {
        /// Folder for the pages, created if missing; older pages are replaced
        #[arg(short, long, value_name = "FOLDER")]
        out: PathBuf,
    },
}

impl InstallCommand {
    /// Runs the command for the program of the command line `program`, under the name by which it
    /// was started.
    ///
    /// # Errors
    /// [`FileError`] if standard output or a page cannot be written.
    pub fn run(&self, program: Command) -> Result<(), FileError> {
        let name = started_as().unwrap_or_else(|| program.get_name().to_string());
        match self {
            InstallCommand::Completions { shell } => {
                crate::print(&completions(program, *shell, &name))
            }
            InstallCommand::Man { out } => {
                write_pages(program, &name, out).map_err(FileError::to(Action::Write, out))
            }
        }
    }
}

/// Returns the file name of the running program: packages may rename it.
fn started_as() -> Option<String> {
    let path = PathBuf::from(env::args_os().next()?);
    let name = path.file_name()?.to_str()?;
    Some(name.strip_suffix(".exe").unwrap_or(name).to_string())
}

/// Returns the completion script of a program called `name`.
fn completions(mut program: Command, shell: Shell, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Writes the man pages of a program called `name`.
fn write_pages(program: Command, name: &str, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut program = program
        .display_name(name)
        .bin_name(name)
        .disable_help_subcommand(true);
    program.build();
    write_page(&program, folder)
}

/// Writes the man pages of a command and its subcommands.
fn write_page(command: &Command, folder: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands() {
        write_page(subcommand, folder)?;
    }
    // The examples below a help would be filled as prose.
    let man = Man::new(command.clone().after_help(None::<&str>));
    let mut page = Vec::new();
    man.render(&mut page)?;
    if let Some(notes) = command.get_after_help() {
        let mut section = Roff::new();
        section.control("SH", ["NOTES"]).control("nf", []);
        for line in notes.to_string().lines() {
            section.text([roman(line)]);
        }
        section.control("fi", []).to_writer(&mut page)?;
    }
    fs::write(folder.join(man.get_filename()), page)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    /// Bakes things.
    #[derive(Parser)]
    #[command(name = "oven", after_help = "Example:\n  oven bake --out .\n    bread")]
    struct Oven {
        #[command(subcommand)]
        command: OvenCommand,
    }

    #[derive(Subcommand)]
    enum OvenCommand {
        /// Bakes bread
        Bake,
        #[command(flatten)]
        Install(InstallCommand),
    }

    fn oven() -> Command {
        <Oven as clap::CommandFactory>::command()
    }

    #[test]
    fn completions_name_program_and_commands() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = completions(oven(), shell, "my-oven");
            for word in ["my-oven", "bake", "completions"] {
                assert!(script.contains(word), "{shell}: {script}");
            }
        }
    }

    #[test]
    fn man_pages_have_names_and_verbatim_examples() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("man1");
        write_pages(oven(), "my-oven", &folder).unwrap();
        let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let main = page("my-oven.1");
        assert!(main.contains(".SH NAME\nmy\\-oven"), "{main}");
        let (_, notes) = main.split_once(".SH NOTES\n.nf\n").expect(&main);
        assert!(notes.contains("\n    bread\n.fi"), "{main}");
        assert!(page("my-oven-bake.1").contains("Bakes bread"));
        assert!(page("my-oven-man.1").contains("FOLDER"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
    }

    #[test]
    fn parses_both_commands() {
        let command = |line: &[&str]| Oven::try_parse_from(line).map(|oven| oven.command);
        assert!(matches!(
            command(&["oven", "completions", "zsh"]),
            Ok(OvenCommand::Install(InstallCommand::Completions { .. }))
        ));
        assert!(matches!(
            command(&["oven", "man", "-o", "x"]),
            Ok(OvenCommand::Install(InstallCommand::Man { .. }))
        ));
        assert!(matches!(command(&["oven", "bake"]), Ok(OvenCommand::Bake)));
        assert!(command(&["oven", "man"]).is_err());
    }
}
