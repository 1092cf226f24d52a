//! Owners of nozzles and of parts of equipment that a field names: by a field that is not for parents, or by a tag.

use hashbrown::HashMap;

use super::{GroupKind, NodeIds, Topology};
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::field_reader::FieldReader;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::value::{Array, Object, Value};

impl Topology {
    /// Returns pairs of nozzles or parts of equipment and the owner that a field names: by its id, or by its tag if it is
    /// the only equipment with this tag. An owner by the id in a field for parents is read elsewhere.
    pub(super) fn named_owners<'a>(
        &self,
        nodes: Array<'a>,
        ids: &NodeIds<'a>,
        groups: &[GroupKind],
    ) -> Vec<[NodeId; 2]> {
        let config = &self.config;
        let names = [Names::Parent, Names::Owner].into_iter().flat_map(|names| config.names(names));
        let mut fields = FieldReader::new(names);
        let parent_count = config.names(Names::Parent).len();
        let mut tags = None;
        let mut found = Vec::new();
        for (node, value) in (0..).zip(nodes.iter()) {
            let Some(object) = value.as_object().filter(|_| self.may_be_owned(node, groups)) else { continue };
            for at in 0..fields.len() {
                let Some(value) = fields.get(object, at) else { continue };
                if !self.is_part_of_equipment(node, object) {
                    break;
                }
                let by_id = ids.resolve_parent(value, config);
                let owner = match by_id {
                    NONE => self.by_only_tag(value, nodes, groups, &mut tags),
                    owner => (at >= parent_count && self.may_own(owner, groups)).then_some(owner),
                };
                if let Some(owner) = owner.filter(|owner| *owner != node) {
                    found.push([node, owner]);
                    break;
                }
            }
        }
        found
    }

    fn may_be_owned(&self, node: NodeId, groups: &[GroupKind]) -> bool {
        matches!(self.roles[node as usize], Role::Port | Role::Equipment | Role::None)
            && groups[node as usize] == GroupKind::None
    }

    /// Returns whether a node is a nozzle, or a part of equipment by its class: a boot, a chamber. What else names equipment
    /// may stand beside it.
    fn is_part_of_equipment(&self, node: NodeId, object: Object<'_>) -> bool {
        let names = self.config.names(Names::Class).iter();
        let mut classes = names.filter_map(|name| object.get(name)?.as_str()).filter(|class| class.len() <= MAX_CLASS);
        let is_part = |class: &str| {
            let class = format!("_{}_", snake_case(class).replace('.', "_"));
            vocabulary::BODY_PARTS.iter().any(|part| class.contains(&format!("_{part}_")))
        };
        self.roles[node as usize] == Role::Port || classes.any(is_part)
    }

    fn may_own(&self, node: NodeId, groups: &[GroupKind]) -> bool {
        match self.roles[node as usize] {
            Role::Equipment => true,
            Role::None => groups[node as usize] == GroupKind::None && self.flow_degree(node) == 0,
            _ => false,
        }
    }

    /// Returns the only possible owner with a tag. The index of tags is built at the first use.
    fn by_only_tag<'a>(
        &self,
        value: Value<'a>,
        nodes: Array<'a>,
        groups: &[GroupKind],
        tags: &mut Option<HashMap<&'a str, Option<NodeId>>>,
    ) -> Option<NodeId> {
        let only = value.as_array().filter(|list| list.len() == 1).and_then(|list| list.get(0)).unwrap_or(value);
        let tag = only.as_str()?.trim();
        let by_tag = tags.get_or_insert_with(|| {
            let mut reader = FieldReader::new(self.config.names(Names::Tag));
            let mut by_tag: HashMap<&'a str, Option<NodeId>> = HashMap::new();
            for (node, value) in (0..).zip(nodes.iter()) {
                let object = value.as_object().filter(|_| self.may_own(node, groups));
                if let Some(tag) = object.and_then(|object| reader.first(object)?.as_str()) {
                    by_tag.entry(tag.trim()).and_modify(|known| *known = None).or_insert(Some(node));
                }
            }
            by_tag
        });
        by_tag.get(tag).copied().flatten()
    }
}
