//! Directories of local models.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::{Error, ModelSource};

/// Returns the directory of a model.
pub fn model_dir(source: &ModelSource<'_>) -> Result<PathBuf, Error> {
    let dir =
        source.model_dir.ok_or_else(|| Error::unavailable("no model directory is configured; set PIDQ_MODEL_DIR"))?;
    let mut parts = Path::new(source.name).components();
    match (parts.next(), parts.next()) {
        (None, _) => Ok(dir.clone()),
        // A path that leaves the directory is not a valid name.
        (Some(Component::Normal(name)), None) => Ok(dir.join(name)),
        _ => Err(Error::unavailable("the name of a model must be the name of a subdirectory")),
    }
}

/// Creates an error about an invalid file, or a part of one.
pub fn invalid_file(part: &str, detail: impl fmt::Display) -> Error {
    Error::unavailable(format!("the model's {part}: {detail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_escape_the_directory() {
        let root = PathBuf::from("models");
        let dir = |name| model_dir(&ModelSource { name, model_dir: Some(&root), remote: None });
        assert_eq!(dir("small"), Ok(PathBuf::from("models/small")));
        assert_eq!(dir(""), Ok(root.clone()));
        assert!(["..", "/etc", "a/b", "../a"].iter().all(|name| dir(name).is_err()));
    }
}
