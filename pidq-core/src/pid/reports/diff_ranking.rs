//! Ranking of the differences between two revisions by their significance for safety.
//!
//! The ranking is data: a table of rules, before which a caller may put others. The first rule that matches applies.

use hashbrown::HashSet;

use super::diff_subjects::{OTHER_SUBJECTS, Revision};
use super::side_pressures::name_without_side;
use super::spelling::{is_only_spelling, says_the_same};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::pid::diff::{self, Change, DiffOptions};
use crate::pid::stated_values::is_called;
use crate::pid::{Budget, Datum, push_row, set_points};
use crate::value::Value;

/// Significance of a difference, the highest first.
pub(crate) const SIGNIFICANCE: &[&str] = &["critical", "high", "medium", "low", "geometry"];

/// Kinds of change.
pub(crate) const CHANGES: &[&str] = &["removed", "added", "changed", "rewired", "retagged", "renamed", "moved"];

const ROW: &[&str] = &["significance", "reason", "change", "id", "tag", "class", "ends", "field", "before", "after"];
const RULE: &[&str] = &["subjects", "changes", "fields", "classes", "significance", "reason"];

/// A rule. An empty list accepts everything.
#[derive(Clone, Debug)]
pub(crate) struct RankingRule {
    /// Roles of nodes, or other subjects.
    pub subjects: Vec<String>,
    pub changes: Vec<String>,
    /// Names of fields, or keys of the lists of names in the topology.
    pub fields: Vec<String>,
    /// Words in the class.
    pub classes: Vec<String>,
    /// Index in `SIGNIFICANCE`.
    pub significance: usize,
    pub reason: String,
}

/// A built-in rule: subjects, changes, fields, significance, reason.
type BuiltInRule =
    (&'static [&'static str], &'static [&'static str], &'static [&'static str], &'static str, &'static str);

const VALVES: &[&str] = &["barrier", "positive_barrier", "blind", "multi_way", "control"];
const REMOVED: &[&str] = &["removed"];
const ADDED: &[&str] = &["added"];
const CHANGED: &[&str] = &["changed"];
const REWIRED: &[&str] = &["rewired"];
const ADDED_OR_REMOVED: &[&str] = &["added", "removed"];
const TRIP_FIELDS: &[&str] = &[
    "set_point",
    "voting",
    "integrity_level",
    "alarm_hh",
    "alarm_h",
    "alarm_l",
    "alarm_ll",
    "range",
    "range_low",
    "range_high",
    "value_unit",
];

/// Fields that state the position of a valve or a blind, and what keeps it there.
const POSITION_FIELDS: &[&str] = &["normal_position", "lock", "blind_position"];
/// Fields that state whether an item is installed.
const INSTALLED_FIELDS: &[&str] = &["status", "removed", "installed"];
/// Marks of a closed pipe, valve or item in a pipe, and further fields with a position of a valve.
const CLOSED_MARKS: &[&str] = &joined::<MARK_COUNT>(MARKS);
const MARKS: &[&[&str]] =
    &[vocabulary::CLOSED_MARKS, vocabulary::VALVE_CLOSED_MARKS, vocabulary::VALVE_POSITION_FIELDS];
const MARK_COUNT: usize = MARKS[0].len() + MARKS[1].len() + MARKS[2].len();

/// Joins lists of words.
const fn joined<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let mut words = [""; N];
    let (mut list, mut at, mut count) = (0, 0, 0);
    while count < N {
        if at == lists[list].len() {
            (list, at) = (list + 1, 0);
        } else {
            words[count] = lists[list][at];
            (at, count) = (at + 1, count + 1);
        }
    }
    words
}

/// Texts that may say what state an item is in, or that it is not there.
const TEXT_FIELDS: &[&str] = &["description", "remarks", "component_name"];
/// Fields that state how a valve is moved, and how many pipes it joins.
const OPERATION_FIELDS: &[&str] = &["operation", "actuated", "operator", "number_of_ports", "ports", "removable"];
/// Fields with the bore of an orifice, which limits the flow for which a relief device is sized.
const BORES: &[&str] = &[
    "bore",
    "bore_diameter",
    "bore_size",
    "diameter",
    "hole_diameter",
    "orifice_bore",
    "orifice_diameter",
    "orifice_size",
];
/// Fields with the capacity of a control valve or a restriction, for which a relief device behind it is sized.
const CAPACITIES: &[&str] = &[
    "capacity",
    "characteristic",
    "cv",
    "cv_value",
    "cvs",
    "flow_coefficient",
    "kv",
    "kv_value",
    "kvs",
    "rated_cv",
    "rated_kv",
    "seat_diameter",
    "trim",
    "trim_size",
    "valve_coefficient",
];
/// Items that stop a flow.
const STOPPING: &[&str] = &["one_way", "barrier", "positive_barrier", "blind", "multi_way", "control"];

