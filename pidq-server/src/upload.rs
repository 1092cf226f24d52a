//! Uploaded drawings: the format of a request body, and its conversion to the JSON of a graph.
//!
//! Every format that `pidq_formats` reads can be uploaded: as the body if it is one file, as the parts of a form if
//! there are several.

use std::borrow::Cow;

use bytes::Bytes;
use pidq_formats::{Diagnostic, FORMATS, Format};
use pidq_http::{Binary, MultipartLimits, Problem, Request, TypeSchema, codes};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::problems::problem;
use crate::store::{Error, Finding};

/// Minimum number of bytes of the maximum size of a graph for each value of a drawing, as `Format::max_value_count` counts
/// them. An import needs up to 1,400 bytes of memory for a value.
const BYTES_PER_VALUE: usize = 160;
/// Maximum number of files of a drawing.
const MAX_FILES: usize = 16;
/// Maximum number of findings in an error.
const ERROR_FINDINGS: usize = 20;
/// Name of the format of a body that is the graph itself.
const GRAPH_JSON: &str = "json";
const FORM: &str = "multipart/form-data";

/// Content types of drawings that are not JSON.
pub(crate) const FILE_TYPES: &[(&str, TypeSchema)] = &[
    ("application/xml", TypeSchema::of::<Binary>()),
    ("text/xml", TypeSchema::of::<Binary>()),
    ("application/graphml+xml", TypeSchema::of::<Binary>()),
    ("text/x-sfiles", TypeSchema::of::<Binary>()),
    (FORM, TypeSchema::of::<DrawingForm>()),
];

/// Files of a drawing, one part each. The name of a part is that of the file in its format, such as `nodes.csv`.
pub(crate) struct DrawingForm;

impl JsonSchema for DrawingForm {
    fn schema_name() -> Cow<'static, str> {
        "DrawingForm".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Files of a drawing. The name of a part is that of the file in its format, such as `nodes.csv`.",
            "type": "object", "minProperties": 1, "maxProperties": MAX_FILES,
            "additionalProperties": { "type": "string", "format": "binary" },
        })
    }
}

/// Uploaded drawing, as it was received.
pub(crate) struct Upload {
    /// `None` for a graph as JSON.
    format: Option<&'static Format>,
    files: Vec<Bytes>,
}

/// Uploaded drawing as the JSON of a graph.
pub(crate) struct ConvertedUpload {
    pub json: Bytes,
    /// Name of its format.
    pub format: &'static str,
    /// Content that was lost, changed or found invalid by the import.
    pub findings: Vec<Diagnostic>,
}

/// Format that a request names.
#[derive(Clone, Copy)]
pub(crate) enum NamedFormat {
    /// The graph itself, as JSON.
    Graph,
    /// A format of drawings.
    Drawing(&'static Format),
}

impl NamedFormat {
    /// Returns the format of the URL parameter `format`.
    pub fn from_request(request: &Request) -> Result<Option<NamedFormat>, Problem> {
        let Some(name) = request.query()?.single("format")?.map(str::to_owned) else { return Ok(None) };
        if name == GRAPH_JSON {
            return Ok(Some(NamedFormat::Graph));
        }
        match readable_formats().find(|format| format.name == name) {
            Some(format) => Ok(Some(NamedFormat::Drawing(format))),
            None => Err(Problem::new(codes::INVALID_PARAMETER)
                .detail(format!("A drawing in the format `{name}` cannot be read."))
                .with("parameter", "format")
                .with("allowed", upload_format_names().collect::<Vec<_>>())),
        }
    }
}

impl Upload {
    /// Reads the body of a request, up to a number of bytes after decompression.
    pub async fn read(request: &mut Request, named: Option<NamedFormat>, limit: u64) -> Result<Upload, Problem> {
        let media = request.head.media_type().unwrap_or_default();
        if media == FORM {
            return Upload::from_parts(read_parts(request, limit).await?, named);
        }
        let body = request.bytes_up_to(limit).await.map_err(|error| match error.code() {
            "payload-too-large" => too_large(limit),
            _ => error,
        })?;
        let format = match named {
            Some(NamedFormat::Graph) => None,
            Some(NamedFormat::Drawing(format)) => Some(format),
            None => format_of_media(&media, &body)?,
        };
        Ok(Upload { format, files: vec![body] })
    }

