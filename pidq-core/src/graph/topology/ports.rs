//! Ports of equipment: which nozzles belong to which equipment, and to which side of it.

use hashbrown::HashSet;

use super::{BitSet, EdgeFlags, GroupKind, Topology};
use crate::graph::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use crate::graph::roles::Role;

impl Topology {
    /// Assigns ports to equipment, by the edges between equipment and its parts, then by those for members, then by the
    /// fields that name an owner, then by their tags.
    pub(super) fn find_ports(&mut self, groups: &[GroupKind]) {
        let mut containers = vec![[NONE; 2]; self.node_count()];
        let parts: Vec<EdgeId> = self.edges_of(EdgeFlags::PART).collect();
        for edge in parts {
            let [container, part] = self.in_order(self.ends[edge as usize], edge);
            if containers[part as usize][0] == NONE && container != part {
                containers[part as usize] = [container, edge];
            }
        }
        self.apply_member_edges(&mut containers, groups);
        self.apply_parent_fields(&mut containers, groups);
        self.apply_named_owners(&mut containers);
        for (node, container) in containers.iter().enumerate() {
            if container[0] != NONE && self.is_port(node as u32) {
                self.owners[node] = *container;
            }
        }
        self.resolve_chambers(&containers);
        self.read_zones();
        self.read_actuators();
        let ports_with_owner = || self.owners.iter().enumerate().filter(|(_, owner)| owner[0] != NONE);
        self.ports = Adjacency::new(self.node_count(), || {
            ports_with_owner().map(|(port, owner)| (owner[0], port as u32, owner[1]))
        });
        self.has_nested_equipment = self.find_nested_equipment(&containers);
    }

    /// Applies the edges for members to nozzles and chambers that are no parts by another edge. A nozzle is a port if they
    /// lead from it to equipment: a nozzle in a line is a member of it. Of several groups, the innermost equipment applies.
    fn apply_member_edges(&self, containers: &mut [[u32; 2]], groups: &[GroupKind]) {
        let role = |node: NodeId| self.roles[node as usize];
        let is_chamber = |node: NodeId| {
            role(node) == Role::None && groups[node as usize] == GroupKind::None && self.flow_degree(node) == 0
        };
        let is_candidate = |[group, member]: [NodeId; 2]| {
            group != member
                && containers[member as usize][0] == NONE
                && (role(group) == Role::Equipment || is_chamber(group))
                && (role(member) == Role::Port || is_chamber(member))
        };
        let memberships = self.member_edges().map(|(pair, edge)| (self.in_order(pair, edge), edge));
        let memberships: Vec<([NodeId; 2], EdgeId)> = memberships.filter(|(pair, _)| is_candidate(*pair)).collect();
        let is_nested = |[outer, inner]: &[NodeId; 2]| [*outer, *inner].map(role) == [Role::Equipment; 2];
        let nested: HashSet<[NodeId; 2]> = self.member_edges().map(|(pair, _)| pair).filter(is_nested).collect();
        for ([group, member], edge) in &memberships {
            let known = containers[*member as usize][0];
            let is_better = || role(*group) == Role::Equipment && role(known) != Role::Equipment;
            if known == NONE || is_better() || nested.contains(&[known, *group]) {
                containers[*member as usize] = [*group, *edge];
            }
        }
        for ([_, member], _) in &memberships {
            let [group, _] = containers[*member as usize];
            if group != NONE && role(group) != Role::Equipment && self.enclosing_equipment(group, containers).is_none()
            {
                containers[*member as usize] = [NONE; 2];
            }
        }
    }

    /// Returns a whole and a part of an edge. Without a direction, a nozzle is the part.
    pub(super) fn in_order(&self, [whole, part]: [NodeId; 2], edge: EdgeId) -> [NodeId; 2] {
        let is_nozzle = |node: NodeId| self.roles[node as usize] == Role::Port;
        let is_reversed = self.is_undirected.contains(edge) && is_nozzle(whole) && !is_nozzle(part);
        if is_reversed { [part, whole] } else { [whole, part] }
    }

