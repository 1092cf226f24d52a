//! Result types of graph functions: records whose fields are known before a run. One row per function.
//!
//! A field has a kind if it always has that kind. If it depends on the drawing, it may be anything.

use std::borrow::Cow;

use super::Checker;
use super::kinds::Kinds;
use super::types::Type;
use crate::eval::plan::{Call, Constant, Plan};
use crate::graph::pattern::Pattern;

/// Type of a result or of a part of it.
#[derive(Clone, Copy)]
enum ResultType {
    /// A value of these kinds.
    Kinds(Kinds),
    /// A node of the graph, or null.
    Node,
    /// Nodes of the graph; arrays of them.
    Nodes,
    NodeLists,
    /// Edges of the graph.
    Edges,
    Record(Fields),
    /// A record or null.
    Nullable(Fields),
    /// Records with the same fields.
    Table(Fields),
    /// A record for a value, records for an array of values.
    Each(Fields),
    /// Rows of these columns and of those that the arguments name.
    Columns(&'static [&'static str]),
    /// Rows with the names of the pattern.
    Bindings,
}

/// The fields of a record.
type Fields = &'static [(&'static str, ResultType)];

const ANY: ResultType = ResultType::Kinds(Kinds::ANY);
const BOOL: ResultType = ResultType::Kinds(Kinds::BOOL);
const ARRAY: ResultType = ResultType::Kinds(Kinds::ARRAY);
const NUMBER: ResultType = ResultType::Kinds(Kinds::NUMBER);
const OBJECT: ResultType = ResultType::Kinds(Kinds::OBJECT);
const STRING: ResultType = ResultType::Kinds(Kinds::STRING);
const BOOL_OR_NULL: ResultType = ResultType::Kinds(Kinds::BOOL.or(Kinds::NULL));
const NUMBER_OR_NULL: ResultType = ResultType::Kinds(Kinds::NUMBER.or(Kinds::NULL));
const STRING_OR_NULL: ResultType = ResultType::Kinds(Kinds::STRING.or(Kinds::NULL));

const ROUTE: Fields = &[("nodes", ResultType::Nodes), ("edges", ResultType::Edges), ("length", NUMBER)];
const COSTED_ROUTE: Fields =
    &[("nodes", ResultType::Nodes), ("edges", ResultType::Edges), ("length", NUMBER), ("cost", NUMBER)];
const STEP: Fields =
    &[("node", ResultType::Node), ("depth", NUMBER), ("via", ANY), ("from", ANY), ("stop", BOOL), ("assumed", BOOL)];
const ENDS: Fields = &[("source", ResultType::Node), ("target", ResultType::Node)];
const EXTRACT: Fields = &[("nodes", ResultType::Nodes), ("edges", ResultType::Edges), ("metadata", ANY)];
const BOUNDARY: Fields = &[
    ("inside", ResultType::Nodes),
    ("boundary", ResultType::Nodes),
    ("unused", ResultType::Nodes),
    ("leaks", ResultType::Nodes),
];
const BREAK: Fields =
    &[("item", ResultType::Node), ("field", STRING), ("values", ARRAY), ("edges", ResultType::Edges), ("legal", BOOL)];
const BYPASS: Fields = &[
    ("item", ResultType::Node),
    ("from", ResultType::Node),
    ("to", ResultType::Node),
    ("nodes", ResultType::Nodes),
    ("edges", ResultType::Edges),
    ("valves", ResultType::Nodes),
];
const DEAD_END: Fields =
    &[("at", ResultType::Node), ("end", ResultType::Node), ("items", ResultType::Nodes), ("class", STRING)];
