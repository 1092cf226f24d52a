//! Checks of pipes: ends, sizes, piping classes and directions.

use super::Checker;
use super::connections::{is_branch_of_header, is_unconnected};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::dead_ends::has_sensor;
use crate::pid::isolate::expected_pipe_count;
use crate::pid::lists::{EdgeField, distinct_values, may_change};
use crate::pid::segments::{self, MissingEnds};
use crate::pid::{ChargeFn, Datum};
use crate::value::convert;

pub(super) fn non_terminating(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    for node in checker.nodes() {
        if let Some(kind) = open_end(checker.drawing, node) {
            let message = format!("a line has an open end at {} ({kind})", checker.name(node));
            let edges = checker.drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(node).to_vec();
            checker.report(message, &[node], &edges);
        }
    }
    open_segments(checker, charge)
}

/// Reports segments with a missing end, if the drawing names ends of segments.
fn open_segments(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    let mut missing = MissingEnds::default();
    for segment in checker.nodes().filter(|node| drawing.has_type(*node, Names::SegmentType)) {
        let missing_ends = match missing.missing_sides(drawing, segment, charge)? {
            [true, true] => "neither a start nor an end",
            [true, false] => "no start",
            [false, true] => "no end",
            [false, false] => continue,
        };
        let known: Vec<EdgeId> = segments::ends(drawing, segment, charge)?.map(|(_, edge)| edge).collect();
        checker.report(format!("the segment {} has {missing_ends}", checker.name(segment)), &[segment], &known);
    }
    Ok(())
}

/// Reports nodes where all pipes lead in, or all lead out.
pub(super) fn direction_conflicts(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    for node in checker.nodes() {
        charge(1)?;
        let topology = &checker.drawing.topology;
        let degree = |dir: Direction| topology.table(EdgeFilter::Flow, dir).degree(node);
        let (outgoing, incoming, total) = (degree(Direction::Down), degree(Direction::Up), topology.flow_degree(node));
        let is_through =
            !topology.is_equipment(node) && !matches!(topology.roles[node as usize], Role::OffPage | Role::OpenEnd);
        let word = match (outgoing, incoming) {
            (0, _) if total > 1 => "into",
            (_, 0) if total > 1 => "out of",
            _ => continue,
        };
        if is_through {
            let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node).to_vec();
            checker.report(format!("all {total} pipes lead {word} {}", checker.name(node)), &[node], &edges);
        }
    }
    Ok(())
}

/// Returns the open ends of a drawing: those drawn as such, and items in a line with an unconnected side.
pub(crate) fn open_ends<'a>(drawing: &Drawing<'a>, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["item", "kind", "edges"];
    let mut rows = Vec::new();
    for node in 0..drawing.topology.node_count() as u32 {
        charge(1)?;
        if let Some(kind) = open_end(drawing, node) {
            let edges = drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
            rows.push(vec![Datum::Node(node), Datum::Word(kind), Datum::Edges(edges.into())]);
        }
    }
    Ok(Datum::Table(KEYS, rows))
}

/// Returns the kind of open end at a node, if any.
fn open_end(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    let degree = drawing.topology.flow_degree(node);
    match drawing.topology.roles[node as usize] {
        Role::OpenEnd => Some("open_end"),
        // A blind ends a line, regardless of the number of ports of its symbol.
        Role::PositiveBarrier | Role::Blind => None,
        // Behind the valve is an instrument, connected by a signal.
        Role::Barrier if has_sensor(drawing, node) => None,
        // A hatch or a breather valve opens to the air where it is.
        Role::Relief if drawing.class_has(node, vocabulary::ATMOSPHERIC_RELIEF) => None,
        _ if degree > 0 && degree < expected_pipe_count(drawing, node) => Some("free_port"),
        _ => None,
    }
}

/// Returns components and nozzles without a connection, as nodes.
pub(crate) fn unconnected<'a>(drawing: &Drawing<'a>, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let count = drawing.topology.node_count() as u32;
    charge(u64::from(count))?;
    Ok(Datum::Nodes((0..count).filter(|node| is_unconnected(drawing, *node)).collect()))
}

fn is_nozzle(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.owner(node).is_some() || drawing.topology.roles[node as usize] == Role::Port
}

pub(super) fn mismatch(checker: &mut Checker<'_, '_>, names: Names, charge: ChargeFn<'_>) -> Result<()> {
    let field = EdgeField::Named(names);
    for node in checker.nodes() {
        let drawing = checker.drawing;
        let edges = drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
        charge(1 + edges.len() as u64)?;
        let (values, changed) = distinct_values(drawing, edges, &field);
        let is_branch = || names == Names::Size && is_branch_of_header(drawing, node, edges);
        if changed && !may_change(drawing, node, &field) && !is_branch() {
            let values: Vec<String> = values.into_iter().map(convert::to_text).collect();
            let message = format!("{} joins {}", checker.name(node), values.join(" and "));
            checker.report(message, &[node], edges);
        }
    }
    Ok(())
}

pub(super) fn unconnected_components(
    checker: &mut Checker<'_, '_>,
    of_nozzles: bool,
    charge: ChargeFn<'_>,
) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    for node in checker.nodes().filter(|node| is_unconnected(checker.drawing, *node)) {
        if is_nozzle(checker.drawing, node) == of_nozzles {
            let message = format!("{} is not connected", checker.name(node));
            checker.report(message, &[node], &[]);
        }
    }
    Ok(())
}
