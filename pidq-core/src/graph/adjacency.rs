//! Compressed adjacency: two CSR tables, one per direction.
//!
//! Built once, then only read. Independent of JSON: nodes and edges are numbers here.

/// Index of a node in the nodes of the document.
pub(crate) type NodeId = u32;
/// Index of an edge in the edges of the document.
pub(crate) type EdgeId = u32;

/// Marks the absence of a node or an edge.
pub(crate) const NONE: u32 = u32::MAX;

/// Neighbors of each node, in the order of the edges.
#[derive(Debug, Default)]
pub(crate) struct Adjacency {
    /// By node: the index of its first arc; one more entry for the end.
    first: Vec<u32>,
    nodes: Vec<NodeId>,
    edges: Vec<EdgeId>,
}

impl Adjacency {
    /// Builds the table from arcs `(from, to, edge)`. `arcs` is called twice and must return the same order.
    pub fn new<I: Iterator<Item = (NodeId, NodeId, EdgeId)>>(count: usize, arcs: impl Fn() -> I) -> Adjacency {
        let mut first = vec![0u32; count + 1];
        for (from, _, _) in arcs() {
            first[from as usize + 1] += 1;
        }
        for at in 0..count {
            first[at + 1] += first[at];
        }
        let total = first[count] as usize;
        let (mut nodes, mut edges) = (vec![NONE; total], vec![NONE; total]);
        let mut next = first.clone();
        for (from, to, edge) in arcs() {
            let at = next[from as usize] as usize;
            (nodes[at], edges[at]) = (to, edge);
            next[from as usize] += 1;
        }
        Adjacency { first, nodes, edges }
    }

    pub fn node_count(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// The number of arcs.
    pub fn arc_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the neighbors of a node, repeated once per edge.
    pub fn nodes(&self, node: NodeId) -> &[NodeId] {
        &self.nodes[self.range(node)]
    }

    /// Returns a view of all neighbors for loops that write between two reads.
    pub fn neighbors(&self) -> Neighbors<'_> {
        Neighbors { first: &self.first, nodes: &self.nodes }
    }

    /// Returns the edges at a node.
    pub fn edges(&self, node: NodeId) -> &[EdgeId] {
        &self.edges[self.range(node)]
    }

    /// Returns neighbors with the edges that lead to them.
    pub fn arcs(&self, node: NodeId) -> impl ExactSizeIterator<Item = (NodeId, EdgeId)> + Clone + '_ {
        self.nodes(node).iter().copied().zip(self.edges(node).iter().copied())
    }

    /// Returns the arc of a node at a position.
    pub fn arc(&self, node: NodeId, at: usize) -> Option<(NodeId, EdgeId)> {
        Some((*self.nodes(node).get(at)?, *self.edges(node).get(at)?))
    }

    /// The number of arcs that leave a node.
    pub fn degree(&self, node: NodeId) -> usize {
        self.range(node).len()
    }

    fn range(&self, node: NodeId) -> std::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }
}

/// View of the neighbors of all nodes. A copy of the slices stays in registers while other memory is written.
#[derive(Clone, Copy)]
pub(crate) struct Neighbors<'t> {
    first: &'t [u32],
    nodes: &'t [NodeId],
}

impl<'t> Neighbors<'t> {
    #[inline]
    pub fn get(self, node: NodeId) -> &'t [NodeId] {
        &self.nodes[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_are_in_edge_order() {
        let arcs = [(0, 1, 0), (2, 1, 1), (0, 2, 2), (0, 1, 3), (1, 1, 4)];
        let table = Adjacency::new(4, || arcs.iter().copied());
        assert_eq!(table.nodes(0), [1, 2, 1]);
        assert_eq!(table.edges(0), [0, 2, 3]);
        assert_eq!(table.arcs(1).collect::<Vec<_>>(), [(1, 4)]);
        assert_eq!(table.degree(3), 0);
    }
}
