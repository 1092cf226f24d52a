//! A part of a drawing as a drawing of its own.

use super::{Datum, Pay};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::plant::Plant;
use crate::graph::topology::{Dir, Over};
use crate::value::Value;

/// The edges between some nodes, of any kind, in the order of the document.
pub(crate) fn induced(plant: &Plant<'_>, nodes: &[NodeId], pay: Pay<'_>) -> Result<Vec<EdgeId>> {
    let kept: hashbrown::HashSet<NodeId> = nodes.iter().copied().collect();
    let table = plant.topology.table(Over::All, Dir::Both);
    let mut edges = Vec::new();
    for node in &kept {
        pay(1 + table.degree(*node) as u64)?;
        let inner = table.arcs(*node).filter(|(other, edge)| {
            let [from, _] = plant.topology.ends[*edge as usize];
            from == *node && kept.contains(other)
        });
        edges.extend(inner.map(|(_, edge)| edge));
    }
    edges.sort_unstable();
    edges.dedup();
    Ok(edges)
}

/// Nodes and edges in the shape of a graph, in the order of the document. It says what it was taken from.
pub(crate) fn graph<'a>(plant: &Plant<'a>, mut nodes: Vec<NodeId>, edges: Vec<EdgeId>) -> Datum<'a> {
    const KEYS: &[&str] = &["nodes", "edges", "metadata"];
    nodes.sort_unstable();
    nodes.dedup();
    Datum::Record(KEYS, vec![Datum::Nodes(nodes), Datum::Edges(edges), metadata(plant)])
}

/// The metadata of the whole drawing, with the name of the drawing as `extract_of`.
fn metadata<'a>(plant: &Plant<'a>) -> Datum<'a> {
    let Value::Object(metadata) = plant.metadata else { return Datum::Null };
    let name = plant.field(plant.metadata, Names::DrawingName).or_else(|| metadata.get("job_id"));
    let mut entries: Vec<(String, Datum<'a>)> =
        metadata.iter().map(|(key, value)| (key.into(), Datum::Value(value))).collect();
    entries.push(("extract_of".into(), Datum::value(name)));
    Datum::Map(entries)
}
