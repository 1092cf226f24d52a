//! What functions of the graph give: records whose fields are known before a run. One row a function.
//!
//! Kinds are told where a field is always of them. Where a drawing decides, a field may be anything.

use std::borrow::Cow;

use super::Checker;
use super::types::{Kinds, Type};
use crate::eval::plan::{Call, Constant, Plan};
use crate::graph::pattern::Pattern;

/// What a function gives, or a part of it.
#[derive(Clone, Copy)]
enum Shape {
    /// A value of these kinds, whatever is in it.
    Of(Kinds),
    /// A node of the graph, null where there is none.
    Node,
    /// Nodes of the graph; lists of them.
    Nodes,
    Parts,
    /// Edges of the graph.
    Edges,
    Record(Fields),
    /// A record or null.
    Perhaps(Fields),
    /// Records of the same fields.
    Table(Fields),
    /// A record for a value, records for a list of them.
    Each(Fields),
    /// Rows of these columns and of those that the arguments name.
    Columns(&'static [&'static str]),
    /// Rows of what the pattern names.
    Bindings,
}

/// The fields of a record.
type Fields = &'static [(&'static str, Shape)];

const ANY: Shape = Shape::Of(Kinds::ANY);
const FLAG: Shape = Shape::Of(Kinds::BOOL);
const LIST: Shape = Shape::Of(Kinds::LIST);
const NUMBER: Shape = Shape::Of(Kinds::NUMBER);
const OBJECT: Shape = Shape::Of(Kinds::OBJECT);
const TEXT: Shape = Shape::Of(Kinds::TEXT);
const TEXT_OR_NULL: Shape = Shape::Of(Kinds::TEXT.or(Kinds::NULL));

const ROUTE: Fields = &[("nodes", Shape::Nodes), ("edges", Shape::Edges), ("length", NUMBER)];
const COSTED_ROUTE: Fields = &[("nodes", Shape::Nodes), ("edges", Shape::Edges), ("length", NUMBER), ("cost", NUMBER)];
const STEP: Fields =
    &[("node", Shape::Node), ("depth", NUMBER), ("via", ANY), ("from", ANY), ("stop", FLAG), ("assumed", FLAG)];
const ENDS: Fields = &[("source", Shape::Node), ("target", Shape::Node)];
const EXTRACT: Fields = &[("nodes", Shape::Nodes), ("edges", Shape::Edges), ("metadata", ANY)];
const BOUNDARY: Fields =
    &[("inside", Shape::Nodes), ("boundary", Shape::Nodes), ("unused", Shape::Nodes), ("leaks", Shape::Nodes)];
const BREAK: Fields =
    &[("item", Shape::Node), ("field", TEXT), ("values", LIST), ("edges", Shape::Edges), ("legal", FLAG)];
