//! Validation of uploaded graphs, and the metadata that the service writes into them.
//!
//! The original bytes are kept. Only `metadata.job_id`, `schema_version` and `change_version` are filled in; number
//! spelling, key order and white space do not change. CPU-bound: call it on a worker thread.

mod content_hash;
pub(crate) mod json_offsets;

use std::ops::Range;

use bytes::Bytes;
use pidq_core::error::Code;
use pidq_core::{Array, Graph, ItemRef, Limits, Object, Value};

use crate::store::{Error, Finding, GraphId, Result};

/// Maximum number of findings in an error.
const FINDING_LIMIT: usize = 20;

/// Rules for an uploaded graph.
#[derive(Clone, Copy, Debug)]
pub struct ValidationRules {
    /// Maximum size in bytes.
    pub bytes: usize,
    /// Maximum nesting depth.
    pub depth: usize,
    /// Maximum number of nodes.
    pub nodes: usize,
    /// Maximum number of edges.
    pub edges: usize,
    /// Handling of warnings.
    pub warnings: WarningPolicy,
    /// Source of version numbers.
    pub version_source: VersionSource,
    /// Handling of a graph id in the document that is not that of its location.
    pub job_id: JobIdPolicy,
}

/// Handling of data-quality warnings: duplicate keys, nodes without an id, edges without a node, and the like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WarningPolicy {
    /// The graph is accepted, and the warnings are reported.
    Allow,
    /// The graph is rejected: `?strict=true`.
    Reject,
}

/// Handling of a document whose graph id is not that of its location.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JobIdPolicy {
    /// The document is rejected.
    Reject,
    /// The id is replaced: that of an imported drawing is its name, and a file name defines the id of a file.
    Replace,
}

/// Source of `change_version`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VersionSource {
    /// The store assigns the version.
    Store,
    /// The document defines the version, by default "1".
    Document,
}

impl Default for ValidationRules {
    fn default() -> ValidationRules {
        ValidationRules {
            bytes: 64 << 20,
            depth: 128,
            nodes: 1_000_000,
            edges: 2_000_000,
            warnings: WarningPolicy::Allow,
            version_source: VersionSource::Store,
            job_id: JobIdPolicy::Reject,
        }
    }
}

/// Data-quality warning of an accepted graph.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Warning {
    /// Code of the rule, such as `G020`; `duplicate-key` for keys.
    pub code: &'static str,
    /// Number of occurrences.
    pub count: u64,
    /// Description of the first occurrence.
    pub detail: String,
    /// JSON pointer to the first occurrence.
    pub pointer: String,
}

/// Validated graph, complete except for its version number.
#[derive(Clone, Debug)]
pub struct GraphDraft {
    parts: Vec<DraftPart>,
    /// Id of the graph.
    pub graph_id: GraphId,
    /// Schema version of the document, by default "1".
    pub schema_version: String,
    /// `change_version` of the document, if present.
    pub change_version: Option<String>,
    /// Name of the drawing.
    pub drawing_name: Option<String>,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// SHA-256 of the content, independent of formatting.
    pub content_hash: [u8; 32],
    /// Data-quality warnings.
    pub warnings: Vec<Warning>,
}

#[derive(Clone, Debug)]
enum DraftPart {
    Text(Bytes),
    /// Placeholder for the version number, a JSON string.
    Version,
}

impl GraphDraft {
    /// Returns the document with this version.
    pub fn to_json(&self, version: &str) -> Bytes {
        let version = json_offsets::quoted(version);
        let parts = self.parts.iter().map(|part| match part {
            DraftPart::Text(text) => &text[..],
            DraftPart::Version => version.as_bytes(),
        });
        parts.collect::<Vec<_>>().concat().into()
    }
}