    fn find_nested_equipment(&self, containers: &[[u32; 2]]) -> bool {
        let role = |node: NodeId| self.roles[node as usize];
        let is_nested = |container: NodeId, node: NodeId| {
            role(container) == Role::Equipment
                && match role(node) {
                    Role::Equipment => true,
                    Role::Port => self.owner(node).is_none(),
                    Role::None => self.ports.degree(node) > 0,
                    _ => false,
                }
        };
        let by_part = (0..).zip(containers).filter(|(_, container)| container[0] != NONE);
        let mut pairs = by_part.map(|(node, container)| (container[0], node)).chain(self.edge_memberships());
        pairs.any(|(container, node)| is_nested(container, node))
    }

    /// Applies the fields that name an owner: for equipment the node becomes a part, for a line or a loop a member. An
    /// edge to an owner of the same kind takes precedence: an instrument in a pipe may also be in a loop, and an edge
    /// for one does not override a field for the other. A nozzle in a line is a member of it, not a port.
    fn apply_parent_fields(&mut self, containers: &mut [[u32; 2]], groups: &[GroupKind]) {
        if self.field_memberships.is_empty() {
            return;
        }
        let members =
            |kind: GroupKind| self.edge_memberships().filter(move |(group, _)| groups[*group as usize] == kind);
        let by_edge = [GroupKind::None, GroupKind::Line, GroupKind::Loop, GroupKind::Structure]
            .map(|kind| BitSet::from_indices(self.node_count(), members(kind).map(|(_, member)| member)));
        let roles = &self.roles;
        let mut field_parts = Vec::new();
        self.field_memberships.retain(|[node, owner]| {
            let is_nozzle = roles[*node as usize] == Role::Port;
            let kind = groups[*owner as usize];
            let is_part = kind == GroupKind::None && (is_nozzle || roles[*owner as usize] == Role::Equipment);
            let container = &mut containers[*node as usize];
            let is_owned = container[0] != NONE || owner == node;
            if is_part && !is_owned {
                *container = [*owner, NONE];
                field_parts.extend((!is_nozzle && roles[*node as usize] == Role::None).then_some([*owner, *node]));
            }
            !is_part && !is_owned && !by_edge[kind as usize].contains(*node)
        });
        field_parts.sort_unstable();
        self.field_parts = field_parts;
    }

    /// Applies the other fields and the tags that name an owner to nozzles and parts that are none of other equipment.
    fn apply_named_owners(&self, containers: &mut [[u32; 2]]) {
        for [part, owner] in self.named_owners.iter().chain(&self.owners_by_tag).copied() {
            let container = &mut containers[part as usize];
            if container[0] == NONE {
                *container = [owner, NONE];
            }
        }
    }

    /// Returns whether a part is a port: a nozzle by its class, or a part of unknown class that carries flow.
    fn is_port(&self, node: NodeId) -> bool {
        match self.roles[node as usize] {
            Role::Port => true,
            Role::None => self.flow_degree(node) > 0,
            _ => false,
        }
    }

    /// Resolves nozzles that are parts of a chamber or another part of the equipment: the chamber becomes the side they
    /// are on.
    fn resolve_chambers(&mut self, containers: &[[u32; 2]]) {
        for node in 0..self.node_count() {
            let [chamber, _] = self.owners[node];
            let Some(outer) = self.enclosing_equipment(chamber, containers) else { continue };
            self.owners[node][0] = outer;
            // Sections of a column are open to each other, so a nozzle's own zone takes precedence.
            if self.zones[node] == NONE {
                self.zones[node] = chamber;
            }
        }
    }

    /// Returns the equipment that contains a part; `None` for equipment itself and for parts outside of equipment.
    fn enclosing_equipment(&self, part: NodeId, containers: &[[u32; 2]]) -> Option<NodeId> {
        const MAX_PARTS: usize = 8;
        let is_equipment = |node: NodeId| self.roles[node as usize] == Role::Equipment;
        if part == NONE || is_equipment(part) {
            return None;
        }
        let container_of = |part: &NodeId| Some(containers[*part as usize][0]).filter(|outer| *outer != NONE);
        std::iter::successors(container_of(&part), container_of).take(MAX_PARTS).find(|outer| is_equipment(*outer))
    }

    fn read_zones(&mut self) {
        let edges: Vec<EdgeId> = self.edges_of(EdgeFlags::ZONE).collect();
        for edge in edges {
            let [port, chamber] = self.ends[edge as usize];
            if self.owners[port as usize][0] != NONE && self.zones[port as usize] == NONE {
                self.zones[port as usize] = chamber;
            }
        }
    }
}
