//! `pidq pipeline`: the document platform.

use std::io;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use pidq_pipeline::{OpenError, Part, conformance, extract, start};

use super::failure::{Failure, Result, Status};
use super::license;

#[derive(Subcommand)]
pub enum Command {
    /// Serve pipelines, their documents, and questions to them, over HTTP.
    Serve(Settings),
    /// Read documents that others were sent; several workers share a database.
    Worker(Settings),
    /// Make and check licences.
    #[command(subcommand)]
    License(license::Command),
    /// Answer cases of the splitter and the ranking corpora: one JSON case and one answer a line.
    ConformanceStdio,
    /// Read one document: what the platform starts for each.
    #[command(hide = true)]
    ReadDocument,
}

/// Settings are the platform's own business: they are rows of a table, not options of the command.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Settings {
    /// Settings, as `--listen 127.0.0.1:8000`; `pidq pipeline serve --help` lists them
    #[arg(value_name = "SETTING", trailing_var_arg = true, allow_hyphen_values = true)]
    settings: Vec<String>,
}

/// Runs the subcommand.
pub fn run(command: &Command) -> Result {
    match command {
        Command::Serve(settings) => run_part(Part::Server, settings),
        Command::Worker(settings) => run_part(Part::Worker, settings),
        Command::License(command) => license::run(command),
        Command::ConformanceStdio => answer(),
        Command::ReadDocument => match extract::child_main() {
            code if code == ExitCode::SUCCESS => Ok(Status::Done),
            _ => Err(Failure::Usage("this is for the platform alone: it reads a document from standard input".into())),
        },
    }
}

fn run_part(part: Part, settings: &Settings) -> Result {
    start(part, settings.settings.clone(), std::env::vars())
        .map_err(|error: OpenError| Failure::Usage(error.to_string()))?;
    Ok(Status::Done)
}

fn answer() -> Result {
    match conformance::answer_all(io::stdin().lock(), io::stdout().lock()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Usage(error.to_string())),
        _ => Ok(Status::Done),
    }
}
