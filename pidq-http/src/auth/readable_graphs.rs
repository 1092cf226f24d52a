//! Cached read rights of a caller: the graphs that were looked up, with the version of the rights.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Maximum number of cached graph rights per token.
const GRAPH_LIMIT: usize = 1_000;

/// Cached read rights of a caller, valid until rights change.
///
/// It lives as long as the cached caller.
#[derive(Default)]
pub(super) struct ReadableGraphs(Mutex<GraphRights>);

#[derive(Default)]
struct GraphRights {
    rights_version: u64,
    allowed: HashMap<Box<str>, bool>,
}

impl ReadableGraphs {
    pub fn get(&self, graph_id: &str, rights_version: u64) -> Option<bool> {
        let graphs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if graphs.rights_version == rights_version { graphs.allowed.get(graph_id).copied() } else { None }
    }

    /// Inserts a right that was looked up at this version of the rights.
    pub fn insert(&self, graph_id: &str, rights_version: u64, is_allowed: bool) {
        let mut graphs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if graphs.rights_version != rights_version || graphs.allowed.len() >= GRAPH_LIMIT {
            *graphs = GraphRights { rights_version, allowed: HashMap::new() };
        }
        graphs.allowed.insert(graph_id.into(), is_allowed);
    }
}

/// A clone starts empty.
impl Clone for ReadableGraphs {
    fn clone(&self) -> ReadableGraphs {
        ReadableGraphs::default()
    }
}

/// The cache does not affect equality.
impl PartialEq for ReadableGraphs {
    fn eq(&self, _: &ReadableGraphs) -> bool {
        true
    }
}

impl Eq for ReadableGraphs {}

impl std::fmt::Debug for ReadableGraphs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadableGraphs")
    }
}
