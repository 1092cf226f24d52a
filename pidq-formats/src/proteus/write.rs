//! Export of a graph as Proteus XML 4.2, in three steps: the graph becomes a tree of elements, the tree is read as the
//! import reads it, and what differs from the graph is added as corrections.
//!
//! The elements are for all programs: equipment with its nozzles, lines with their runs and items, instrumentation,
//! signal lines, relations, attributes and graphics. The corrections are for an import into pidq.

mod graphics;
mod identifiers;
mod items;
mod roles;
mod runs;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use pidq_core::{Object, Value};

use crate::error::Result;
use crate::import::{Diagnostic, Finding};
use crate::json::{Fields, Json};
use crate::model::{Endpoint, Model};
use crate::xml::Tree;

use super::corrections::{self, Correction, Corrections};
use super::plant_import::PlantImport;

use identifiers::xml_id;

pub use items::PlantTree;

/// Writes a graph as Proteus XML.
///
/// # Errors
/// `PQ6003` for a value without a graph.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let PlantTree { mut tree, drawing, ids } = items::plant_tree(&model);
    let (corrections, items) = difference(&model, &tree, &ids);
    for (element, correction) in &items {
        corrections::add_to_item(&mut tree, *element, correction);
    }
    corrections::add_to_drawing(&mut tree, drawing, &corrections);
    Ok(vec![tree.write().into_bytes()])
}

/// Lists what an export leaves out: the parts of a document that are not nodes, edges or metadata.
///
/// # Errors
/// `PQ6003` for a value without a graph.
pub fn losses(value: Value<'_>) -> Result<Vec<Diagnostic>> {
    let model = Model::from_value(value)?;
    let mut losses = Vec::new();
    let mut report = |message: String, count: usize| {
        losses.push(Diagnostic { finding: Finding::ObjectOmitted, message, ids: Vec::new(), count });
    };
    let others = model.others(value);
    for name in &others.members {
        report(format!("the member `{name}` of the document is not part of the drawing; it is not written"), 1);
    }
    if others.rows > 0 {
        report("entries of the lists of nodes and edges that are not objects are not written".into(), others.rows);
    }
    Ok(losses)
}

/// Returns the corrections of the drawing, and those of items with their elements.
fn difference(model: &Model<'_>, tree: &Tree, ids: &[String]) -> (Corrections, Vec<(usize, Correction)>) {
    let plant = super::import(tree);
    let element_by_id: HashMap<&str, usize> = plant.items.iter().map(|item| (item.id.as_str(), item.element)).collect();
    let nodes = node_corrections(model, &plant, ids);
    let mut corrections = Corrections {
        edges: edge_corrections(model, &plant, ids),
        metadata: metadata_correction(model, &plant),
        findings: findings(&plant),
        ..Corrections::default()
    };
    let mut items = Vec::new();
    for correction in nodes {
        match correction.of.as_deref().and_then(|id| element_by_id.get(id)) {
            Some(element) => items.push((*element, correction)),
            None => corrections.nodes.push(correction),
        }
    }
    (corrections, items)
}

fn findings(plant: &PlantImport<'_>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for diagnostic in &plant.builder.diagnostics {
        *counts.entry(diagnostic.finding.code()).or_default() += 1;
    }
    counts.into_iter().map(|(code, count)| (code.to_owned(), count)).collect()
}

fn node_corrections(model: &Model<'_>, plant: &PlantImport<'_>, ids: &[String]) -> Vec<Correction> {
    let rows = &plant.builder.nodes;
    let mut by_id: HashMap<String, usize> = HashMap::new();
    for (index, id) in rows.iter().enumerate().filter_map(|(index, row)| Some((index, corrections::id(row)?))) {
        by_id.entry(id).or_insert(index);
    }
    let matches: Vec<Option<usize>> = ids.iter().map(|id| by_id.remove(id)).collect();
    corrected(rows, model.nodes.iter().map(|node| node.fields), &matches)
}