    /// Finds the format by the names of the parts.
    fn from_parts(parts: Vec<(String, Bytes)>, named: Option<NamedFormat>) -> Result<Upload, Problem> {
        let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
        let is_named = |format: &&Format| match named {
            Some(NamedFormat::Graph) => false,
            Some(NamedFormat::Drawing(named)) => format.name == named.name,
            None => true,
        };
        let candidates: Vec<_> = readable_formats()
            .filter(is_named)
            .filter_map(|format| Some((format, file_order(format, &names)?)))
            .collect();
        let is_sniffed = |(format, order): &&(&'static Format, Vec<usize>)| {
            order.first().and_then(|at| Format::sniff(&parts[*at].1)).is_some_and(|found| found.name == format.name)
        };
        let found = match candidates.as_slice() {
            [one] => Some(one),
            several => several.iter().find(is_sniffed),
        };
        let (format, order) = found.ok_or_else(wrong_parts)?;
        Ok(Upload { format: Some(*format), files: order.iter().map(|at| parts[*at].1.clone()).collect() })
    }

    /// Returns the size of a graph as JSON in bytes; `None` for a drawing in another format.
    pub fn graph_size(&self) -> Option<usize> {
        self.format.is_none().then(|| self.files.iter().map(Bytes::len).sum())
    }

    /// Converts the drawing. The maximum size of a graph also limits the number of values. CPU-bound: call it on a worker
    /// thread.
    pub fn into_graph_json(mut self, max_size: usize) -> Result<ConvertedUpload, Problem> {
        let Some(format) = self.format else {
            let json = self.files.pop().unwrap_or_default();
            return Ok(ConvertedUpload { json, format: GRAPH_JSON, findings: Vec::new() });
        };
        let files: Vec<&[u8]> = self.files.iter().map(|file| &file[..]).collect();
        let max_values = max_size / BYTES_PER_VALUE;
        if format.max_value_count(&files) > max_values {
            return Err(problem(Error::GraphTooLarge { what: "values", limit: max_values as u64 }));
        }
        let imported = format.import(&files).map_err(|error| import_problem(format, &files, &error))?;
        Ok(ConvertedUpload { json: imported.json.into(), format: format.name, findings: imported.diagnostics })
    }
}

impl ConvertedUpload {
    /// Returns an error if something was imported with changes, or was found invalid.
    pub fn check_strict(&self) -> Result<(), Error> {
        let warnings = self.findings.iter().filter(|found| found.finding.is_change());
        let finding = |found: &Diagnostic| Finding {
            pointer: String::new(),
            detail: format!("{}: {}", found.finding.code(), found.message),
        };
        let findings: Vec<Finding> = warnings.take(ERROR_FINDINGS).map(finding).collect();
        if findings.is_empty() { Ok(()) } else { Err(Error::InvalidGraph(findings)) }
    }
}

/// Returns the names of all formats that can be uploaded.
pub(crate) fn upload_format_names() -> impl Iterator<Item = &'static str> {
    [GRAPH_JSON].into_iter().chain(readable_formats().map(|format| format.name))
}

fn readable_formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.read.is_some())
}

/// Returns the format of a body by its content type and, where several formats share one, by its content. `None` for a
/// graph as JSON.
fn format_of_media(media: &str, body: &[u8]) -> Result<Option<&'static Format>, Problem> {
    let media = if media == "text/xml" { "application/xml" } else { media };
    if media == "application/json" {
        return Ok(None);
    }
    let mut candidates = readable_formats().filter(|format| format.media_type == media);
    if let (Some(format), None) = (candidates.next(), candidates.next()) {
        return Ok(Some(format));
    }
    let is_xml = |format: &&Format| format.media_type.ends_with("xml");
    match Format::sniff(body).filter(is_xml) {
        Some(format) => Ok(Some(format)),
        None => {
            let names: Vec<&str> = readable_formats().filter(is_xml).map(|format| format.name).collect();
            let unknown = format!("the XML is in none of the formats {}", names.join(", "));
            Err(unreadable(Format::unreadable(body).unwrap_or(&unknown)))
        }
    }
}

