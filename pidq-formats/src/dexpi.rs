//! DEXPI 2.0 XML import and export: plant models, process models, and their diagrams. No data is lost silently: what does
//! not become a node, an edge, a field or graphics is reported in `metadata.diagnostics`, and what the information model
//! cannot say is written as an extension (see [`extension`]).
//!
//! A plant model becomes the elements of a Proteus plant model, and those become the graph: the same drawing in both
//! formats gives the same graph. Coordinates keep the digits of the file; y grows downwards.

mod diagram;
mod extension;
pub mod graph;
mod members;
mod objects;
mod plant;
mod plant_model;
mod primitives;
mod process;
mod segments;
mod values;
mod write;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::encoding::decode_xml;
use crate::error::{Code, Error, Result};
use crate::import::{Finding, Import, ImportBuilder, new_metadata};
use crate::json::{Fields, Json};
use crate::proteus;
use crate::xml::Tree;

use diagram::Diagram;
use objects::{Objects, last_name};
use plant::{Pipe, Plant};
pub use write::{losses, write};

/// Reads a model, and the profile models with its symbols that follow it.
///
/// # Errors
/// `PQ6012` for XML that is not a model of a plant or a process, and the errors of reading XML.
pub fn read(files: &[&[u8]]) -> Result<Import> {
    let [model, profiles @ ..] = files else { return Err(Error::new(Code::WrongParts, "there is no file")) };
    let text = decode_xml(model)?;
    let mut tree = Tree::read(&text)?;
    extension::decode_ids(&mut tree);
    let objects = Objects::new(&tree);
    let model = engineering_model(&objects)?;
    let mut diagram = Diagram::read(&objects, model);
    for profile in profiles {
        add_profile(&mut diagram, profile)?;
    }
    let mut builder = ImportBuilder::default();
    let mut metadata_values = plant::values(&objects, model);
    for conceptual in objects.components(model, "ConceptualModel") {
        metadata_values.extend(plant::values(&objects, conceptual));
        for metadata in objects.components(conceptual, "MetaData") {
            metadata_values.extend(plant::values(&objects, metadata));
        }
        match objects.class(conceptual) {
            "ProcessModel" => {
                process::read(&objects, &diagram, conceptual, &mut builder);
                add_process_graphics(&mut builder, &mut diagram);
            }
            _ => builder = read_plant(&objects, &mut diagram, conceptual),
        }
    }
    builder.report_counts(Finding::MissingShape, &diagram.missing_shapes());
    builder.metadata = metadata(&objects, &mut diagram, metadata_values);
    members::restore(&mut builder.metadata, members::members(&objects, model));
    report(&objects, &mut builder);
    Ok(builder.finish())
}

/// Returns the engineering model of a file.
fn engineering_model(objects: &Objects<'_>) -> Result<usize> {
    let root = objects.tree.elements.first().map(|root| root.name.as_str()).unwrap_or_default();
    if root != "Model" {
        return Err(Error::new(Code::NotDexpi, format!("the root element is `{root}`, not `Model`")));
    }
    let model = objects.objects_in(0).find(|object| objects.class(*object) == "EngineeringModel");
    let model = model.ok_or_else(|| {
        let name = objects.element(0).get("name").unwrap_or("without a name");
        let message = format!(
            "`{name}` is an information model or a profile, not a drawing: it has no `EngineeringModel`; pass the file \
             of the drawing first, and a profile after it"
        );
        Error::new(Code::NotDexpi, message)
    })?;
    objects.take(model);
    Ok(model)
}

/// Adds the symbols of a profile model as shapes: the first variant of each symbol.
fn add_profile(diagram: &mut Diagram<'_>, bytes: &[u8]) -> Result<()> {
    let text = decode_xml(bytes)?;
    let tree = Tree::read(&text)?;
    let objects = Objects::new(&tree);
    if tree.elements.first().is_none_or(|root| root.name != "Model") {
        return Err(Error::new(Code::NotDexpi, "a profile is a DEXPI 2.0 model with the root element `Model`"));
    }
    let symbols = (0..tree.elements.len()).filter(|index| tree.elements[*index].name == "Object");
    for symbol in symbols.filter(|symbol| objects.class(*symbol) == "Symbol") {
        let name = tree.elements[symbol].get("name").or(objects.id(symbol)).unwrap_or_default().to_owned();
        if let Some(variant) = objects.components(symbol, "Variants").first() {
            diagram.add_shape(&objects, *variant, name);
        }
    }
    Ok(())
}

