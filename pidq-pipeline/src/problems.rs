//! What went wrong below, as problems of HTTP.

use pidq_http::{Problem, StatusCode};
use serde_json::json;

use crate::splitter::Refusal;
use crate::spool::no_room;
use crate::store::StoreError;

/// An error of the store as a problem.
pub(crate) fn stored(error: StoreError) -> Problem {
    let conflict = |code, detail: &str| Problem::new(StatusCode::CONFLICT, code).detail(detail);
    match error {
        StoreError::NameTaken => conflict("name-taken", "That name is taken. Choose another one."),
        StoreError::ExternalIdTaken => {
            conflict("external-id-taken", "A document with that external id exists in the classification.")
        }
        StoreError::SameContent => {
            conflict("duplicate-content", "The same bytes are there already under that classification.")
        }
        StoreError::AsManyAsMayBe(there) => {
            conflict("limit-reached", &format!("There are {there}, and that is the most."))
        }
        StoreError::Busy => conflict("pipeline-busy", "The pipeline is being reindexed, or goes away."),
        StoreError::Changed => Problem::new(StatusCode::PRECONDITION_FAILED, "precondition-failed")
            .detail("Somebody else changed it in between. Read it again."),
        StoreError::Database(error) if error.is_text_refused() => {
            validation("", "A text has the character U+0000, which is none of a text.")
        }
        StoreError::Database(error) if error.is_full() => {
            tracing::error!(%error, "the disk of the database is full");
            no_room()
        }
        StoreError::Database(error) => {
            tracing::error!(%error, "the database failed");
            Problem::unavailable("unavailable", "The database cannot be reached now. Try again.", 1)
        }
        StoreError::Lost(error) => {
            tracing::error!(%error, "a document that was sent cannot be read again");
            Problem::internal()
        }
        StoreError::Damaged(what) => {
            tracing::error!(what, "what is stored cannot be read");
            Problem::internal()
        }
    }
}

/// 422 for a member of the body.
pub(crate) fn validation(pointer: &str, detail: &str) -> Problem {
    unprocessable("validation", pointer, detail)
}

/// 422 with a code of its own.
pub(crate) fn unprocessable(code: &'static str, pointer: &str, detail: &str) -> Problem {
    Problem::unprocessable(code, detail).with("errors", json!([{"pointer": pointer, "detail": detail}]))
}

/// What a splitter refuses, below the place of its name in the body.
pub(crate) fn refused(refusal: &Refusal) -> Problem {
    let (place, said) = match &refusal.parameter {
        Some(name) => (format!("/{name}"), format!("`{name}`: {}", refusal.detail)),
        None => (String::new(), refusal.detail.clone()),
    };
    validation(&format!("/text_splitter{place}"), &pidq_http::sentence(&said))
}
