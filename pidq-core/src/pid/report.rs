//! Answers about two drawings as JSON text, for programs that ask without a query.

use super::Datum;
use super::diff::{self, DiffOptions};
use super::join::{self, JoinBy};
use crate::error::{Code, Error, Result};
use crate::graph::Graph;
use crate::graph::adjacency::NONE;
use crate::graph::plant::Plant;
use crate::value::{Value, convert, write};

/// What changed between two revisions of a drawing, as a JSON object: nodes `added` and `removed`; fields `changed`;
/// nodes `moved`, `retagged` and `rewired`; `edges_added`, `edges_removed`; and whether all is `equal`.
///
/// # Errors
/// `PQ3006` where one of the documents has no graph, `PQ1012` for an identity that does not exist.
///
/// ```
/// use pidq_core::{DiffOptions, Graph, diff};
///
/// let old = Graph::from_json(r#"{"nodes": [{"id": 1, "size": 50}], "edges": []}"#)?;
/// let new = Graph::from_json(r#"{"nodes": [{"id": 1, "size": 80}], "edges": []}"#)?;
/// let changes = diff(&old, &new, &DiffOptions::default())?;
/// assert!(changes.contains(r#""changed":[{"id":1,"tag":null,"field":"size","before":50,"after":80}]"#));
/// # Ok::<(), pidq_core::Error>(())
/// ```
pub fn diff(old: &Graph, new: &Graph, options: &DiffOptions) -> Result<String> {
    if let Some(identity) = options.identity.as_deref().filter(|identity| !diff::is_identity(identity)) {
        return Err(Error::new(Code::BadOption, format!("no identity is called `{identity}`")));
    }
    let (old, new) = (plant(old)?, plant(new)?);
    Ok(to_json(&new, &diff::diff(&old, &new, options, &mut |_| Ok(()))?))
}

/// Several sheets as one drawing, joined at their off-page connectors: a document to load again. Its
/// `metadata.joined` lists pairs, and connectors without a partner or with several.
///
/// # Errors
/// `PQ3006` where one of the documents has no graph.
pub fn join_sheets(sheets: &[&Graph], by: JoinBy) -> Result<String> {
    let plants = sheets.iter().map(|sheet| plant(sheet)).collect::<Result<Vec<Plant<'_>>>>()?;
    let Some(first) = plants.first() else { return Err(Error::new(Code::NoGraph, "there are no sheets to join")) };
    let joined = join::join(&plants, by, &mut |_| Ok(()))?;
    Ok(format!("{{\"pid_graph\":{}}}", to_json(first, &joined)))
}

fn plant(graph: &Graph) -> Result<Plant<'_>> {
    graph.plant().ok_or_else(|| Error::new(Code::NoGraph, "no graph in the document"))
}

/// An answer as JSON. As deep as answers are made.
fn to_json(plant: &Plant<'_>, datum: &Datum<'_>) -> String {
    match datum {
        Datum::Null | Datum::Node(NONE) | Datum::Edge(NONE) => "null".into(),
        Datum::Bool(value) => value.to_string(),
        Datum::Number(value) => convert::number_text(*value).to_string(),
        Datum::Word(word) => write::to_string(Value::String(word)),
        Datum::Text(text) => write::to_string(Value::String(text)),
        Datum::Value(value) => write::to_string(*value),
        Datum::Node(node) => write::to_string(plant.node(*node)),
        Datum::Edge(edge) => write::to_string(plant.edge(*edge)),
        Datum::Nodes(nodes) => list(nodes.iter().map(|node| write::to_string(plant.node(*node)))),
        Datum::Edges(edges) => list(edges.iter().map(|edge| write::to_string(plant.edge(*edge)))),
        Datum::List(items) => list(items.iter().map(|item| to_json(plant, item))),
        Datum::Record(keys, values) => record(plant, keys, values),
        Datum::Table(keys, rows) => list(rows.iter().map(|row| record(plant, keys, row))),
        Datum::Map(entries) => {
            let field = |(key, value): &(String, Datum<'_>)| {
                format!("{}:{}", write::to_string(Value::String(key)), to_json(plant, value))
            };
            format!("{{{}}}", entries.iter().map(field).collect::<Vec<_>>().join(","))
        }
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn record(plant: &Plant<'_>, keys: &[&str], values: &[Datum<'_>]) -> String {
    let field = |(key, value): (&&str, &Datum<'_>)| format!("\"{key}\":{}", to_json(plant, value));
    format!("{{{}}}", keys.iter().zip(values).map(field).collect::<Vec<_>>().join(","))
}
