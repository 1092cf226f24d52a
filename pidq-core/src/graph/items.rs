//! Public access to nodes and edges by id, for programs that traverse a drawing themselves.
//!
//! Language functions such as `nodes`, `endpoints` and `outgoing` use the same tables and return the objects.

use super::Graph;
use super::adjacency::NONE;
use super::topology::{Direction, EdgeFilter};
use crate::error::Result;
use crate::value::Value;

/// Id of a node. Valid only for the graph that returned it; in another graph it denotes some other node or none, and no
/// call fails.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(u32);

/// Id of an edge. Valid only for the graph that returned it; in another graph it denotes some other edge or none, and
/// no call fails.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EdgeId(u32);

/// An edge: the nodes it connects and its object in the document.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'a> {
    ends: [Option<NodeId>; 2],
    value: Value<'a>,
}

impl<'a> Edge<'a> {
    /// Returns the source as written, regardless of the flow direction; `None` if that end names no node.
    pub fn source(self) -> Option<NodeId> {
        self.ends[0]
    }

    /// Returns the target as written, regardless of the flow direction; `None` if that end names no node.
    pub fn target(self) -> Option<NodeId> {
        self.ends[1]
    }

    /// Returns the object in the document.
    pub fn value(self) -> Value<'a> {
        self.value
    }
}

/// Nodes and edges. The fields that hold them are defined by [`TopologyConfig`](crate::TopologyConfig) or by the
/// document itself in `metadata.topology`. A document without a graph has none.
///
/// Ends, ids and neighbors are looked up in the tables that language functions use. They are built on first use, in
/// time and memory linear in the graph (see [`Graph::max_size`]), and without limits: callers are trusted.
///
/// ```
/// use pidq_core::Graph;
///
/// let graph = Graph::from_json(
///     r#"{"nodes": [{"id": 1, "tag": "T-1"}, {"id": 2, "tag": "P-1"}], "edges": [{"id": "e", "source": 1, "target": 2}]}"#,
/// )?;
/// let tank = graph.find("T-1")?.ok_or("no tank")?;
/// let (edge, pump) = graph.outgoing(tank).next().ok_or("no pipe")?;
/// assert_eq!(graph.edge(edge).source(), Some(tank));
/// assert_eq!(graph.node(pump).as_object().and_then(|pump| pump.get("tag")?.as_str()), Some("P-1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Graph {
    /// Returns the nodes, in document order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + use<> {
        (0..self.len().0 as u32).map(NodeId)
    }

    /// Returns the edges, in document order.
    pub fn edges(&self) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + Clone + use<> {
        (0..self.len().1 as u32).map(EdgeId)
    }

    /// Returns the object of a node; null for an id of another graph.
    pub fn node(&self, id: NodeId) -> Value<'_> {
        self.drawing_parts().and_then(|parts| parts.nodes.get(id.0 as usize)).unwrap_or(Value::Null)
    }

    /// Returns an edge; without ends and with a null value for an id of another graph.
    pub fn edge(&self, id: EdgeId) -> Edge<'_> {
        let ends = self.network().and_then(|network| network.ends.get(id.0 as usize));
        let ends = ends.map_or([None; 2], |ends| ends.map(|end| Some(end).filter(|end| *end != NONE).map(NodeId)));
        let value = self.drawing_parts().and_then(|parts| parts.edges.get(id.0 as usize)).unwrap_or(Value::Null);
        Edge { ends, value }
    }

    /// Returns the node with an id, or else the only one with a tag, like the function `node`. If no tag matches,
    /// blanks and hyphens are ignored; a valve and the actuators with its tag are one item. If several nodes share an
    /// id, the first one. Numeric ids are compared as numbers: `1.0` finds `1`, and `"1"` does not.
    ///
    /// # Errors
    /// `PQ3004` if several nodes have the tag; the help names their ids.
    pub fn find<'r>(&self, reference: impl Into<Value<'r>>) -> Result<Option<NodeId>> {
        let found = self.drawing_without_limits().map(|drawing| drawing.by_reference(reference.into(), |_| Ok(())));
        Ok(found.transpose()?.flatten().map(NodeId))
    }

    /// Returns the node of a value: an object of the document by its position, any other object by its id. `None` for
    /// edges and for values that are not objects; use [`Graph::find`] for ids and tags.
    pub fn node_of(&self, value: Value<'_>) -> Option<NodeId> {
        self.drawing_without_limits()?.resolve_object(value).map(NodeId)
    }

    /// Returns the edges of any kind that leave a node along the flow, with the nodes they lead to, in document order.
    /// An edge that flows from its target to its source leaves its target; an edge that flows both ways or in an
    /// unknown direction leaves both. Edges with an end that names no node are omitted. Empty for an id of another
    /// graph.
    pub fn outgoing(&self, id: NodeId) -> impl ExactSizeIterator<Item = (EdgeId, NodeId)> + Clone {
        self.arcs(id, Direction::Down)
    }

    /// Returns the edges of any kind that lead to a node along the flow, with the nodes they leave; otherwise like
    /// [`Graph::outgoing`].
    pub fn incoming(&self, id: NodeId) -> impl ExactSizeIterator<Item = (EdgeId, NodeId)> + Clone {
        self.arcs(id, Direction::Up)
    }

    fn arcs(&self, id: NodeId, dir: Direction) -> impl ExactSizeIterator<Item = (EdgeId, NodeId)> + Clone {
        let network = self.network().filter(|network| (id.0 as usize) < network.node_count());
        let table = network.map(|network| network.table(EdgeFilter::All, dir));
        let [edges, nodes] = table.map_or([&[][..]; 2], |table| [table.edges(id.0), table.nodes(id.0)]);
        edges.iter().zip(nodes).map(|(edge, node)| (EdgeId(*edge), NodeId(*node)))
    }

    /// The number of nodes and of edges.
    fn len(&self) -> (usize, usize) {
        self.drawing_parts().map_or((0, 0), |parts| parts.len())
    }
}
