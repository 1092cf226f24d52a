//! The door: what a document must be to become a graph, and what the service writes into it.
//!
//! Bytes are kept as they came. Only `metadata.job_id`, `schema_version` and `change_version` are filled in; numbers
//! keep their text, keys their order, spaces their place. This is CPU work: call it where that is done.

mod content;
pub(crate) mod json;

use std::ops::Range;

use bytes::Bytes;
use pidq_core::error::Code;
use pidq_core::{Array, Graph, Limits, Object, Spot, Value};

use crate::store::{Error, Fault, JobId, Result};

/// Reasons that a refusal lists.
const MOST_FAULTS: usize = 20;

/// What the door lets through.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Bytes of a document.
    pub bytes: usize,
    /// Levels of nesting.
    pub depth: usize,
    /// Nodes of a drawing.
    pub nodes: usize,
    /// Edges of a drawing.
    pub edges: usize,
    /// What happens to what is doubtful.
    pub doubt: Doubt,
    /// Who numbers the versions.
    pub numbering: Numbering,
}

/// What happens to doubtful data: keys that stand twice, nodes without an id, edges without a node and the like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Doubt {
    /// It is let through and listed.
    Listed,
    /// It is refused: `?strict=true`.
    Refused,
}

/// Who gives `change_version`, and so whose word counts where a document and its place differ.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Numbering {
    /// The store, whatever the document says. A document for another job is refused.
    Store,
    /// The document; "1" where it says nothing. The job is what its file is called, whatever it says.
    Document,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            bytes: 64 << 20,
            depth: 128,
            nodes: 1_000_000,
            edges: 2_000_000,
            doubt: Doubt::Listed,
            numbering: Numbering::Store,
        }
    }
}

/// Something doubtful that was let through.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Warning {
    /// The code of the rule, such as `G020`; `duplicate-key` for keys.
    pub code: &'static str,
    /// How often.
    pub count: u64,
    /// The first case, in words.
    pub detail: String,
    /// JSON pointer to the first case.
    pub pointer: String,
}

/// A document that may be stored. It lacks only the number of its version.
#[derive(Clone, Debug)]
pub struct Draft {
    pieces: Vec<Piece>,
    /// The job that it is for.
    pub job: JobId,
    /// Its own, or "1".
    pub schema_version: String,
    /// Its own `change_version`, where it has one.
    pub change_version: Option<String>,
    /// The name of the drawing.
    pub drawing_name: Option<String>,
    /// How many nodes it has.
    pub nodes: u64,
    /// How many edges it has.
    pub edges: u64,
    /// The hash of what it says.
    pub content: [u8; 32],
    /// What is doubtful about it.
    pub warnings: Vec<Warning>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(Bytes),
    /// The number of the version, as a JSON string.
    Version,
}

impl Draft {
    /// The document, as the version with this name.
    pub fn to_json(&self, version: &str) -> Bytes {
        let version = json::quoted(version);
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => &text[..],
            Piece::Version => version.as_bytes(),
        });
        pieces.collect::<Vec<_>>().concat().into()
    }
}

/// Looks at a body, `{"pid_graph": …}` or what stands in there alone.
///
/// # Errors
/// `malformed-json`, `graph-too-large`, `invalid-graph`, `job-id-mismatch`, `unsupported-schema-version`.
pub fn admit(job: &JobId, body: Bytes, rules: &Rules) -> Result<Draft> {
    if body.len() > rules.bytes {
        return Err(Error::GraphTooLarge { what: "bytes", limit: rules.bytes as u64 });
    }
    let graph = load(&body, rules)?;
    let drawing = Drawing::of(&graph, rules)?;
    let warnings = drawing.doubts();
    if rules.doubt == Doubt::Refused && warnings.iter().any(Warning::is_grave) {
        return Err(refusal(warnings.into_iter().filter(Warning::is_grave).map(Warning::into_fault).collect()));
    }
    let schema_version = drawing.schema_version()?;
    drawing.check_job(job)?;
    let edits = edits(&drawing, job, &schema_version)?;
    Ok(Draft {
        pieces: pieces(&body, edits),
        job: job.clone(),
        schema_version,
        change_version: drawing.change_version(),
        drawing_name: drawing.said("drawing_name").and_then(Value::as_str).map(str::to_owned),
        nodes: drawing.nodes.len() as u64,
        edges: drawing.edges.len() as u64,
        content: content::content(drawing.root, drawing.is_bare),
        warnings,
    })
}

fn load(body: &Bytes, rules: &Rules) -> Result<Graph> {
    let graph = Graph::from_json_within(&body[..], rules.depth).map_err(|error| match error.code() {
        Code::InputTooDeep => refusal(vec![Fault { pointer: String::new(), detail: error.message().into() }]),
        Code::InputTooLarge => Error::GraphTooLarge { what: "bytes", limit: rules.bytes as u64 },
        _ => malformed(&advised(&error), error.span().map_or(0, |span| span.start as usize)),
    })?;
    match json::lone_surrogate(graph.source()) {
        Some(offset) => Err(malformed("An escape is half a character", offset)),
        None => Ok(graph),
    }
}