const BYPASS: Fields = &[
    ("item", Shape::Node),
    ("from", Shape::Node),
    ("to", Shape::Node),
    ("nodes", Shape::Nodes),
    ("edges", Shape::Edges),
    ("valves", Shape::Nodes),
];
const DEAD_END: Fields = &[("at", Shape::Node), ("end", Shape::Node), ("items", Shape::Nodes), ("class", TEXT)];
const DIFFERENCES: Fields = &[
    ("added", LIST),
    ("removed", LIST),
    ("changed", Shape::Table(&[("id", ANY), ("tag", TEXT_OR_NULL), ("field", TEXT), ("before", ANY), ("after", ANY)])),
    ("moved", Shape::Table(&[("id", ANY), ("tag", TEXT_OR_NULL), ("dx", NUMBER), ("dy", NUMBER)])),
    ("renamed", Shape::Table(&[("tag", TEXT_OR_NULL), ("before", ANY), ("after", ANY)])),
    ("retagged", Shape::Table(&[("id", ANY), ("before", TEXT_OR_NULL), ("after", TEXT_OR_NULL)])),
    ("rewired", Shape::Table(&[("id", ANY), ("tag", TEXT_OR_NULL), ("side", TEXT), ("before", LIST), ("after", LIST)])),
    ("edges_added", LIST),
    ("edges_removed", LIST),
    (
        "edges_changed",
        Shape::Table(&[
            ("id", ANY),
            ("from", TEXT_OR_NULL),
            ("to", TEXT_OR_NULL),
            ("field", TEXT),
            ("before", ANY),
            ("after", ANY),
        ]),
    ),
    ("equal", FLAG),
];
const EQUIPMENT_GRAPH: Fields = &[
    ("nodes", Shape::Nodes),
    ("edges", Shape::Table(&[("from", ANY), ("to", ANY), ("items", Shape::Nodes), ("lines", LIST)])),
];
const INFO: Fields = &[
    ("nodes", NUMBER),
    ("edges", NUMBER),
    ("drawing_name", ANY),
    ("schema_version", ANY),
    ("change_version", ANY),
    ("node_types", OBJECT),
    ("roles", OBJECT),
    ("classes_without_role", OBJECT),
    ("edge_kinds", OBJECT),
    ("kinds_without_meaning", OBJECT),
    ("endpoints", LIST),
    ("ports", NUMBER),
    ("dangling_edges", NUMBER),
    ("topology", OBJECT),
    ("topology_problems", LIST),
];
const ISOLATION: Fields = &[
    ("target", ANY),
    (
        "barriers",
        Shape::Table(&[
            ("node", Shape::Node),
            ("port", Shape::Node),
            ("ports", Shape::Nodes),
            ("path", Shape::Nodes),
            ("kind", TEXT),
            ("method", TEXT),
            ("closed", FLAG),
            ("fail_action", ANY),
        ]),
    ),
    (
        "unresolved",
        Shape::Table(&[
            ("port", Shape::Node),
            ("kind", TEXT),
            ("at", Shape::Node),
            ("path", Shape::Nodes),
            ("partner", ANY),
        ]),
    ),
    ("inside", Shape::Nodes),
    ("conditional", Shape::Nodes),
    ("relief", Shape::Nodes),
    ("bleeds", Shape::Nodes),
    ("dead_ends", Shape::Nodes),
    ("swallowed", Shape::Nodes),
    ("data_gaps", Shape::Table(&[("kind", TEXT), ("at", Shape::Node), ("edge", ANY)])),
    ("complete", FLAG),
];
const JOINED: Fields = &[("nodes", LIST), ("edges", LIST), ("metadata", OBJECT)];
const LINE: Fields = &[
    ("line", TEXT_OR_NULL),
    ("fluid_code", TEXT),
    ("piping_class", TEXT),
    ("nominal_diameter", TEXT),
    ("from", LIST),
    ("to", LIST),
    ("segments", NUMBER),
    ("components", NUMBER),
    ("insulation", TEXT),
];
const LOOP: Fields = &[
    ("loop", TEXT),
    ("node", Shape::Node),
    ("members", Shape::Nodes),
    ("sensors", Shape::Nodes),
    ("sensing_points", Shape::Nodes),
    ("functions", Shape::Nodes),
    ("signals", Shape::Edges),
    ("final_elements", Shape::Nodes),
    ("lines", LIST),
    ("fail_action", ANY),
    ("closed", FLAG),
];
const OPEN_END: Fields = &[("item", Shape::Node), ("kind", TEXT), ("edges", Shape::Edges)];
const RECYCLE: Fields = &[("equipment", Shape::Nodes), ("items", Shape::Nodes), ("returns", Shape::Edges)];
const SECTION: Fields = &[
    ("section", TEXT),
    ("from", Shape::Nodes),
    ("to", Shape::Nodes),
    ("lines", LIST),
    ("items", Shape::Nodes),
    ("equipment", Shape::Nodes),
    ("instruments", Shape::Nodes),
    ("safeguards", Shape::Nodes),
    ("design_limits", OBJECT),
];
const TAG: Fields = &[
    ("prefix", TEXT),
    ("letters", TEXT),
    ("first", TEXT),
    ("variable", TEXT_OR_NULL),
    ("modifier", TEXT_OR_NULL),
    ("functions", Shape::Table(&[("letter", TEXT), ("meaning", TEXT_OR_NULL)])),
    ("number", TEXT),
    ("suffix", TEXT),
    ("loop", TEXT),
    ("unknown", LIST),
];
const FINDING: Fields = &[
    ("code", TEXT),
    ("name", TEXT),
    ("severity", TEXT),
    ("message", TEXT),
    ("ids", LIST),
    ("evidence", LIST),
    ("certain", FLAG),
];

const SHAPES: &[(&[&str], Shape)] = &[
    (&["at", "bleeds", "cutPoints", "near", "unconnected", "within"], Shape::Nodes),
    (&["boundary"], Shape::Record(BOUNDARY)),
    (&["breaks"], Shape::Table(BREAK)),
    (&["bypasses"], Shape::Table(BYPASS)),
    (&["componentCount"], OBJECT),
    (&["components"], Shape::Parts),
    (&["cycles", "paths"], Shape::Table(ROUTE)),
    (&["deadEnds", "drains", "vents"], Shape::Table(DEAD_END)),
    (&["diff"], Shape::Record(DIFFERENCES)),
    (&["endpoints"], Shape::Each(ENDS)),
    (&["equipmentGraph"], Shape::Record(EQUIPMENT_GRAPH)),
    (&["equipmentList"], Shape::Columns(&["id", "tag", "class", "nozzles", "lines"])),
    (&["findPattern"], Shape::Bindings),
    (&["graphInfo"], Shape::Record(INFO)),
    (&["group", "section", "subgraph"], Shape::Record(EXTRACT)),
    (&["hazopNodes"], Shape::Table(SECTION)),
    (&["instrumentIndex"], Shape::Columns(&["id", "tag", "class", "variable", "loop", "attached_to", "line"])),
    (&["isolate"], Shape::Record(ISOLATION)),
    (&["joinSheets"], Shape::Record(JOINED)),
    (&["lineList"], Shape::Table(LINE)),
    (&["loop"], Shape::Perhaps(LOOP)),
    (&["loops"], Shape::Table(LOOP)),
    (
        &["nozzleList"],
        Shape::Columns(&["id", "tag", "qualified_tag", "equipment", "chamber", "size", "line", "connected_to"]),
    ),
    (
        &["offPageList"],
        Shape::Columns(&["id", "tag", "direction", "drawing", "label", "partner", "line", "connected_to"]),
    ),
    (&["openEnds"], Shape::Table(OPEN_END)),
    (&["parseTag"], Shape::Perhaps(TAG)),
    (&["recycles"], Shape::Table(RECYCLE)),
    (
        &["segmentList"],
        Shape::Columns(&[
            "id",
            "tag",
            "line",
            "nominal_diameter",
            "piping_class",
            "fluid_code",
            "from",
            "to",
            "components",
        ]),
    ),
    (&["shortestPath"], Shape::Perhaps(COSTED_ROUTE)),
    (&["trace"], Shape::Table(STEP)),
    (&["validate"], Shape::Table(FINDING)),
    (&["valveList"], Shape::Columns(&["id", "tag", "class", "role", "size", "line", "normal_position", "fail_action"])),
];

