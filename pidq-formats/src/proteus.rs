//! Proteus XML 3.3, 4.0 and 4.1 (DEXPI) → `pid_graph`. Nothing is lost in silence: what does not become a node, an edge or
//! a field is in `metadata.diagnostics`.
//!
//! Three passes over the elements, in reading order: items become nodes, pipe runs and signal lines become edges,
//! associations become edges. The file says who is connected only at the two ends of a run; what lies between comes in
//! the order of the run.

mod facts;
mod items;
mod kinds;
mod plant;
mod relations;
mod runs;
mod signals;

use std::collections::BTreeMap;

use crate::error::{Code, Error, Result};
use crate::import::{Finding, Imported};
use crate::json::{Fields, Json};
use crate::text::decode_xml;
use crate::xml::{Element, Tree};

use plant::Plant;

/// Reads a plant model.
///
/// # Errors
/// `PQ6002` for XML that is no plant model, and what reading XML can give.
pub fn read(bytes: &[u8]) -> Result<Imported> {
    let text = decode_xml(bytes)?;
    let tree = Tree::read(&text, kinds::is_wanted)?;
    let mut plant = Plant::new(&tree);
    check_root(&tree)?;
    items::add(&mut plant);
    runs::add(&mut plant);
    signals::add(&mut plant);
    relations::add(&mut plant);
    items::add_qualified_tags(&mut plant);
    items::mark_actuated(&mut plant);
    facts::add_late(&mut plant);
    add_metadata(&mut plant);
    count_losses(&mut plant);
    Ok(plant.draft.finish())
}

fn check_root(tree: &Tree) -> Result<()> {
    match tree.elements.first().map(|root| root.name.as_str()) {
        Some("PlantModel") => Ok(()),
        name => {
            let name = name.unwrap_or_default();
            Err(Error::new(Code::NotProteus, format!("the root element is `{name}`, not `PlantModel`")))
        }
    }
}

fn first<'t>(tree: &'t Tree, name: &'t str) -> Option<(usize, &'t Element)> {
    tree.named(0, name).next()
}

/// What the file says about itself.
fn add_metadata(plant: &mut Plant<'_>) {
    let tree = plant.tree;
    let information = first(tree, "PlantInformation").map(|(_, element)| element);
    let drawing = first(tree, "Drawing");
    let of_drawing = |name| drawing.and_then(|(_, element)| element.get(name));
    let mut metadata = Fields::default();
    let name = of_drawing("Name").or(of_drawing("Title")).unwrap_or("drawing");
    metadata.add("drawing_name", Json::text(name));
    metadata.add("job_id", Json::text(name));
    metadata.add("schema_version", Json::text("1.0.0"));
    metadata.add("change_version", Json::text("1"));
    metadata.maybe_text("title", of_drawing("Title"));
    metadata.maybe_text("revision", of_drawing("Revision"));
    metadata.maybe_text("size", of_drawing("Size"));
    let own = drawing.map(|(index, _)| facts::attributes(plant, index)).unwrap_or_default();
    metadata.maybe_text("drawing_number", facts::value(&own, &["DrawingNumberAssignmentClass", "DrawingNumber"]));
    metadata.add("source", Json::Record(source(tree, information)));
    metadata.add("coordinate_system", Json::Record(coordinates(tree, information)));
    metadata.maybe("extent", facts::extent(tree, 0).or_else(|| drawing.and_then(|(at, _)| facts::extent(tree, at))));
    metadata.add("attributes", Json::List(facts::records(own.into_iter().chain(meta_attributes(plant)))));
    check_version(plant, information);
    plant.draft.metadata = metadata;
}

fn meta_attributes(plant: &mut Plant<'_>) -> Vec<facts::Attribute> {
    let indexes: Vec<usize> = plant.tree.named(0, "MetaData").map(|(index, _)| index).collect();
    indexes.into_iter().flat_map(|index| facts::attributes(plant, index)).collect()
}

fn source(tree: &Tree, information: Option<&Element>) -> Fields {
    let mut source = Fields::default();
    source.add("format", Json::text("Proteus XML"));
    for (name, value) in information.map(|element| element.attributes.as_slice()).unwrap_or_default() {
        source.add_new(&kinds::snake_case(name), Json::text(value));
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for element in tree.elements.iter().filter(|element| kinds::find(&element.name).is_some()) {
        *counts.entry(&element.name).or_default() += 1;
    }
    let counts = counts.into_iter().map(|(name, count)| (name.to_owned(), Json::count(count))).collect();
    source.add("elements", Json::Record(Fields(counts)));
    source
}

/// Proteus counts upwards, as mathematicians do; screens count downwards.
fn coordinates(tree: &Tree, information: Option<&Element>) -> Fields {
    let units = first(tree, "PlantInformation").and_then(|(index, _)| tree.named(index, "UnitsOfMeasure").next());
    let distance = units.and_then(|(_, element)| element.get("Distance"));
    let mut fields = Fields::default();
    let unit = distance.or(information.and_then(|element| element.get("Units"))).unwrap_or("mm");
    fields.add("unit", Json::text(unit));
    fields.add("y_axis", Json::text("up"));
    fields
}

fn check_version(plant: &mut Plant<'_>, information: Option<&Element>) {
    let version = information.and_then(|element| element.get("SchemaVersion")).unwrap_or("none");
    if !["3.3", "4.0", "4.1"].iter().any(|known| version.starts_with(known)) {
        plant.draft.find(Finding::UnknownVersion, format!("the version is `{version}`, not 3.3, 4.0 or 4.1"), &[]);
    }
}

/// What was not made into anything, counted by name.
fn count_losses(plant: &mut Plant<'_>) {
    let tree = plant.tree;
    plant.draft.find_counts(Finding::GraphicsLeftOut, &tree.skipped);
    let mut annotations = BTreeMap::new();
    let mut unknown = BTreeMap::new();
    for (index, element) in tree.elements.iter().enumerate() {
        match plant.becomes(index) {
            // Ports and centre lines came through: as ports, and as the geometry of edges.
            Some(kinds::Use::Annotation) if !matches!(element.name.as_str(), "Node" | "CenterLine") => {
                *annotations.entry(element.name.clone()).or_insert(0) += 1;
            }
            _ if kinds::find(&element.name).is_none() && !plant.is_known(index) => {
                *unknown.entry(element.name.clone()).or_insert(0) += 1;
            }
            _ => {}
        }
    }
    plant.draft.find_counts(Finding::AnnotationLeftOut, &annotations);
    plant.draft.find_counts(Finding::UnknownElement, &unknown);
    plant.draft.find_counts(Finding::AttributesLeftOut, &attributes_of_annotations(plant));
    if tree.had_doctype {
        plant.draft.find(Finding::DoctypeIgnored, Finding::DoctypeIgnored.summary(), &[]);
    }
}

/// How many attributes stand in annotations, by the element they stand in. Those of ports came through.
fn attributes_of_annotations(plant: &Plant<'_>) -> BTreeMap<String, usize> {
    let elements = &plant.tree.elements;
    let mut counts = BTreeMap::new();
    for element in elements.iter().filter(|element| element.name == "GenericAttribute") {
        let Some(owner) = element.parent.and_then(|set| elements[set].parent) else { continue };
        let name = &elements[owner].name;
        if name != "Node" && plant.becomes(owner) == Some(kinds::Use::Annotation) {
            *counts.entry(name.clone()).or_insert(0) += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests;