/// What is wrong with the text, and what to do about it.
fn advised(error: &pidq_core::Error) -> String {
    error.help().map_or_else(|| error.message().into(), |help| format!("{}: {help}", error.message()))
}

fn malformed(detail: &str, offset: usize) -> Error {
    Error::MalformedJson { detail: detail.into(), offset }
}

fn refusal(mut faults: Vec<Fault>) -> Error {
    faults.truncate(MOST_FAULTS);
    Error::InvalidGraph(faults)
}

fn expected(what: &str, found: Option<Value<'_>>, pointer: String) -> Fault {
    let found = found.map_or("nothing", Value::type_name);
    Fault { pointer, detail: format!("expected {what}, found {found}") }
}

/// A document that has the shape of a drawing.
struct Drawing<'g> {
    graph: &'g Graph,
    root: Object<'g>,
    /// Whether the body is what else stands in `pid_graph`.
    is_bare: bool,
    nodes: Array<'g>,
    edges: Array<'g>,
    metadata: Option<Object<'g>>,
    numbering: Numbering,
}

impl<'g> Drawing<'g> {
    fn of(graph: &'g Graph, rules: &Rules) -> Result<Drawing<'g>> {
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
        Ok(Drawing { graph, root, is_bare, nodes, edges, metadata, numbering: rules.numbering })
    }

    fn pointer(&self, below: &str) -> String {
        format!("{}{below}", if self.is_bare { "" } else { "/pid_graph" })
    }

    fn said(&self, key: &str) -> Option<Value<'g>> {
        self.metadata?.get(key)
    }

    /// Major version 1 in any of its spellings: unknown additions of a minor version are kept as they are.
    fn schema_version(&self) -> Result<String> {
        let Some(said) = self.said("schema_version") else { return Ok("1".into()) };
        match said.as_str() {
            Some(version) if is_known(version) => Ok(version.into()),
            _ => Err(Error::UnsupportedSchemaVersion(brief(said))),
        }
    }

    fn check_job(&self, job: &JobId) -> Result<()> {
        match self.said("job_id") {
            _ if self.numbering == Numbering::Document => Ok(()),
            Some(said) if said.as_str() != Some(job.as_str()) => Err(Error::JobIdMismatch(brief(said))),
            _ => Ok(()),
        }
    }

    fn change_version(&self) -> Option<String> {
        self.said("change_version").filter(|said| !said.is_null()).map(brief_text)
    }

    fn doubts(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let count = self.graph.duplicate_keys() as u64;
        if count > 0 {
            let pointer = json::repeated_key(self.graph.source()).unwrap_or_default();
            let detail = "a key stands twice in its object; the last one counts".into();
            warnings.push(Warning { code: "duplicate-key", count, detail, pointer });
        }
        // The engine knows which fields are ids and ends, and what contains what.
        for doubt in pidq_core::doubts(self.graph, ample()).unwrap_or_default() {
            let pointer = match doubt.place {
                Spot::Node(at) => self.pointer(&format!("/nodes/{at}")),
                Spot::Edge(at) => self.pointer(&format!("/edges/{at}")),
            };
            warnings.push(Warning { code: doubt.code, count: doubt.count, detail: doubt.message, pointer });
        }
        warnings
    }
}

impl Warning {
    /// Whether the strict door refuses it.
    fn is_grave(&self) -> bool {
        self.code != "G013"
    }

    fn into_fault(self) -> Fault {
        let more = if self.count > 1 { format!(" ({} cases)", self.count) } else { String::new() };
        Fault { pointer: self.pointer, detail: format!("{}: {}{more}", self.code, self.detail) }
    }
}

/// The work here is linear in the document, which is bounded: fuel is not what ends it.
fn ample() -> Limits<'static> {
    Limits { fuel: u64::MAX / 2, memory: 1 << 30, ..Limits::default() }
}