impl<'p> Checker<'p> {
    /// What a call gives whose result is known by its name.
    pub(super) fn shaped(&mut self, call: &'p Call, input: Type) -> Type {
        let name = call.function.standard_name();
        let row = SHAPES.iter().find(|(names, _)| name.is_some_and(|name| names.contains(&name)));
        match row.map(|(_, shape)| *shape) {
            None => Type::ANY,
            Some(Shape::Bindings) => {
                let row = self.bindings(call);
                self.types.list_of(row)
            }
            Some(Shape::Columns(columns)) => self.rows(columns, &call.args),
            Some(Shape::Each(fields)) if input.kinds.is_only(Kinds::LIST) => self.shape(Shape::Table(fields)),
            Some(Shape::Each(_)) if input.kinds.meets(Kinds::LIST) => Type::ANY,
            Some(shape) => self.shape(shape),
        }
    }

    /// Made anew for each call, since the nodes of the graph are others in `withGraph`. As deep as the table.
    fn shape(&mut self, shape: Shape) -> Type {
        match shape {
            Shape::Of(kinds) => Type::of(kinds),
            Shape::Node => self.types.items(self.lists[0]).with(Kinds::NULL),
            Shape::Nodes => self.lists[0].only(Kinds::LIST),
            Shape::Parts => self.types.list_of(self.lists[0].only(Kinds::LIST)),
            Shape::Edges => self.lists[1].only(Kinds::LIST),
            Shape::Record(fields) | Shape::Each(fields) => self.record(fields),
            Shape::Perhaps(fields) => self.record(fields).with(Kinds::NULL),
            Shape::Table(fields) => {
                let row = self.record(fields);
                self.types.list_of(row)
            }
            Shape::Columns(_) | Shape::Bindings => Type::ANY,
        }
    }

    fn record(&mut self, fields: Fields) -> Type {
        let mut known = Vec::with_capacity(fields.len());
        for (name, shape) in fields {
            known.push((Cow::Borrowed(*name), self.shape(*shape)));
        }
        self.types.record(known)
    }

    /// Rows of some columns, and of those that the arguments name; of anything where only a run knows their names.
    fn rows(&mut self, columns: &[&'static str], asked: &'p [Plan]) -> Type {
        let mut fields: Vec<(Cow<'p, str>, Type)> =
            columns.iter().map(|name| (Cow::Borrowed(*name), Type::ANY)).collect();
        for plan in asked {
            let Plan::Constant(Constant::Text(name)) = plan else { return Type::of(Kinds::LIST) };
            fields.push((Cow::Borrowed(&**name), Type::ANY));
        }
        let row = self.types.record(fields);
        self.types.list_of(row)
    }

    /// What the names of a pattern stand for, where it is written out.
    pub(super) fn bindings(&mut self, call: &'p Call) -> Type {
        let Some(Plan::Constant(Constant::Text(text))) = call.args.first() else { return Type::of(Kinds::OBJECT) };
        let Ok(Pattern { nodes, edges }) = Pattern::parse(text) else { return Type::of(Kinds::OBJECT) };
        let node = self.shape(Shape::Node);
        let edge = self.types.items(self.lists[1]).with(Kinds::NULL);
        let list = self.shape(Shape::Edges);
        let of_nodes = nodes.into_iter().filter_map(|part| Some((Cow::Owned(part.name?), node)));
        let of_edges = edges.into_iter().filter_map(|part| {
            let stands_for = if part.is_list { list } else { edge };
            Some((Cow::Owned(part.name?), stands_for))
        });
        let fields = of_nodes.chain(of_edges).collect();
        self.types.record(fields)
    }
}