const BUILT_IN: &[BuiltInRule] = &[
    (&["spelling"], CHANGED, &[], "low", "only the spelling of a value changed"),
    (&["relief"], REMOVED, &[], "critical", "relief device removed"),
    (&["relief"], CHANGED, &["set_pressure"], "critical", "set pressure of a relief device changed"),
    (&["relief"], CHANGED, &["class_fields"], "critical", "class of a relief device changed"),
    (
        &["relief", "trip"],
        CHANGED,
        INSTALLED_FIELDS,
        "critical",
        "status of a relief device or of a part of a trip changed",
    ),
    (&["relief"], REWIRED, &[], "critical", "connections of a relief device changed"),
    (&["trip"], REMOVED, &[], "critical", "part of a trip removed"),
    (&["trip"], CHANGED, TRIP_FIELDS, "critical", "setting of a trip changed"),
    (&["trip_setting"], CHANGED, TEXT_FIELDS, "critical", "setting of a trip changed"),
    (&["trip"], REWIRED, &[], "critical", "connections of a trip changed"),
    (&[], CHANGED, &["fail_action"], "critical", "fail position changed"),
    (&["relief_path"], &["added", "removed", "rewired"], &[], "critical", "path of a relief device changed"),
    (
        &["relief_path"],
        CHANGED,
        &[
            "normal_position",
            "lock",
            "blind_position",
            "status",
            "removed",
            "installed",
            "size",
            "node_type",
            "class_fields",
            "direction_field",
            "service",
            "cross_page.field",
            "cross_page.drawing",
            "cross_page.label",
            "cross_page.partner",
        ],
        "critical",
        "item on the path of a relief device changed",
    ),
    (
        &["relief", "relief_path"],
        CHANGED,
        CLOSED_MARKS,
        "critical",
        "mark of a closed item on the path of a relief device changed",
    ),
    (&["relief_path"], CHANGED, TEXT_FIELDS, "critical", "text of an item on the path of a relief device changed"),
    (&["relief"], &["added", "changed", "retagged"], &[], "high", "relief device added or changed"),
    (&["trip"], &["added", "changed", "retagged"], &[], "high", "part of a trip added or changed"),
    (&["one_way"], REMOVED, &[], "high", "check valve removed"),
    (&["one_way"], REWIRED, &[], "high", "connections of a check valve changed: it may be turned"),
    (&["safeguard"], REMOVED, &[], "high", "flame arrester, excess flow valve or backflow preventer removed"),
    (
        &["safeguard"],
        &["changed", "rewired"],
        &[],
        "high",
        "flame arrester, excess flow valve or backflow preventer changed",
    ),
    (&["restriction"], CHANGED, BORES, "high", "bore of a restriction changed"),
    (&["control", "restriction"], CHANGED, CAPACITIES, "high", "capacity of a control valve or a restriction changed"),
    (&["restriction"], ADDED_OR_REMOVED, &[], "high", "restriction added or removed"),
    (&["bypass"], ADDED, &[], "high", "way around a safeguard added"),
    (VALVES, REMOVED, &[], "high", "valve or blind removed"),
    (&[], CHANGED, POSITION_FIELDS, "high", "position or lock changed"),
    (STOPPING, CHANGED, INSTALLED_FIELDS, "high", "status of a valve or blind changed"),
    (&["equipment"], CHANGED, INSTALLED_FIELDS, "high", "status of equipment changed"),
    (&["port"], CHANGED, &["zone"], "high", "side of a nozzle changed"),
    (&[], CHANGED, CLOSED_MARKS, "high", "mark of a closed item changed"),
    (&[], CHANGED, &["removed", "installed"], "high", "mark of a removed item changed"),
    (&["pipe"], CHANGED, INSTALLED_FIELDS, "high", "status of a pipe changed"),
    (STOPPING, CHANGED, TEXT_FIELDS, "high", "text of a valve or blind changed"),
    (STOPPING, CHANGED, &["parent"], "high", "owner of a valve or blind changed"),
    (STOPPING, CHANGED, OPERATION_FIELDS, "high", "operation of a valve changed"),
    (&["actuator"], &["added", "removed", "changed", "rewired"], &[], "high", "actuator of a valve changed"),
    (&["valve_part"], &["added", "removed", "changed"], &[], "high", "signal, part or owner of a valve changed"),
    (&[], CHANGED, &["class_fields"], "high", "class of an item changed"),
    (&[], CHANGED, &["design_pressure", "design_temperature"], "high", "design conditions changed"),
    (&[], CHANGED, &["direction_field"], "high", "flow direction changed"),
    (&["equipment"], ADDED_OR_REMOVED, &[], "high", "equipment added or removed"),
    (&[], CHANGED, &["piping_class", "size", "outlet_size", "material"], "medium", "size, class or material changed"),
    (
        &[],
        CHANGED,
        &["fluid", "operating_pressure", "operating_temperature", "insulation"],
        "medium",
        "fluid or operating conditions changed",
    ),
    (&[], CHANGED, TRIP_FIELDS, "medium", "setting of an instrument changed"),
    (&["setting"], CHANGED, TEXT_FIELDS, "medium", "setting of an instrument changed"),
    (STOPPING, &["added", "rewired"], &[], "medium", "valve added or moved"),
    (&["equipment", "port"], CHANGED, &[], "medium", "field of equipment changed"),
    (&["pipe"], ADDED_OR_REMOVED, &[], "medium", "pipe added or removed"),
    (&["signal"], ADDED_OR_REMOVED, &[], "medium", "signal added or removed"),
    (&["instrument"], ADDED_OR_REMOVED, &[], "medium", "instrument added or removed"),
    (&["line"], ADDED_OR_REMOVED, &[], "medium", "line added or removed"),
    (&["off_page", "open_end"], &["added", "removed", "changed", "rewired"], &[], "medium", "end of a line changed"),
    (&[], REWIRED, &[], "medium", "connections changed"),
    (&[], ADDED, &[], "low", "item added"),
    (&[], REMOVED, &[], "low", "item removed"),
    (&[], &["retagged"], &[], "low", "tag changed"),
    (&[], CHANGED, &[], "low", "field changed"),
    (&[], &["renamed"], &[], "low", "id changed"),
    (&[], &["moved"], &[], "geometry", "position on the sheet changed"),
];

