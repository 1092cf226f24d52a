//! Response of a request that starts a long-running operation.

use pidq_http::{Problem, Response, StatusCode};
use pidq_store::domain::operation::Operation;

/// Returns 202 with the location of the operation.
pub(crate) fn accepted(operation: &Operation) -> Result<Response, Problem> {
    let location = format!("/api/operations/{}", operation.id);
    Ok(Response::json(&operation.to_json())?.created(location).status(StatusCode::ACCEPTED))
}
