//! Connection of the sensors of a loop with its final elements, along its signals.

use hashbrown::{HashMap, HashSet};

use super::signals;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::ChargeFn;

/// Ends of the signals of a loop.
pub(crate) struct Path<'p> {
    pub sensors: &'p [NodeId],
    pub final_elements: &'p [NodeId],
}

/// Signals from a sensor to a final element.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Connection {
    #[default]
    None,
    /// Some have no direction.
    Assumed,
    Stated,
}

impl Path<'_> {
    /// Returns how signals lead from a sensor to a final element, through the other items of the loop.
    pub fn connection(
        &self,
        drawing: &Drawing<'_>,
        others: impl Iterator<Item = NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<Connection> {
        let others: HashSet<NodeId> = others.chain(self.final_elements.iter().copied()).collect();
        if self.is_connected(drawing, others.clone(), &|flags| !flags.contains(EdgeFlags::UNDIRECTED), charge)? {
            return Ok(Connection::Stated);
        }
        let is_connected = self.is_connected(drawing, others, &|_| true, charge)?;
        Ok(if is_connected { Connection::Assumed } else { Connection::None })
    }

    /// Returns which of some items a signal leads to from another one, and none from it to a final element: what shows or
    /// reports what the loop does.
    pub fn dead_ends(&self, drawing: &Drawing<'_>, items: &[NodeId], charge: ChargeFn<'_>) -> Result<HashSet<NodeId>> {
        let mut before: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for item in self.sensors.iter().chain(items).copied() {
            let mut next: Vec<NodeId> =
                signals::successors(drawing, item, charge)?.into_iter().map(|(next, _)| next).collect();
            next.extend(wholes(drawing, item, charge)?);
            next.into_iter().for_each(|next| before.entry(next).or_default().push(item));
        }
        let mut leading: HashSet<NodeId> = self.final_elements.iter().copied().collect();
        let mut queue: Vec<NodeId> = self.final_elements.to_vec();
        while let Some(node) = queue.pop() {
            let nodes = before.get(&node).map_or(&[][..], Vec::as_slice);
            charge(1 + nodes.len() as u64)?;
            queue.extend(nodes.iter().filter(|node| leading.insert(**node)));
        }
        Ok(items.iter().copied().filter(|item| before.contains_key(item) && !leading.contains(item)).collect())
    }

    /// Returns whether edges that are followed lead from a sensor to a final element.
    fn is_connected(
        &self,
        drawing: &Drawing<'_>,
        mut left: HashSet<NodeId>,
        is_followed: &dyn Fn(EdgeFlags) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<bool> {
        let final_elements: HashSet<NodeId> = self.final_elements.iter().copied().collect();
        self.sensors.iter().for_each(|sensor| _ = left.remove(sensor));
        charge(1 + (left.len() + self.sensors.len()) as u64)?;
        let mut queue: Vec<NodeId> = self.sensors.to_vec();
        while let Some(node) = queue.pop() {
            if final_elements.contains(&node) {
                return Ok(true);
            }
            let targets = signals::successors(drawing, node, charge)?.into_iter();
            let mut next: Vec<NodeId> =
                targets.filter(|(_, flags)| is_followed(*flags)).map(|(next, _)| next).collect();
            next.extend(wholes(drawing, node, charge)?);
            queue.extend(next.into_iter().filter(|next| left.remove(next)));
        }
        Ok(false)
    }
}

/// Returns the instruments and valves that an item is a part of: a function has its sensor and its actuator as parts.
fn wholes(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Up);
    charge(1 + table.degree(node) as u64)?;
    let is_part = |edge: u32| {
        let flags = topology.edge_flags[edge as usize];
        flags.contains(EdgeFlags::PART) || flags.contains(EdgeFlags::MEMBER)
    };
    let by_edge = table.arcs(node).filter(|(_, edge)| is_part(*edge)).map(|(whole, _)| whole);
    let is_item = |whole: &NodeId| {
        let role = topology.roles[*whole as usize];
        role == Role::Instrument || role.closes()
    };
    Ok(by_edge.chain(topology.field_group(node)).filter(is_item).collect())
}
