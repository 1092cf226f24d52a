//! Joints of off-page connectors: whether pipes or signals end there, and whether the pipes on both sides have the same line, class, size and fluid.

use hashbrown::HashSet;

use super::lists::{EdgeField, edge_value};
use super::quantity::nominal_size;
use super::{ChargeFn, pipe_lines};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::tag_spelling;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::value::{Value, convert};

/// Properties that a pipe keeps from one sheet to the next, and their names in results.
pub(crate) const PROPERTIES: [(Names, &str); 4] = [
    (Names::Line, "line"),
    (Names::PipingClass, "piping_class"),
    (Names::Size, "nominal_diameter"),
    (Names::Fluid, "fluid_code"),
];

/// Values of the properties at a connector, as the drawing writes them; several if its pipes differ.
pub(crate) type Values = [Vec<String>; PROPERTIES.len()];

/// Limit on the segments and lines of a connector that are read.
const MAX_GROUPS: usize = 32;

/// Returns the values of the pipes at a connector, or else those of the connector itself, or of the segments and lines
/// that they belong to, or else those of the only line of the item beside the connector.
pub(crate) fn values(drawing: &Drawing<'_>, connector: NodeId, charge: ChargeFn<'_>) -> Result<Values> {
    let edges = drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(connector);
    charge(1 + edges.len() as u64)?;
    let pipes: Vec<EdgeId> = edges.iter().copied().filter(|edge| !drawing.topology.is_joint(*edge)).collect();
    let mut groups = groups(drawing, connector, &pipes, charge)?;
    groups.extend(line_beside(drawing, connector, &pipes, charge)?);
    Ok(PROPERTIES.map(|(names, _)| {
        let field = EdgeField::Named(names);
        let mut values: Vec<Value<'_>> =
            pipes.iter().filter_map(|edge| edge_value(drawing, *edge, &field)).filter(is_stated).collect();
        if values.is_empty() {
            values.extend(drawing.node_field(connector, names).filter(is_stated));
        }
        let text = |value: Value<'_>| match names {
            Names::Line => pipe_lines::line_name(drawing, value),
            _ => convert::to_text(value),
        };
        let mut texts: Vec<String> = values.into_iter().map(text).collect();
        if texts.is_empty() {
            texts.extend(groups.iter().find_map(|group| group_value(drawing, *group, names)));
        }
        let mut seen = HashSet::new();
        texts.retain(|text| seen.insert(text.clone()) && !(names == Names::Fluid && names_other_end(text)));
        texts
    }))
}

/// Returns whether the service of a connector is where its line comes from or leads to, which is another text at each end: `to E-2`.
fn names_other_end(service: &str) -> bool {
    const FIRST_WORDS: &[&str] = &["to", "from", "nach", "von", "zu", "vers", "naar", "van", "desde", "hacia"];
    let first = service.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    first.len() < service.len() && FIRST_WORDS.iter().any(|known| first.eq_ignore_ascii_case(known))
}

fn is_stated(value: &Value<'_>) -> bool {
    !value.is_null() && value.as_str() != Some("")
}

/// Returns the segments and lines of a connector and its pipes, the nearest first.
fn groups(drawing: &Drawing<'_>, connector: NodeId, pipes: &[EdgeId], charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let mut found = parents(drawing, connector, charge)?;
    let segments = pipes.iter().filter_map(|edge| drawing.by_id(drawing.edge_field(*edge, Names::Segment)?));
    found.extend(segments);
    let mut seen: HashSet<NodeId> = [connector].into();
    found.retain(|group| seen.insert(*group));
    let mut at = 0;
    while at < found.len().min(MAX_GROUPS) {
        if !drawing.has_type(found[at], Names::LineType) {
            let next = parents(drawing, found[at], charge)?;
            found.extend(next.into_iter().filter(|group| seen.insert(*group)));
        }
        at += 1;
    }
    found.truncate(MAX_GROUPS);
    Ok(found)
}

/// Returns the line of the item at the other end of the only pipe of a connector: of an item in a pipe with no other line.
fn line_beside(
    drawing: &Drawing<'_>,
    connector: NodeId,
    pipes: &[EdgeId],
    charge: ChargeFn<'_>,
) -> Result<Option<NodeId>> {
    let topology = &drawing.topology;
    let [pipe] = pipes else { return Ok(None) };
    let beside = topology.ends[*pipe as usize].into_iter().find(|end| *end != connector && *end != NONE);
    let is_in_pipe = |item: &NodeId| {
        topology.flow_degree(*item) == 2 && !matches!(topology.roles[*item as usize], Role::Equipment | Role::Port)
    };
    let Some(item) = beside.filter(is_in_pipe) else { return Ok(None) };
    let mut lines = groups(drawing, item, &[], charge)?;
    lines.retain(|group| drawing.has_type(*group, Names::LineType));
    Ok(if let [line] = lines[..] { Some(line) } else { None })
}

