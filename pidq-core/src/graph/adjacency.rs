//! Who is connected to whom: compressed tables, one a direction.
//!
//! Built once, then only read. Knows nothing of JSON: nodes and edges are numbers here.

/// A node, by its place among the nodes of the document.
pub(crate) type NodeId = u32;
/// An edge, by its place among the edges of the document.
pub(crate) type EdgeId = u32;

/// No node, no edge.
pub(crate) const NONE: u32 = u32::MAX;

/// From each node to its neighbours, in the order of the edges.
#[derive(Debug, Default)]
pub(crate) struct Adjacency {
    /// By node: where its arcs begin; one more for the end.
    first: Vec<u32>,
    nodes: Vec<NodeId>,
    edges: Vec<EdgeId>,
}

impl Adjacency {
    /// The table of arcs `(from, to, edge)`, which `arcs` gives twice in the same order.
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

    /// How many arcs there are.
    pub fn arc_count(&self) -> usize {
        self.nodes.len()
    }

    /// The neighbours of a node, as often as edges lead to them.
    pub fn nodes(&self, node: NodeId) -> &[NodeId] {
        &self.nodes[self.range(node)]
    }

    /// The neighbours of all nodes, for loops that write between two looks at them.
    pub fn neighbours(&self) -> Neighbours<'_> {
        Neighbours { first: &self.first, nodes: &self.nodes }
    }

    /// The edges at a node.
    pub fn edges(&self, node: NodeId) -> &[EdgeId] {
        &self.edges[self.range(node)]
    }

    /// Neighbours and the edges to them.
    pub fn arcs(&self, node: NodeId) -> impl ExactSizeIterator<Item = (NodeId, EdgeId)> + Clone + '_ {
        self.nodes(node).iter().copied().zip(self.edges(node).iter().copied())
    }

    /// The arc of a node at a place.
    pub fn arc(&self, node: NodeId, at: usize) -> Option<(NodeId, EdgeId)> {
        Some((*self.nodes(node).get(at)?, *self.edges(node).get(at)?))
    }

    /// How many arcs leave a node.
    pub fn degree(&self, node: NodeId) -> usize {
        self.range(node).len()
    }

    fn range(&self, node: NodeId) -> std::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }
}

/// The neighbours of all nodes. A copy of where they lie stays in registers, whatever is written elsewhere.
#[derive(Clone, Copy)]
pub(crate) struct Neighbours<'t> {
    first: &'t [u32],
    nodes: &'t [NodeId],
}

impl<'t> Neighbours<'t> {
    #[inline]
    pub fn of(self, node: NodeId) -> &'t [NodeId] {
        &self.nodes[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_stand_in_the_order_of_the_edges() {
        let arcs = [(0, 1, 0), (2, 1, 1), (0, 2, 2), (0, 1, 3), (1, 1, 4)];
        let table = Adjacency::new(4, || arcs.iter().copied());
        assert_eq!(table.nodes(0), [1, 2, 1]);
        assert_eq!(table.edges(0), [0, 2, 3]);
        assert_eq!(table.arcs(1).collect::<Vec<_>>(), [(1, 4)]);
        assert_eq!(table.degree(3), 0);
    }
}
