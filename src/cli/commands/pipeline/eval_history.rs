//! History of evaluations: a file with one result per line.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use pidq_http::auth::Timestamp;
use pidq_text::embedding::Calibration;
use pidq_text::evaluation::Report;
use serde::{Deserialize, Serialize};

/// An evaluation in the history.
#[derive(Deserialize, Serialize)]
pub struct Run {
    /// Time of the evaluation.
    pub time: String,
    version: String,
    dataset: String,
    model: String,
    calibration: Calibration,
    /// Result.
    pub report: Report,
}

impl Run {
    /// Creates the entry of an evaluation that ends now.
    pub fn new(dataset: &Path, model: &str, calibration: Calibration, report: Report) -> Self {
        // The same directory may be named in several ways.
        let dataset = fs::canonicalize(dataset).unwrap_or_else(|_| dataset.to_path_buf());
        Run {
            time: Timestamp::now().to_rfc3339(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dataset: dataset.display().to_string(),
            model: model.to_owned(),
            calibration,
            report,
        }
    }

    fn is_comparable(&self, other: &Run) -> bool {
        (&self.dataset, &self.model, self.calibration) == (&other.dataset, &other.model, other.calibration)
    }
}

/// Returns the last comparable run in a file; none if the file does not exist.
pub fn last(file: &Path, run: &Run) -> io::Result<Option<Run>> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    // Lines of other versions may have other fields.
    let mut runs = text.lines().filter_map(|line| serde_json::from_str::<Run>(line).ok());
    Ok(runs.rfind(|earlier| earlier.is_comparable(run)))
}

/// Appends a run to a file.
pub fn append(file: &Path, run: &Run) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    writeln!(file, "{}", serde_json::to_string(run)?)
}
