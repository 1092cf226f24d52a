//! Where the files of a model are.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::{Error, Place};

/// The folder of a model.
pub fn folder(place: &Place<'_>) -> Result<PathBuf, Error> {
    let folder = place.folder.ok_or_else(|| Error::unavailable("no folder of models is configured"))?;
    let mut parts = Path::new(place.name).components();
    match (parts.next(), parts.next()) {
        (None, _) => Ok(folder.clone()),
        // A name that leads out of the folder is no name.
        (Some(Component::Normal(name)), None) => Ok(folder.join(name)),
        _ => Err(Error::unavailable("the name of a model must be the name of a folder")),
    }
}

/// A file, or a part of one, that is not as it should be.
pub fn broken(part: &str, detail: impl fmt::Display) -> Error {
    Error::unavailable(format!("the model's {part}: {detail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_does_not_lead_out_of_the_folder() {
        let places = PathBuf::from("models");
        let at = |name| folder(&Place { name, folder: Some(&places), remote: None });
        assert_eq!(at("small"), Ok(PathBuf::from("models/small")));
        assert_eq!(at(""), Ok(places.clone()));
        assert!(["..", "/etc", "a/b", "../a"].iter().all(|name| at(name).is_err()));
    }
}
