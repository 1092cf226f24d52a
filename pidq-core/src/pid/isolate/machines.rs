//! Machines of a volume with a single pipe: the pipe at their suction or their outlet may be missing on the drawing.

use super::Isolation;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary;
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;

impl Isolation<'_, '_> {
    /// Notes the machines of the volume through which a fluid flows and that have one pipe.
    pub(super) fn note_machines_with_one_pipe<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        visitor.charge(1 + self.inside.len() as u64)?;
        let machines = self.inside.iter().copied().filter(|node| has_inlet_and_outlet(self.drawing, *node));
        for machine in machines.collect::<Vec<NodeId>>() {
            if self.pipe_count_of(machine, &mut |units| visitor.charge(units))? == 1 {
                self.note("missing_pipe", machine);
            }
        }
        Ok(())
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

/// Returns whether a fluid enters equipment and leaves it at another pressure. A fan of a cooler moves air only.
fn has_inlet_and_outlet(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize] == Role::Equipment
        && (drawing.raises_pressure(node) || drawing.class_ends_with_word(node, vocabulary::EXPANDING))
        && !drawing.class_has(node, vocabulary::FAN_COOLED)
}
