//! Validation rules for drawings: each rule is one row, each finding names its evidence.

mod branches;
mod connections;
mod connectors;
mod containment;
mod instruments;
mod pipes;
mod records;
mod relief;
mod tags;
mod words;

pub(super) use containment::{containment_message, find_containment_cycles};
pub(crate) use pipes::{open_ends, unconnected};
pub(super) use records::{MISSING_END, edge_key, missing_nodes_message, quoted, written_ends};

use super::{ChargeFn, Datum};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    /// Names in ascending order of severity.
    pub const NAMES: [&'static str; 3] = ["info", "warning", "error"];

    pub fn from_index(index: usize) -> Severity {
        [Info, Warning, Error][index.min(2)]
    }
}

/// A rule: code, name, severity, whether it runs by default, and its check.
struct Rule {
    code: &'static str,
    name: &'static str,
    /// Of its findings, or the highest of them.
    severity: Severity,
    is_default: bool,
    check: fn(&mut Checker<'_, '_>, ChargeFn<'_>) -> Result<()>,
}

const fn rule(
    code: &'static str,
    name: &'static str,
    severity: Severity,
    check: fn(&mut Checker<'_, '_>, ChargeFn<'_>) -> Result<()>,
) -> Rule {
    Rule { code, name, severity, is_default: true, check }
}

use Severity::{Error, Info, Warning};

const RULES: &[Rule] = &[
    rule("G003", "no_edges_array", Error, records::no_edges),
    rule("G004", "node_not_object", Error, |checker, _| records::non_objects(checker, true)),
    rule("G005", "edge_not_object", Error, |checker, _| records::non_objects(checker, false)),
    rule("G010", "node_without_id", Error, records::nodes_without_id),
    rule("G011", "duplicate_node_id", Error, records::duplicate_node_ids),
    rule("G012", "duplicate_edge_id", Error, records::duplicate_edge_ids),
    rule("G013", "id_type_mixed", Warning, records::mixed_ids),
    rule("G020", "dangling_edge", Error, records::dangling_edges),
    rule("G021", "edge_without_endpoint", Error, records::edges_without_ends),
    rule("G022", "self_loop_on_flow", Warning, records::self_loops),
    rule("G023", "parallel_edge", Info, records::parallel_edges),
    rule("G030", "containment_cycle", Error, containment::containment_cycles),
    rule("G031", "several_parents", Warning, containment::several_parents),
    rule("G032", "parent_field_contradicts_edge", Warning, containment::contradicting_parents),
    rule("G040", "unknown_node_type", Info, words::unknown_node_types),
    rule("G041", "unknown_edge_type", Info, words::unknown_edge_types),
    rule("G042", "unknown_class", Info, words::unknown_classes),
    rule("G043", "no_known_class", Warning, words::no_known_class),
    rule("G050", "missing_metadata", Warning, records::missing_metadata),
    rule("G051", "bad_schema_version", Error, records::bad_version),
    rule("P101", "non_terminating_line", Warning, pipes::non_terminating),
    rule("P102", "unconnected_component", Warning, |checker, charge| {
        pipes::unconnected_components(checker, false, charge)
    }),
    rule("P103", "unconnected_nozzle", Info, |checker, charge| pipes::unconnected_components(checker, true, charge)),
    rule("P104", "size_mismatch", Warning, |checker, charge| pipes::mismatch(checker, Names::Size, charge)),
    rule("P105", "spec_mismatch", Warning, |checker, charge| pipes::mismatch(checker, Names::PipingClass, charge)),
    rule("P106", "flow_direction_conflict", Warning, pipes::direction_conflicts),
    rule("P107", "unmatched_off_page_connector", Warning, connectors::unmatched_connectors),
    rule("P108", "missing_tag", Info, tags::missing_tags),
    rule("P109", "duplicate_tag", Warning, tags::duplicate_tags),
    rule("P110", "loop_without_member", Warning, instruments::loops_without_members),
    rule("P111", "loop_open", Info, instruments::open_loops),
    rule("P112", "control_valve_without_fail_action", Info, instruments::without_fail_action),
    rule("P113", "relief_path_blocked", Error, relief::blocked_relief),
    Rule {
        is_default: false,
        ..rule("P114", "pump_discharge_without_check_valve", Info, branches::pumps_without_check)
    },
    Rule { is_default: false, ..rule("P115", "dead_leg", Info, branches::dead_legs) },
    rule("P120", "joint_of_different_pipes", Warning, connectors::joints_of_different_pipes),
    rule("P121", "missing_partner_connector", Warning, connectors::missing_partner_connectors),
];

/// A finding.
struct Finding {
    rule: usize,
    severity: Severity,
    message: String,
    nodes: Vec<NodeId>,
    edges: Vec<EdgeId>,
    /// The drawing proves the finding; otherwise it may be wrong.
    is_certain: bool,
}

struct Checker<'p, 'a> {
    drawing: &'p Drawing<'a>,
    rule: usize,
    findings: Vec<Finding>,
}

/// Returns the findings of the selected rules, of at least a severity.
///
/// Without filters, all rules but the heuristics run; a filter is a code, a prefix of codes such as `P1`, or a rule
/// name.
pub(crate) fn validate<'a>(
    drawing: &Drawing<'a>,
    filters: &[String],
    min_severity: Severity,
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["code", "name", "severity", "message", "ids", "evidence", "certain"];
    let mut checker = Checker { drawing, rule: 0, findings: Vec::new() };
    for (at, rule) in RULES.iter().enumerate() {
        let is_selected = filters.iter().any(|filter| rule.code.starts_with(filter.as_str()) || rule.name == filter);
        let runs = if filters.is_empty() { rule.is_default } else { is_selected };
        if runs && rule.severity >= min_severity {
            checker.rule = at;
            (rule.check)(&mut checker, charge)?;
        }
    }
    let row = |finding: &Finding| {
        let rule = &RULES[finding.rule];
        let nodes = finding.nodes.iter().map(|node| Datum::Value(drawing.id(*node)));
        let edges = finding.edges.iter().map(|edge| Datum::Value(drawing.edge_id(*edge)));
        vec![
            Datum::Word(rule.code),
            Datum::Word(rule.name),
            Datum::Word(Severity::NAMES[finding.severity as usize]),
            Datum::String(finding.message.clone()),
            Datum::Array(nodes.collect()),
            Datum::Array(edges.collect()),
            Datum::Bool(finding.is_certain),
        ]
    };
    let is_severe = |finding: &&Finding| finding.severity >= min_severity;
    Ok(Datum::Table(KEYS, checker.findings.iter().filter(is_severe).map(row).collect()))
}

impl<'a> Checker<'_, 'a> {
    fn report(&mut self, message: impl Into<String>, nodes: &[NodeId], edges: &[EdgeId]) {
        self.report_finding(true, message, nodes, edges);
    }

