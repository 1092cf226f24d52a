//! Precondition of a write: `If-Match` and `If-None-Match`.

use super::error::{Error, Result};
use super::etag::ETag;

/// Precondition of a write on the latest version.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Precondition {
    /// No precondition.
    #[default]
    None,
    /// `If-Match: *`.
    Exists,
    /// `If-Match` with tags: the latest version has one of them.
    Is(Vec<ETag>),
    /// `If-None-Match: *`.
    Absent,
}

impl Precondition {
    /// Checks the precondition against the tag of the latest version.
    ///
    /// # Errors
    /// `precondition-failed`.
    pub fn check(&self, latest: Option<&ETag>) -> Result<()> {
        let holds = match self {
            Precondition::None => true,
            Precondition::Exists => latest.is_some(),
            Precondition::Is(tags) => latest.is_some_and(|latest| tags.contains(latest)),
            Precondition::Absent => latest.is_none(),
        };
        if holds { Ok(()) } else { Err(Error::PreconditionFailed(latest.cloned())) }
    }
}