/// Returns the built-in rules.
pub(crate) fn built_in_rules() -> Vec<RankingRule> {
    let owned = |words: &[&str]| {
        let mut seen = HashSet::new();
        words.iter().filter(|word| seen.insert(**word)).map(|word| String::from(*word)).collect()
    };
    let rule = |(subjects, changes, fields, significance, reason): &BuiltInRule| RankingRule {
        subjects: owned(subjects),
        changes: owned(changes),
        fields: owned(fields),
        classes: Vec::new(),
        significance: SIGNIFICANCE.iter().position(|word| word == significance).unwrap_or(SIGNIFICANCE.len() - 1),
        reason: String::from(*reason),
    };
    BUILT_IN.iter().map(rule).collect()
}

/// Returns the built-in rules as rows.
pub(crate) fn rules_table<'a>() -> Datum<'a> {
    let rows = built_in_rules().into_iter().map(|rule| {
        let [subjects, changes, fields, classes] =
            [rule.subjects, rule.changes, rule.fields, rule.classes].map(Datum::strings);
        let significance = Datum::Word(SIGNIFICANCE[rule.significance]);
        vec![subjects, changes, fields, classes, significance, Datum::String(rule.reason)]
    });
    Datum::Table(RULE, rows.collect())
}

/// Parses a rule of a caller; `None` if it is malformed.
pub(crate) fn parse_rule(value: Value<'_>) -> Option<RankingRule> {
    const MAX_WORDS: usize = 100;
    let object = value.as_object()?;
    object.iter().all(|(key, _)| RULE.contains(&key)).then_some(())?;
    let words = |key: &str| -> Option<Vec<String>> {
        match object.get(key) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::String(word)) => Some(vec![word.into()]),
            Some(Value::Array(words)) if words.len() <= MAX_WORDS => {
                words.iter().map(|word| word.as_str().map(String::from)).collect()
            }
            _ => None,
        }
    };
    let significance = object.get("significance")?.as_str()?;
    let rule = RankingRule {
        subjects: words("subjects")?,
        changes: words("changes")?,
        fields: words("fields")?,
        classes: words("classes")?,
        significance: SIGNIFICANCE.iter().position(|word| *word == significance)?,
        reason: object.get("reason").map_or(Some(""), Value::as_str)?.into(),
    };
    let is_known_subject = |word: &String| OTHER_SUBJECTS.contains(&word.as_str()) || Role::from_name(word).is_some();
    let is_known =
        rule.subjects.iter().all(is_known_subject) && rule.changes.iter().all(|word| CHANGES.contains(&word.as_str()));
    is_known.then_some(rule)
}

