//! Corrections: what the elements of a plant model do not say about a graph, as generic attributes of our own.
//!
//! An export reads its own elements and compares them with the graph. Fields that differ are attributes of the item in the
//! set `pidq`, one per field; rows of nodes and edges without an item are in sets of the drawing. The import applies them,
//! so that the graph comes back as it was. Other programs ignore these sets. A row whose element another program has
//! removed is left out, and one that it has added is kept.

use std::collections::{HashMap, HashSet};

use pidq_core::{Graph, Object};

use crate::import::Finding;
use crate::json::{Fields, Json};
use crate::xml::{Element, Tree, is_xml_text};

use super::plant_import::PlantImport;

/// Set of the attributes of an item, and beginning of the names of the other sets.
const SET: &str = "pidq";
const NODES: &str = "pidq:nodes";
const EDGES: &str = "pidq:edges";
const METADATA: &str = "pidq:metadata";
const FINDINGS: &str = "pidq:findings";
/// Name of the attribute with everything that is no field of its own, as JSON text.
const OTHER: &str = "pidq:other";

/// Returns true for a set of generic attributes that holds corrections.
pub fn is_own_set(set: &Element) -> bool {
    set.get("Set").is_some_and(|name| [SET, NODES, EDGES, METADATA, FINDINGS].contains(&name))
}

/// Correction of a row, which is a node, an edge or the metadata.
#[derive(Clone, Debug, Default)]
pub struct Correction {
    /// The id of the row as it is read; `None` for a row that no element gives.
    pub of: Option<String>,
    /// The number of rows before it with the same id.
    pub occurrence: usize,
    /// Fields to be set, as JSON text.
    pub fields: Fields,
    /// Fields that the row does not have.
    pub absent: Vec<String>,
    /// The position in the list.
    pub position: Option<usize>,
    /// True for a row that is not in the graph.
    pub is_surplus: bool,
}

impl Correction {
    /// Returns the difference between a row that was read and the row of the graph.
    pub fn new(read: Option<&Fields>, row: Object<'_>) -> Correction {
        let mut correction = Correction { of: read.and_then(id), ..Correction::default() };
        let mut known: HashMap<&str, &Json> = HashMap::new();
        for (key, value) in read.map(|read| read.0.as_slice()).unwrap_or_default() {
            known.entry(key).or_insert(value);
        }
        for (key, value) in row.iter() {
            let value = Json::from_value(value);
            let is_read = known.remove(key).is_some_and(|read| read.to_text() == value.to_text());
            if !is_read {
                correction.fields.add(key, value);
            }
        }
        correction.absent = known.into_keys().map(str::to_owned).collect();
        correction.absent.sort();
        correction
    }

    fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.absent.is_empty() && self.position.is_none() && !self.is_surplus
    }

    /// Applies the correction to a row.
    fn apply(self, row: &mut Fields) -> Order {
        let absent: HashSet<&str> = self.absent.iter().map(String::as_str).collect();
        row.0.retain(|(key, _)| !absent.contains(key.as_str()));
        let mut positions: HashMap<String, usize> = HashMap::new();
        for (index, (key, _)) in row.0.iter().enumerate() {
            positions.entry(key.clone()).or_insert(index);
        }
        for (key, value) in self.fields.0 {
            match positions.get(&key) {
                Some(index) => row.0[*index].1 = value,
                None => row.add(&key, value),
            }
        }
        match self.is_surplus {
            true => Order::Surplus,
            false => self.position.map_or(Order::Next, Order::At),
        }
    }

    /// Returns the parts other than the fields, and the fields for which `is_other` is true.
    fn other(&self, is_other: impl Fn(&str) -> bool) -> Fields {
        let mut other = Fields::default();
        let fields: Vec<_> = self.fields.0.iter().filter(|(key, _)| is_other(key)).cloned().collect();
        if !fields.is_empty() {
            other.add("fields", Json::Object(Fields(fields)));
        }
        if !self.absent.is_empty() {
            other.add("absent", Json::Array(self.absent.iter().map(Json::text).collect()));
        }
        other.add_optional("position", self.position.map(Json::count));
        if self.is_surplus {
            other.add("surplus", Json::Bool(true));
        }
        other
    }

    /// Reads the JSON text of [`Correction::other`].
    fn read_other(&mut self, text: &str) -> Option<()> {
        let graph = Graph::from_json(text.to_owned()).ok()?;
        let object = graph.root().as_object()?;
        for (key, value) in
            object.get("fields").and_then(|fields| fields.as_object()).into_iter().flat_map(|fields| fields.iter())
        {
            self.fields.add(key, Json::from_value(value));
        }
        let absent = object.get("absent").and_then(|absent| absent.as_array());
        self.absent
            .extend(absent.iter().flat_map(|list| list.iter()).filter_map(|key| key.as_str()).map(str::to_owned));
        let number = object.get("position").and_then(|position| position.as_f64());
        self.position = number.map(|number| number as usize);
        self.is_surplus = object.get("surplus").is_some();
        let occurrence = object.get("occurrence").and_then(|occurrence| occurrence.as_f64());
        self.occurrence = occurrence.unwrap_or_default() as usize;
        self.of = object.get("of").and_then(|id| id.as_str()).map(str::to_owned);
        Some(())
    }
}

