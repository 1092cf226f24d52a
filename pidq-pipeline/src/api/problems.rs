//! HTTP problems for errors of the store, of request bodies and of text splitters, and refusals.

use std::collections::BTreeMap;

use pidq_http::{Problem, ProblemCode, StatusCode, codes};
use pidq_store::domain::api_key::AccessScope;
use pidq_store::spool::storage_full;
use pidq_store::{Store, StoreError};
use pidq_text::splitter::SplitError;
use serde_json::json;

/// 403 with a reason.
pub(crate) fn forbidden(detail: &str) -> Problem {
    Problem::new(codes::FORBIDDEN).detail(detail)
}

/// Converts an error of the store to a problem.
pub(crate) fn store_problem(error: StoreError) -> Problem {
    let conflict = |code, detail: &str| Problem::new(code).detail(detail);
    match error {
        StoreError::NameTaken => conflict(codes::NAME_TAKEN, "The name is taken; choose another one."),
        StoreError::ExternalIdTaken => {
            conflict(codes::EXTERNAL_ID_TAKEN, "A document with this external id exists in the classification.")
        }
        StoreError::DuplicateContent => {
            conflict(codes::DUPLICATE_CONTENT, "A document with the same content exists in the classification.")
        }
        StoreError::LimitReached(count) => {
            conflict(codes::LIMIT_REACHED, &format!("The limit of {count} is reached; delete an entry first."))
        }
        StoreError::PipelineBusy => {
            conflict(codes::PIPELINE_BUSY, "The pipeline is being reindexed or deleted; try again later.")
        }
        StoreError::Conflict => Problem::new(codes::PRECONDITION_FAILED)
            .detail("The resource was changed in the meantime; read it again and repeat the request."),
        StoreError::Database(error) if error.is_invalid_text() => validation("", "Strings must not contain U+0000."),
        StoreError::Database(error) if error.is_full() => {
            tracing::error!(%error, "writing to the database failed because the disk is full; responding with 507");
            storage_full()
        }
        StoreError::Database(error) => {
            tracing::error!(%error, "a database operation failed; responding with 503");
            Problem::new(codes::UNAVAILABLE).detail("The database is unavailable; try again.").retry_after(1)
        }
        StoreError::UploadUnreadable(error) => {
            tracing::error!(%error, "reading a spooled upload failed; responding with 500");
            Problem::internal()
        }
        StoreError::Corrupt(detail) => {
            tracing::error!(detail, "stored data is corrupt; responding with 500");
            Problem::internal()
        }
    }
}

/// Returns 422 `validation` for a field of the body.
pub(crate) fn validation(pointer: &str, detail: &str) -> Problem {
    unprocessable(codes::VALIDATION, pointer, detail)
}

/// Returns 422 for access to a pipeline that does not exist.
pub(crate) async fn require_pipelines(store: &Store, pipelines: &BTreeMap<String, AccessScope>) -> Result<(), Problem> {
    for id in pipelines.keys() {
        if store.pipeline(id).await.map_err(store_problem)?.is_none() {
            let pointer = format!("/pipelines{}", pidq_http::pointer_step(id));
            return Err(validation(&pointer, "Pipeline not found."));
        }
    }
    Ok(())
}

/// Returns 422 with a specific code for a field of the body.
pub(crate) fn unprocessable(code: &'static ProblemCode, pointer: &str, detail: &str) -> Problem {
    let errors = json!([{"pointer": pointer, "detail": detail}]);
    Problem::with_status(code, StatusCode::UNPROCESSABLE_ENTITY).detail(detail).with("errors", errors)
}

/// Returns 422 for invalid parameters of a text splitter, with the pointer of the parameter.
pub(crate) fn splitter_problem(error: &SplitError) -> Problem {
    let (suffix, message) = match &error.parameter {
        Some(name) => (format!("/{name}"), format!("`{name}`: {}", error.detail)),
        None => (String::new(), error.detail.clone()),
    };
    validation(&format!("/text_splitter{suffix}"), &pidq_http::sentence(&message))
}
