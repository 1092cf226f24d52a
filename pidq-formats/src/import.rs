//! What an import gives: a `pid_graph` as JSON text, and the list of all that did not come through as it was.

use std::collections::BTreeMap;

use crate::json::{Fields, Json};

/// A drawing that was read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The document: `{"pid_graph": {"nodes": […], "edges": […], "metadata": {…}}}`.
    pub json: String,
    /// How many nodes it has.
    pub nodes: usize,
    /// How many edges it has.
    pub edges: usize,
    /// What was lost, changed or found wrong. Also in the document, as `metadata.diagnostics`.
    pub diagnostics: Vec<Diagnostic>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Left out on purpose.
    Info,
    /// Kept, but not as the source has it, or the source contradicts itself.
    Warning,
}

impl Severity {
    /// The word in the document.
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
        /// What an import can find. The text of a code never changes.
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

            /// How much it matters.
            pub fn severity(self) -> Severity {
                match self { $(Finding::$name => Severity::$severity,)* }
            }

            /// One line for the manual.
            pub fn summary(self) -> &'static str {
                match self { $(Finding::$name => $summary,)* }
            }
        }
    };
}

findings! {
    DuplicateId          "I001" Warning "An id came twice; the second item got a new one.";
    MissingId            "I002" Warning "An item has no id; it got one.";
    DanglingReference    "I003" Warning "A reference names nothing in this file; it is kept as it is.";
    OpenEnd              "I004" Warning "A pipe run has an end that joins nothing; an open end was put there.";
    OpenSignal           "I005" Warning "A signal line has an end that joins nothing; a loose end was put there.";
    EmptySegment         "I006" Warning "A segment has nothing in it and joins nothing.";
    NoConnection         "I007" Warning "A segment does not say what it joins; its items were joined in their order.";
    ExtraConnection      "I008" Warning "A segment has several connections; the first has the items.";
    DrawnOtherwise       "I009" Warning "A signal line is drawn between other items than it joins; what it joins counts.";
    UnresolvedMembership "I010" Warning "A membership or relation names no item.";
    UnknownElement       "I011" Warning "An element that the import does not know.";
    UnknownVersion       "I012" Warning "The version is not one of 3.3, 4.0 and 4.1.";
    AttributeWithoutName "I013" Warning "An attribute has no name.";
    GraphicsLeftOut      "I014" Info "Lines, texts and symbols of the drawing are not part of the graph.";
    AnnotationLeftOut    "I015" Info "Annotations are no nodes; a text beside an item became its label.";
    AttributesLeftOut    "I016" Info "Attributes of annotations and of centre lines are not part of the graph.";
    DoctypeIgnored       "I017" Info "The document type was not read.";
    OneSidedRelation     "I018" Info "A relation is told by one of its two sides alone.";
    KeyRenamed           "I019" Warning "A key was taken; the value got another one.";
    CellWithoutColumn    "I020" Warning "A row has more cells than the table has columns.";
    NestedGraph          "I021" Warning "Graphs inside of nodes, hyperedges and ports are not read.";
}

/// One thing that did not come through as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// What it is.
    pub finding: Finding,
    /// The case at hand.
    pub message: String,
    /// The ids of what it is about.
    pub ids: Vec<String>,
    /// How often, where only that is known.
    pub count: usize,
}

/// A drawing that is being read.
#[derive(Default)]
pub(crate) struct Draft {
    pub nodes: Vec<Fields>,
    pub edges: Vec<Fields>,
    pub metadata: Fields,
    pub diagnostics: Vec<Diagnostic>,
}

impl Draft {
    /// Notes a finding about items.
    pub fn find(&mut self, finding: Finding, message: impl Into<String>, ids: &[&str]) {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        self.diagnostics.push(Diagnostic { finding, message: message.into(), ids, count: 1 });
    }

    /// Notes a finding that is only counted, by name.
    pub fn find_counts(&mut self, finding: Finding, counts: &BTreeMap<String, usize>) {
        for (name, count) in counts {
            let message = format!("{name}: {}", finding.summary());
            self.diagnostics.push(Diagnostic { finding, message, ids: Vec::new(), count: *count });
        }
    }

    /// The document.
    pub fn finish(mut self) -> Imported {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.finding);
        let diagnostics: Vec<Json> = self.diagnostics.iter().map(Diagnostic::json).collect();
        // What was read may bring the findings of an import before this one.
        let earlier = self.metadata.get("diagnostics").is_some();
        if !earlier || !diagnostics.is_empty() {
            let key = if earlier { "diagnostics_of_this_import" } else { "diagnostics" };
            self.metadata.add(key, Json::List(diagnostics));
        }
        let mut json = String::from("{\"pid_graph\":{\"nodes\":[");
        write_rows(&self.nodes, &mut json);
        json.push_str("],\"edges\":[");
        write_rows(&self.edges, &mut json);
        json.push_str("],\"metadata\":");
        self.metadata.write(&mut json);
        json.push_str("}}\n");
        Imported { json, nodes: self.nodes.len(), edges: self.edges.len(), diagnostics: self.diagnostics }
    }
}

/// One row a line: a drawing is then easy to compare with its next revision.
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
        fields.add("ids", Json::List(self.ids.iter().map(Json::text).collect()));
        Json::Record(fields)
    }
}