/// Place of a row in the corrected list.
enum Order {
    Next,
    At(usize),
    Surplus,
}

/// Returns the id of a row.
pub fn id(row: &Fields) -> Option<String> {
    match row.get("id") {
        Some(Json::String(id)) => Some(id.clone()),
        _ => None,
    }
}

/// Returns for each row the number of rows before it with the same id.
pub fn occurrences(rows: &[Fields]) -> Vec<usize> {
    let mut counts: HashMap<Option<String>, usize> = HashMap::new();
    let count = |row: &Fields| {
        let count = counts.entry(id(row)).or_default();
        *count += 1;
        *count - 1
    };
    rows.iter().map(count).collect()
}

/// Adds a correction to the element of its node.
pub fn add_to_item(tree: &mut Tree, element: usize, correction: &Correction) {
    if correction.is_empty() {
        return;
    }
    let set = tree.add(Some(element), "GenericAttributes");
    tree.elements[set].set("Set", SET);
    let has_own_attribute = |key: &str| !key.trim().is_empty() && is_xml_text(key) && !key.starts_with("pidq:");
    for (key, value) in correction.fields.0.iter().filter(|(key, _)| has_own_attribute(key)) {
        let (format, text) = typed(&value.to_text());
        add_attribute(tree, set, key, format, &text);
    }
    let other = correction.other(|key| !has_own_attribute(key));
    if !other.is_empty() {
        add_attribute(tree, set, OTHER, "json", &ascii(&other));
    }
}

/// Returns the format and the text of a value: the characters of a string if XML has them, otherwise JSON.
fn typed(json: &str) -> (&'static str, String) {
    let graph = Graph::from_json(json.to_owned()).ok();
    match graph.as_ref().and_then(|graph| graph.root().as_str()).filter(|text| is_xml_text(text)) {
        Some(text) => ("string", text.to_owned()),
        None => ("json", escape_noncharacters(json)),
    }
}

fn ascii(fields: &Fields) -> String {
    let mut text = String::new();
    fields.write(&mut text);
    escape_noncharacters(&text)
}

/// Escapes the characters of JSON text that XML does not allow; its control characters are escaped already.
fn escape_noncharacters(json: &str) -> String {
    json.replace('\u{FFFE}', "\\ufffe").replace('\u{FFFF}', "\\uffff")
}

fn add_attribute(tree: &mut Tree, set: usize, name: &str, format: &str, value: &str) {
    let attribute = tree.add(Some(set), "GenericAttribute");
    for (key, text) in [("Name", name), ("Format", format), ("Value", value)] {
        tree.elements[attribute].set(key, text);
    }
}

/// Adds the corrections of rows without an item to the drawing.
fn add_rows(tree: &mut Tree, drawing: usize, name: &str, corrections: &[Correction]) {
    let rows: Vec<&Correction> = corrections.iter().filter(|row| !row.is_empty() || row.of.is_none()).collect();
    if rows.is_empty() {
        return;
    }
    let set = tree.add(Some(drawing), "GenericAttributes");
    tree.elements[set].set("Set", name);
    for row in rows {
        let mut other = row.other(|_| true);
        other.add_optional_text("of", row.of.as_deref());
        if row.occurrence > 0 {
            other.add("occurrence", Json::count(row.occurrence));
        }
        add_attribute(tree, set, OTHER, "json", &ascii(&other));
    }
}

/// Corrections of a drawing.
#[derive(Default)]
pub struct Corrections {
    pub nodes: Vec<Correction>,
    pub edges: Vec<Correction>,
    pub metadata: Correction,
    /// Counts of the findings of reading the elements, by code: they are about what is corrected.
    pub findings: Vec<(String, usize)>,
}

/// Adds the corrections that belong to no item.
pub fn add_to_drawing(tree: &mut Tree, drawing: usize, corrections: &Corrections) {
    add_rows(tree, drawing, NODES, &corrections.nodes);
    add_rows(tree, drawing, EDGES, &corrections.edges);
    // The set is always there, since it also says that the file is an export.
    let metadata = Correction { of: None, ..corrections.metadata.clone() };
    add_rows(tree, drawing, METADATA, &[metadata]);
    if !corrections.findings.is_empty() {
        let set = tree.add(Some(drawing), "GenericAttributes");
        tree.elements[set].set("Set", FINDINGS);
        for (code, count) in &corrections.findings {
            add_attribute(tree, set, code, "integer", &count.to_string());
        }
    }
}

