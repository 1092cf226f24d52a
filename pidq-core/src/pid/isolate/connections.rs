//! Uncertain connections of a volume: pipes to nowhere, edges of unknown kind, shared ids.

use hashbrown::HashSet;

use super::bleeds::neighbors;
use super::{DataGap, Isolation, Uncertainty};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;

impl Isolation<'_, '_> {
    /// Finds pipes at the volume, nozzles of its items and third pipes of its barriers with an end that names no node.
    pub(super) fn find_dangling<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        visitor.charge(topology.dangling.len() as u64)?;
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let may_open_volume = |edge: &&EdgeId| {
            [EdgeFlags::FLOW, EdgeFlags::PART].iter().any(|flags| topology.edge_flags[**edge as usize].contains(*flags))
        };
        for edge in topology.dangling.iter().filter(may_open_volume) {
            let ends = topology.ends[*edge as usize];
            let end = match ends.into_iter().find(|end| inside.contains(end)) {
                None => self.open_barrier_at(ends, visitor)?,
                end => end,
            };
            self.gaps.extend(end.map(|node| DataGap { kind: "dangling_edge", at: node, edge: *edge }));
        }
        Ok(())
    }

    /// Returns the barrier at an end of a pipe to nowhere, if it has two other pipes: the third one may be on the side of
    /// the volume.
    fn open_barrier_at<V: Visitor>(&self, ends: [NodeId; 2], visitor: &mut V) -> Result<Option<NodeId>> {
        let Some(node) = ends.into_iter().find(|end| self.barrier_of.contains_key(end)) else { return Ok(None) };
        let pipes = neighbors(self.drawing, node, &mut |units| visitor.charge(units))?;
        Ok((pipes.len() > 1).then_some(node))
    }

    /// Finds edges of unknown kind between the volume and other items: they may be pipes.
    pub(super) fn find_unknown_connections<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        if !self.drawing.topology.all_flags.contains(EdgeFlags::UNKNOWN) {
            return Ok(());
        }
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        for node in self.inside.clone() {
            for edge in unknown_connections(self.drawing, node, &inside, &mut |units| visitor.charge(units))? {
                self.gaps.push(DataGap { kind: "unknown_connection", at: node, edge });
                self.uncertainties.push(Uncertainty { reason: "unknown_connection", at: node, edge });
            }
        }
        Ok(())
    }

    /// Finds items that share their id with another node: an edge may mean either of them.
    pub(super) fn find_shared_ids<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let barriers = self.barriers.iter().map(|barrier| self.steps[barrier.step as usize].node);
        let nodes: Vec<NodeId> = self.inside.iter().copied().chain(barriers).collect();
        for node in nodes {
            let Some(key) = Key::from_value(self.drawing.id(node)) else { continue };
            let has_id = |other: NodeId| Key::from_value(self.drawing.id(other)) == Some(key);
            let count = topology.by_id(key, has_id).take(2).count();
            visitor.charge(count as u64)?;
            if count > 1 {
                self.note("shared_id", node);
            }
        }
        Ok(())
    }
}

/// Returns the edges of unknown kind from a node to items outside of a volume.
pub(in crate::pid) fn unknown_connections(
    drawing: &Drawing<'_>,
    node: NodeId,
    inside: &HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<Vec<EdgeId>> {
    let mut found = Vec::new();
    for (other, edge) in unknown_arcs(drawing, node, charge)? {
        if !inside.contains(&other) && leads_to_item(drawing, node, other, charge)? {
            found.push(edge);
        }
    }
    Ok(found)
}

fn unknown_arcs(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, EdgeId)>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(1 + table.degree(node) as u64)?;
    let is_unknown = |edge: EdgeId| topology.edge_flags[edge as usize].contains(EdgeFlags::UNKNOWN);
    Ok(table.arcs(node).filter(|(_, edge)| is_unknown(*edge)).collect())
}

/// Returns whether an edge of unknown kind leads to an item of pipes or to equipment, past items of unknown class with
/// two such edges. What has one or many is a note or a group.
fn leads_to_item(drawing: &Drawing<'_>, from: NodeId, to: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    const MAX_STEPS: usize = 20;
    let (mut before, mut node) = (from, to);
    for _ in 0..MAX_STEPS {
        if is_item(drawing, node) {
            return Ok(true);
        }
        if drawing.topology.roles[node as usize] != Role::None || is_group(drawing, node) {
            return Ok(false);
        }
        let arcs = unknown_arcs(drawing, node, charge)?;
        let mut next = arcs.iter().map(|(next, _)| *next).filter(|next| *next != before);
        match (next.next(), next.next()) {
            (Some(only), None) => (before, node) = (node, only),
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Returns whether a node is in a pipe, or could be: what measures is connected by other edges too.
fn is_item(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_passed = || drawing.class_texts(node).any(|class| topology.config.passage_of(class).is_some());
    topology.flow_degree(node) > 0
        || topology.owner(node).is_some()
        || match topology.roles[node as usize] {
            Role::Instrument => false,
            Role::None => !is_group(drawing, node) && is_passed(),
            _ => true,
        }
}

fn is_group(drawing: &Drawing<'_>, node: NodeId) -> bool {
    [Names::LineType, Names::SegmentType, Names::LoopType].iter().any(|types| drawing.has_type(node, *types))
}