fn read_plant<'t>(objects: &Objects<'t>, diagram: &mut Diagram<'t>, model: usize) -> ImportBuilder {
    let Plant { tree, pipes, generated_ids, .. } = Plant::read(objects, diagram, model);
    let plant = proteus::import_items(&tree);
    let mut targets: HashMap<&str, GraphicsTarget> = HashMap::new();
    let extended = extended_objects(objects);
    let ids = || diagram.drawings.keys().copied().chain(extended.iter().map(|(id, _)| *id));
    for id in ids() {
        targets.extend(plant.lookup(id).map(|item| (id, GraphicsTarget::Node(item))));
    }
    let mut builder = plant.builder;
    let edges_by_id = edges_by_id(&builder);
    for id in ids() {
        targets.extend(edges_by_id.get(id).map(|edge| (id, GraphicsTarget::Edge(*edge))));
    }
    let edges = pipe_edges(&builder);
    for pipe in pipes {
        let edge = edges.get(&(
            pipe.segment.clone(),
            pipe.ends.source.map(str::to_owned),
            pipe.ends.target.map(str::to_owned),
        ));
        targets.extend(pipe.id.and_then(|id| edge.map(|edge| (id, GraphicsTarget::Edge(*edge)))));
        add_pipe(&mut builder, edge.copied(), pipe);
    }
    for id in &generated_ids {
        let message = format!("an object has no id; it was named `{id}`");
        builder.report(Finding::MissingId, message, &[id]);
    }
    add_graphics(&mut builder, diagram, &targets);
    for (id, object) in extended {
        let members = members::members(objects, object);
        match targets.get(id) {
            Some(GraphicsTarget::Node(node)) => members::restore(&mut builder.nodes[*node], members),
            Some(GraphicsTarget::Edge(edge)) => members::restore(&mut builder.edges[*edge], members),
            None => {}
        }
    }
    restore_differences(&mut builder, objects, model);
    builder
}

/// Removes and adds the nodes and edges that a plant states to be absent, and those that have no object.
fn restore_differences(builder: &mut ImportBuilder, objects: &Objects<'_>, plant: usize) {
    let texts = |property| members::texts(objects, plant, property);
    let key =
        |edge: &Fields| ["edge_type", "edge_classification", "from", "to"].map(|key| edge.get(key).map(Json::to_text));
    let mut absent: HashMap<[Option<String>; 4], usize> = HashMap::new();
    for edge in texts(extension::ABSENT_EDGES).into_iter().filter_map(members::object) {
        *absent.entry(key(&edge)).or_default() += 1;
    }
    builder.edges.retain(|edge| match absent.get_mut(&key(edge)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    let id = |fields: &Fields| fields.get("id").map(Json::to_text);
    let absent = texts(extension::ABSENT_NODES).into_iter().filter_map(members::json);
    let absent: HashSet<String> = absent.map(|id| id.to_text()).collect();
    builder.nodes.retain(|node| id(node).is_none_or(|id| !absent.contains(&id)));
    // The ends that were added for lines whose ends the extension states.
    let is_absent = |id: &String| absent.contains(&Json::text(id).to_text());
    builder.diagnostics.retain(|diagnostic| {
        let is_added = matches!(diagnostic.finding, Finding::OpenSignal | Finding::OpenEnd);
        !(is_added && diagnostic.ids.iter().any(is_absent))
    });
    let mut places: HashMap<String, usize> = HashMap::new();
    for (index, node) in builder.nodes.iter().enumerate() {
        places.extend(id(node).map(|id| (id, index)));
    }
    for node in texts(extension::NODES).into_iter().filter_map(members::object) {
        match id(&node).and_then(|id| places.get(&id)) {
            Some(index) => builder.nodes[*index] = node,
            None => builder.nodes.push(node),
        }
    }
    builder.edges.extend(texts(extension::EDGES).into_iter().filter_map(members::object));
}

/// Returns the objects with members of the extension, with their ids.
fn extended_objects<'t>(objects: &Objects<'t>) -> Vec<(&'t str, usize)> {
    let elements = objects.tree.elements.iter().enumerate();
    let ids = elements.filter(|(_, element)| element.name == "Object");
    let ids = ids.filter_map(|(object, _)| Some((objects.id(object)?, object)));
    ids.filter(|(_, object)| objects.extension(*object, "Data").next().is_some()).collect()
}

#[derive(Clone, Copy)]
enum GraphicsTarget {
    Node(usize),
    Edge(usize),
}

fn edges_by_id(builder: &ImportBuilder) -> HashMap<String, usize> {
    let id = |edge: &Fields| text(edge, "id").map(str::to_owned);
    builder.edges.iter().enumerate().filter_map(|(index, edge)| Some((id(edge)?, index))).collect()
}

fn text<'f>(fields: &'f Fields, key: &str) -> Option<&'f str> {
    match fields.get(key) {
        Some(Json::String(text)) => Some(text),
        _ => None,
    }
}

