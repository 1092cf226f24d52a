//! Directories of local models.

#[cfg(feature = "static")]
use std::fmt;
use std::path::{Component, Path, PathBuf};

#[cfg(feature = "static")]
use super::{Error, ModelSource};

/// Returns the directory of a model.
#[cfg(feature = "static")]
pub fn model_dir(source: &ModelSource<'_>) -> Result<PathBuf, Error> {
    let dir =
        source.model_dir.ok_or_else(|| Error::unavailable("no model directory is configured; set PIDQ_MODEL_DIR"))?;
    subdirectory(dir, source.name)
        .ok_or_else(|| Error::unavailable("the name of a model must be the name of a subdirectory"))
}

/// Returns the subdirectory of a name, or the directory itself for an empty name; none for a path that leaves the directory
/// or has several parts.
pub fn subdirectory(dir: &Path, name: &str) -> Option<PathBuf> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (None, _) => Some(dir.to_path_buf()),
        (Some(Component::Normal(name)), None) => Some(dir.join(name)),
        _ => None,
    }
}

/// Creates an error about an invalid file, or a part of one.
#[cfg(feature = "static")]
pub fn invalid_file(part: &str, detail: impl fmt::Display) -> Error {
    Error::unavailable(format!("the model's {part}: {detail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_escape_the_directory() {
        let root = PathBuf::from("models");
        assert_eq!(subdirectory(&root, "small"), Some(PathBuf::from("models/small")));
        assert_eq!(subdirectory(&root, ""), Some(root.clone()));
        assert!(["..", "/etc", "a/b", "../a"].iter().all(|name| subdirectory(&root, name).is_none()));
    }
}