    /// Adds a finding, certain or not decidable from the drawing.
    fn report_finding(&mut self, is_certain: bool, message: impl Into<String>, nodes: &[NodeId], edges: &[EdgeId]) {
        self.report_graded(RULES[self.rule].severity, is_certain, message, nodes, edges);
    }

    /// Adds a finding of a rule whose findings differ in severity.
    fn report_graded(
        &mut self,
        severity: Severity,
        is_certain: bool,
        message: impl Into<String>,
        nodes: &[NodeId],
        edges: &[EdgeId],
    ) {
        let (rule, message) = (self.rule, message.into());
        self.findings.push(Finding { rule, severity, message, nodes: nodes.into(), edges: edges.into(), is_certain });
    }

    fn nodes(&self) -> std::ops::Range<u32> {
        0..self.drawing.topology.node_count() as u32
    }

    fn edges(&self) -> std::ops::Range<u32> {
        0..self.drawing.topology.edge_count() as u32
    }

    fn name(&self, node: NodeId) -> String {
        self.drawing.name(node)
    }
}

/// Returns whether a filter matches a rule.
pub(crate) fn is_rule_filter(text: &str) -> bool {
    !text.is_empty() && RULES.iter().any(|rule| rule.code.starts_with(text) || rule.name == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_codes_are_unique_and_sorted() {
        let codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
        assert!(codes.is_sorted_by(|before, code| before < code));
    }
}
