//! Nodes and edges by number, for programs that walk a drawing themselves.
//!
//! Functions of the language ask the same tables and give the objects: see `nodes`, `endpoints`, `outgoing`.

use super::Graph;
use super::adjacency::NONE;
use super::topology::{Dir, Over};
use crate::error::Result;
use crate::value::Value;

/// A node of the graph that gave it. To another graph it is some other node, or none: nothing fails by it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(u32);

/// An edge of the graph that gave it. To another graph it is some other edge, or none: nothing fails by it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EdgeId(u32);

/// An edge: the nodes that it joins, and what the document says of it.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'a> {
    ends: [Option<NodeId>; 2],
    value: Value<'a>,
}

impl<'a> Edge<'a> {
    /// The node that it leaves as it is written, whichever way something flows; none where that end names no node.
    pub fn source(self) -> Option<NodeId> {
        self.ends[0]
    }

    /// The node that it leads to as it is written; none where that end names no node.
    pub fn target(self) -> Option<NodeId> {
        self.ends[1]
    }

    /// The object in the document.
    pub fn value(self) -> Value<'a> {
        self.value
    }
}

/// Nodes and edges. Which fields are asked for them, [`TopologyConfig`](crate::TopologyConfig) says, or the document
/// itself in `metadata.topology`. A document without a graph has none.
///
/// Ends, ids and neighbours are looked up in tables, as functions of the language do. They are made at the first question
/// that needs them, in time and memory linear in the graph (see [`Graph::size_in_use`]), and without limits: what asks
/// here is trusted.
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
    /// The nodes, in the order of the document.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + use<> {
        (0..self.len().0 as u32).map(NodeId)
    }

    /// The edges, in the order of the document.
    pub fn edges(&self) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + Clone + use<> {
        (0..self.len().1 as u32).map(EdgeId)
    }

    /// A node as it stands in the document; null for an id of another graph.
    pub fn node(&self, id: NodeId) -> Value<'_> {
        self.place().and_then(|place| place.nodes.get(id.0 as usize)).unwrap_or(Value::Null)
    }

    /// An edge; one without ends and of null for an id of another graph.
    pub fn edge(&self, id: EdgeId) -> Edge<'_> {
        let ends = self.network().and_then(|network| network.ends.get(id.0 as usize));
        let ends = ends.map_or([None; 2], |ends| ends.map(|end| Some(end).filter(|end| *end != NONE).map(NodeId)));
        let value = self.place().and_then(|place| place.edges.get(id.0 as usize)).unwrap_or(Value::Null);
        Edge { ends, value }
    }

    /// The node with an id, or else the only one with a tag, as the function `node` finds it. Of several nodes with an id
    /// it is the first. Ids that are numbers are numbers here: `1.0` finds `1`, and `"1"` does not.
    ///
    /// # Errors
    /// `PQ3004` where several nodes have the tag; the help names their ids.
    pub fn find<'r>(&self, reference: impl Into<Value<'r>>) -> Result<Option<NodeId>> {
        let found = self.whole_plant().map(|plant| plant.by_reference(reference.into(), |_| Ok(())));
        Ok(found.transpose()?.flatten().map(NodeId))
    }

    /// The node that a value is: one of the document by its place, any other object by the id that it has. None for an
    /// edge, and for what is no object: ids and tags are for [`Graph::find`].
    pub fn node_of(&self, value: Value<'_>) -> Option<NodeId> {
        self.whole_plant()?.named_by(value).map(NodeId)
    }

    /// The edges of any kind that leave a node along the flow, with the nodes that they lead to, in the order of the
    /// document. An edge that flows from its target to its source leaves its target; one that flows both ways, or nobody
    /// knows which, leaves both. Edges of which an end names no node are at none. Empty for an id of another graph.
    pub fn outgoing(&self, id: NodeId) -> impl ExactSizeIterator<Item = (EdgeId, NodeId)> + Clone {
        self.arcs(id, Dir::Down)
    }

    /// The edges of any kind that lead to a node along the flow, with the nodes that they leave; otherwise as
    /// [`Graph::outgoing`].
    pub fn incoming(&self, id: NodeId) -> impl ExactSizeIterator<Item = (EdgeId, NodeId)> + Clone {
        self.arcs(id, Dir::Up)
    }

    fn arcs(&self, id: NodeId, dir: Dir) -> impl ExactSizeIterator<Item = (EdgeId, NodeId)> + Clone {
        let network = self.network().filter(|network| (id.0 as usize) < network.node_count());
        let table = network.map(|network| network.table(Over::All, dir));
        let [edges, nodes] = table.map_or([&[][..]; 2], |table| [table.edges(id.0), table.nodes(id.0)]);
        edges.iter().zip(nodes).map(|(edge, node)| (EdgeId(*edge), NodeId(*node)))
    }

    /// How many nodes and edges there are.
    fn len(&self) -> (usize, usize) {
        self.place().map_or((0, 0), |place| place.len())
    }
}
