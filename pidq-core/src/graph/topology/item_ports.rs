//! Ports of items in pipes that are nodes of their own: a valve with two ports at which its pipes end.
//!
//! The pipes become those of the item, and the ports remain parts without pipes.

use hashbrown::{HashMap, HashSet};

use super::{EdgeFlags, GroupKind, Topology};
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::value::Array;

impl Topology {
    /// Moves the pipes of the ports of items in pipes to the items. An item with a pipe of its own has none: what belongs to
    /// it is a branch, such as a drain of its body.
    pub(super) fn merge_item_ports(&mut self, nodes: Array<'_>, groups: &[GroupKind]) {
        let by_edge = self.edges_of(EdgeFlags::PART).map(|edge| self.ends[edge as usize]);
        let by_field = self.field_memberships.iter().map(|[part, whole]| [*whole, *part]);
        let may_be_pair = |[whole, part]: &[NodeId; 2]| {
            let is_item = |node: NodeId| groups[node as usize] == GroupKind::None;
            whole != part && is_item(*whole) && is_item(*part) && self.may_be_port(*part) && self.may_have_ports(*whole)
        };
        let pairs: Vec<[NodeId; 2]> = by_edge.chain(by_field).filter(may_be_pair).collect();
        if pairs.is_empty() {
            return;
        }
        let pipes = || self.edges_of(EdgeFlags::FLOW);
        let piped: HashSet<NodeId> = pipes().flat_map(|edge| self.ends[edge as usize]).collect();
        let is_port = |[whole, part]: &[NodeId; 2]| {
            piped.contains(part)
                && !piped.contains(whole)
                && (self.roles[*part as usize] == Role::Port || is_called(nodes, *part, self, is_port_class))
                && (self.roles[*whole as usize] != Role::None
                    || is_called(nodes, *whole, self, |class| self.is_passed(class)))
        };
        let mut item_of: HashMap<NodeId, NodeId> = HashMap::new();
        for [whole, part] in pairs.into_iter().filter(is_port) {
            item_of.entry(part).or_insert(whole);
        }
        if item_of.is_empty() {
            return;
        }
        let item = |node: NodeId| item_of.get(&node).copied().unwrap_or(node);
        let moved: Vec<(u32, [NodeId; 2])> = (0..self.edge_count() as u32)
            .filter(|edge| self.edge_flags[*edge as usize].contains(EdgeFlags::FLOW))
            .map(|edge| (edge, self.ends[edge as usize].map(item)))
            .filter(|(_, [from, to])| from != to || *from == NONE)
            .collect();
        moved.into_iter().for_each(|(edge, ends)| self.ends[edge as usize] = ends);
        for port in item_of.keys() {
            self.roles[*port as usize] = Role::None;
        }
        self.item_ports = item_of.into_iter().map(|(port, item)| [port, item]).collect();
        self.item_ports.sort_unstable();
    }

    /// Returns the item in a pipe that a node is a port of.
    pub fn item_of_port(&self, port: NodeId) -> Option<NodeId> {
        let at = self.item_ports.binary_search_by_key(&port, |[port, _]| *port).ok()?;
        Some(self.item_ports[at][1])
    }

    /// Returns the ports of some items in pipes.
    pub fn ports_of_items(&self, is_item: impl Fn(NodeId) -> bool) -> impl Iterator<Item = NodeId> {
        self.item_ports.iter().filter(move |[_, item]| is_item(*item)).map(|[port, _]| *port)
    }

    fn may_be_port(&self, node: NodeId) -> bool {
        matches!(self.roles[node as usize], Role::Port | Role::None)
    }

    /// Returns whether an item may be one in a pipe. Of those without a role, the class decides.
    fn may_have_ports(&self, node: NodeId) -> bool {
        !matches!(self.roles[node as usize], Role::Equipment | Role::Port)
    }

    /// Returns whether a class is that of an item in a pipe without a role, and not of the pipe or its segment.
    fn is_passed(&self, class: &str) -> bool {
        let is_pipe = |word: &str| vocabulary::PIPE_WORDS.contains(&word) || word == "segment";
        self.config.passage_of(class).is_some() && !snake_case(class).split(['_', '.']).any(is_pipe)
    }
}

/// Returns whether a class of a node meets a condition.
fn is_called(nodes: Array<'_>, node: NodeId, topology: &Topology, meets: impl Fn(&str) -> bool) -> bool {
    let object = nodes.get(node as usize).and_then(|node| node.as_object());
    let classes = topology.config.names(Names::Class).iter().filter_map(|name| object?.get(name)?.as_str());
    classes.filter(|class| class.len() <= MAX_CLASS).any(meets)
}

/// Returns whether a class is that of a connection of an item, by its last word.
fn is_port_class(class: &str) -> bool {
    let class = snake_case(class);
    class.rsplit(['_', '.']).next().is_some_and(|word| vocabulary::PORT_WORDS.contains(&word))
}
