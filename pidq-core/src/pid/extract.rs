//! Extracts of a drawing as drawings of their own.

use super::{ChargeFn, Datum};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::topology::{DefaultDirection, Direction, EdgeFilter};
use crate::value::Value;

/// Adds the ports of items in pipes, at which the pipes of the items end.
pub(crate) fn add_item_ports(drawing: &Drawing<'_>, nodes: &mut Vec<NodeId>) {
    let items: hashbrown::HashSet<NodeId> = nodes.iter().copied().collect();
    nodes.extend(drawing.topology.ports_of_items(|item| items.contains(&item)).filter(|port| !items.contains(port)));
}

/// Returns the edges between some nodes, of any kind, in document order.
pub(crate) fn induced(drawing: &Drawing<'_>, nodes: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<EdgeId>> {
    let node_set: hashbrown::HashSet<NodeId> = nodes.iter().copied().collect();
    let table = drawing.topology.table(EdgeFilter::All, Direction::Both);
    let mut edges = Vec::new();
    for node in &node_set {
        charge(1 + table.degree(*node) as u64)?;
        let inner_arcs = table.arcs(*node).filter(|(other, edge)| {
            let [from, _] = drawing.topology.ends[*edge as usize];
            from == *node && node_set.contains(other)
        });
        edges.extend(inner_arcs.map(|(_, edge)| edge));
    }
    edges.sort_unstable();
    edges.dedup();
    Ok(edges)
}

/// Returns nodes and edges as a graph, in document order, with the name of the source drawing.
pub(crate) fn graph<'a>(drawing: &Drawing<'a>, mut nodes: Vec<NodeId>, edges: Vec<EdgeId>) -> Datum<'a> {
    const KEYS: &[&str] = &["nodes", "edges", "metadata", DefaultDirection::KEY];
    nodes.sort_unstable();
    nodes.dedup();
    let parts = [Datum::Nodes(nodes), Datum::Edges(edges), metadata(drawing)];
    let is_undirected = drawing.topology.default_direction == DefaultDirection::Unknown;
    let directed = is_undirected.then_some(Datum::Bool(false));
    Datum::Record(&KEYS[..if is_undirected { 4 } else { 3 }], parts.into_iter().chain(directed).collect())
}

/// Returns the metadata of the drawing, with its name as `extract_of`.
fn metadata<'a>(drawing: &Drawing<'a>) -> Datum<'a> {
    let Value::Object(metadata) = drawing.metadata else { return Datum::Null };
    let name = drawing.field(drawing.metadata, Names::DrawingName).or_else(|| metadata.get("job_id"));
    let mut entries: Vec<(String, Datum<'a>)> =
        metadata.iter().map(|(key, value)| (key.into(), Datum::Value(value))).collect();
    entries.push(("extract_of".into(), Datum::value(name)));
    Datum::Map(entries)
}
