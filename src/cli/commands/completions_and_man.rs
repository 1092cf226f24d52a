//! Subcommands `pidq completions` and `pidq man`, generated from the options.

use std::io::{self, Write};

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::{Generator, Shell as CommonShell};
use clap_complete_nushell::Nushell;

use crate::cli::Cli;
use crate::cli::failure::{Failure, Result, Status};

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  pidq completions bash > pidq.bash && . ./pidq.bash
  pidq completions fish > pidq.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  pidq man > pidq.1
  pidq man query > pidq-query.1";

#[derive(Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct Completions {
    /// Shell
    shell: Shell,
}

/// Shell for which a script is generated.
#[derive(Clone, Copy, ValueEnum)]
#[expect(clippy::enum_variant_names, reason = "the name of a product")]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    #[value(name = "powershell")]
    PowerShell,
    Zsh,
}

#[derive(Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct Man {
    /// Subcommand with its own page, such as `query` or `graph-import`
    subcommand: Option<String>,
}

/// Prints a shell completion script.
pub fn completions(options: &Completions) -> Result {
    let script = match options.shell {
        Shell::Bash => script(CommonShell::Bash),
        Shell::Elvish => script(CommonShell::Elvish),
        Shell::Fish => script(CommonShell::Fish),
        Shell::Nushell => script(Nushell),
        Shell::PowerShell => script(CommonShell::PowerShell),
        Shell::Zsh => script(CommonShell::Zsh),
    };
    io::stdout().lock().write_all(&script)?;
    Ok(Status::Done)
}

fn script(shell: impl Generator) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pidq", &mut script);
    script
}

/// Prints a manual page.
pub fn man(options: &Man) -> Result {
    let mut command = Cli::command();
    command.build();
    if let Some(name) = &options.subcommand {
        let found = find_subcommand(&command, name).cloned();
        let unknown = || Failure::Usage(format!("no subcommand `{name}`; `pidq --help` lists all subcommands"));
        command = found.ok_or_else(unknown)?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    io::stdout().lock().write_all(without_filling(&String::from_utf8_lossy(&page)).as_bytes())?;
    Ok(Status::Done)
}

/// Finds a subcommand by its name or page name (`graph-import`).
fn find_subcommand<'c>(command: &'c clap::Command, name: &str) -> Option<&'c clap::Command> {
    let within = |inner: &'c clap::Command| {
        find_subcommand(inner, name.strip_prefix(inner.get_name())?.strip_prefix(['-', ' '])?)
    };
    command.find_subcommand(name).or_else(|| command.get_subcommands().find_map(within))
}

/// Turns off line filling for examples: `man` would fill and justify the lines.
fn without_filling(page: &str) -> String {
    page.replace(".SH EXTRA\n", ".SH EXTRA\n.nf\n")
}