fn edge_corrections(model: &Model<'_>, plant: &PlantImport<'_>, ids: &[String]) -> Vec<Correction> {
    let rows = &plant.builder.edges;
    let end_id = |end: &Endpoint| end.node.map_or_else(|| xml_id(&end.name), |node| ids[node].clone());
    let mut by_key: HashMap<[String; 4], VecDeque<usize>> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        for key in keys(text(row, "from"), text(row, "to"), text(row, "edge_type"), text(row, "id")) {
            by_key.entry(key).or_default().push_back(index);
        }
    }
    let mut matches: Vec<Option<usize>> = vec![None; model.edges.len()];
    let mut is_taken = vec![false; rows.len()];
    // The best matches first: with the same id, then of the same type, then with the same ends.
    for rank in 0..3 {
        for (edge, found) in model.edges.iter().zip(&mut matches).filter(|(_, found)| found.is_none()) {
            let id = edge.id().and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
            let key = keys(end_id(&edge.from), end_id(&edge.to), edge.kind().to_owned(), id)[rank].clone();
            let Some(queue) = by_key.get_mut(&key) else { continue };
            while let Some(index) = queue.pop_front() {
                if !is_taken[index] {
                    is_taken[index] = true;
                    *found = Some(index);
                    break;
                }
            }
        }
    }
    let mut corrections = corrected(rows, model.edges.iter().map(|edge| edge.fields), &matches);
    // Edges of rows that are not in the graph are left out with them.
    let nodes: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let surplus: HashSet<String> =
        plant.builder.nodes.iter().filter_map(corrections::id).filter(|id| !nodes.contains(id.as_str())).collect();
    let touched: HashSet<(Option<String>, usize)> = rows
        .iter()
        .zip(corrections::occurrences(rows))
        .filter(|(row, _)| corrections::touches(row, &surplus))
        .map(|(row, occurrence)| (corrections::id(row), occurrence))
        .collect();
    corrections.retain(|row| !row.is_surplus || !touched.contains(&(row.of.clone(), row.occurrence)));
    corrections
}

/// Returns the keys by which an edge is found, the most exact one first.
fn keys(from: String, to: String, kind: String, id: String) -> [[String; 4]; 3] {
    let empty = String::new;
    [
        [from.clone(), to.clone(), empty(), format!("id {id}")],
        [from.clone(), to.clone(), kind, empty()],
        [from, to, empty(), empty()],
    ]
}

fn text(row: &Fields, key: &str) -> String {
    match row.get(key) {
        Some(Json::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// Returns the corrections of a list: of each row of the graph, and of each row that is only read.
fn corrected<'a>(
    rows: &[Fields],
    graph: impl Iterator<Item = Object<'a>>,
    matches: &[Option<usize>],
) -> Vec<Correction> {
    let known: Vec<usize> = matches.iter().copied().flatten().collect();
    // A list in another order, or with a row that no element gives, needs the positions of all rows.
    let is_ordered = known.is_sorted() && known.len() == matches.len();
    let mut is_surplus = vec![true; rows.len()];
    let mut corrections: Vec<Correction> = Vec::with_capacity(matches.len());
    let numbers = corrections::occurrences(rows);
    for (position, (row, found)) in graph.zip(matches).enumerate() {
        let found = found.as_ref();
        let mut correction = Correction::new(found.map(|found| &rows[*found]), row);
        correction.occurrence = found.map_or(0, |found| numbers[*found]);
        correction.position = (!is_ordered).then_some(position);
        if let Some(found) = found {
            is_surplus[*found] = false;
        }
        corrections.push(correction);
    }
    for index in (0..rows.len()).filter(|index| is_surplus[*index]) {
        let (of, occurrence) = (corrections::id(&rows[index]), numbers[index]);
        corrections.push(Correction { of, occurrence, is_surplus: true, ..Correction::default() });
    }
    corrections
}

fn metadata_correction(model: &Model<'_>, plant: &PlantImport<'_>) -> Correction {
    let mut correction = match model.metadata {
        Some(metadata) => Correction::new(Some(&plant.builder.metadata), metadata),
        None => Correction {
            absent: plant.builder.metadata.0.iter().map(|(key, _)| key.clone()).collect(),
            ..Correction::default()
        },
    };
    correction.of = None;
    correction
}
