//! The forms of an answer, and which of them a client wants.

use pidq_core::error::Code;
use pidq_core::{Outcome, Value};
use pidq_formats::{FORMATS, Format};
use pidq_http::header::ACCEPT;
use pidq_http::{Problem, Request, StatusCode};
use serde_json::{Value as Json, json};

use crate::store::Meta;

/// Nodes, edges and rows of a file for another program. It is made at once, and takes some hundred bytes for each.
const MAX_ITEMS: usize = 500_000;

/// A form of an answer.
#[derive(Clone, Copy)]
pub(crate) enum Media {
    /// The contract's object.
    Json,
    /// One row a line.
    Lines,
    /// The nodes of a drawing, and then its edges, one a line.
    Items,
    /// A file for another program.
    File(&'static Format),
}

/// What is written, and how.
#[derive(Clone, Copy)]
pub(crate) struct Rendering {
    pub media: Media,
    /// Whether warnings and costs are told in the answer.
    pub explain: bool,
}

/// An answer that is ready to be sent.
pub(crate) struct Rendered {
    pub body: Vec<u8>,
    /// What the result was: `array`, `value` or `none`.
    pub kind: &'static str,
}

/// Why an answer has no such form.
pub(crate) enum Failure {
    Query(pidq_core::Error),
    File(pidq_formats::Error),
}

impl From<pidq_core::Error> for Failure {
    fn from(error: pidq_core::Error) -> Failure {
        Failure::Query(error)
    }
}

impl Rendering {
    /// A form without anything told beside.
    pub fn new(media: Media) -> Rendering {
        Rendering { media, explain: false }
    }
}

impl Media {
    /// The form that a request asks for: `?format=NAME`, else what `Accept` likes best.
    pub fn wanted(request: &Request) -> Result<Media, Problem> {
        match request.query()?.one("format")? {
            Some(name) => Media::named(name).ok_or_else(|| no_format(name)),
            // Hot: most programs take whatever comes.
            None if [None, Some("*/*"), Some("application/json")].contains(&request.head.header(ACCEPT)) => {
                Ok(Media::Json)
            }
            None => Media::accepted(request),
        }
    }

    fn named(name: &str) -> Option<Media> {
        forms().find(|(named, _, _)| *named == name).map(|(_, _, media)| media)
    }

    fn accepted(request: &Request) -> Result<Media, Problem> {
        let liked = forms().map(|(_, media_type, form)| (request.head.accepts(media_type), form));
        let best = liked.reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.filter(|(quality, _)| *quality > 0).map(|(_, form)| form).ok_or_else(not_acceptable)
    }

    /// Whether it is the form of the contract.
    pub fn is_json(self) -> bool {
        matches!(self, Media::Json)
    }

    /// The content type.
    pub fn media_type(self) -> &'static str {
        match self {
            Media::Json => "application/json",
            Media::Lines | Media::Items => "application/x-ndjson",
            Media::File(format) => format.media_type,
        }
    }

    /// The tag of a version in this form. What a release writes of it, another may write otherwise.
    pub fn tag(self, meta: &Meta) -> String {
        let name = match self {
            Media::Json => return meta.etag().as_str().to_owned(),
            Media::Lines | Media::Items => "ndjson",
            Media::File(format) => format.name,
        };
        format!("{}-{name}-{}", meta.etag(), env!("CARGO_PKG_VERSION"))
    }

    /// Writes the result of a run.
    pub fn write(self, outcome: &Outcome<'_>, limit: usize) -> Result<Rendered, Failure> {
        let kind = kind(outcome.value);
        let mut body = Vec::new();
        self.write_to(&mut body, outcome, kind, limit).map_err(|failure| match failure {
            Failure::Query(error) => Failure::Query(outcome.explain_error(error)),
            other => other,
        })?;
        Ok(Rendered { body, kind })
    }

    fn write_to(self, body: &mut Vec<u8>, outcome: &Outcome<'_>, kind: &str, limit: usize) -> Result<(), Failure> {
        match (self, kind) {
            (Media::File(format), _) => *body = file(format, outcome.value)?,
            (Media::Items, _) => items(outcome.value, limit, body)?,
            (Media::Lines, "array") => lines(outcome.value, limit, body)?,
            (Media::Lines, "none") => {}
            (Media::Lines, _) => line(outcome.value, limit, body)?,
            (Media::Json, "none") => body.extend(b"[]"),
            (Media::Json, "array") => outcome.write_json(body)?,
            (Media::Json, _) => {
                body.push(b'[');
                outcome.write_json(body)?;
                body.push(b']');
            }
        }
        Ok(())
    }
}

/// Every form: what it is called, its content type, itself. Formats of several files have no place in one answer.
fn forms() -> impl Iterator<Item = (&'static str, &'static str, Media)> {
    let own = [("json", "application/json", Media::Json), ("ndjson", "application/x-ndjson", Media::Lines)];
    let is_one = |format: &&Format| format.write.as_ref().is_some_and(|writer| writer.files.len() == 1);
    // JSON is the contract's object, and not the value alone.
    let files = FORMATS.iter().filter(is_one).filter(|format| format.name != "json");
    let files = files.map(|format| (format.name, format.media_type, Media::File(format)));
    own.into_iter().chain(files)
}

/// The items of a list, one a line.
fn lines(value: Value<'_>, limit: usize, body: &mut Vec<u8>) -> Result<(), Failure> {
    value.as_array().into_iter().flat_map(|items| items.iter()).try_for_each(|item| line(item, limit, body))
}

/// A value as a line. What a document has on several lines becomes one: in JSON, line ends stand between parts only.
fn line(value: Value<'_>, limit: usize, body: &mut Vec<u8>) -> Result<(), Failure> {
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

/// The nodes and the edges of a drawing, one a line.
fn items(drawing: Value<'_>, limit: usize, body: &mut Vec<u8>) -> Result<(), Failure> {
    let graph = drawing.as_object().and_then(|root| root.get("pid_graph")).and_then(Value::as_object);
    let lists = ["nodes", "edges"].into_iter().filter_map(|name| graph?.get(name));
    lists.into_iter().try_for_each(|list| lines(list, limit, body))
}

/// The limit is that of all lines, not what those before have left of it.
fn too_large(error: pidq_core::Error, limit: usize) -> pidq_core::Error {
    if error.code() != Code::OutputTooLarge {
        return error;
    }
    let whole = pidq_core::Error::new(error.code(), format!("The result is larger than {limit} bytes"));
    let whole = whole.with_limit("result", limit as u64);
    match error.help() {
        Some(help) => whole.with_help(help),
        None => whole,
    }
}

fn kind(value: Value<'_>) -> &'static str {
    match value {
        Value::Array(_) => "array",
        Value::Undefined => "none",
        _ => "value",
    }
}

fn file(format: &Format, value: Value<'_>) -> Result<Vec<u8>, Failure> {
    let parts = format.export_within(value, MAX_ITEMS).map_err(Failure::File)?;
    Ok(parts.into_iter().next().map(|part| part.bytes).unwrap_or_default())
}

fn no_format(name: &str) -> Problem {
    Problem::bad_request("invalid-parameter", format!("There is no format `{name}`."))
        .with("parameter", "format")
        .with("allowed", forms().map(|(name, _, _)| Json::from(name)).collect::<Vec<_>>())
}

fn not_acceptable() -> Problem {
    Problem::new(StatusCode::NOT_ACCEPTABLE, "not-acceptable")
        .detail("None of the content types that are accepted can be given.")
        .with("allowed", json!(forms().map(|(_, media_type, _)| media_type).collect::<Vec<_>>()))
}