type PipeKey = (String, Option<String>, Option<String>);

/// Returns the pipe edges by segment and ends. Synthetic ends are the ends that the file does not name.
fn pipe_edges(builder: &ImportBuilder) -> HashMap<PipeKey, usize> {
    let synthetic = builder.nodes.iter().filter(|node| node.get("synthetic").is_some());
    let synthetic: HashSet<&str> = synthetic.filter_map(|node| text(node, "id")).collect();
    let mut edges = HashMap::new();
    for (index, edge) in builder.edges.iter().enumerate() {
        let Some(segment) = text(edge, "segment") else { continue };
        let [from, to] =
            ["from", "to"].map(|key| text(edge, key).filter(|id| !synthetic.contains(id)).map(str::to_owned));
        edges.entry((segment.to_owned(), from, to)).or_insert(index);
    }
    edges
}

/// Adds the attributes and the persistent id of a pipe to its edge.
fn add_pipe(builder: &mut ImportBuilder, edge: Option<usize>, pipe: Pipe<'_>) {
    if pipe.values.is_empty() && pipe.persistent_id.is_none() {
        return;
    }
    match edge {
        Some(edge) => {
            let edge = &mut builder.edges[edge];
            edge.add_optional_text("persistent_id", pipe.persistent_id);
            process::add_attributes(edge, pipe.values);
        }
        None => {
            let message = format!("the attributes of a pipe of the segment `{}` have no edge", pipe.segment);
            builder.report(Finding::ObjectOmitted, message, &[&pipe.segment]);
        }
    }
}

/// Adds the graphics to nodes and edges; those of other objects belong to the sheet.
fn add_graphics(builder: &mut ImportBuilder, diagram: &mut Diagram<'_>, targets: &HashMap<&str, GraphicsTarget>) {
    for id in std::mem::take(&mut diagram.order) {
        let Some(drawing) = diagram.drawings.get_mut(id) else { continue };
        let graphics = std::mem::take(&mut drawing.graphics);
        if graphics.is_empty() {
            continue;
        }
        match targets.get(id) {
            Some(GraphicsTarget::Node(node)) => append(&mut builder.nodes[*node], graphics),
            Some(GraphicsTarget::Edge(edge)) => append(&mut builder.edges[*edge], graphics),
            None => diagram.sheet.extend(graphics),
        }
    }
}

fn append(fields: &mut Fields, graphics: Vec<Json>) {
    match fields.0.iter_mut().find(|(key, _)| key == "graphics") {
        Some((_, Json::Array(list))) => list.extend(graphics),
        _ => fields.add("graphics", Json::Array(graphics)),
    }
}

fn add_process_graphics(builder: &mut ImportBuilder, diagram: &mut Diagram<'_>) {
    let mut targets = HashMap::new();
    let ids: HashMap<&str, &str> = diagram.drawings.keys().map(|id| (*id, *id)).collect();
    for (index, node) in builder.nodes.iter().enumerate() {
        targets.extend(text(node, "id").and_then(|id| ids.get(id)).map(|id| (*id, GraphicsTarget::Node(index))));
    }
    for (index, edge) in builder.edges.iter().enumerate() {
        targets.extend(text(edge, "id").and_then(|id| ids.get(id)).map(|id| (*id, GraphicsTarget::Edge(index))));
    }
    add_graphics(builder, diagram, &targets);
}

