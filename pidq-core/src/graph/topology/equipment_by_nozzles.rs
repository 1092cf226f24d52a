//! Equipment by its nozzles: an item of unknown class that owns nozzles, and nothing else of a pipe, is equipment.

use super::{BitSet, EdgeFlags, GroupKind, Topology};
use crate::graph::adjacency::NodeId;
use crate::graph::config::{Names, TopologyConfig};
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::value::{Array, Value};

impl Topology {
    /// Assigns the role of equipment to the owners of nozzles whose class is in no list. Lines, chambers of other equipment and
    /// what has a pipe of its own are none.
    pub(super) fn find_equipment_by_nozzles(&mut self, nodes: Array<'_>, groups: &[GroupKind], pairs: &[[NodeId; 2]]) {
        let role = |node: NodeId| self.roles[node as usize];
        let may_be_equipment = |node: NodeId| {
            role(node) == Role::None && groups[node as usize] == GroupKind::None && self.flow_degree(node) == 0
        };
        let owners = pairs.iter().filter(|[whole, part]| role(*part) == Role::Port && may_be_equipment(*whole));
        let owners = BitSet::from_indices(self.node_count(), owners.map(|[whole, _]| *whole));
        if owners.is_empty() {
            return;
        }
        let is_in_pipe = |part: NodeId| match role(part) {
            Role::Port | Role::Instrument => false,
            Role::None => self.flow_degree(part) > 0,
            _ => true,
        };
        let excluded = pairs.iter().filter_map(|[whole, part]| match () {
            () if owners.contains(*whole) && is_in_pipe(*part) => Some(*whole),
            () if owners.contains(*part) && (role(*whole) == Role::Equipment || owners.contains(*whole)) => Some(*part),
            () => None,
        });
        let excluded = BitSet::from_indices(self.node_count(), excluded);
        let is_equipment = |node: &NodeId| {
            owners.contains(*node)
                && !excluded.contains(*node)
                && nodes.get(*node as usize).is_some_and(|value| has_unknown_class(&self.config, value))
        };
        let found: Vec<NodeId> = (0..self.node_count() as NodeId).filter(is_equipment).collect();
        for node in found {
            self.roles[node as usize] = Role::Equipment;
        }
    }

    /// Returns wholes with their parts or members, by edges and by fields.
    pub(super) fn owner_pairs(&self) -> Vec<[NodeId; 2]> {
        let parts = self.edges_of(EdgeFlags::PART).map(|edge| self.in_order(self.ends[edge as usize], edge));
        let members = self.member_edges().map(|(pair, edge)| self.in_order(pair, edge));
        let fields = self.field_memberships.iter().chain(&self.named_owners).map(|[member, group]| [*group, *member]);
        parts.chain(members).chain(fields).filter(|[whole, part]| whole != part).collect()
    }
}

/// Returns whether an item states a class, and each one is in no list: neither that of an item in a pipe, nor that of a part or
/// a place.
fn has_unknown_class(config: &TopologyConfig, node: Value<'_>) -> bool {
    let Some(fields) = node.as_object() else { return false };
    let names = config.names(Names::Class).iter();
    let mut classes =
        names.filter_map(|name| fields.get(name)?.as_str()).filter(|class| !class.trim().is_empty()).peekable();
    classes.peek().is_some() && classes.all(|class| config.passage_of(class).is_none() && !names_part_or_place(class))
}

fn names_part_or_place(class: &str) -> bool {
    let class = snake_case(class);
    let has = |known: &[&str]| class.split(['_', '.']).any(|word| known.contains(&word));
    vocabulary::NO_EQUIPMENT_GROUPS.iter().any(|group| class.starts_with(group))
        || has(vocabulary::PLACES)
        || has(vocabulary::CHAMBERS)
        || has(vocabulary::GROUP_WORDS)
}