fn object(value: Option<Value<'_>>, pointer: String) -> Result<Object<'_>> {
    value.and_then(Value::as_object).ok_or_else(|| refusal(vec![expected("an object", value, pointer)]))
}

/// A list of objects, not too many.
fn objects<'g>(value: Option<Value<'g>>, pointer: &str, what: &'static str, most: usize) -> Result<Array<'g>> {
    let list = value.and_then(Value::as_array);
    let list = list.ok_or_else(|| refusal(vec![expected("an array", value, pointer.into())]))?;
    if list.len() > most {
        return Err(Error::GraphTooLarge { what, limit: most as u64 });
    }
    let others = list.iter().enumerate().filter(|(_, item)| item.as_object().is_none());
    let fault = |(at, item)| expected("an object", Some(item), format!("{pointer}/{at}"));
    let faults: Vec<Fault> = others.take(MOST_FAULTS).map(fault).collect();
    if faults.is_empty() { Ok(list) } else { Err(refusal(faults)) }
}

fn is_known(version: &str) -> bool {
    let mut parts = version.split('.');
    let is_number = |part: &str| !part.is_empty() && part.len() < 10 && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.next() == Some("1") && version.split('.').count() <= 3 && parts.all(is_number)
}

/// A value for a message.
fn brief(value: Value<'_>) -> String {
    match value.as_str() {
        Some(text) => text.chars().take(128).collect(),
        None => format!("{value:?}").chars().take(128).collect(),
    }
}

/// A text as it is, anything else as it is written.
fn brief_text(value: Value<'_>) -> String {
    value.as_str().map_or_else(|| brief(value), str::to_owned)
}

/// Where a document is changed, and into what.
type Edit = (Range<usize>, Vec<Piece>);

fn edits(drawing: &Drawing<'_>, job: &JobId, schema_version: &str) -> Result<Vec<Edit>> {
    let text = drawing.graph.source();
    let lost = || malformed("The place of the metadata was not found", 0);
    let root = json::members(text, 0).ok_or_else(lost)?;
    let mut edits = Vec::new();
    let inner = if drawing.is_bare {
        let start = text.len() - text.trim_start().len();
        edits.push((start..start, vec![literal("{\"pid_graph\":")]));
        edits.push((root.end + 1..root.end + 1, vec![literal("}")]));
        root
    } else {
        let place = root.of("pid_graph").next_back().ok_or_else(lost)?;
        json::members(text, place.start).ok_or_else(lost)?
    };
    let owned = Owned { job: json::quoted(job.as_str()), schema: json::quoted(schema_version), drawing };
    match inner.of("metadata").next_back() {
        Some(place) => owned.fill_in(&json::members(text, place.start).ok_or_else(lost)?, &mut edits),
        None => owned.add(&inner, &mut edits),
    }
    edits.sort_by_key(|(range, _)| range.start);
    Ok(edits)
}

fn literal(text: &str) -> Piece {
    Piece::Text(Bytes::copy_from_slice(text.as_bytes()))
}

/// The members of `metadata` that the service writes.
struct Owned<'d> {
    job: String,
    schema: String,
    drawing: &'d Drawing<'d>,
}

impl Owned<'_> {
    fn value(&self, key: &str) -> Piece {
        match (key, self.drawing.numbering) {
            ("job_id", _) => literal(&self.job),
            ("schema_version", _) => literal(&self.schema),
            (_, Numbering::Store) => Piece::Version,
            (_, Numbering::Document) => literal(&json::quoted(self.drawing.change_version().as_deref().unwrap_or("1"))),
        }
    }

    /// Metadata are there: what they lack is added behind, an own version is overwritten wherever it stands.
    fn fill_in(&self, metadata: &json::Members<'_>, edits: &mut Vec<Edit>) {
        let missing = content::OWNED.into_iter().filter(|key| metadata.of(key).next().is_none());
        let mut added = Vec::new();
        for (at, key) in missing.enumerate() {
            let comma = if at == 0 && metadata.list.is_empty() { "" } else { "," };
            added.extend([literal(&format!("{comma}\"{key}\":")), self.value(key)]);
        }
        edits.extend(metadata.of("change_version").map(|place| (place, vec![self.value("change_version")])));
        if self.drawing.numbering == Numbering::Document {
            edits.extend(metadata.of("job_id").map(|place| (place, vec![self.value("job_id")])));
        }
        // After the last member, so that the layout before the brace stays.
        let behind = metadata.list.last().map_or(metadata.end, |(_, value)| value.end);
        edits.push((behind..behind, added));
    }

    /// There are no metadata: they become the last member of the drawing.
    fn add(&self, graph: &json::Members<'_>, edits: &mut Vec<Edit>) {
        let mut added = vec![literal(if graph.list.is_empty() { "" } else { "," }), literal("\"metadata\":{")];
        for (at, key) in content::OWNED.into_iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            added.extend([literal(&format!("{comma}\"{key}\":")), self.value(key)]);
        }
        added.push(literal("}"));
        let behind = graph.list.last().map_or(graph.end, |(_, value)| value.end);
        edits.push((behind..behind, added));
    }
}

fn pieces(body: &Bytes, edits: Vec<Edit>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for (range, inserted) in edits {
        pieces.push(Piece::Text(body.slice(at..range.start)));
        pieces.extend(inserted);
        at = range.end;
    }
    pieces.push(Piece::Text(body.slice(at..)));
    pieces
}
