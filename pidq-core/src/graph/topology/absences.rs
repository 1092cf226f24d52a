//! Items and pipes that may not be there, as sets: a walk reports those that its result rests on.

use super::super::adjacency::{EdgeId, NodeId};
use super::BitSet;

/// Items and pipes that the drawing states to be absent or closed, or whose status says neither.
#[derive(Debug, Default)]
pub(crate) struct Absences {
    nodes: BitSet,
    pipes: BitSet,
    /// Nodes at the ends of the pipes.
    pipe_ends: BitSet,
    is_empty: bool,
}

impl Absences {
    /// Creates the sets of a number of nodes and edges, from indices of nodes, and from edges with their ends.
    pub fn new(counts: (usize, usize), nodes: &[NodeId], pipes: &[(EdgeId, [NodeId; 2])]) -> Absences {
        if nodes.is_empty() && pipes.is_empty() {
            return Absences { is_empty: true, ..Absences::default() };
        }
        Absences {
            nodes: BitSet::from_indices(counts.0, nodes.iter().copied()),
            pipes: BitSet::from_indices(counts.1, pipes.iter().map(|(pipe, _)| *pipe)),
            pipe_ends: BitSet::from_indices(counts.0, pipes.iter().flat_map(|(_, ends)| *ends)),
            is_empty: false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    pub fn contains_node(&self, node: NodeId) -> bool {
        self.nodes.contains(node)
    }

    pub fn contains_pipe(&self, pipe: EdgeId) -> bool {
        self.pipes.contains(pipe)
    }

    /// Returns whether one of the pipes begins or ends at a node.
    pub fn is_at_pipe(&self, node: NodeId) -> bool {
        self.pipe_ends.contains(node)
    }
}