const DIFFERENCES: Fields = &[
    ("added", ARRAY),
    ("removed", ARRAY),
    (
        "changed",
        ResultType::Table(&[("id", ANY), ("tag", STRING_OR_NULL), ("field", STRING), ("before", ANY), ("after", ANY)]),
    ),
    ("moved", ResultType::Table(&[("id", ANY), ("tag", STRING_OR_NULL), ("dx", NUMBER), ("dy", NUMBER)])),
    ("renamed", ResultType::Table(&[("tag", STRING_OR_NULL), ("before", ANY), ("after", ANY)])),
    ("retagged", ResultType::Table(&[("id", ANY), ("before", STRING_OR_NULL), ("after", STRING_OR_NULL)])),
    (
        "rewired",
        ResultType::Table(&[
            ("id", ANY),
            ("tag", STRING_OR_NULL),
            ("side", STRING),
            ("before", ARRAY),
            ("after", ARRAY),
        ]),
    ),
    ("edges_added", ARRAY),
    ("edges_removed", ARRAY),
    (
        "edges_changed",
        ResultType::Table(&[
            ("id", ANY),
            ("from", STRING_OR_NULL),
            ("to", STRING_OR_NULL),
            ("field", STRING),
            ("before", ANY),
            ("after", ANY),
        ]),
    ),
    ("equal", BOOL),
];
const EQUIPMENT_GRAPH: Fields = &[
    ("nodes", ResultType::Nodes),
    ("edges", ResultType::Table(&[("from", ANY), ("to", ANY), ("items", ResultType::Nodes), ("lines", ARRAY)])),
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
    ("endpoints", ARRAY),
    ("ports", NUMBER),
    ("dangling_edges", NUMBER),
    ("topology", OBJECT),
    ("topology_problems", ARRAY),
];
const INVENTORY_SECTION: Fields = &[
    ("section", STRING),
    ("equipment", ResultType::Nodes),
    ("lines", ARRAY),
    ("items", ResultType::Nodes),
    ("esd_valves", ResultType::Nodes),
    ("blowdown_valves", ResultType::Nodes),
    ("relief", ResultType::Nodes),
    ("continues", ResultType::Nodes),
    ("certain", BOOL),
    ("uncertain", ResultType::Table(UNCERTAINTY)),
];
const UNCERTAINTY: Fields = &[("reason", STRING), ("at", ResultType::Node), ("edge", ANY)];
const DATA_GAP: Fields = &[("kind", STRING), ("at", ResultType::Node), ("edge", ANY)];
const OPEN_BRANCH: Fields = &[
    ("port", ResultType::Node),
    ("kind", STRING),
    ("at", ResultType::Node),
    ("path", ResultType::Nodes),
    ("partner", ANY),
];
const ISOLATION: Fields = &[
    ("target", ANY),
    (
        "barriers",
        ResultType::Table(&[
            ("node", ResultType::Node),
            ("port", ResultType::Node),
            ("ports", ResultType::Nodes),
            ("path", ResultType::Nodes),
            ("kind", STRING),
            ("method", STRING),
            ("closed", BOOL),
            ("position", ANY),
            ("lock", ANY),
            ("fail_action", ANY),
            ("action", STRING),
            ("cuts_off", ResultType::Nodes),
            ("certain", BOOL),
        ]),
    ),
    ("unresolved", ResultType::Table(OPEN_BRANCH)),
    ("inside", ResultType::Nodes),
    (
        "conditional",
        ResultType::Table(&[
            ("node", ResultType::Node),
            ("action", STRING),
            ("path", ResultType::Nodes),
            ("closed", BOOL),
            ("position", ANY),
            ("lock", ANY),
            ("fail_action", ANY),
        ]),
    ),
    (
        "relief",
        ResultType::Table(&[
            ("node", ResultType::Node),
            ("path", ResultType::Nodes),
            ("valves", ResultType::Nodes),
            ("closed", ResultType::Nodes),
            ("cut_off_by", ResultType::Nodes),
            ("relief_path", STRING),
        ]),
    ),
    ("kept_open", ResultType::Nodes),
    ("internal", ResultType::Nodes),
    ("bleeds", ResultType::Nodes),
    ("dead_ends", ResultType::Nodes),
    ("swallowed", ResultType::Nodes),
    ("data_gaps", ResultType::Table(DATA_GAP)),
    ("isolated", STRING),
    ("complete", BOOL),
    ("certain", BOOL),
    ("uncertain", ResultType::Table(UNCERTAINTY)),
];
const ISOLATION_PLAN: Fields = &[
    ("target", ANY),
    (
        "steps",
        ResultType::Table(&[
            ("step", NUMBER),
            ("action", STRING),
            ("node", ResultType::Node),
            ("at", ResultType::Node),
            ("cuts_off", ResultType::Nodes),
        ]),
    ),
    (
        "barriers",
        ResultType::Table(&[
            ("node", ResultType::Node),
            ("kind", STRING),
            ("method", STRING),
            ("second", ResultType::Node),
            ("bleed", ResultType::Node),
            ("bleed_position", STRING_OR_NULL),
            ("cuts_off", ResultType::Nodes),
            ("certain", BOOL),
        ]),
    ),
    ("bleeds", ResultType::Nodes),
    ("unresolved", ResultType::Table(OPEN_BRANCH)),
    ("data_gaps", ResultType::Table(DATA_GAP)),
    ("isolated", STRING),
    ("complete", BOOL),
    ("certain", BOOL),
    ("uncertain", ResultType::Table(UNCERTAINTY)),
];
const JOINED: Fields = &[("nodes", ARRAY), ("edges", ARRAY), ("metadata", OBJECT)];
const LINE: Fields = &[
    ("line", STRING_OR_NULL),
    ("fluid_code", STRING),
    ("piping_class", STRING),
    ("nominal_diameter", STRING),
    ("from", ARRAY),
    ("to", ARRAY),
    ("segments", NUMBER),
    ("components", NUMBER),
    ("insulation", STRING),
];
const LOOP: Fields = &[
    ("loop", STRING),
    ("node", ResultType::Node),
    ("kind", STRING_OR_NULL),
    ("certain", BOOL),
    ("members", ResultType::Nodes),
    ("sensors", ResultType::Nodes),
    ("sensing_points", ResultType::Nodes),
    ("functions", ResultType::Nodes),
    ("signals", ResultType::Edges),
    ("final_elements", ResultType::Nodes),
    ("shared", ResultType::Table(&[("item", ResultType::Node), ("loop", STRING)])),
    ("lines", ARRAY),
    ("fail_action", ANY),
    ("closed", BOOL_OR_NULL),
    ("gap", STRING_OR_NULL),
];
const OPEN_END: Fields = &[("item", ResultType::Node), ("kind", STRING), ("edges", ResultType::Edges)];
const RECYCLE: Fields =
    &[("equipment", ResultType::Nodes), ("items", ResultType::Nodes), ("returns", ResultType::Edges)];
