//! Checks of what follows in the pipes: a check valve behind a pump, and dead ends.

use super::Checker;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::walk::{self, EquipmentPolicy, Visitor, WalkOptions, WalkScratch};
use crate::pid::ChargeFn;
use crate::pid::dead_ends::{DeadEnd, dead_ends};
use crate::pid::isolate::expected_pipe_count;
use crate::pid::segments::MissingEnds;

/// Visitor that ends branches at selected nodes.
struct StopVisitor<'p, 't> {
    charge: ChargeFn<'p>,
    ends: &'t dyn Fn(NodeId) -> bool,
}

impl Visitor for StopVisitor<'_, '_> {
    fn charge(&mut self, units: u64) -> Result<()> {
        (self.charge)(units)
    }

    fn ends_at(&mut self, node: NodeId) -> Result<bool> {
        Ok((self.ends)(node))
    }
}

/// Returns the pipes from the start of a walk to one of its steps.
fn edges_to(steps: &[walk::Step], end: &walk::Step) -> Vec<EdgeId> {
    let mut path = Vec::new();
    let mut step = Some(end);
    while let Some(current) = step {
        path.extend(Some(current.via).filter(|edge| *edge != NONE));
        step = steps.get(current.from as usize);
    }
    path.reverse();
    path
}

/// Returns whether a path ends at an item only because the drawing ends: at the edge of the sheet, or at a missing
/// pipe. A valve with nothing behind it is a drain or a vent.
fn leaves_drawing(
    drawing: &Drawing<'_>,
    missing: &mut MissingEnds,
    node: NodeId,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let (degree, role) = (drawing.topology.flow_degree(node), drawing.topology.roles[node as usize]);
    if degree > 1 || role == Role::OffPage || role.closes() {
        return Ok(drawing.topology.is_sheet_end(node));
    }
    Ok(degree < expected_pipe_count(drawing, node) || missing.ends_at_missing_side(drawing, node, charge)?)
}

/// Returns the first step after the start at which a path leaves the drawing.
fn first_exit<'s>(
    drawing: &Drawing<'_>,
    missing: &mut MissingEnds,
    steps: &'s [walk::Step],
    charge: ChargeFn<'_>,
) -> Result<Option<&'s walk::Step>> {
    for step in steps.iter().filter(|step| step.depth > 0) {
        charge(1)?;
        if leaves_drawing(drawing, missing, step.node, charge)? {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

/// Reports pumps from which the flow reaches other equipment without a check valve. If it leaves the drawing first, the
/// finding is not certain.
pub(super) fn pumps_without_check(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    let topology = &drawing.topology;
    let walk_options =
        WalkOptions { edges: EdgeFilter::Flow, dir: Direction::Down, pass: EquipmentPolicy::None, depth: 200 };
    let is_pump = |node: &NodeId| {
        topology.roles[*node as usize] == Role::Equipment
            && drawing.class(*node).is_some_and(|class| snake_case(class).contains("pump"))
    };
    let ends = |node: NodeId| topology.roles[node as usize] == Role::OneWay;
    let (mut scratch, mut missing) = (WalkScratch::default(), MissingEnds::default());
    for pump in checker.nodes().filter(is_pump) {
        let start = [pump];
        let starts = walk::starts(topology, &walk_options, &start);
        let steps =
            walk::walk(topology, &mut scratch, &starts, &walk_options, &mut StopVisitor { charge, ends: &ends })?;
        let arrival = steps.iter().find(|step| step.depth > 0 && topology.is_equipment(step.node));
        let is_certain = arrival.is_some();
        let Some(end) = (if is_certain { arrival } else { first_exit(drawing, &mut missing, &steps, charge)? }) else {
            continue;
        };
        let [pump_name, end_name] = [pump, end.node].map(|node| checker.name(node));
        let message = if is_certain {
            format!("no check valve between {pump_name} and {end_name}")
        } else {
            format!("no check valve between {pump_name} and {end_name}, and the drawing does not show what follows")
        };
        charge(u64::from(end.depth))?;
        checker.report_finding(is_certain, message, &[pump, end.node], &edges_to(&steps, end));
    }
    Ok(())
}

pub(super) fn dead_legs(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    let mut missing = MissingEnds::default();
    for DeadEnd { at, items, class } in dead_ends(drawing, charge)? {
        let place = if at == NONE { String::new() } else { format!(" at {}", checker.name(at)) };
        let end = items.last().copied().unwrap_or(at);
        let path = pipes_between(drawing, at, &items, charge)?;
        let count = if items.len() == 1 { "1 item".to_owned() } else { format!("{} items", items.len()) };
        if leaves_drawing(drawing, &mut missing, end, charge)? {
            let end = checker.name(end);
            let message =
                format!("a branch of {count}{place} ({class}), and the drawing does not show what follows {end}");
            checker.report_finding(false, message, &items, &path);
        } else {
            checker.report(format!("a dead end of {count}{place} ({class})"), &items, &path);
        }
    }
    Ok(())
}

/// Returns the pipes of a branch from its start to its end. Iterates over its items, which have at most two pipes each.
fn pipes_between(drawing: &Drawing<'_>, at: NodeId, items: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<EdgeId>> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    let mut pipes = Vec::with_capacity(items.len());
    let mut before = at;
    for item in items {
        charge(1 + table.degree(*item) as u64)?;
        pipes.extend(table.arcs(*item).find(|(other, _)| *other == before).map(|(_, edge)| edge));
        before = *item;
    }
    Ok(pipes)
}
