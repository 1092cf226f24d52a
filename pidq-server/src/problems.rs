//! What went wrong below, as problems of HTTP: one exhaustive match for the store, one for the engine.

use pidq_core::error::{Code, Stage};
use pidq_http::{Problem, StatusCode, header, sentence};
use serde_json::{Value, json};

use crate::server::Budget;
use crate::store::{Coding, Error};

/// An error of the store as a problem.
pub(crate) fn problem(error: Error) -> Problem {
    let (code, detail) = (error.code(), sentence(&error.to_string()));
    let told = |status| Problem::new(status, code).detail(detail.clone());
    match error {
        Error::InvalidJobId | Error::InvalidTenant => told(StatusCode::BAD_REQUEST),
        Error::MalformedJson { offset, .. } => told(StatusCode::BAD_REQUEST).with("position", offset),
        Error::GraphNotFound | Error::VersionNotFound => told(StatusCode::NOT_FOUND),
        Error::PreconditionFailed(latest) => {
            let problem = told(StatusCode::PRECONDITION_FAILED);
            match latest {
                Some(tag) => problem.header(header::ETAG, tag.to_header(Coding::Identity)),
                None => problem,
            }
        }
        Error::JobIdMismatch(_) => told(StatusCode::CONFLICT),
        Error::UnsupportedSchemaVersion(_) => told(StatusCode::UNPROCESSABLE_ENTITY).with("allowed", json!(["1"])),
        Error::InvalidGraph(faults) => {
            let faults = faults.iter().map(|fault| json!({"pointer": fault.pointer, "detail": fault.detail}));
            told(StatusCode::UNPROCESSABLE_ENTITY).with("errors", faults.collect::<Vec<_>>())
        }
        Error::GraphTooLarge { what, limit } => {
            told(StatusCode::PAYLOAD_TOO_LARGE).with("what", what).with("limit", limit)
        }
        Error::NoRoom => Problem::unavailable(code, &detail, 1),
        Error::InsufficientStorage(_) => told(StatusCode::INSUFFICIENT_STORAGE),
        Error::ReadOnly(_) | Error::GraphCorrupt => told(StatusCode::SERVICE_UNAVAILABLE),
        Error::StoreUnavailable(why) | Error::StoreLocked(why) => {
            tracing::error!(why, "the store does not answer");
            Problem::unavailable("unavailable", "The store cannot be reached now. Try again.", 1)
        }
        Error::StorageFailure(why) => {
            tracing::error!(why, "the store failed");
            Problem::internal()
        }
    }
}

/// An error of a query as a problem: its code, and all that the engine tells of place and remedy.
pub(crate) fn query_problem(error: &pidq_core::Error, budget: Budget, output: usize) -> Problem {
    let (status, code) = status(error.code());
    let mut problem = Problem::new(status, code).detail(error.message()).with("pq_code", error.code().as_str());
    for (name, value) in told(error) {
        problem = problem.with(name, value);
    }
    if let Some(place) = error.location() {
        problem = problem.with("position", place.pos16).with("line", place.line).with("column", place.column);
    }
    if let Some(expected) = error.expected() {
        problem = problem.with("expected", expected);
    }
    if let Some((limit, value)) = error.limit().or_else(|| limit(error.code(), budget, output)) {
        problem = problem.with("limit", limit).with("value", value);
    }
    if error.code() == Code::OutOfTime { problem.retry_after(1) } else { problem }
}

/// What the engine tells, but for the two that every problem has in its own way.
pub(crate) fn told(error: &pidq_core::Error) -> Vec<(String, Value)> {
    let Ok(Value::Object(members)) = serde_json::to_value(error) else { return Vec::new() };
    members
        .into_iter()
        .filter(|(name, value)| !["code", "message", "pos16"].contains(&&**name) && !value.is_null())
        .collect()
}

fn status(code: Code) -> (StatusCode, &'static str) {
    let unprocessable = |code| (StatusCode::UNPROCESSABLE_ENTITY, code);
    match (code, code.stage()) {
        (Code::OutOfTime, _) => (StatusCode::SERVICE_UNAVAILABLE, "query-timeout"),
        (Code::Cancelled, _) => (StatusCode::SERVICE_UNAVAILABLE, "query-cancelled"),
        (Code::Panic, _) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        (Code::UnknownFunction, _) => unprocessable("unknown-function"),
        (Code::BadRegex | Code::BadRegexFlag, _) => unprocessable("regex-unsupported"),
        (Code::NestedTooDeep | Code::QueryTooLong, _) | (_, Stage::Limit) => unprocessable("query-limit"),
        (_, Stage::Parse) => (StatusCode::BAD_REQUEST, "query-syntax"),
        (_, Stage::Compile) => unprocessable("query-invalid"),
        (_, Stage::Eval) => unprocessable("query-evaluation"),
        (_, Stage::Input) => (StatusCode::BAD_REQUEST, "invalid-params"),
    }
}

/// Which limit ended a query, in a word; time and whoever stopped waiting are among them.
pub(crate) fn limit_of(error: &pidq_core::Error) -> Option<&'static str> {
    let of_code = match error.code() {
        Code::OutOfTime => Some("time"),
        Code::Cancelled => Some("cancelled"),
        code => limit(code, Budget::default(), 0).map(|(name, _)| name),
    };
    error.limit().map(|(name, _)| name).or(of_code)
}

/// Which budget ended, in the words of the interface, and what it was, where the error itself does not say.
fn limit(code: Code, budget: Budget, output: usize) -> Option<(&'static str, u64)> {
    use pidq_core::limits::{Limits, MAX_NESTING, MAX_QUERY};
    let limits = Limits::default();
    Some(match code {
        Code::NestedTooDeep => ("depth", MAX_NESTING as u64),
        Code::QueryTooLong => ("query", MAX_QUERY as u64),
        Code::OutOfFuel => ("steps", budget.fuel),
        Code::OutOfMemory => ("memory", budget.memory as u64),
        Code::OutputTooLarge => ("result", output as u64),
        Code::TooManyRows => ("rows", limits.rows as u64),
        Code::TooDeep => ("depth", limits.depth as u64),
        Code::RegexBacktracking => ("regex", limits.backtracks as u64),
        _ => return None,
    })
}
