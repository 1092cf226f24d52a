//! Memos of properties read from the fields of nodes and edges: small numbers, computed at first use and kept with the
//! network.
//!
//! They depend on the document and its config only, so that all runs share them.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

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
    IsSpool,
    Passage,
    TagLetters,
    IsOutOfAction,
    HasDoubtfulText,
    StatedCause,
}

/// Number of properties.
pub(crate) const COUNT: usize = Property::StatedCause as usize + 1;

/// Number of bits in the memo of a set of lists.
pub(crate) const LISTS: usize = 2 * LISTS_PER_WORD;
const LISTS_PER_WORD: usize = 63;
/// Bit of both words of a set of lists: it is computed.
const IS_COMPUTED: u64 = 1 << LISTS_PER_WORD;

/// Memory in bytes by node.
pub(crate) const SIZE: usize = COUNT + size_of::<[AtomicU64; 2]>();

/// Properties of nodes; those that are not computed yet are 0.
#[derive(Debug, Default)]
pub(crate) struct NodeMemos {
    /// One byte by node and property.
    properties: Box<[[AtomicU8; COUNT]]>,
    /// By node: the lists of names under which it states something.
    stated_lists: Box<[[AtomicU64; 2]]>,
}

impl NodeMemos {
    /// Creates the memos of a number of nodes.
    pub fn new(nodes: usize) -> NodeMemos {
        NodeMemos {
            properties: (0..nodes).map(|_| Default::default()).collect(),
            stated_lists: (0..nodes).map(|_| Default::default()).collect(),
        }
    }

    /// Returns a property of a node, below 255. It is computed at the first use.
    pub fn get_or_compute(&self, property: Property, node: NodeId, compute: impl FnOnce() -> u8) -> u8 {
        let Some(of_node) = self.properties.get(node as usize) else { return compute() };
        stored_or_computed(&of_node[property as usize], compute)
    }

    /// Returns a property that is one of some values, of which there are at most 254; one in no list is not kept.
    pub fn one_of_or_compute<T: Copy + PartialEq>(
        &self,
        property: Property,
        node: NodeId,
        all: &[T],
        compute: impl FnOnce() -> T,
    ) -> T {
        let Some(of_node) = self.properties.get(node as usize) else { return compute() };
        let memo = &of_node[property as usize];
        let stored = usize::from(memo.load(Ordering::Relaxed));
        if let Some(value) = stored.checked_sub(1).and_then(|position| all.get(position)) {
            return *value;
        }
        let computed = compute();
        let number = all.iter().position(|value| *value == computed).map_or(0, |position| position + 1);
        memo.store(number.try_into().unwrap_or(0), Ordering::Relaxed);
        computed
    }

    /// Returns a property that is true or false.
    pub fn is_or_compute(&self, property: Property, node: NodeId, compute: impl FnOnce() -> bool) -> bool {
        self.get_or_compute(property, node, || u8::from(compute())) == 1
    }

    /// Returns the lists of names under which a node states something, as bits below [`LISTS`]. They are computed at the
    /// first use.
    pub fn stated_lists_or_compute(&self, node: NodeId, compute: impl FnOnce() -> u128) -> u128 {
        let Some(words) = self.stated_lists.get(node as usize) else { return compute() };
        let stored = words.each_ref().map(|word| word.load(Ordering::Relaxed));
        if stored.iter().all(|word| word & IS_COMPUTED != 0) {
            let [low, high] = stored.map(|word| u128::from(word & !IS_COMPUTED));
            return low | high << LISTS_PER_WORD;
        }
        let lists = compute();
        let parts = [lists, lists >> LISTS_PER_WORD].map(|part| part as u64 | IS_COMPUTED);
        // Threads that compute them at the same time store the same bits.
        words.iter().zip(parts).for_each(|(word, part)| word.store(part, Ordering::Relaxed));
        lists
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
    use super::{EdgeMemos, LISTS, NodeMemos, Property};

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
    fn one_of_some_values_is_computed_once() {
        let memos = NodeMemos::new(2);
        let all = ["a", "b"];
        assert_eq!(memos.one_of_or_compute(Property::Passage, 0, &all, || "b"), "b");
        assert_eq!(memos.one_of_or_compute(Property::Passage, 0, &all, || "a"), "b");
        for other in ["c", "d"] {
            assert_eq!(memos.one_of_or_compute(Property::Passage, 1, &all, || other), other);
        }
        assert_eq!(memos.one_of_or_compute(Property::Passage, 9, &all, || "a"), "a");
    }

    #[test]
    fn lists_are_computed_once() {
        let memos = NodeMemos::new(1);
        let lists = 1 | 1 << 62 | 1 << 63 | 1 << (LISTS - 1);
        assert_eq!(memos.stated_lists_or_compute(0, || lists), lists);
        assert_eq!(memos.stated_lists_or_compute(0, || 7), lists);
        assert_eq!(memos.stated_lists_or_compute(9, || 3), 3);
        let memos = NodeMemos::new(1);
        assert_eq!(memos.stated_lists_or_compute(0, || 0), 0);
        assert_eq!(memos.stated_lists_or_compute(0, || 7), 0);
    }

    #[test]
    fn the_state_of_an_edge_is_computed_once() {
        let memos = EdgeMemos::new(1);
        assert_eq!(memos.get_or_compute(0, || 2), 2);
        assert_eq!(memos.get_or_compute(0, || 7), 2);
        assert_eq!(memos.get_or_compute(9, || 3), 3);
    }
}
