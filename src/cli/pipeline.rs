//! `pidq pipeline`: the document platform.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use pidq_pipeline::embedding::{self, Encoder, Places};
use pidq_pipeline::{OpenError, Part, conformance, eval, extract, start};

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
    /// Measure the search on judged questions, in every mode.
    Eval(Eval),
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

#[derive(Args)]
pub struct Eval {
    /// A folder as BEIR has it: corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/test.tsv
    #[arg(long, value_name = "DIR")]
    beir: PathBuf,
    /// The embedding model
    #[arg(long, value_name = "NAME", default_value = "hash-512")]
    model: String,
    /// A folder with a folder for each embedding model
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

/// Texts whose vectors are kept while a set is measured.
const REMEMBERED: usize = 10_000;

/// Runs the subcommand.
pub fn run(command: &Command) -> Result {
    match command {
        Command::Serve(settings) => run_part(Part::Server, settings),
        Command::Worker(settings) => run_part(Part::Worker, settings),
        Command::License(command) => license::run(command),
        Command::Eval(options) => measure(options),
        Command::ConformanceStdio => answer(),
        Command::ReadDocument => match extract::child_main() {
            code if code == ExitCode::SUCCESS => Ok(Status::Done),
            _ => Err(Failure::Usage("this is for the platform alone: it reads a document from standard input".into())),
        },
    }
}

fn run_part(part: Part, settings: &Settings) -> Result {
    pidq_http::give_memory_back();
    start(part, settings.settings.clone(), super::service::variables()?)
        .map_err(|error: OpenError| Failure::Usage(error.to_string()))?;
    Ok(Status::Done)
}

fn measure(options: &Eval) -> Result {
    let places = Places { folder: options.models.clone(), remote: None };
    let weight = embedding::find(&options.model).map_or(1.0, |model| model.weight);
    let model = embedding::open(&options.model, &places).map_err(|error| Failure::Usage(error.to_string()))?;
    let report = eval::beir(&options.beir, &Encoder::new(model, REMEMBERED), weight);
    let report = report.map_err(|error| Failure::Usage(format!("`{}`: {error}", options.beir.display())))?;
    writeln!(io::stdout(), "{report}")?;
    Ok(Status::Done)
}

fn answer() -> Result {
    match conformance::answer_all(io::stdin().lock(), io::stdout().lock()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Usage(error.to_string())),
        _ => Ok(Status::Done),
    }
}
