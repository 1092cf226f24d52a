//! Import results: a `pid_graph` as JSON text, and diagnostics for everything that was not imported unchanged.

use std::collections::{BTreeMap, HashSet};

use pidq_core::TopologyConfig;
use pidq_core::vocabulary::{CLASSES, ENDPOINTS, NODE_IDS, SHARED_ID};

use crate::json::{Fields, Json};

/// Imported drawing.
#[derive(Clone, Debug)]
pub struct Import {
    /// The document: `{"pid_graph": {"nodes": […], "edges": […], "metadata": {…}}}`.
    pub json: String,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of edges.
    pub edges: usize,
    /// Data that was lost, changed or found invalid. Also in the document, as `metadata.diagnostics`.
    pub diagnostics: Vec<Diagnostic>,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Left out on purpose.
    Info,
    /// Imported with changes, or contradictory in the source.
    Warning,
}

impl Severity {
    /// Returns the name used in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
        }
    }
}

/// Declares the findings in one place: name, code, severity, one line.
macro_rules! findings {
    ($($name:ident $code:literal $severity:ident $summary:literal;)*) => {
        /// Kind of finding. The text of a code never changes.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Finding {
            $(#[doc = $summary] $name,)*
        }

        impl Finding {
            /// Every finding, in the order of the manual.
            pub const ALL: &'static [Finding] = &[$(Finding::$name,)*];

            /// The stable text, such as `"I001"`.
            pub fn code(self) -> &'static str {
                match self { $(Finding::$name => $code,)* }
            }

            /// Returns the severity.
            pub fn severity(self) -> Severity {
                match self { $(Finding::$name => Severity::$severity,)* }
            }

            /// Returns whether something was imported with a change, or is invalid: every warning but those about the drawing as
            /// a whole.
            pub fn is_change(self) -> bool {
                self.severity() == Severity::Warning && !matches!(self, Finding::NoKnownClass | Finding::NoTag)
            }

            /// One line for the manual.
            pub fn summary(self) -> &'static str {
                match self { $(Finding::$name => $summary,)* }
            }
        }
    };
}

findings! {
    DuplicateId          "I001" Warning "Duplicate id; the second item was given a new id.";
    MissingId            "I002" Warning "An item has no id; an id was generated.";
    DanglingReference    "I003" Warning "A reference has no target in this file; it is kept.";
    OpenEnd              "I004" Warning "A pipe run has an unconnected end; an open end was added.";
    OpenSignal           "I005" Warning "A signal line has an unconnected end; a signal end was added.";
    EmptySegment         "I006" Warning "A segment has no items and no connections.";
    NoConnection         "I007" Warning "A segment does not declare its ends; its items were connected in order.";
    ExtraConnection      "I008" Warning "A segment has several connections; its items were assigned to the first one.";
    SignalEndsMismatch       "I009" Warning "A signal line is drawn between items other than those it connects; its connections were used.";
    UnresolvedMembership "I010" Warning "A membership or relation refers to no item.";
    UnknownElement       "I011" Warning "Unknown element.";
    UnknownVersion       "I012" Warning "The version is not one that is known.";
    AttributeWithoutName "I013" Warning "An attribute has no name.";
    GraphicsOmitted      "I014" Info "Graphics without a point, a size or a position were left out.";
    AnnotationOmitted    "I015" Info "Annotations without any graphics were left out.";
    AttributesOmitted    "I016" Info "Attributes of drawn elements without graphics, and of the points of shapes, are not part of the graph.";
    DoctypeIgnored       "I017" Info "The document type was ignored.";
    OneSidedRelation     "I018" Info "A relation is declared by only one of its two sides.";
    KeyRenamed           "I019" Warning "A column was renamed: its name was a duplicate, or another spelling of a known one.";
    CellWithoutColumn    "I020" Warning "A row has more cells than the table has columns.";
    NestedGraph          "I021" Warning "Hyperedges, ports and the graphs in them are not read.";
    NoKnownClass         "I022" Warning "No item has a known class; reports that go by class are empty or uncertain.";
    NoTag                "I023" Warning "No column is a tag; items are found by their id only.";
    UnreadColumns        "I024" Info "Columns whose names no function knows; their values are kept, and read by queries only.";
    TagsAsIds            "I025" Info "The table of nodes has no column of ids; the tags are the ids.";
    RowsBeforeHeadings   "I026" Info "Rows before the headings of a table were skipped.";
    HeadOnRuns           "I030" Warning "Two runs name each other at the same end; they were joined there, in unknown direction.";
    InvalidCoordinates   "I031" Warning "Coordinates are not finite numbers, or an extent is inverted; they were left out.";
    MissingShape         "I040" Info "The shape is not in the file; a symbol of pidq is drawn in its place.";
    Fragment             "I041" Warning "The file is a fragment of a plant model.";
    NotInFlowsheet       "I045" Info "The flowsheet text does not hold this part of the drawing.";
    OrderDependent       "I046" Warning "The flowsheet has many equal parts; its text may depend on the order of the nodes.";
    NotInDexpi           "I047" Info "The DEXPI file does not hold this part of the drawing, or holds it in another way.";
    MetadataOmitted      "I048" Info "The tables do not hold the metadata of the drawing.";
    ObjectOmitted        "I050" Warning "An object or a property is not part of the graph.";
}

/// Finding about data that was not imported unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The kind of finding.
    pub finding: Finding,
    /// The message.
    pub message: String,
    /// The ids of the affected items.
    pub ids: Vec<String>,
    /// The number of occurrences, for findings that are only counted.
    pub count: usize,
}

