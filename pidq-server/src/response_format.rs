//! Response formats and their negotiation.

use pidq_core::error::Code;
use pidq_core::{RunResult, Value};
use pidq_formats::{FORMATS, Format};
use pidq_http::header::ACCEPT;
use pidq_http::{Problem, Request, codes};
use serde_json::{Value as Json, json};

use crate::store::GraphMeta;

/// Maximum number of nodes, edges and rows in an exported file. An export is built in memory, some hundred bytes per
/// item.
const MAX_ITEMS: usize = 500_000;

/// Format of a response.
#[derive(Clone, Copy)]
pub(crate) enum ResponseFormat {
    /// JSON envelope of the HTTP specification.
    Json,
    /// NDJSON: one row per line.
    Lines,
    /// NDJSON of a whole graph: its nodes, then its edges.
    Items,
    /// Export file of another program.
    File(&'static Format),
}

/// Format of a response and whether it is explained.
#[derive(Clone, Copy)]
pub(crate) struct ResponseOptions {
    pub format: ResponseFormat,
    /// Adds warnings and the profile to the response.
    pub explain: bool,
}

/// Rendered response body.
pub(crate) struct Rendered {
    pub body: Vec<u8>,
    /// Kind of the result: `array`, `value` or `none`.
    pub kind: &'static str,
}

/// Reason why a response cannot be rendered.
pub(crate) enum QueryFailure {
    Query(pidq_core::Error),
    File(pidq_formats::Error),
}

impl From<pidq_core::Error> for QueryFailure {
    fn from(error: pidq_core::Error) -> QueryFailure {
        QueryFailure::Query(error)
    }
}

impl ResponseOptions {
    /// Creates options without an explanation.
    pub fn new(format: ResponseFormat) -> ResponseOptions {
        ResponseOptions { format, explain: false }
    }
}

impl ResponseFormat {
    /// Negotiates the format: `?format=NAME`, else the best match of `Accept`.
    pub fn from_request(request: &Request) -> Result<ResponseFormat, Problem> {
        match request.query()?.single("format")? {
            Some(name) => ResponseFormat::by_name(name).ok_or_else(|| unknown_format(name)),
            // Hot: most clients accept any type.
            None if [None, Some("*/*"), Some("application/json")].contains(&request.head.header(ACCEPT)) => {
                Ok(ResponseFormat::Json)
            }
            None => ResponseFormat::from_accept(request),
        }
    }

    fn by_name(name: &str) -> Option<ResponseFormat> {
        all_formats().find(|(known, _, _)| *known == name).map(|(_, _, format)| format)
    }

    fn from_accept(request: &Request) -> Result<ResponseFormat, Problem> {
        let candidates = all_formats().map(|(_, media_type, format)| (request.head.accepts(media_type), format));
        let best = candidates.reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.filter(|(quality, _)| *quality > 0).map(|(_, format)| format).ok_or_else(not_acceptable)
    }

    /// Returns true for the JSON envelope.
    pub fn is_json(self) -> bool {
        matches!(self, ResponseFormat::Json)
    }

    /// Returns the media type.
    pub fn media_type(self) -> &'static str {
        match self {
            ResponseFormat::Json => "application/json",
            ResponseFormat::Lines | ResponseFormat::Items => "application/x-ndjson",
            ResponseFormat::File(format) => format.media_type,
        }
    }

    /// Returns the ETag of a version in this format. It includes the pidq version, because an export may change between
    /// releases.
    pub fn etag(self, meta: &GraphMeta) -> String {
        let name = match self {
            ResponseFormat::Json => return meta.etag().as_str().to_owned(),
            ResponseFormat::Lines | ResponseFormat::Items => "ndjson",
            ResponseFormat::File(format) => format.name,
        };
        format!("{}-{name}-{}", meta.etag(), env!("CARGO_PKG_VERSION"))
    }

    /// Renders the result of a run.
    pub fn write(self, outcome: &RunResult<'_>, limit: usize) -> Result<Rendered, QueryFailure> {
        let kind = kind(outcome.value);
        let mut body = Vec::new();
        self.write_to(&mut body, outcome, kind, limit).map_err(|failure| match failure {
            QueryFailure::Query(error) => QueryFailure::Query(outcome.explain_error(error)),
            other => other,
        })?;
        Ok(Rendered { body, kind })
    }