const SAFEGUARD: Fields = &[
    ("item", ResultType::Node),
    ("kind", STRING),
    ("loop", STRING_OR_NULL),
    ("senses", STRING_OR_NULL),
    ("acts", STRING),
    ("sensing_points", ResultType::Nodes),
    ("final_elements", ResultType::Nodes),
    ("certain", BOOL),
];
const SECTION: Fields = &[
    ("section", STRING),
    ("from", ResultType::Nodes),
    ("to", ResultType::Nodes),
    ("lines", ARRAY),
    ("items", ResultType::Nodes),
    ("equipment", ResultType::Nodes),
    ("instruments", ResultType::Nodes),
    ("safeguards", ResultType::Table(SAFEGUARD)),
    ("design_limits", OBJECT),
];
const CAUSES_AND_EFFECTS: Fields = &[
    ("links", ResultType::Table(LINKS)),
    ("matrix", ARRAY),
    ("alarms", ResultType::Table(LINKS)),
    ("without_effect", ResultType::Nodes),
    ("without_cause", ResultType::Nodes),
    ("not_followed", ResultType::Table(&[("item", ResultType::Node), ("edge", ANY), ("reason", STRING)])),
];
const LINKS: Fields = &[
    ("initiator", ResultType::Node),
    ("final_element", ResultType::Node),
    ("kind", STRING),
    ("effect", STRING_OR_NULL),
    ("fail_action", ANY),
    ("voting", STRING_OR_NULL),
    ("trip_item", ResultType::Node),
    ("basis", STRING_OR_NULL),
    ("path", ResultType::Nodes),
    ("signals", ResultType::Edges),
];
const CIRCUIT: Fields = &[
    ("circuit", STRING),
    ("fluid", STRING_OR_NULL),
    ("piping_class", STRING_OR_NULL),
    ("material", STRING_OR_NULL),
    ("insulation", STRING_OR_NULL),
    ("temperature", ResultType::Nullable(RANGE)),
    ("pressure", ResultType::Nullable(RANGE)),
    ("lines", ARRAY),
    ("items", ResultType::Nodes),
    ("pipes", ResultType::Edges),
    (
        "breaks",
        ResultType::Table(&[("at", ResultType::Node), ("kind", STRING), ("changes", ARRAY), ("circuits", ARRAY)]),
    ),
    ("unknown", ARRAY),
    ("certain", BOOL),
];
const RANGE: Fields = &[("low", NUMBER), ("high", NUMBER), ("unit", STRING_OR_NULL), ("basis", STRING)];
const NUMBERING: Fields = &[
    (
        "series",
        ResultType::Table(&[
            ("kind", STRING),
            ("prefix", STRING),
            ("letters", STRING),
            ("count", NUMBER),
            ("first", STRING_OR_NULL),
            ("last", STRING_OR_NULL),
            ("missing", NUMBER),
            ("gaps", ResultType::Table(&[("first", STRING), ("last", STRING), ("count", NUMBER)])),
        ]),
    ),
    (
        "duplicates",
        ResultType::Table(&[("tag", STRING), ("kind", STRING), ("items", ResultType::Nodes), ("exact", BOOL)]),
    ),
    ("not_numbered", ResultType::Nodes),
];
const PRESSURE_SIDE: Fields = &[
    ("item", ResultType::Node),
    ("lines", ARRAY),
    ("design_pressure", ANY),
    ("unit", STRING_OR_NULL),
    ("pressure", NUMBER_OR_NULL),
    ("reference", STRING_OR_NULL),
];
const PRESSURE_INTERFACES: Fields = &[
    (
        "interfaces",
        ResultType::Table(&[
            ("at", ResultType::Node),
            ("kind", STRING),
            ("from", ResultType::Record(PRESSURE_SIDE)),
            ("to", ResultType::Record(PRESSURE_SIDE)),
            ("high", STRING_OR_NULL),
            ("difference", NUMBER_OR_NULL),
            (
                "protection",
                ResultType::Table(&[
                    ("item", ResultType::Node),
                    ("kind", STRING),
                    ("sides", ARRAY),
                    ("set_pressure", ANY),
                    ("unit", STRING_OR_NULL),
                    ("set_within_design", BOOL_OR_NULL),
                    ("valves", ResultType::Nodes),
                    ("relief_path", STRING_OR_NULL),
                ]),
            ),
            ("certain", BOOL),
            ("reasons", ARRAY),
        ]),
    ),
    (
        "unknown",
        ResultType::Table(&[
            ("item", ResultType::Node),
            ("lines", ARRAY),
            ("pipes", NUMBER),
            ("reason", STRING_OR_NULL),
        ]),
    ),
];
const RANKED_DIFFERENCE: Fields = &[
    ("significance", STRING),
    ("reason", STRING),
    ("change", STRING),
    ("id", ANY),
    ("tag", STRING_OR_NULL),
    ("class", STRING_OR_NULL),
    ("ends", ANY),
    ("field", STRING_OR_NULL),
    ("before", ANY),
    ("after", ANY),
];
const RANKING_RULE: Fields = &[
    ("subjects", ARRAY),
    ("changes", ARRAY),
    ("fields", ARRAY),
    ("classes", ARRAY),
    ("significance", STRING),
    ("reason", STRING),
];
const TAG: Fields = &[
    ("prefix", STRING),
    ("letters", STRING),
    ("first", STRING),
    ("variable", STRING_OR_NULL),
    ("modifier", STRING_OR_NULL),
    ("functions", ResultType::Table(&[("letter", STRING), ("meaning", STRING_OR_NULL)])),
    ("protection", STRING_OR_NULL),
    ("number", STRING),
    ("suffix", STRING),
    ("loop", STRING),
    ("unknown", ARRAY),
];
const FINDING: Fields = &[
    ("code", STRING),
    ("name", STRING),
    ("severity", STRING),
    ("message", STRING),
    ("ids", ARRAY),
    ("evidence", ARRAY),
    ("certain", BOOL),
];

