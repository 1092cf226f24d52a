//! Conversion of store and engine errors into HTTP problems.

use pidq_core::error::{Code, Stage};
use pidq_http::{Problem, ProblemCode, codes, header, sentence};
use serde_json::{Value, json};

use crate::server::QueryLimits;
use crate::store::{Coding, Error};

/// Converts a store error into a problem.
pub(crate) fn problem(error: Error) -> Problem {
    let code = ProblemCode::find(error.code()).unwrap_or(codes::INTERNAL);
    let detail = sentence(&error.to_string());
    let problem = || Problem::new(code).detail(detail.clone());
    match error {
        Error::InvalidGraphId | Error::InvalidTenant => problem(),
        Error::MalformedJson { offset, .. } => problem().with("position", offset),
        Error::GraphNotFound | Error::VersionNotFound => problem(),
        Error::PreconditionFailed(latest) => {
            let problem = problem();
            match latest {
                Some(tag) => problem.header(header::ETAG, tag.to_header(Coding::Identity)),
                None => problem,
            }
        }
        Error::GraphIdMismatch(_) => problem(),
        Error::UnsupportedSchemaVersion(_) => problem().with("allowed", json!(["1"])),
        Error::InvalidGraph(findings) => {
            let findings = findings.iter().map(|finding| json!({"pointer": finding.pointer, "detail": finding.detail}));
            problem().with("errors", findings.collect::<Vec<_>>())
        }
        Error::GraphTooLarge { what, limit } => problem().with("what", what).with("limit", limit),
        Error::Overloaded => problem().retry_after(1),
        Error::InsufficientStorage(_) => problem(),
        Error::ReadOnly(_) | Error::GraphCorrupt => problem(),
        Error::StoreUnavailable(reason) | Error::StoreLocked(reason) => {
            tracing::error!(reason, "the store is unavailable; responding with 503");
            Problem::new(codes::UNAVAILABLE).detail("The store is unavailable. Try again later.").retry_after(1)
        }
        Error::StorageFailure(reason) => {
            tracing::error!(reason, "a store operation failed; responding with 500");
            Problem::internal()
        }
    }
}

/// Converts a query error into a problem with its code, location and help.
pub(crate) fn query_problem(error: &pidq_core::Error, query_limits: QueryLimits, output: usize) -> Problem {
    let mut problem =
        Problem::new(problem_code(error.code())).detail(error.message()).with("pq_code", error.code().as_str());
    for (name, value) in diagnostic_fields(error) {
        problem = problem.with(name, value);
    }
    if let Some(location) = error.location() {
        problem = problem.with("position", location.pos16).with("line", location.line).with("column", location.column);
    }
    if let Some(expected) = error.expected() {
        problem = problem.with("expected", expected);
    }
    if let Some((limit, value)) = error.limit().or_else(|| limit(error.code(), query_limits, output)) {
        problem = problem.with("limit", limit).with("value", value);
    }
    if error.code() == Code::OutOfTime { problem.retry_after(1) } else { problem }
}

/// Returns the diagnostic fields of an engine error, except the code and message that every problem has.
pub(crate) fn diagnostic_fields(error: &pidq_core::Error) -> Vec<(String, Value)> {
    let Ok(Value::Object(fields)) = serde_json::to_value(error) else { return Vec::new() };
    fields
        .into_iter()
        .filter(|(name, value)| !["code", "message", "pos16"].contains(&&**name) && !value.is_null())
        .collect()
}

fn problem_code(code: Code) -> &'static ProblemCode {
    match (code, code.stage()) {
        (Code::OutOfTime, _) => codes::QUERY_TIMEOUT,
        (Code::Cancelled, _) => codes::QUERY_CANCELLED,
        (Code::Panic, _) => codes::INTERNAL,
        (Code::UnknownFunction, _) => codes::UNKNOWN_FUNCTION,
        (Code::BadRegex | Code::BadRegexFlag, _) => codes::REGEX_UNSUPPORTED,
        (Code::NestedTooDeep | Code::QueryTooLong, _) | (_, Stage::Limit) => codes::QUERY_LIMIT,
        (_, Stage::Parse) => codes::QUERY_SYNTAX,
        (_, Stage::Compile) => codes::QUERY_INVALID,
        (_, Stage::Eval) => codes::QUERY_EVALUATION,
        (_, Stage::Input) => codes::INVALID_PARAMS,
    }
}

/// Returns the name of the limit that stopped a query, including `time` and `cancelled`.
pub(crate) fn limit_name(error: &pidq_core::Error) -> Option<&'static str> {
    let by_code = match error.code() {
        Code::OutOfTime => Some("time"),
        Code::Cancelled => Some("cancelled"),
        code => limit(code, QueryLimits::default(), 0).map(|(name, _)| name),
    };
    error.limit().map(|(name, _)| name).or(by_code)
}

/// Returns the name and value of the exceeded limit, if the error itself does not carry them.
fn limit(code: Code, query_limits: QueryLimits, output: usize) -> Option<(&'static str, u64)> {
    use pidq_core::limits::{Limits, MAX_QUERY_DEPTH, MAX_QUERY_SIZE};
    let limits = Limits::default();
    Some(match code {
        Code::NestedTooDeep => ("depth", MAX_QUERY_DEPTH as u64),
        Code::QueryTooLong => ("query", MAX_QUERY_SIZE as u64),
        Code::OutOfFuel => ("steps", query_limits.fuel),
        Code::OutOfMemory => ("memory", query_limits.memory as u64),
        Code::OutputTooLarge => ("result", output as u64),
        Code::TooManyRows => ("rows", limits.rows as u64),
        Code::TooDeep => ("depth", limits.depth as u64),
        Code::RegexBacktracking => ("regex", limits.backtracks as u64),
        _ => return None,
    })
}