/// Applies the corrections of a file that has some.
pub fn apply(plant: &mut PlantImport<'_>) {
    let tree = plant.tree;
    let Some((drawing, _)) = tree.named(0, "Drawing").next() else { return };
    let Some(metadata) = rows_of(tree, drawing, METADATA).pop() else { return };
    let mut nodes = rows_of(tree, drawing, NODES);
    for item in &plant.items {
        nodes.extend(of_item(tree, item.element).map(|row| Correction { of: Some(item.id.clone()), ..row }));
    }
    let surplus: HashSet<String> = nodes.iter().filter(|row| row.is_surplus).filter_map(|row| row.of.clone()).collect();
    apply_rows(&mut plant.builder.nodes, nodes, |_| false);
    apply_rows(&mut plant.builder.edges, rows_of(tree, drawing, EDGES), |edge| touches(edge, &surplus));
    metadata.apply(&mut plant.builder.metadata);
    remove_findings(plant, drawing);
}

/// Returns the attributes of a set.
fn attributes<'t>(tree: &'t Tree, owner: usize, set: &'static str) -> impl Iterator<Item = &'t Element> {
    let sets = tree.named(owner, "GenericAttributes").filter(move |(_, element)| element.get("Set") == Some(set));
    sets.flat_map(|(set, _)| tree.named(set, "GenericAttribute")).map(|(_, attribute)| attribute)
}

fn rows_of(tree: &Tree, drawing: usize, set: &'static str) -> Vec<Correction> {
    let rows = attributes(tree, drawing, set).map(|attribute| {
        let mut row = Correction::default();
        row.read_other(attribute.attribute("Value").unwrap_or_default());
        row
    });
    rows.collect()
}

/// Returns the correction of an item.
fn of_item(tree: &Tree, element: usize) -> Option<Correction> {
    let mut row = Correction::default();
    for attribute in attributes(tree, element, SET) {
        let value = attribute.attribute("Value").unwrap_or_default();
        match (attribute.attribute("Name").unwrap_or_default(), attribute.get("Format")) {
            (OTHER, _) => drop(row.read_other(value)),
            (name, Some("json")) => row.fields.0.extend(Json::raw(value).map(|value| (name.to_owned(), value))),
            (name, _) => row.fields.add(name, Json::text(value)),
        }
    }
    (!row.is_empty()).then_some(row)
}

/// Returns true for an edge with an end in a set of ids.
pub fn touches(edge: &Fields, ids: &HashSet<String>) -> bool {
    ["from", "to"].iter().any(|end| matches!(edge.get(end), Some(Json::String(id)) if ids.contains(id)))
}

/// Corrects a list of rows: their fields, their order, and which of them there are. A row without a correction is left
/// out if it is not needed.
fn apply_rows(rows: &mut Vec<Fields>, corrections: Vec<Correction>, is_surplus: impl Fn(&Fields) -> bool) {
    let ids = rows.iter().map(id).zip(occurrences(rows)).enumerate();
    let by_id: HashMap<(String, usize), usize> =
        ids.filter_map(|(index, (id, occurrence))| Some(((id?, occurrence), index))).collect();
    let mut orders: Vec<Order> =
        rows.iter().map(|row| if is_surplus(row) { Order::Surplus } else { Order::Next }).collect();
    for correction in corrections {
        match &correction.of {
            None => {
                rows.push(Fields::default());
                orders.push(correction.apply(rows.last_mut().unwrap_or(&mut Fields::default())));
            }
            Some(id) => {
                let Some(index) = by_id.get(&(id.clone(), correction.occurrence)) else { continue };
                orders[*index] = correction.apply(&mut rows[*index]);
            }
        }
    }
    let placed = std::mem::take(rows).into_iter().zip(orders);
    let mut placed: Vec<(usize, Fields)> = placed
        .filter_map(|(row, order)| match order {
            Order::Surplus => None,
            Order::At(position) => Some((position, row)),
            // The order is stable: rows without a position keep theirs, after all others.
            Order::Next => Some((usize::MAX, row)),
        })
        .collect();
    placed.sort_by_key(|(position, _)| *position);
    rows.extend(placed.into_iter().map(|(_, row)| row));
}

/// Removes the findings about what is corrected. A code with another count is about a change of the file.
fn remove_findings(plant: &mut PlantImport<'_>, drawing: usize) {
    let mut counts: HashMap<&'static str, usize> = HashMap::new();
    for diagnostic in &plant.builder.diagnostics {
        *counts.entry(diagnostic.finding.code()).or_default() += 1;
    }
    let expected: HashSet<Finding> = attributes(plant.tree, drawing, FINDINGS)
        .filter_map(|attribute| {
            let finding = Finding::ALL.iter().find(|finding| Some(finding.code()) == attribute.get("Name"))?;
            let count: usize = attribute.get("Value")?.parse().ok()?;
            (counts.get(finding.code()) == Some(&count)).then_some(*finding)
        })
        .collect();
    plant.builder.diagnostics.retain(|diagnostic| !expected.contains(&diagnostic.finding));
}