const RESULT_TYPES: &[(&[&str], ResultType)] = &[
    (&["at", "bleeds", "cutPoints", "near", "unconnected", "within"], ResultType::Nodes),
    (&["boundary"], ResultType::Record(BOUNDARY)),
    (&["breaks"], ResultType::Table(BREAK)),
    (&["bypasses"], ResultType::Table(BYPASS)),
    (&["causeAndEffect"], ResultType::Record(CAUSES_AND_EFFECTS)),
    (&["componentCount"], OBJECT),
    (&["components"], ResultType::NodeLists),
    (&["corrosionCircuits"], ResultType::Table(CIRCUIT)),
    (&["cycles", "paths"], ResultType::Table(ROUTE)),
    (&["deadEnds", "drains", "vents"], ResultType::Table(DEAD_END)),
    (&["diff"], ResultType::Record(DIFFERENCES)),
    (&["diffRanking"], ResultType::Table(RANKING_RULE)),
    (&["endpoints"], ResultType::Each(ENDS)),
    (&["equipmentGraph"], ResultType::Record(EQUIPMENT_GRAPH)),
    (&["equipmentList"], ResultType::Columns(&["id", "tag", "class", "nozzles", "lines"])),
    (&["findPattern"], ResultType::Bindings),
    (&["graphInfo"], ResultType::Record(INFO)),
    (&["group", "section", "subgraph"], ResultType::Record(EXTRACT)),
    (&["hazopNodes"], ResultType::Table(SECTION)),
    (
        &["instrumentIndex"],
        ResultType::Columns(&[
            "id",
            "tag",
            "class",
            "variable",
            "loop",
            "attached_to",
            "line",
            "set_point",
            "unit",
            "range",
            "range_low",
            "range_high",
            "alarm_hh",
            "alarm_h",
            "alarm_l",
            "alarm_ll",
        ]),
    ),
    (&["inventorySections"], ResultType::Table(INVENTORY_SECTION)),
    (&["isolate"], ResultType::Record(ISOLATION)),
    (&["isolationPlan"], ResultType::Record(ISOLATION_PLAN)),
    (&["joinSheets"], ResultType::Record(JOINED)),
    (&["lineList"], ResultType::Table(LINE)),
    (&["loop"], ResultType::Nullable(LOOP)),
    (&["loops"], ResultType::Table(LOOP)),
    (
        &["nozzleList"],
        ResultType::Columns(&["id", "tag", "qualified_tag", "equipment", "chamber", "size", "line", "connected_to"]),
    ),
    (&["numberingGaps"], ResultType::Record(NUMBERING)),
    (
        &["offPageList"],
        ResultType::Columns(&["id", "tag", "direction", "drawing", "label", "partner", "line", "connected_to"]),
    ),
    (&["openEnds"], ResultType::Table(OPEN_END)),
    (&["parseTag"], ResultType::Nullable(TAG)),
    (&["pressureInterfaces"], ResultType::Record(PRESSURE_INTERFACES)),
    (&["rankDiff"], ResultType::Table(RANKED_DIFFERENCE)),
    (&["recycles"], ResultType::Table(RECYCLE)),
    (
        &["reliefList"],
        ResultType::Columns(&[
            "id",
            "tag",
            "class",
            "set_pressure",
            "unit",
            "size",
            "outlet_size",
            "inlet_line",
            "outlet_line",
            "protects",
            "inlet_valves",
            "discharges_to",
            "outlet_valves",
            "relief_path",
            "reasons",
            "certain",
        ]),
    ),
    (
        &["segmentList"],
        ResultType::Columns(&[
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
    (&["specialItemList"], ResultType::Columns(&["id", "tag", "class", "size", "line", "connected_to"])),
    (&["shortestPath"], ResultType::Nullable(COSTED_ROUTE)),
    (&["trace"], ResultType::Table(STEP)),
    (&["validate"], ResultType::Table(FINDING)),
    (
        &["valveList"],
        ResultType::Columns(&["id", "tag", "class", "role", "size", "line", "normal_position", "fail_action"]),
    ),
];

impl<'p> Checker<'p> {
    /// Returns the type of a call whose result is listed by name.
    pub(super) fn listed_result_type(&mut self, call: &'p Call, input: Type) -> Type {
        let name = call.function.standard_name();
        let row = RESULT_TYPES.iter().find(|(names, _)| name.is_some_and(|name| names.contains(&name)));
        match row.map(|(_, shape)| *shape) {
            None => Type::ANY,
            Some(ResultType::Bindings) => {
                let row = self.bindings(call);
                self.types.list_of(row)
            }
            Some(ResultType::Columns(columns)) => self.rows(columns, &call.args),
            Some(ResultType::Each(fields)) if input.kinds.is_only(Kinds::ARRAY) => {
                self.instantiate(ResultType::Table(fields))
            }
            Some(ResultType::Each(_)) if input.kinds.intersects(Kinds::ARRAY) => Type::ANY,
            Some(shape) => self.instantiate(shape),
        }
    }

    /// Builds the type, anew for each call, since `withGraph` changes the nodes of the graph. Recursion is as deep as
    /// the table.
    fn instantiate(&mut self, shape: ResultType) -> Type {
        match shape {
            ResultType::Kinds(kinds) => Type::from_kinds(kinds),
            ResultType::Node => self.types.items(self.lists[0]).with(Kinds::NULL),
            ResultType::Nodes => self.lists[0].only(Kinds::ARRAY),
            ResultType::NodeLists => self.types.list_of(self.lists[0].only(Kinds::ARRAY)),
            ResultType::Edges => self.lists[1].only(Kinds::ARRAY),
            ResultType::Record(fields) | ResultType::Each(fields) => self.record(fields),
            ResultType::Nullable(fields) => self.record(fields).with(Kinds::NULL),
            ResultType::Table(fields) => {
                let row = self.record(fields);
                self.types.list_of(row)
            }
            ResultType::Columns(_) | ResultType::Bindings => Type::ANY,
        }
    }

    fn record(&mut self, fields: Fields) -> Type {
        let mut known = Vec::with_capacity(fields.len());
        for (name, shape) in fields {
            known.push((Cow::Borrowed(*name), self.instantiate(*shape)));
        }
        self.types.record(known)
    }

    /// Returns rows of some columns and of those that the arguments name; any type if the names are only known at run
    /// time.
    fn rows(&mut self, columns: &[&'static str], columns_arg: &'p [Plan]) -> Type {
        let mut fields: Vec<(Cow<'p, str>, Type)> =
            columns.iter().map(|name| (Cow::Borrowed(*name), Type::ANY)).collect();
        for plan in columns_arg {
            let Plan::Constant(Constant::Text(name)) = plan else { return Type::from_kinds(Kinds::ARRAY) };
            fields.push((Cow::Borrowed(&**name), Type::ANY));
        }
        let row = self.types.record(fields);
        self.types.list_of(row)
    }

    /// Returns the types of the names of a pattern, if it is a literal.
    pub(super) fn bindings(&mut self, call: &'p Call) -> Type {
        let Some(Plan::Constant(Constant::Text(text))) = call.args.first() else {
            return Type::from_kinds(Kinds::OBJECT);
        };
        let Ok(Pattern { nodes, edges }) = Pattern::parse(text) else { return Type::from_kinds(Kinds::OBJECT) };
        let node = self.instantiate(ResultType::Node);
        let edge = self.types.items(self.lists[1]).with(Kinds::NULL);
        let list = self.instantiate(ResultType::Edges);
        let of_nodes = nodes.into_iter().filter_map(|part| Some((Cow::Owned(part.name?), node)));
        let of_edges = edges.into_iter().filter_map(|part| {
            let bound_type = if part.is_list { list } else { edge };
            Some((Cow::Owned(part.name?), bound_type))
        });
        let fields = of_nodes.chain(of_edges).collect();
        self.types.record(fields)
    }
}
