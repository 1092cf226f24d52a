//! Memos of properties read from the fields of nodes and edges: small numbers, computed at first use and kept with the
//! network.
//!
//! They depend on the document and its config only, so that all runs share them.

use std::sync::atomic::{AtomicU8, Ordering};

use super::adjacency::{EdgeId, NodeId};

/// Property of a node that is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Property {
    Installation,
    IsLockedOpen,
    Ways,
    IsStatedAsActuated,
    IsContradicted,
    MayNotBeTight,
    HasUnreadText,
    HasPositionLabel,
    IsSaidTwoSided,
}

/// Number of properties.
pub(crate) const COUNT: usize = Property::IsSaidTwoSided as usize + 1;

/// One byte by node and property; 0 for those that are not computed yet.
#[derive(Debug, Default)]
pub(crate) struct NodeMemos(Box<[[AtomicU8; COUNT]]>);

impl NodeMemos {
    /// Creates the memos of a number of nodes.
    pub fn new(nodes: usize) -> NodeMemos {
        NodeMemos((0..nodes).map(|_| Default::default()).collect())
    }

    /// Returns a property of a node, below 255. It is computed at the first use.
    pub fn get_or_compute(&self, property: Property, node: NodeId, compute: impl FnOnce() -> u8) -> u8 {
        let Some(of_node) = self.0.get(node as usize) else { return compute() };
        stored_or_computed(&of_node[property as usize], compute)
    }

    /// Returns a property that is true or false.
    pub fn is_or_compute(&self, property: Property, node: NodeId, compute: impl FnOnce() -> bool) -> bool {
        self.get_or_compute(property, node, || u8::from(compute())) == 1
    }
}

/// One byte by edge for its state; 0 for those that are not computed yet.
#[derive(Debug, Default)]
pub(crate) struct EdgeMemos(Box<[AtomicU8]>);

impl EdgeMemos {
    /// Creates the memos of a number of edges.
    pub fn new(edges: usize) -> EdgeMemos {
        EdgeMemos((0..edges).map(|_| AtomicU8::default()).collect())
    }

    /// Returns the state of an edge, below 255. It is computed at the first use.
    pub fn get_or_compute(&self, edge: EdgeId, compute: impl FnOnce() -> u8) -> u8 {
        let Some(memo) = self.0.get(edge as usize) else { return compute() };
        stored_or_computed(memo, compute)
    }
}

fn stored_or_computed(memo: &AtomicU8, compute: impl FnOnce() -> u8) -> u8 {
    // Threads that compute it at the same time store the same number.
    match memo.load(Ordering::Relaxed) {
        0 => {
            let computed = compute();
            memo.store(computed.saturating_add(1), Ordering::Relaxed);
            computed
        }
        stored => stored - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{EdgeMemos, NodeMemos, Property};

    #[test]
    fn a_property_is_computed_once() {
        let memos = NodeMemos::new(2);
        assert_eq!(memos.get_or_compute(Property::Installation, 1, || 2), 2);
        assert_eq!(memos.get_or_compute(Property::Installation, 1, || 7), 2);
        assert_eq!(memos.get_or_compute(Property::Installation, 0, || 0), 0);
        assert_eq!(memos.get_or_compute(Property::Installation, 0, || 7), 0);
        assert!(memos.is_or_compute(Property::IsLockedOpen, 1, || true));
        assert!(memos.is_or_compute(Property::IsLockedOpen, 1, || false));
        assert_eq!(memos.get_or_compute(Property::Installation, 9, || 3), 3);
    }

    #[test]
    fn the_state_of_an_edge_is_computed_once() {
        let memos = EdgeMemos::new(1);
        assert_eq!(memos.get_or_compute(0, || 2), 2);
        assert_eq!(memos.get_or_compute(0, || 7), 2);
        assert_eq!(memos.get_or_compute(9, || 3), 3);
    }
}
