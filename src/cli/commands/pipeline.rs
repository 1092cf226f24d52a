//! Subcommands `pidq pipeline`: the document platform.

mod calibrate;
mod eval_history;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use pidq_pipeline::OpenError;
use pidq_pipeline::ProcessRole;
use pidq_pipeline::start;
use pidq_text::conformance;
use pidq_text::embedding::{self, CachingEmbedder, Calibration, ModelSources};
use pidq_text::evaluation;

use super::license;
use crate::cli::environment::environment_for;
use crate::cli::failure::{Failure, Result, Status};
use eval_history::Run;

#[derive(Subcommand)]
pub enum Command {
    /// Serve the document platform over HTTP: pipelines, documents, search and answers.
    Serve(Settings),
    /// Ingest uploaded documents from the job queue; several workers may share a database.
    Worker(Settings),
    /// Issue and verify licenses.
    #[command(subcommand)]
    License(license::Command),
    /// Evaluate the search quality of every mode on queries with relevance judgments.
    Eval(Eval),
    /// Measure the weight of an embedding model and the cosine that makes a passage relevant, on judged collections.
    Calibrate(calibrate::Options),
    /// Run the conformance cases of the splitters and the ranking: one JSON case and one response per line.
    ConformanceStdio,
    /// Extract one document; started by the platform.
    #[command(hide = true)]
    ReadDocument,
}

/// Options of a service. Settings are parsed by the platform from its own table.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Settings {
    /// Settings, such as `--listen 127.0.0.1:8000`; see `pidq pipeline serve --help`
    #[arg(value_name = "SETTING", trailing_var_arg = true, allow_hyphen_values = true)]
    settings: Vec<String>,
}

#[derive(Args)]
pub struct Eval {
    /// Directory in BEIR format: corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/*.tsv
    #[arg(long, value_name = "DIR")]
    beir: PathBuf,
    /// Embedding model
    #[arg(long, value_name = "NAME", default_value = "hash-512")]
    model: String,
    /// Directory with one subdirectory per embedding model
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// Weight of the vectors in hybrid mode, from 0 to 1; default: that of the model
    #[arg(long, value_name = "WEIGHT", value_parser = parse_weight)]
    weight: Option<f64>,
    /// Cosine of a passage that makes it relevant, above 0 and at most 1; default: that of the model
    #[arg(long, value_name = "COSINE", value_parser = parse_similarity)]
    min_similarity: Option<f64>,
    /// File of earlier results, one JSON object per line: the result is compared with the last one of the same directory,
    /// model and calibration, and appended
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
}

fn parse_weight(text: &str) -> std::result::Result<f64, String> {
    let weight: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1.0).contains(&weight) { Ok(weight) } else { Err("not from 0 to 1".to_owned()) }
}

fn parse_similarity(text: &str) -> std::result::Result<f64, String> {
    let cosine: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if cosine > 0.0 && cosine <= 1.0 { Ok(cosine) } else { Err("not above 0 and at most 1".to_owned()) }
}

/// Capacity of the vector cache during an evaluation.
const VECTOR_CACHE_CAPACITY: usize = 10_000;

/// Runs the subcommand.
pub fn run(command: &Command) -> Result {
    match command {
        Command::Serve(settings) => run_service(ProcessRole::Server, settings),
        Command::Worker(settings) => run_service(ProcessRole::Worker, settings),
        Command::License(command) => license::run(command),
        Command::Eval(options) => evaluate(options),
        Command::Calibrate(options) => calibrate::run(options),
        Command::ConformanceStdio => run_conformance(),
        Command::ReadDocument => match pidq_extract::sandbox_main() {
            code if code == ExitCode::SUCCESS => Ok(Status::Done),
            _ => Err(Failure::Usage(
                "extraction failed; this command is started by the platform and reads a document from standard input"
                    .into(),
            )),
        },
    }
}

fn run_service(role: ProcessRole, settings: &Settings) -> Result {
    pidq_http::configure_malloc();
    start(role, settings.settings.clone(), environment_for(pidq_pipeline::TABLES)?)
        .map_err(|error: OpenError| Failure::Usage(error.to_string()))?;
    Ok(Status::Done)
}

fn evaluate(options: &Eval) -> Result {
    let sources = ModelSources { model_dir: options.models.clone(), remote: None };
    let model = embedding::open(&options.model, &sources).map_err(|error| Failure::Usage(error.to_string()))?;
    let calibration = embedding::calibration(&options.model, options.models.as_deref())
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let calibration = Calibration {
        weight: options.weight.unwrap_or(calibration.weight),
        min_similarity: options.min_similarity.unwrap_or(calibration.min_similarity),
    };
    let embedder = CachingEmbedder::new(model, VECTOR_CACHE_CAPACITY);
    let report = evaluation::evaluate_beir(&options.beir, &embedder, calibration);
    let report = report.map_err(|error| Failure::Usage(format!("`{}`: {error}", options.beir.display())))?;
    writeln!(io::stdout(), "{report}\nweight of the vectors in hybrid mode: {}", calibration.weight)?;
    let Some(file) = &options.history else { return Ok(Status::Done) };
    let run = Run::new(&options.beir, &options.model, calibration, report);
    let earlier = eval_history::last(file, &run).and_then(|earlier| eval_history::append(file, &run).map(|()| earlier));
    let earlier = earlier.map_err(|error| Failure::Usage(format!("`{}`: {error}", file.display())))?;
    if let Some(earlier) = earlier {
        writeln!(io::stdout(), "since {}:", earlier.time)?;
        run.report.changes_since(&earlier.report).iter().try_for_each(|line| writeln!(io::stdout(), "  {line}"))?;
    }
    Ok(Status::Done)
}

fn run_conformance() -> Result {
    match conformance::run_cases(io::stdin().lock(), io::stdout().lock()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Usage(error.to_string())),
        _ => Ok(Status::Done),
    }
}
