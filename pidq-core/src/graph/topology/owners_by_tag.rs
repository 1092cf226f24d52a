//! Owners of nozzles that nothing but their tag or their id names: `V-1-N2` is a nozzle of `V-1`.

use hashbrown::HashSet;

use super::{BitSet, EdgeFlags, GroupKind, Topology};
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::field_reader::FieldReader;
use crate::graph::roles::Role;
use crate::graph::topology::equipment_tags::EquipmentTags;
use crate::value::{Array, Object, Value};

impl Topology {
    /// Returns nozzles and the only equipment that their tags name, or else their ids. A nozzle with another owner or group has
    /// none by its tag, and neither has one that a pipe connects to this equipment.
    pub(super) fn owners_by_tag(
        &self,
        nodes: Array<'_>,
        groups: &[GroupKind],
        pairs: &[[NodeId; 2]],
    ) -> Vec<[NodeId; 2]> {
        let is_ungrouped = |node: NodeId| groups[node as usize] == GroupKind::None;
        let nozzles = self.nodes_of(Role::Port).filter(|node| is_ungrouped(*node));
        let members = BitSet::from_indices(self.node_count(), pairs.iter().map(|[_, member]| *member));
        let nozzles: Vec<NodeId> = nozzles.filter(|node| !members.contains(*node)).collect();
        if nozzles.is_empty() {
            return Vec::new();
        }
        let object = |node: NodeId| nodes.get(node as usize).and_then(Value::as_object);
        let mut own_tags = FieldReader::new(self.config.names(Names::Tag));
        let equipment = self.nodes_of(Role::Equipment).filter(|node| is_ungrouped(*node));
        let equipment =
            EquipmentTags::new(equipment.filter_map(|node| Some((node, own_tags.first(object(node)?)?.as_str()?))));
        let piped = self.pipes_of_nozzles();
        let owner_fields = [Names::Parent, Names::Owner].into_iter().flat_map(|names| self.config.names(names));
        let mut owners = FieldReader::new(owner_fields);
        let mut names = NozzleNames::new(self);
        let owner_of = |nozzle: NodeId| {
            let fields = object(nozzle).filter(|fields| owners.first(*fields).is_none())?;
            let owner = names.of(fields).find_map(|name| only(equipment.of_nozzle(name)))?;
            (!piped.contains(&[nozzle, owner])).then_some([nozzle, owner])
        };
        nozzles.into_iter().filter_map(owner_of).collect()
    }

    fn nodes_of(&self, role: Role) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.node_count() as NodeId).filter(move |node| self.roles[*node as usize] == role)
    }

    /// Returns the pairs of a nozzle and what a pipe connects it to.
    fn pipes_of_nozzles(&self) -> HashSet<[NodeId; 2]> {
        let is_nozzle = |node: NodeId| self.roles[node as usize] == Role::Port;
        let pipes = self.edges_of(EdgeFlags::FLOW).filter(|edge| self.has_both_ends(*edge));
        let pairs = pipes.map(|edge| self.ends[edge as usize]).flat_map(|[from, to]| [[from, to], [to, from]]);
        pairs.filter(|[node, _]| is_nozzle(*node)).collect()
    }
}

/// The names of nozzles that may begin with the tag of their equipment.
struct NozzleNames<'k, 'a>([FieldReader<'k, 'a>; 3]);

impl<'k, 'a> NozzleNames<'k, 'a> {
    fn new(topology: &'k Topology) -> Self {
        NozzleNames(
            [Names::QualifiedTag, Names::Tag, Names::NodeId]
                .map(|names| FieldReader::new(topology.config.names(names))),
        )
    }

    fn of(&mut self, nozzle: Object<'a>) -> impl Iterator<Item = &'a str> + use<'_, 'k, 'a> {
        self.0.iter_mut().filter_map(move |fields| fields.first(nozzle)?.as_str())
    }
}

fn only(found: &[NodeId]) -> Option<NodeId> {
    let [owner] = found else { return None };
    Some(*owner)
}
