//! `GET /functions`: the language as data, for the completion of editors.

use pidq_core::Dialect;
use pidq_http::header::CACHE_CONTROL;
use pidq_http::{Problem, Response};

/// The functions and the operators that a query may use.
pub(crate) fn functions() -> Result<Response, Problem> {
    Ok(Response::json(&Dialect::standard())?.header(CACHE_CONTROL, "no-cache"))
}
