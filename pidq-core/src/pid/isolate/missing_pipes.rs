//! Equipment of a volume with fewer pipes than it has connections: a machine with a single pipe, an exchanger with one side, an
//! ejector without its motive fluid. The others may be missing on the drawing.

use super::Isolation;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary;
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;

impl Isolation<'_, '_> {
    /// Notes the equipment of the volume that lacks pipes.
    pub(super) fn note_missing_pipes<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        visitor.charge(1 + self.inside.len() as u64)?;
        let equipment = self.inside.iter().map(|node| (*node, self.connection_count(*node)));
        for (node, connections) in equipment.filter(|(_, count)| *count > 0).collect::<Vec<(NodeId, usize)>>() {
            let pipes = self.pipe_count_of(node, &mut |units| visitor.charge(units))?;
            if (1..connections).contains(&pipes) {
                self.note("missing_pipe", node);
            }
        }
        Ok(())
    }

    /// Returns the least number of connections of equipment, by its class; zero if it does not say so. An exchanger that others
    /// flow through may be on this sheet with one side only.
    fn connection_count(&self, node: NodeId) -> usize {
        let drawing = self.drawing;
        match () {
            () if drawing.topology.roles[node as usize] != Role::Equipment => 0,
            () if drawing.class_ends_with_word(node, vocabulary::THREE_CONNECTIONS) => 3,
            () if self.targets.contains(&node) && has_two_sides(drawing, node) => 3,
            () if has_inlet_and_outlet(drawing, node) => 2,
            () => 0,
        }
    }

    /// Returns the number of pipes at equipment, its parts and what is mounted on it. What it is a part of counts as one: a
    /// pump stands in its sump.
    fn pipe_count_of(&self, equipment: NodeId, charge: ChargeFn<'_>) -> Result<usize> {
        let topology = &self.drawing.topology;
        let parts = self.parts.open_to(self.drawing, equipment, charge)?;
        charge(1 + (parts.len() + topology.ports.degree(equipment)) as u64)?;
        let of_parts: usize = parts.iter().map(|part| topology.flow_degree_with_ports(*part)).sum();
        let wholes = self.parts.wholes_of(self.drawing, equipment, charge)?.len();
        Ok(topology.flow_degree_with_ports(equipment) + of_parts + self.parts.mounted_on(equipment).len() + wholes)
    }
}

/// Returns whether the class of equipment is that of an exchanger of two fluids. Coolers and heaters may have one.
fn has_two_sides(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_ends_with_word(node, vocabulary::TWO_SIDED) && !drawing.class_has(node, vocabulary::SINGLE_SIDED)
}

/// Returns whether a fluid enters equipment and leaves it at another pressure. A fan of a cooler moves air only.
fn has_inlet_and_outlet(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize] == Role::Equipment
        && (drawing.raises_pressure(node) || drawing.class_ends_with_word(node, vocabulary::EXPANDING))
        && !drawing.class_has(node, vocabulary::FAN_COOLED)
}