    fn write_to(
        self,
        body: &mut Vec<u8>,
        outcome: &RunResult<'_>,
        kind: &str,
        limit: usize,
    ) -> Result<(), QueryFailure> {
        match (self, kind) {
            (ResponseFormat::File(format), _) => *body = file(format, outcome.value)?,
            (ResponseFormat::Items, _) => items(outcome.value, limit, body)?,
            (ResponseFormat::Lines, "array") => lines(outcome.value, limit, body)?,
            (ResponseFormat::Lines, "none") => {}
            (ResponseFormat::Lines, _) => line(outcome.value, limit, body)?,
            (ResponseFormat::Json, "none") => body.extend(b"[]"),
            (ResponseFormat::Json, "array") => outcome.write_json(body)?,
            (ResponseFormat::Json, _) => {
                body.push(b'[');
                outcome.write_json(body)?;
                body.push(b']');
            }
        }
        Ok(())
    }
}

/// Returns the names of all formats.
pub(crate) fn format_names() -> impl Iterator<Item = &'static str> {
    all_formats().map(|(name, _, _)| name)
}

/// Returns the name, media type and value of every format. Formats with several files are excluded.
fn all_formats() -> impl Iterator<Item = (&'static str, &'static str, ResponseFormat)> {
    let builtin =
        [("json", "application/json", ResponseFormat::Json), ("ndjson", "application/x-ndjson", ResponseFormat::Lines)];
    let is_single_file = |format: &&Format| format.write.as_ref().is_some_and(|writer| writer.files.len() == 1);
    // JSON is the envelope, not the bare value.
    let files = FORMATS.iter().filter(is_single_file).filter(|format| format.name != "json");
    let files = files.map(|format| (format.name, format.media_type, ResponseFormat::File(format)));
    builtin.into_iter().chain(files)
}

/// Writes the items of an array as NDJSON.
fn lines(value: Value<'_>, limit: usize, body: &mut Vec<u8>) -> Result<(), QueryFailure> {
    value.as_array().into_iter().flat_map(|items| items.iter()).try_for_each(|item| line(item, limit, body))
}

/// Writes a value as one line. Line breaks are dropped; in JSON they occur only between tokens.
fn line(value: Value<'_>, limit: usize, body: &mut Vec<u8>) -> Result<(), QueryFailure> {
    let is_line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let left = limit.saturating_sub(body.len() + 1);
    let mut add = |text: &str| {
        match text.as_bytes() {
            bytes if bytes.iter().any(is_line_end) => body.extend(bytes.iter().filter(|byte| !is_line_end(byte))),
            bytes => body.extend(bytes),
        }
        Ok(())
    };
    value.write_json(left, &mut add).map_err(|error| too_large(error, limit))?;
    body.push(b'\n');
    Ok(())
}

/// Writes the nodes and edges of a graph as NDJSON.
fn items(drawing: Value<'_>, limit: usize, body: &mut Vec<u8>) -> Result<(), QueryFailure> {
    let graph = drawing.as_object().and_then(|root| root.get("pid_graph")).and_then(Value::as_object);
    let lists = ["nodes", "edges"].into_iter().filter_map(|name| graph?.get(name));
    lists.into_iter().try_for_each(|list| lines(list, limit, body))
}

/// Reports the limit of the whole response instead of the remaining bytes.
fn too_large(error: pidq_core::Error, limit: usize) -> pidq_core::Error {
    if error.code() != Code::OutputTooLarge {
        return error;
    }
    let too_large = pidq_core::Error::new(error.code(), format!("The result is larger than {limit} bytes"));
    let too_large = too_large.with_limit("result", limit as u64);
    match error.help() {
        Some(help) => too_large.with_help(help),
        None => too_large,
    }
}

fn kind(value: Value<'_>) -> &'static str {
    match value {
        Value::Array(_) => "array",
        Value::Undefined => "none",
        _ => "value",
    }
}

fn file(format: &Format, value: Value<'_>) -> Result<Vec<u8>, QueryFailure> {
    let parts = format.export_with_limit(value, MAX_ITEMS).map_err(QueryFailure::File)?;
    Ok(parts.into_iter().next().map(|part| part.bytes).unwrap_or_default())
}

fn unknown_format(name: &str) -> Problem {
    Problem::new(codes::INVALID_PARAMETER)
        .detail(format!("Unknown format `{name}`."))
        .with("parameter", "format")
        .with("allowed", all_formats().map(|(name, _, _)| Json::from(name)).collect::<Vec<_>>())
}

fn not_acceptable() -> Problem {
    Problem::new(codes::NOT_ACCEPTABLE)
        .detail("None of the available formats matches `Accept`.")
        .with("allowed", json!(all_formats().map(|(_, media_type, _)| media_type).collect::<Vec<_>>()))
}