/// Returns the metadata of an imported drawing: its first version. A drawing whose file names none has no name, so that
/// lists show its id; `default_id` is its id until it is stored under another.
pub(crate) fn new_metadata(name: Option<&str>, default_id: &str) -> Fields {
    let id = name.unwrap_or(default_id);
    let mut metadata = Fields::default();
    metadata.add_optional_text("drawing_name", name);
    for (key, text) in [("job_id", id), ("schema_version", "1.0.0"), ("change_version", "1")] {
        metadata.add(key, Json::text(text));
    }
    metadata
}

/// Builder of an imported drawing.
#[derive(Default)]
pub(crate) struct ImportBuilder {
    pub nodes: Vec<Fields>,
    pub edges: Vec<Fields>,
    pub metadata: Fields,
    pub diagnostics: Vec<Diagnostic>,
    /// Remedy for a drawing without known classes.
    pub class_advice: Option<String>,
}

impl ImportBuilder {
    /// Reports a finding about items.
    pub fn report(&mut self, finding: Finding, message: impl Into<String>, ids: &[&str]) {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        self.diagnostics.push(Diagnostic { finding, message: message.into(), ids, count: 1 });
    }

    /// Marks the node at an index as one of several items with an id of the file: what the file states about this id may be
    /// about each of them.
    pub fn mark_shared_id(&mut self, node: usize, id: &str) {
        if let Some(fields) = self.nodes.get_mut(node) {
            fields.add_if_absent(SHARED_ID, Json::text(id));
        }
    }

    /// Reports a finding that is only counted, by name.
    pub fn report_counts(&mut self, finding: Finding, counts: &BTreeMap<String, usize>) {
        for (name, count) in counts {
            let message = format!("{name}: {}", finding.summary());
            self.diagnostics.push(Diagnostic { finding, message, ids: Vec::new(), count: *count });
        }
    }

    /// Reports the edges with an end that is not a node, for formats with the usual field names.
    pub fn report_dangling_edges(&mut self) {
        let id = |node: &Fields| NODE_IDS.iter().find_map(|key| node.get(key).map(Json::to_text));
        let ids: HashSet<String> = self.nodes.iter().filter_map(id).collect();
        let mut dangling = Vec::new();
        for edge in &self.edges {
            let pair = ENDPOINTS.iter().find(|pair| pair.iter().all(|key| edge.get(key).is_some()));
            let ends = pair.into_iter().flatten().filter_map(|key| edge.get(key).map(|end| (key, end.to_text())));
            // An end may be an object with the id.
            dangling.extend(ends.filter(|(_, end)| !end.starts_with('{') && !ids.contains(end)));
        }
        for (key, end) in dangling {
            self.report_dangling_end(key, &end);
        }
    }

    /// Reports an end of an edge that is not a node. The id is JSON text.
    pub fn report_dangling_end(&mut self, end: &str, id: &str) {
        let message = format!("the {end} {id} of an edge is not a node");
        self.report(Finding::DanglingReference, message, &[id.trim_matches('"')]);
    }

    /// Reports that the text of a flowsheet may depend on the order of the nodes.
    pub fn report_order_dependence(&mut self) {
        self.report(Finding::OrderDependent, Finding::OrderDependent.summary(), &[]);
    }

    /// Returns true if there are nodes, and none has a known class. A drawing with names of its own may define its classes.
    pub fn lacks_known_classes(&self) -> bool {
        let config = TopologyConfig::default();
        let is_known = |class: &str| config.knows_class(class);
        let has_known = |node: &Fields| {
            CLASSES.iter().filter_map(|key| node.get(key)).any(|class| match class {
                Json::String(class) => is_known(class),
                Json::Raw(class) => is_known(class.trim_matches('"')),
                _ => false,
            })
        };
        !self.nodes.is_empty() && self.metadata.get("topology").is_none() && !self.nodes.iter().any(has_known)
    }

    /// Builds the document.
    pub fn finish(mut self) -> Import {
        // The source may contain the findings of an earlier import.
        let has_diagnostics = self.metadata.get("diagnostics").is_some();
        if !has_diagnostics && self.lacks_known_classes() {
            let summary = Finding::NoKnownClass.summary();
            let message = self
                .class_advice
                .take()
                .map_or_else(|| summary.to_owned(), |advice| format!("{}; {advice}", summary.trim_end_matches('.')));
            self.report(Finding::NoKnownClass, message, &[]);
        }
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.finding);
        let diagnostics: Vec<Json> = self.diagnostics.iter().map(Diagnostic::json).collect();
        if !has_diagnostics || !diagnostics.is_empty() {
            let key = if has_diagnostics { "diagnostics_of_this_import" } else { "diagnostics" };
            self.metadata.add(key, Json::Array(diagnostics));
        }
        let mut json = String::from("{\"pid_graph\":{\"nodes\":[");
        write_rows(&self.nodes, &mut json);
        json.push_str("],\"edges\":[");
        write_rows(&self.edges, &mut json);
        json.push_str("],\"metadata\":");
        self.metadata.write(&mut json);
        json.push_str("}}\n");
        Import { json, nodes: self.nodes.len(), edges: self.edges.len(), diagnostics: self.diagnostics }
    }
}

/// Writes one row per line, so that revisions of a drawing are easy to compare.
fn write_rows(rows: &[Fields], out: &mut String) {
    for (index, row) in rows.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        row.write(out);
    }
}

impl Diagnostic {
    fn json(&self) -> Json {
        let mut fields = Fields::default();
        fields.add("code", Json::text(self.finding.code()));
        fields.add("severity", Json::text(self.finding.severity().as_str()));
        fields.add("message", Json::text(&self.message));
        if self.count > 1 {
            fields.add("count", Json::count(self.count));
        }
        fields.add("ids", Json::Array(self.ids.iter().map(Json::text).collect()));
        Json::Object(fields)
    }
}