/// A node or an edge of a revision.
#[derive(Clone, Copy)]
enum Item {
    Node(NodeId),
    Edge(EdgeId),
}

/// A difference to be ranked.
struct Difference<'a> {
    change: &'static str,
    field: Option<String>,
    before: Datum<'a>,
    after: Datum<'a>,
}

/// Collector of ranked rows.
struct Ranking<'r> {
    rules: &'r [RankingRule],
    /// The rank of each row: significance and rule.
    ranks: Vec<(usize, usize)>,
}

/// Returns the differences between two revisions, the most significant first.
pub(crate) fn rank_diff<'a>(
    old: &Drawing<'a>,
    new: &Drawing<'a>,
    options: &DiffOptions,
    rules: &[RankingRule],
    budget: &mut dyn Budget,
) -> Result<Datum<'a>> {
    let found = diff::compare(old, new, options, &mut |units| budget.charge(units))?;
    let revisions = [Revision::new(old, budget)?, Revision::new(new, budget)?];
    let [before, after] = &revisions;
    let mut ranking = Ranking { rules, ranks: Vec::new() };
    let mut rows = Vec::new();
    let mut add = |revisions: &[(&Revision<'_, 'a>, Item)], difference: Difference<'a>| {
        ranking.add(revisions, difference, &mut rows, budget)
    };
    let plain = |change: &'static str| Difference { change, field: None, before: Datum::Null, after: Datum::Null };
    let changed = |(field, before, after): Change<'a>| Difference {
        change: "changed",
        field: Some(field),
        before: Datum::value(before),
        after: Datum::value(after),
    };
    let nodes = |pair: (NodeId, NodeId)| [(after, Item::Node(pair.1)), (before, Item::Node(pair.0))];
    let edges = |pair: (EdgeId, EdgeId)| [(after, Item::Edge(pair.1)), (before, Item::Edge(pair.0))];
    for node in found.removed {
        add(&[(before, Item::Node(node))], plain("removed"))?;
    }
    for node in found.added {
        add(&[(after, Item::Node(node))], plain("added"))?;
    }
    for (pair, change) in found.changed {
        add(&nodes(pair), changed(change))?;
    }
    for row in found.rewired {
        let (old_names, new_names) = (diff::names(old, &row.before), diff::names(new, &row.after));
        let difference =
            Difference { change: "rewired", field: Some(row.side.into()), before: old_names, after: new_names };
        add(&nodes(row.pair), difference)?;
    }
    for pair in found.retagged {
        let (old_tag, new_tag) = (Datum::string(old.tag(pair.0)), Datum::string(new.tag(pair.1)));
        add(&nodes(pair), Difference { change: "retagged", field: None, before: old_tag, after: new_tag })?;
    }
    for pair in found.renamed {
        let (old_id, new_id) = (Datum::Value(old.id(pair.0)), Datum::Value(new.id(pair.1)));
        add(&nodes(pair), Difference { change: "renamed", field: None, before: old_id, after: new_id })?;
    }
    for (pair, [dx, dy]) in found.moved {
        let shift = Datum::Array(vec![Datum::Number(dx), Datum::Number(dy)]);
        add(&nodes(pair), Difference { change: "moved", field: None, before: Datum::Null, after: shift })?;
    }
    for edge in found.edges_removed {
        add(&[(before, Item::Edge(edge))], plain("removed"))?;
    }
    for edge in found.edges_added {
        add(&[(after, Item::Edge(edge))], plain("added"))?;
    }
    for (pair, change) in found.edges_changed {
        add(&edges(pair), changed(change))?;
    }
    let mut ranked: Vec<((usize, usize), Vec<Datum<'a>>)> = ranking.ranks.into_iter().zip(rows).collect();
    // Stable: differences of the same rule keep the order of `diff`.
    ranked.sort_by_key(|(rank, _)| *rank);
    Ok(Datum::Table(ROW, ranked.into_iter().map(|(_, row)| row).collect()))
}

