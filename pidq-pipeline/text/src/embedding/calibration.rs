//! Calibration of an embedding model: figures that are measured on judged collections and stored beside its files.

use std::fs;
use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Error;

/// Name of the file in the directory of a model.
pub const CALIBRATION_FILE: &str = "calibration.json";
/// Cosine that is evidence of relevance, for models that have not been measured.
const DEFAULT_MIN_SIMILARITY: f64 = 0.65;

/// Calibration of a model: how far its vectors count in a search.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Weight of the dense score in hybrid mode, from 0 to 1. The search reduces it where the vectors disagree with the terms.
    pub weight: f64,
    /// Cosine of a passage that makes it relevant to a query without common words, above 0 and at most 1. It differs between
    /// models: some give cosines of 0.8 to texts that have nothing in common. Without effect if the weight is 0.
    pub min_similarity: f64,
}

impl Calibration {
    /// Creates the calibration of a kind of models with a weight, before a model of it is measured.
    pub const fn unmeasured(weight: f64) -> Self {
        Calibration { weight, min_similarity: DEFAULT_MIN_SIMILARITY }
    }

    /// Returns the cosine from which vectors are evidence of relevance; `None` if the vectors do not count.
    pub fn sufficient_similarity(&self) -> Option<f64> {
        (self.weight > 0.0).then_some(self.min_similarity)
    }

    /// Reads the calibration in the directory of a model; `None` if there is no file.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>, Error> {
        let invalid =
            |detail: &dyn std::fmt::Display| Error::unavailable(format!("the model's {CALIBRATION_FILE}: {detail}"));
        let bytes = match fs::read(dir.join(CALIBRATION_FILE)) {
            Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
                return Ok(None);
            }
            bytes => bytes.map_err(|error| invalid(&error))?,
        };
        let calibration: Calibration = serde_json::from_slice(&bytes).map_err(|error| invalid(&error))?;
        match calibration.is_valid() {
            true => Ok(Some(calibration)),
            false => Err(invalid(&"`weight` must be from 0 to 1, and `min_similarity` above 0 and at most 1")),
        }
    }

    /// Writes the calibration to the directory of a model.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        fs::write(dir.join(CALIBRATION_FILE), serde_json::to_string(self)? + "\n")
    }

    fn is_valid(&self) -> bool {
        (0.0..=1.0).contains(&self.weight) && self.min_similarity > 0.0 && self.min_similarity <= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Calibration>, Error> {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join(CALIBRATION_FILE), text).expect("a file");
        Calibration::read(dir.path())
    }

    #[test]
    fn a_calibration_survives_its_file() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(Calibration::read(dir.path()), Ok(None));
        assert_eq!(Calibration::read(&dir.path().join("none")), Ok(None));
        let calibration = Calibration { weight: 0.4, min_similarity: 0.57 };
        calibration.write(dir.path()).expect("written");
        assert_eq!(Calibration::read(dir.path()), Ok(Some(calibration)));
    }

    #[test]
    fn an_invalid_file_is_an_error() {
        for (text, cause) in [
            ("", "no JSON"),
            ("{}", "nothing"),
            (r#"{"weight": 0.3}"#, "no similarity"),
            (r#"{"weight": 1.1, "min_similarity": 0.5}"#, "too heavy"),
            (r#"{"weight": -0.1, "min_similarity": 0.5}"#, "negative"),
            (r#"{"weight": 0.3, "min_similarity": 0}"#, "everything is similar"),
            (r#"{"weight": 0.3, "min_similarity": 1.01}"#, "nothing is similar"),
            (r#"{"weight": 0.3, "min_similarity": "0.5"}"#, "a text"),
            (r#"{"weight": 0.3, "min_similarity": 0.5, "more": 1}"#, "an unknown field"),
        ] {
            let error = read(text).expect_err(cause).to_string();
            assert!(error.contains(CALIBRATION_FILE), "{cause}: {error}");
        }
    }

    #[test]
    fn vectors_without_a_weight_are_no_evidence() {
        assert_eq!(Calibration::unmeasured(0.0).sufficient_similarity(), None);
        assert_eq!(Calibration::unmeasured(0.3).sufficient_similarity(), Some(0.65));
    }
}