/// Validates a body: `{"pid_graph": …}`, or the value of `pid_graph` alone.
///
/// # Errors
/// `malformed-json`, `graph-too-large`, `invalid-graph`, `job-id-mismatch`, `unsupported-schema-version`.
pub fn validate(graph_id: &GraphId, body: Bytes, rules: &ValidationRules) -> Result<GraphDraft> {
    if body.len() > rules.bytes {
        return Err(Error::GraphTooLarge { what: "bytes", limit: rules.bytes as u64 });
    }
    let graph = load(&body, rules)?;
    let drawing = Drawing::from_graph(&graph, rules)?;
    let warnings = drawing.warnings();
    if rules.warnings == WarningPolicy::Reject && warnings.iter().any(Warning::is_rejected_when_strict) {
        return Err(invalid_graph(
            warnings.into_iter().filter(Warning::is_rejected_when_strict).map(Warning::into_finding).collect(),
        ));
    }
    let schema_version = drawing.schema_version()?;
    drawing.check_graph_id(graph_id)?;
    let edits = edits(&drawing, graph_id, &schema_version)?;
    Ok(GraphDraft {
        parts: parts(&body, edits),
        graph_id: graph_id.clone(),
        schema_version,
        change_version: drawing.change_version(),
        drawing_name: drawing.metadata_field("drawing_name").and_then(Value::as_str).map(str::to_owned),
        nodes: drawing.nodes.len() as u64,
        edges: drawing.edges.len() as u64,
        content_hash: content_hash::content_hash(drawing.root, drawing.is_bare),
        warnings,
    })
}

fn load(body: &Bytes, rules: &ValidationRules) -> Result<Graph> {
    Graph::from_json_with_max_depth(&body[..], rules.depth).map_err(|error| match error.code() {
        Code::InputTooDeep => invalid_graph(vec![Finding { pointer: String::new(), detail: error.message().into() }]),
        Code::InputTooLarge => Error::GraphTooLarge { what: "bytes", limit: rules.bytes as u64 },
        _ => malformed(&message_with_help(&error), error.span().map_or(0, |span| span.start as usize)),
    })
}

/// Returns the message of an engine error with its help.
fn message_with_help(error: &pidq_core::Error) -> String {
    error.help().map_or_else(|| error.message().into(), |help| format!("{}: {help}", error.message()))
}

fn malformed(detail: &str, offset: usize) -> Error {
    Error::MalformedJson { detail: detail.into(), offset }
}

fn invalid_graph(mut findings: Vec<Finding>) -> Error {
    findings.truncate(FINDING_LIMIT);
    Error::InvalidGraph(findings)
}

fn expected(what: &str, found: Option<Value<'_>>, pointer: String) -> Finding {
    let found = found.map_or("nothing", Value::type_name);
    Finding { pointer, detail: format!("expected {what}, found {found}") }
}

/// Document with the structure of a drawing.
struct Drawing<'g> {
    graph: &'g Graph,
    root: Object<'g>,
    /// True if the body is the value of `pid_graph` alone.
    is_bare: bool,
    nodes: Array<'g>,
    edges: Array<'g>,
    metadata: Option<Object<'g>>,
    version_source: VersionSource,
    job_id: JobIdPolicy,
}

impl<'g> Drawing<'g> {
    fn from_graph(graph: &'g Graph, rules: &ValidationRules) -> Result<Drawing<'g>> {
        let root = object(Some(graph.root()), String::new())?;
        let is_bare = root.get("pid_graph").is_none();
        let prefix = if is_bare { "" } else { "/pid_graph" };
        let inner = if is_bare { root } else { object(root.get("pid_graph"), prefix.into())? };
        let nodes = objects(inner.get("nodes"), &format!("{prefix}/nodes"), "nodes", rules.nodes)?;
        let edges = objects(inner.get("edges"), &format!("{prefix}/edges"), "edges", rules.edges)?;
        let metadata = match inner.get("metadata") {
            None => None,
            some => Some(object(some, format!("{prefix}/metadata"))?),
        };
        let (version_source, job_id) = (rules.version_source, rules.job_id);
        Ok(Drawing { graph, root, is_bare, nodes, edges, metadata, version_source, job_id })
    }

    fn pointer(&self, below: &str) -> String {
        format!("{}{below}", if self.is_bare { "" } else { "/pid_graph" })
    }

    fn metadata_field(&self, key: &str) -> Option<Value<'g>> {
        self.metadata?.get(key)
    }

