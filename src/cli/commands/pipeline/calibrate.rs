//! `pidq pipeline calibrate`: measures the calibration of an embedding model on judged collections, and stores it.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use pidq_text::embedding::{self, CALIBRATION_FILE, CachingEmbedder, Calibration, ModelSources};
use pidq_text::evaluation::{Dataset, measure_calibration};

use super::VECTOR_CACHE_CAPACITY;
use crate::cli::failure::{Failure, Result, Status};

#[derive(Args)]
pub struct Options {
    /// Directories in BEIR format, as for `pidq pipeline eval`
    #[arg(long, value_name = "DIR", required = true, num_args = 1..)]
    beir: Vec<PathBuf>,
    /// Embedding model
    #[arg(long, value_name = "NAME")]
    model: String,
    /// Directory with one subdirectory per embedding model
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// Write the file calibration.json in the directory of the model, which services read when they start
    #[arg(long, requires = "models")]
    write: bool,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let dir = options.write.then(|| directory(options)).transpose()?;
    let sources = ModelSources { model_dir: options.models.clone(), remote: None };
    let model = embedding::open(&options.model, &sources).map_err(|error| Failure::Usage(error.to_string()))?;
    let embedder = CachingEmbedder::new(model, VECTOR_CACHE_CAPACITY);
    // The measurement sets the weight, and does not depend on the similarity.
    let calibration = Calibration::unmeasured(0.0);
    let mut datasets = Vec::new();
    for dir in &options.beir {
        let dataset = Dataset::read(dir).and_then(|dataset| dataset.index(&embedder, calibration));
        datasets.push(dataset.map_err(|error| Failure::Usage(format!("`{}`: {error}", dir.display())))?);
    }
    let measurement = measure_calibration(&mut datasets).map_err(|error| Failure::Usage(error.to_string()))?;
    writeln!(io::stdout(), "{measurement}")?;
    let Some(dir) = dir else { return Ok(Status::Done) };
    let file = dir.join(CALIBRATION_FILE);
    let written = measurement.calibration.write(&dir);
    written.map_err(|error| Failure::Usage(format!("`{}`: {error}", file.display())))?;
    writeln!(io::stdout(), "written to {}", file.display())?;
    Ok(Status::Done)
}

/// Returns the directory of the model.
fn directory(options: &Options) -> std::result::Result<PathBuf, Failure> {
    let dir = options.models.as_ref().and_then(|models| embedding::calibration_dir(&options.model, models));
    dir.ok_or_else(|| Failure::Usage(format!("`{}` has no directory for its {CALIBRATION_FILE}", options.model)))
}