/// Returns the positions of the files of a format among the parts of a form, or `None` if a file is missing or there is
/// another part.
fn file_order(format: &Format, names: &[&str]) -> Option<Vec<usize>> {
    let reader = format.read.as_ref()?;
    let position = |file: &&str| names.iter().position(|name| name == file);
    let mut order: Vec<usize> = reader.files.iter().map(position).collect::<Option<_>>()?;
    for (at, name) in names.iter().enumerate() {
        match reader.further_files {
            _ if order.contains(&at) => {}
            Some(further) if further == *name => order.push(at),
            _ => return None,
        }
    }
    Some(order)
}

/// Reads the parts of a form: their names and contents.
async fn read_parts(request: &mut Request, limit: u64) -> Result<Vec<(String, Bytes)>, Problem> {
    let mut form = request.multipart(MultipartLimits { parts: MAX_FILES, ..MultipartLimits::default() })?;
    let (mut parts, mut size) = (Vec::new(), 0);
    while let Some(mut part) = form.next().await? {
        let mut content = Vec::new();
        while let Some(chunk) = part.chunk().await? {
            size += chunk.len() as u64;
            if size > limit {
                return Err(too_large(limit));
            }
            content.extend_from_slice(&chunk);
        }
        parts.push((part.name().to_owned(), content.into()));
    }
    Ok(parts)
}

fn too_large(limit: u64) -> Problem {
    problem(Error::GraphTooLarge { what: "bytes", limit })
}

/// Returns the problem for files that cannot be imported.
fn import_problem(format: &Format, files: &[&[u8]], error: &pidq_formats::Error) -> Problem {
    let help = files.first().and_then(|file| Format::unreadable(file));
    let problem = unreadable(help.unwrap_or(error.message()));
    let problem = problem.with("format", format.name).with("pq_code", error.code().as_str());
    match error.line() {
        Some(line) => problem.with("line", line),
        None => problem,
    }
}

fn unreadable(detail: &str) -> Problem {
    Problem::new(codes::UNREADABLE_DRAWING).detail(pidq_http::sentence(detail))
}

/// Returns the problem for a form whose parts are not the files of a format.
fn wrong_parts() -> Problem {
    let files = readable_formats().filter_map(|format| format.read.as_ref()).map(|reader| reader.files.join(", "));
    let mut allowed: Vec<String> = files.collect();
    allowed.dedup();
    Problem::new(codes::MISSING_PART)
        .detail("The names of the parts are not those of the files of a format.")
        .with("allowed", allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_that_is_one_file_has_a_content_type() {
        for format in readable_formats() {
            let is_one_file = format.read.as_ref().is_some_and(|reader| reader.files.len() == 1);
            let is_listed = FILE_TYPES.iter().any(|(media, _)| *media == format.media_type);
            assert!(!is_one_file || is_listed || format.media_type == "application/json", "{}", format.name);
        }
    }

    #[test]
    fn the_files_of_a_form_are_found_by_their_names() {
        let order = |format: &str, names: &[&str]| file_order(Format::find(format).expect(format), names);
        assert_eq!(order("csv-graph", &["edges.csv", "nodes.csv"]), Some(vec![1, 0]));
        assert_eq!(order("csv-graph", &["nodes.csv"]), None);
        assert_eq!(order("csv-graph", &["nodes.csv", "edges.csv", "rels.csv"]), None);
        assert_eq!(order("dexpi", &["profile.xml", "drawing.xml", "profile.xml"]), Some(vec![1, 0, 2]));
        assert_eq!(order("proteus", &["drawing.xml", "profile.xml"]), None);
        assert_eq!(order("proteus", &["drawing.xml", "drawing.xml"]), None);
    }
}
