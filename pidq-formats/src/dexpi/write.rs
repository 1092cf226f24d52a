//! DEXPI 2.0 XML export: a plant model with its diagram.
//!
//! Nodes and edges become objects of the classes and properties of the information model. The document is then read; what
//! differs from the graph is added to it as members of the extension (see [`super::extension`]), so that a file that is
//! read back gives the same graph.

mod diagram;
mod differences;
mod document;
mod elements;
mod items;
mod losses;
mod members;
mod names;
mod sheet;
mod values;

use std::collections::{BTreeMap, HashMap};

use pidq_core::{Graph, Object, Value};

use crate::error::{Code, Error, Result};
use crate::json::quote;
use crate::model::{Edge, Model};

pub use losses::losses;

use diagram::Drawn;
use document::Document;
use items::Items;
use names::{Names, text};
use sheet::Sheet;

/// Metadata that describes the file that a drawing was read from.
const FILE_METADATA: &[&str] = &["source", "diagnostics"];

/// Writes the plant model of a drawing.
///
/// # Errors
/// `PQ6003` for a value without nodes.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let converted = converted(value)?;
    let text = write_graph(converted.as_ref().map_or(value, Graph::root))?;
    Ok(vec![text.into_bytes()])
}

/// Returns a graph with the coordinates of DEXPI; `None` if it has them.
fn converted(value: Value<'_>) -> Result<Option<Graph>> {
    let model = Model::from_value(value)?;
    let Some(sheet) = Sheet::of(model.metadata) else { return Ok(None) };
    graph(sheet.convert(value).to_text()).map(Some)
}

fn graph(json: String) -> Result<Graph> {
    Graph::from_json(json).map_err(|error| Error::new(Code::NotJson, error.message().to_owned()))
}

/// Returns the graph that a document is read as.
fn read_back(document: &mut Document) -> Result<Graph> {
    graph(super::read(&[document.write()?.as_bytes()])?.json)
}

/// Writes a graph with the coordinates of DEXPI.
fn write_graph(value: Value<'_>) -> Result<String> {
    write_counting(value).map(|(text, _)| text)
}

/// Writes a graph, and counts the values that only the extension states, by name.
fn write_counting(value: Value<'_>) -> Result<(String, BTreeMap<String, usize>)> {
    let model = Model::from_value(value)?;
    let names = Names::new(model.metadata);
    let mut document = Document::default();
    let source = model.metadata.and_then(|metadata| metadata.get("source")?.as_object());
    let name = text(source, "name").filter(|name| names::is_name(name)).unwrap_or("drawing");
    let uri = text(source, "uri").filter(|uri| names::is_uri(uri)).unwrap_or("https://github.com/pidq/pidq/drawing");
    document.model(name, uri);
    names.add_to(&mut document);
    let engineering_model = document.object("Core/EngineeringModel");
    let plant_id = document.generated_id();
    let plant = document.component(engineering_model, "ConceptualModel", "Plant/PlantModel", Some(&plant_id));
    add_metadata(&mut document, &names, engineering_model, plant, model.metadata);
    let mut items = Items::write(&model, &names, &mut document, plant);
    let places = Places::new(&items);
    let extension_only = std::mem::take(&mut items.extension_only);
    diagram::add(&mut items, engineering_model, &plant_id, model.metadata, &places.drawn(&model));
    let read = read_back(&mut document)?;
    places.add_members(&mut document, &model, &Model::from_value(read.root())?, engineering_model);
    let read = read_back(&mut document)?;
    differences::add(&mut document, &model, &Model::from_value(read.root())?, plant);
    Ok((document.write()?, extension_only))
}

/// Place of a node or an edge in the document.
struct Place {
    object: usize,
    written_id: String,
}

/// Places of the nodes and edges, which have none if they are not items, pipes or signals.
struct Places {
    nodes: Vec<Option<Place>>,
    edges: Vec<Option<Place>>,
}

impl Places {
    fn new(items: &Items<'_, '_, '_>) -> Places {
        let nodes = items.nodes.iter().map(|item| {
            let item = item.as_ref()?;
            Some(Place { object: item.object, written_id: item.written_id.clone() })
        });
        let edges = items.edges.iter().map(|place| {
            let (object, written_id) = place.clone()?;
            Some(Place { object, written_id })
        });
        Places { nodes: nodes.collect(), edges: edges.collect() }
    }

    /// Returns the objects that are drawn: lines first, and items over them.
    fn drawn<'a>(&'a self, model: &Model<'a>) -> Vec<Drawn<'a>> {
        let graphics = |fields: Object<'a>| fields.get("graphics").and_then(Value::as_array);
        let edges = self.edges.iter().zip(&model.edges).filter_map(|(place, edge)| {
            let ends = Some([edge.from.node, edge.to.node]);
            Some(Drawn { id: &place.as_ref()?.written_id, graphics: graphics(edge.fields), item: None, ends })
        });
        let nodes = self.nodes.iter().zip(&model.nodes).enumerate().filter_map(|(index, (place, node))| {
            let item = Some(index);
            Some(Drawn { id: &place.as_ref()?.written_id, graphics: graphics(node.fields), item, ends: None })
        });
        edges.chain(nodes).collect()
    }