/// Returns the groups of an item: by its fields, and by the edges of its groups.
fn parents(drawing: &Drawing<'_>, item: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let arcs = topology.table(EdgeFilter::All, Direction::Both).arcs(item);
    charge(1 + arcs.len() as u64)?;
    let mut found: Vec<NodeId> = topology.field_group(item).into_iter().collect();
    found.extend(drawing.node_field(item, Names::Segment).and_then(|id| drawing.by_id(id)));
    let is_group = |edge: EdgeId| {
        let ([from, to], flags) = (topology.ends[edge as usize], topology.edge_flags[edge as usize]);
        let is_run = |group| drawing.has_type(group, Names::LineType) || drawing.has_type(group, Names::SegmentType);
        flags.contains(EdgeFlags::MEMBER) && to == item
            || flags.contains(EdgeFlags::PART) && to == item && is_run(from)
            || flags.contains(EdgeFlags::MEMBER_REVERSED) && from == item
    };
    found.extend(arcs.filter(|(_, edge)| is_group(*edge)).map(|(group, _)| group));
    Ok(found)
}

/// Returns the value that a segment or line gives to its pipes: for the line number, the name of the line.
fn group_value(drawing: &Drawing<'_>, group: NodeId, names: Names) -> Option<String> {
    let own = drawing.node_field(group, names).filter(is_stated);
    match names {
        Names::Line if drawing.has_type(group, Names::LineType) => {
            Some(drawing.tag(group).map_or_else(|| convert::to_text(drawing.id(group)), String::from))
        }
        Names::Line => own.map(|line| pipe_lines::line_name(drawing, line)),
        _ => own.map(convert::to_text),
    }
}

/// Kind of the edges at a connector.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Medium {
    Pipe,
    Signal,
}

/// Returns whether pipes or signals end at a connector. `None` if neither or both do.
pub(crate) fn medium(drawing: &Drawing<'_>, connector: NodeId) -> Option<Medium> {
    let has_signal = signals(drawing, connector, Direction::Both).next().is_some();
    match (drawing.topology.flow_degree(connector) > 0, has_signal) {
        (true, false) => Some(Medium::Pipe),
        (false, true) => Some(Medium::Signal),
        _ => None,
    }
}

/// Returns the signals at a connector in a direction, and the items that they come from or go to.
pub(crate) fn signals<'p>(
    drawing: &'p Drawing<'_>,
    connector: NodeId,
    dir: Direction,
) -> impl Iterator<Item = (NodeId, EdgeId)> + 'p {
    let topology = &drawing.topology;
    topology.table(EdgeFilter::All, dir).arcs(connector).filter(|(_, edge)| {
        let flags = topology.edge_flags[*edge as usize];
        flags.contains(EdgeFlags::SIGNAL) && !flags.contains(EdgeFlags::FLOW)
    })
}

/// Returns whether the pipes on both sides of a joint differ in a property, or one of its connectors names another partner.
pub(crate) fn is_contradicting(drawing: &Drawing<'_>, joint: EdgeId, charge: ChargeFn<'_>) -> Result<bool> {
    let [from, to] = drawing.topology.flow_ends(joint);
    if names_other_partner(drawing, [from, to]) || names_other_partner(drawing, [to, from]) {
        return Ok(true);
    }
    Ok(!differences(&values(drawing, from, charge)?, &values(drawing, to, charge)?).is_empty())
}

/// Returns whether a connector has the id of its partner, and the other connector has a different one.
fn names_other_partner(drawing: &Drawing<'_>, [connector, other]: [NodeId; 2]) -> bool {
    let partner = drawing.cross_page(connector, Names::CrossPagePartner);
    let id = drawing.node_field(other, Names::PersistentId);
    partner.zip(id).is_some_and(|(partner, id)| convert::to_text(partner) != convert::to_text(id))
}

/// Difference of the pipes on both sides of a joint.
pub(crate) struct Difference {
    pub property: &'static str,
    pub values: [String; 2],
}

/// Returns the properties that both sides have, with different values. What a side does not have is no difference.
pub(crate) fn differences(from: &Values, to: &Values) -> Vec<Difference> {
    let sides = PROPERTIES.into_iter().zip(from.iter().zip(to));
    let differing = sides.filter(|((names, _), (from, to))| {
        let is_shared = |value: &String| to.iter().any(|other| normalized(*names, value) == normalized(*names, other));
        !from.is_empty() && !to.is_empty() && !from.iter().any(is_shared)
    });
    differing
        .map(|((_, property), (from, to))| Difference { property, values: [from, to].map(|side| side.join(" and ")) })
        .collect()
}

/// Returns the line of two sides that have one each, if it is the same one.
pub(crate) fn common_line<'v>(from: &'v Values, to: &Values) -> Option<&'v str> {
    let at = PROPERTIES.iter().position(|(names, _)| *names == Names::Line)?;
    let ([from], [to]) = (from[at].as_slice(), to[at].as_slice()) else { return None };
    (normalized(Names::Line, from) == normalized(Names::Line, to)).then_some(from)
}

/// Normalizes a value for comparison: exporters write line numbers and classes with and without blanks and hyphens, and
/// sizes as numbers, with the prefix `DN`, or in inches.
fn normalized(names: Names, value: &str) -> String {
    match names {
        Names::Size => nominal_size::dn(value).map_or_else(|| tag_spelling::normalized(value), |dn| dn.to_string()),
        _ => tag_spelling::normalized(value),
    }
}