impl Ranking<'_> {
    /// Adds a difference. It has the subjects of its item in both revisions.
    fn add<'a>(
        &mut self,
        revisions: &[(&Revision<'_, 'a>, Item)],
        difference: Difference<'a>,
        rows: &mut Vec<Vec<Datum<'a>>>,
        budget: &mut dyn Budget,
    ) -> Result<()> {
        let Some((revision, item)) = revisions.first().copied() else { return Ok(()) };
        let drawing = revision.drawing;
        let mut subjects = Vec::new();
        let mut classes = Vec::new();
        for (revision, item) in revisions {
            match item {
                Item::Node(node) => {
                    subjects.extend(revision.subjects_of_node(*node, &mut |units| budget.charge(units))?);
                    classes.extend(revision.drawing.class(*node).map(snake_case));
                }
                Item::Edge(edge) => {
                    subjects.extend(revision.subjects_of_edge(*edge));
                    classes.extend(edge_class(revision.drawing, *edge).map(snake_case));
                }
            }
        }
        let field = difference.field.as_deref().map(plain_field).unwrap_or_default();
        let is_spelling = || match (&difference.before, &difference.after) {
            (Datum::Value(before), Datum::Value(after)) => {
                let config = &drawing.topology.config;
                is_only_spelling(*before, *after) || says_the_same(config, field, *before, *after)
            }
            _ => false,
        };
        let is_changed = difference.change == "changed";
        subjects.extend((is_changed && is_spelling()).then_some("spelling"));
        if is_changed && subjects.contains(&Role::Instrument.name()) && changes_setting(&difference) {
            subjects.push(if subjects.contains(&"trip") { "trip_setting" } else { "setting" });
        }
        let rule = self.rule(drawing, &subjects, &classes, &difference, budget)?;
        let (significance, reason) = match rule {
            Some(at) => (self.rules[at].significance, self.rules[at].reason.clone()),
            None => (SIGNIFICANCE.len() - 1, String::new()),
        };
        self.ranks.push((significance, rule.unwrap_or(self.rules.len())));
        let (id, tag, class, ends) = match item {
            Item::Node(node) => (drawing.id(node), drawing.tag(node), drawing.class(node), Datum::Null),
            Item::Edge(edge) => {
                let ends = drawing.topology.flow_ends(edge).into_iter();
                let ends: Vec<NodeId> = ends.filter(|end| (*end as usize) < drawing.topology.node_count()).collect();
                (drawing.edge_id(edge), None, edge_class(drawing, edge), diff::names(drawing, &ends))
            }
        };
        let row = vec![
            Datum::Word(SIGNIFICANCE[significance]),
            Datum::String(reason),
            Datum::Word(difference.change),
            Datum::Value(id),
            Datum::string(tag),
            Datum::string(class),
            ends,
            Datum::string(difference.field),
            difference.before,
            difference.after,
        ];
        push_row(rows, row, budget)
    }

    /// Returns the first rule that matches.
    fn rule(
        &self,
        drawing: &Drawing<'_>,
        subjects: &[&str],
        classes: &[String],
        difference: &Difference<'_>,
        budget: &mut dyn Budget,
    ) -> Result<Option<usize>> {
        let accepts =
            |words: &[String], is_match: &dyn Fn(&String) -> bool| words.is_empty() || words.iter().any(is_match);
        let class_size: usize = classes.iter().map(String::len).sum();
        let field = difference.field.as_deref().map(plain_field);
        // Of an exchanger, the field of one side is one like that of both.
        let field_of_both_sides = field.filter(|field| field.len() <= MAX_CLASS).and_then(name_without_side);
        for (at, rule) in self.rules.iter().enumerate() {
            budget.charge(1 + rule.fields.len() as u64 + (rule.classes.len() * class_size) as u64 / 64)?;
            let is_match = accepts(&rule.changes, &|word| word == difference.change)
                && accepts(&rule.subjects, &|word| subjects.contains(&word.as_str()))
                && accepts(&rule.classes, &|word| classes.iter().any(|class| class.contains(word.as_str())))
                && accepts(&rule.fields, &|word| {
                    let is_named = |field: &str| is_called(&drawing.topology.config, field, word);
                    field.is_some_and(is_named) || field_of_both_sides.as_deref().is_some_and(is_named)
                });
            if is_match {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}

/// Returns whether a text states another set point than before.
fn changes_setting(difference: &Difference<'_>) -> bool {
    let setting = |value: &Datum<'_>| match value {
        Datum::Value(value) => {
            value.as_str().filter(|text| text.len() <= MAX_CLASS).and_then(set_points::texts::in_text).map(String::from)
        }
        _ => None,
    };
    setting(&difference.before) != setting(&difference.after)
}

fn edge_class<'a>(drawing: &Drawing<'a>, edge: EdgeId) -> Option<&'a str> {
    let class = drawing.edge_field(edge, Names::EdgeClass).or_else(|| drawing.edge_field(edge, Names::EdgeKind));
    class.and_then(Value::as_str)
}

/// Returns the name of a field of `diff` without its group, language, number and unit.
fn plain_field(field: &str) -> &str {
    let name = field.strip_prefix("attributes.").unwrap_or(field);
    let name = name.strip_suffix(" unit").unwrap_or(name);
    name.split(['@', '#']).next().unwrap_or(name)
}
