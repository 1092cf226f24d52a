//! From a text or number to the nodes that have it, without looking.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::adjacency::{NONE, NodeId};
use crate::value::Value;

/// What nodes are found by. A number and its text are different keys.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Key<'a> {
    Text(&'a str),
    Number(u64),
}

impl<'a> Key<'a> {
    /// The key that a value is; nothing for null, lists and the like.
    pub fn of(value: Value<'a>) -> Option<Key<'a>> {
        match value {
            Value::String(text) => Some(Key::Text(text)),
            // 0 and -0 are equal.
            Value::Number(number) => Some(Key::Number((number.value() + 0.0).to_bits())),
            _ => None,
        }
    }
}

/// The nodes under each key, by the hash of the key. The keys themselves stay in the document.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Hash and the first node of each chain.
    table: HashTable<(u64, NodeId)>,
    /// By node: the next one with the same hash. Many may share a tag, so a chain and not a bucket.
    next: Vec<NodeId>,
    hasher: DefaultHashBuilder,
}

impl Index {
    /// The index of the keys of all nodes.
    pub fn new<'a>(count: usize, key: impl Fn(NodeId) -> Option<Key<'a>>) -> Index {
        let mut index = Index { next: vec![NONE; count], ..Index::default() };
        // Backwards, so that chains ascend.
        for node in (0..count as u32).rev() {
            if let Some(key) = key(node) {
                index.insert(key, node);
            }
        }
        index
    }

    fn insert(&mut self, key: Key<'_>, node: NodeId) {
        let Index { table, next, hasher } = self;
        let hash = hasher.hash_one(key);
        match table.find_mut(hash, |(other, _)| *other == hash) {
            Some((_, first)) => next[node as usize] = std::mem::replace(first, node),
            None => drop(table.insert_unique(hash, (hash, node), |(hash, _)| *hash)),
        }
    }

    /// The nodes of a key, ascending; `has` compares the key of a node.
    pub fn find<'i>(&'i self, key: Key<'_>, has: impl Fn(NodeId) -> bool + 'i) -> impl Iterator<Item = NodeId> + 'i {
        let hash = self.hasher.hash_one(key);
        let first = self.table.find(hash, |(other, _)| *other == hash).map_or(NONE, |(_, first)| *first);
        let real = |node: NodeId| Some(node).filter(|node| *node != NONE);
        let chain = std::iter::successors(real(first), move |node| real(self.next[*node as usize]));
        chain.filter(move |node| has(*node))
    }
}