/// Returns the metadata of the file, under the keys that the Proteus import uses.
fn metadata(objects: &Objects<'_>, diagram: &mut Diagram<'_>, values: Vec<values::DataValue<'_>>) -> Fields {
    let value = |name: &str| {
        let named = values.iter().filter(|value| value.name == format!("{name}AssignmentClass"));
        named.filter_map(|value| value.value.as_deref()).find(|value| !value.trim().is_empty())
    };
    let name = diagram.name(objects).filter(|name| !name.trim().is_empty());
    let name = name.or(value("DrawingName")).or(value("DrawingNumber")).or(value("FileName"));
    let mut metadata = new_metadata(name, "drawing");
    metadata.add_optional_text("title", value("DrawingName"));
    metadata.add_optional_text("revision", value("RevisionNumber"));
    metadata.add_optional_text("size", value("SheetFormat"));
    metadata.add_optional_text("drawing_number", value("DrawingNumber"));
    metadata.add("source", Json::Object(source(objects)));
    let mut coordinates = Fields::default();
    coordinates.add("unit", Json::text("mm"));
    coordinates.add("y_axis", Json::text("down"));
    metadata.add("coordinate_system", Json::Object(coordinates));
    if let Some([min_x, min_y, max_x, max_y]) = diagram.extent(objects) {
        metadata.add("extent", extent(&min_x, &min_y, &max_x, &max_y));
    }
    metadata.add("attributes", Json::Array(values.into_iter().map(values::DataValue::into_json).collect()));
    metadata.add_optional("graphics", diagram.graphics(objects));
    metadata
}

/// Returns the extent as the smallest point, then width and height.
fn extent(min_x: &str, min_y: &str, max_x: &str, max_y: &str) -> Json {
    let [x, y, right, top] = [min_x, min_y, max_x, max_y].map(|digits| digits.parse::<f64>().unwrap_or_default());
    Json::Array([x, y, right - x, top - y].map(proteus::number).into())
}

/// Returns the origin of the file: its information models, their version, and the counts of its classes.
fn source(objects: &Objects<'_>) -> Fields {
    let mut source = Fields::default();
    source.add("format", Json::text("DEXPI XML"));
    source.add_optional_text("model_version", version(objects));
    source.add_optional_text("name", objects.element(0).get("name"));
    source.add_optional_text("uri", objects.element(0).get("uri"));
    let imports =
        objects.tree.named(0, "Import").filter_map(|(_, import)| Some((import.get("prefix")?, import.get("source")?)));
    let imports = imports.filter(|(_, source)| *source != extension::SOURCE);
    let imports: BTreeMap<&str, &str> = imports.collect();
    let imports = imports.into_iter().map(|(prefix, source)| (prefix.to_owned(), Json::text(source)));
    source.add("imports", Json::Object(Fields(imports.collect())));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for object in objects.tree.elements.iter().filter(|element| element.name == "Object") {
        *counts.entry(object.get("type").map_or("Object", last_name)).or_default() += 1;
    }
    let counts = counts.into_iter().map(|(name, count)| (name.to_owned(), Json::count(count)));
    source.add("elements", Json::Object(Fields(counts.collect())));
    source
}

/// Returns the version in the address of the core model, such as `2.0.0`.
fn version<'t>(objects: &Objects<'t>) -> Option<&'t str> {
    let mut imports = objects.tree.named(0, "Import");
    let source =
        imports.find_map(|(_, import)| import.get("source").filter(|_| import.get("prefix") == Some("Core")))?;
    source.split('/').find(|part| part.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reports what was not read.
fn report(objects: &Objects<'_>, builder: &mut ImportBuilder) {
    let version = version(objects).unwrap_or("none");
    if !["2.0", "2.1"].iter().any(|known| version.starts_with(known)) {
        builder.report(Finding::UnknownVersion, format!("the version is `{version}`, not 2.0 or 2.1"), &[]);
    }
    let mut values = BTreeMap::new();
    for object in &objects.duplicates {
        // Other duplicates were reported when they were renamed.
        if objects.class(*object) == "QualifiedValue" {
            *values.entry("QualifiedValue".to_owned()).or_insert(0) += 1;
        }
    }
    builder.report_counts(Finding::DuplicateId, &values);
    builder.report_counts(Finding::ObjectOmitted, &objects.not_taken());
    if objects.tree.had_doctype {
        builder.report(Finding::DoctypeIgnored, Finding::DoctypeIgnored.summary(), &[]);
    }
}

#[cfg(test)]
mod tests;
