//! Handler of `GET /functions`: functions and operators of the query language, for editors.

use pidq_core::Dialect;
use pidq_http::header::CACHE_CONTROL;
use pidq_http::{Problem, Response};

/// Handles `GET /functions`.
pub(crate) fn list_functions() -> Result<Response, Problem> {
    Ok(Response::json(&Dialect::standard())?.header(CACHE_CONTROL, "no-cache"))
}
