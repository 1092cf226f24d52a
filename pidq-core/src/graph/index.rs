//! Hash index from a string or number to nodes.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::adjacency::{NONE, NodeId};
use crate::value::Value;

/// Key of a node. A number and its decimal string are different keys.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Key<'a> {
    String(&'a str),
    Number(u64),
}

impl<'a> Key<'a> {
    /// Returns the key for a value; `None` for null, arrays, objects and booleans.
    pub fn from_value(value: Value<'a>) -> Option<Key<'a>> {
        match value {
            Value::String(text) => Some(Key::String(text)),
            // 0 and -0 are equal.
            Value::Number(number) => Some(Key::Number((number.value() + 0.0).to_bits())),
            _ => None,
        }
    }
}

/// Nodes by the hash of their key. The keys themselves stay in the document.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Hash and the first node of each chain.
    table: HashTable<(u64, NodeId)>,
    /// By node: the next one with the same hash. A chain instead of a bucket, since many nodes may share a tag.
    next: Vec<NodeId>,
    hasher: DefaultHashBuilder,
}

impl Index {
    /// Builds the index from the keys of all nodes.
    pub fn new<'a>(count: usize, key: impl Fn(NodeId) -> Option<Key<'a>>) -> Index {
        let mut index = Index { next: vec![NONE; count], ..Index::default() };
        // Iterate backward, so that chains are ascending.
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

    /// Returns the nodes with a key, ascending; `has` compares the key of a node.
    pub fn find<'i>(&'i self, key: Key<'_>, has: impl Fn(NodeId) -> bool + 'i) -> impl Iterator<Item = NodeId> + 'i {
        let hash = self.hasher.hash_one(key);
        let first = self.table.find(hash, |(other, _)| *other == hash).map_or(NONE, |(_, first)| *first);
        let real = |node: NodeId| Some(node).filter(|node| *node != NONE);
        let chain = std::iter::successors(real(first), move |node| real(self.next[*node as usize]));
        chain.filter(move |node| has(*node))
    }
}
