//! `pidq pipeline`: the document platform.

use std::io;

use clap::Subcommand;
use pidq_pipeline::conformance;

use super::failure::{Failure, Result, Status};

#[derive(Subcommand)]
pub enum Command {
    /// Answer cases of the splitter and the ranking corpora: one JSON case and one answer a line.
    ConformanceStdio,
}

/// Runs the subcommand.
pub fn run(command: &Command) -> Result {
    match command {
        Command::ConformanceStdio => answer(),
    }
}

fn answer() -> Result {
    match conformance::answer_all(io::stdin().lock(), io::stdout().lock()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Usage(error.to_string())),
        _ => Ok(Status::Done),
    }
}