    /// Returns the schema version, which must have major version 1. Unknown fields of minor versions are kept.
    fn schema_version(&self) -> Result<String> {
        let Some(value) = self.metadata_field("schema_version") else { return Ok("1".into()) };
        match value.as_str() {
            Some(version) if is_supported(version) => Ok(version.into()),
            _ => Err(Error::UnsupportedSchemaVersion(brief(value))),
        }
    }

    fn check_graph_id(&self, graph_id: &GraphId) -> Result<()> {
        match self.metadata_field("job_id") {
            _ if self.job_id == JobIdPolicy::Replace => Ok(()),
            Some(value) if value.as_str() != Some(graph_id.as_str()) => Err(Error::GraphIdMismatch(brief(value))),
            _ => Ok(()),
        }
    }

    fn change_version(&self) -> Option<String> {
        self.metadata_field("change_version").filter(|value| !value.is_null()).map(brief_text)
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let count = self.graph.duplicate_keys() as u64;
        if count > 0 {
            let pointer = json_offsets::duplicate_key(self.graph.source()).unwrap_or_default();
            let detail = "duplicate key in an object; the last value is used".into();
            warnings.push(Warning { code: "duplicate-key", count, detail, pointer });
        }
        // The engine defines id fields, endpoints and containment.
        for warning in pidq_core::graph_warnings(self.graph, linear_work_limits()).unwrap_or_default() {
            let pointer = match warning.item {
                ItemRef::Node(at) => self.pointer(&format!("/nodes/{at}")),
                ItemRef::Edge(at) => self.pointer(&format!("/edges/{at}")),
            };
            warnings.push(Warning { code: warning.code, count: warning.count, detail: warning.message, pointer });
        }
        warnings
    }
}

impl Warning {
    /// Returns true if the warning is an error in strict mode.
    fn is_rejected_when_strict(&self) -> bool {
        self.code != "G013"
    }

    fn into_finding(self) -> Finding {
        let more = if self.count > 1 { format!(" ({} cases)", self.count) } else { String::new() };
        Finding { pointer: self.pointer, detail: format!("{}: {}{more}", self.code, self.detail) }
    }
}

/// Returns limits without a fuel limit: the checks are linear in the bounded document.
fn linear_work_limits() -> Limits<'static> {
    Limits { fuel: u64::MAX / 2, memory: 1 << 30, ..Limits::default() }
}

fn object(value: Option<Value<'_>>, pointer: String) -> Result<Object<'_>> {
    value.and_then(Value::as_object).ok_or_else(|| invalid_graph(vec![expected("an object", value, pointer)]))
}

/// Returns an array of objects with a maximum length.
fn objects<'g>(value: Option<Value<'g>>, pointer: &str, what: &'static str, limit: usize) -> Result<Array<'g>> {
    let list = value.and_then(Value::as_array);
    let list = list.ok_or_else(|| invalid_graph(vec![expected("an array", value, pointer.into())]))?;
    if list.len() > limit {
        return Err(Error::GraphTooLarge { what, limit: limit as u64 });
    }
    let others = list.iter().enumerate().filter(|(_, item)| item.as_object().is_none());
    let finding = |(at, item)| expected("an object", Some(item), format!("{pointer}/{at}"));
    let findings: Vec<Finding> = others.take(FINDING_LIMIT).map(finding).collect();
    if findings.is_empty() { Ok(list) } else { Err(invalid_graph(findings)) }
}

fn is_supported(version: &str) -> bool {
    let mut parts = version.split('.');
    let is_number = |part: &str| !part.is_empty() && part.len() < 10 && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.next() == Some("1") && version.split('.').count() <= 3 && parts.all(is_number)
}

/// Shortens a value for a message.
fn brief(value: Value<'_>) -> String {
    match value.as_str() {
        Some(text) => text.chars().take(128).collect(),
        None => format!("{value:?}").chars().take(128).collect(),
    }
}

/// Returns a string as is, other values as JSON.
fn brief_text(value: Value<'_>) -> String {
    value.as_str().map_or_else(|| brief(value), str::to_owned)
}

/// Replaced range of the document, and its replacement.
type Edit = (Range<usize>, Vec<DraftPart>);

fn edits(drawing: &Drawing<'_>, graph_id: &GraphId, schema_version: &str) -> Result<Vec<Edit>> {
    let text = drawing.graph.source();
    let not_found = || malformed("Cannot locate the metadata", 0);
    let root = json_offsets::object_fields(text, 0).ok_or_else(not_found)?;
    let mut edits = Vec::new();
    let inner = if drawing.is_bare {
        let start = text.len() - text.trim_start().len();
        edits.push((start..start, vec![literal("{\"pid_graph\":")]));
        edits.push((root.end + 1..root.end + 1, vec![literal("}")]));
        root
    } else {
        let range = root.values_of("pid_graph").next_back().ok_or_else(not_found)?;
        json_offsets::object_fields(text, range.start).ok_or_else(not_found)?
    };
    let service_metadata = ServiceMetadata {
        graph_id: json_offsets::quoted(graph_id.as_str()),
        schema: json_offsets::quoted(schema_version),
        drawing,
    };
    match inner.values_of("metadata").next_back() {
        Some(range) => {
            service_metadata.fill_in(&json_offsets::object_fields(text, range.start).ok_or_else(not_found)?, &mut edits)
        }
        None => service_metadata.add(&inner, &mut edits),
    }
    edits.sort_by_key(|(range, _)| range.start);
    Ok(edits)
}

fn literal(text: &str) -> DraftPart {
    DraftPart::Text(Bytes::copy_from_slice(text.as_bytes()))
}

/// Fields of `metadata` that the service writes.
struct ServiceMetadata<'d> {
    graph_id: String,
    schema: String,
    drawing: &'d Drawing<'d>,
}