    /// Adds what is not read back.
    fn add_members(&self, document: &mut Document, model: &Model<'_>, read: &Model<'_>, engineering: usize) {
        let nodes: HashMap<&str, Object<'_>> =
            read.nodes.iter().map(|node| (node.name.as_str(), node.fields)).collect();
        for (place, node) in self.nodes.iter().zip(&model.nodes) {
            if let (Some(place), Some(read)) = (place, nodes.get(node.name.as_str())) {
                // A node without an id has one in the document.
                let elsewhere: &[&str] = if node.id().is_some() { &[] } else { &["id"] };
                members::add(document, place.object, node.fields, *read, elsewhere);
            }
        }
        self.add_edge_members(document, model, read);
        if let (Some(metadata), Some(read)) = (model.metadata, read.metadata) {
            members::add(document, engineering, metadata, read, FILE_METADATA);
        }
    }

    fn add_edge_members(&self, document: &mut Document, model: &Model<'_>, read: &Model<'_>) {
        let mut read_edges = ReadEdges::new(read);
        for (place, edge) in self.edges.iter().zip(&model.edges) {
            if let (Some(place), Some(read)) = (place, read_edges.take(edge)) {
                members::add(document, place.object, edge.fields, read, &[]);
            }
        }
    }
}

/// Pipes and signals that were read, by what identifies them.
struct ReadEdges<'a> {
    pipes: HashMap<String, Vec<Object<'a>>>,
    signals: HashMap<&'a str, Object<'a>>,
}

impl<'a> ReadEdges<'a> {
    fn new(read: &Model<'a>) -> ReadEdges<'a> {
        let mut edges = ReadEdges { pipes: HashMap::new(), signals: HashMap::new() };
        for edge in read.edges.iter().rev() {
            if edge.fields.get("segment").is_some() {
                edges.pipes.entry(pipe_key(edge)).or_default().push(edge.fields);
            }
            edges.signals.extend(text(Some(edge.fields), "id").map(|id| (id, edge.fields)));
        }
        edges
    }

    /// Returns the pipe or signal that an edge was read as.
    fn take(&mut self, edge: &Edge<'_>) -> Option<Object<'a>> {
        match elements::is_signal(edge) {
            true => self.signals.get(text(Some(edge.fields), "id")?).copied(),
            false => self.pipes.get_mut(&pipe_key(edge))?.pop(),
        }
    }
}

/// Returns the ends of a pipe.
fn pipe_key(edge: &Edge<'_>) -> String {
    let mut key = String::new();
    quote(&edge.from.name, &mut key);
    quote(&edge.to.name, &mut key);
    key
}

/// Data of the engineering model that every file states, and what it is without a value in the graph.
const ORIGIN: &[(&str, &str)] =
    &[("OriginatingSystemName", "pidq"), ("OriginatingSystemVendorName", "pidq"), ("OriginatingSystemVersion", "1")];
/// Metadata of the drawing, and the field of the graph that has it.
const DRAWING: &[(&str, &str)] = &[
    ("DrawingName", "title"),
    ("DrawingNumber", "drawing_number"),
    ("RevisionNumber", "revision"),
    ("SheetFormat", "size"),
];

fn add_metadata(document: &mut Document, names: &Names<'_>, model: usize, plant: usize, metadata: Option<Object<'_>>) {
    let attributes = metadata.map(values::attributes).unwrap_or_default();
    let stated = |property: &str| {
        let name = format!("{property}AssignmentClass");
        attributes.iter().find(|attribute| attribute.name == name).and_then(|attribute| attribute.value)
    };
    for (property, default) in ORIGIN {
        document.datum(model, property, "String", stated(property).unwrap_or(default));
    }
    match stated("ExportDateTime").filter(|time| is_time(time)) {
        Some(time) => document.datum(model, "ExportDateTime", "DateTime", time),
        None => document.datum(model, "ExportDateTime", "Undefined", ""),
    }
    let class = "Plant/Diagram.PlantMetaData";
    let object = document.component(plant, "MetaData", class, None);
    values::add(document, object, class, names, &attributes);
    for (property, key) in DRAWING {
        if let (None, Some(value)) = (stated(property), text(metadata, key)) {
            document.datum(object, property, "String", value);
        }
    }
}

/// Returns true for a date and time as XML has it, such as `2024-05-06T07:08:09Z`.
fn is_time(text: &str) -> bool {
    const PATTERN: &str = "0000-00-00T00:00:00";
    let matches = |(c, pattern): (u8, u8)| if pattern == b'0' { c.is_ascii_digit() } else { c == pattern };
    let is_zone = |rest: &str| matches!(rest, "" | "Z");
    text.len() >= PATTERN.len()
        && text.bytes().zip(PATTERN.bytes()).all(matches)
        && is_zone(text.get(PATTERN.len()..).unwrap_or("?"))
}

#[cfg(test)]
mod tests;
