//! `pidq completions` and `pidq man`: texts made from the options themselves.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::failure::{Failure, Result, Status};

const COMPLETIONS: &str = "\
Examples:
  pidq completions bash > pidq.bash && . ./pidq.bash
  pidq completions fish > pidq.fish";

const MAN: &str = "\
Examples:
  pidq man > pidq.1
  pidq man query > pidq-query.1";

#[derive(Args)]
#[command(after_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Args)]
#[command(after_help = MAN)]
pub struct Man {
    /// A subcommand, for its own page
    subcommand: Option<String>,
}

/// Prints completions for a shell.
pub fn completions(options: &Completions) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "pidq", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Status::Done)
}

/// Prints a manual page.
pub fn man(options: &Man) -> Result {
    let mut command = Cli::command();
    command.build();
    if let Some(name) = &options.subcommand {
        let found = command.find_subcommand(name).cloned();
        command = found.ok_or_else(|| Failure::Usage(format!("no subcommand `{name}`")))?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    io::stdout().lock().write_all(&page)?;
    Ok(Status::Done)
}