impl ServiceMetadata<'_> {
    fn value(&self, key: &str) -> DraftPart {
        match (key, self.drawing.version_source) {
            ("job_id", _) => literal(&self.graph_id),
            ("schema_version", _) => literal(&self.schema),
            (_, VersionSource::Store) => DraftPart::Version,
            (_, VersionSource::Document) => {
                literal(&json_offsets::quoted(self.drawing.change_version().as_deref().unwrap_or("1")))
            }
        }
    }

    /// Edits existing metadata: missing fields are appended, and every `change_version` is overwritten.
    fn fill_in(&self, metadata: &json_offsets::ObjectFields<'_>, edits: &mut Vec<Edit>) {
        let missing = content_hash::SERVICE_FIELDS.into_iter().filter(|key| metadata.values_of(key).next().is_none());
        let mut added = Vec::new();
        for (at, key) in missing.enumerate() {
            let comma = if at == 0 && metadata.fields.is_empty() { "" } else { "," };
            added.extend([literal(&format!("{comma}\"{key}\":")), self.value(key)]);
        }
        edits.extend(metadata.values_of("change_version").map(|range| (range, vec![self.value("change_version")])));
        if self.drawing.job_id == JobIdPolicy::Replace {
            edits.extend(metadata.values_of("job_id").map(|range| (range, vec![self.value("job_id")])));
        }
        // After the last field, to keep the layout before the brace.
        let insert_at = metadata.fields.last().map_or(metadata.end, |(_, value)| value.end);
        edits.push((insert_at..insert_at, added));
    }

    /// Appends metadata as the last field of a drawing without metadata.
    fn add(&self, graph: &json_offsets::ObjectFields<'_>, edits: &mut Vec<Edit>) {
        let mut added = vec![literal(if graph.fields.is_empty() { "" } else { "," }), literal("\"metadata\":{")];
        for (at, key) in content_hash::SERVICE_FIELDS.into_iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            added.extend([literal(&format!("{comma}\"{key}\":")), self.value(key)]);
        }
        added.push(literal("}"));
        let insert_at = graph.fields.last().map_or(graph.end, |(_, value)| value.end);
        edits.push((insert_at..insert_at, added));
    }
}

fn parts(body: &Bytes, edits: Vec<Edit>) -> Vec<DraftPart> {
    let mut parts = Vec::new();
    let mut at = 0;
    for (range, inserted) in edits {
        parts.push(DraftPart::Text(body.slice(at..range.start)));
        parts.extend(inserted);
        at = range.end;
    }
    parts.push(DraftPart::Text(body.slice(at..)));
    parts
}
