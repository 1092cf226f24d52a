//! Proteus XML import and export (3.3, 4.0, 4.1, 4.2; DEXPI). No data is lost silently: everything that does not become a node, an edge
//! or a field is reported in `metadata.diagnostics`.
//!
//! Three passes over the elements, in document order: items become nodes, pipe runs and signal lines become edges, and
//! associations become edges. Graphics are added to them at the end. The file declares connections only at the two ends
//! of a run; the items between are in the order of the run.

mod attribute;
mod attributes;
mod coordinates;
mod corrections;
mod elements;
mod graphics;
mod items;
mod labels;
mod plant_import;
mod relations;
mod segments;
mod signals;
mod touching_ends;
mod write;

use std::collections::BTreeMap;

use crate::encoding::decode_xml;
use crate::error::{Code, Error, Result};
use crate::import::{Finding, Import, new_metadata};
use crate::json::{Fields, Json};
use crate::xml::{Element, Tree};

use crate::snake_case::snake_case;
pub use attribute::Attribute;
pub use attributes::{add_fields as attribute_fields, number, tag_of_class};
pub use graphics::alignment;
pub use plant_import::PlantImport;
pub use write::{losses, write};

/// Returns the node type and the entity of the items that an element stands for.
pub fn node_of_element(element: &str) -> Option<(&'static str, &'static str)> {
    match elements::find(element)? {
        elements::Mapping::Node(node_type, entity, _) => Some((node_type, entity)),
        _ => None,
    }
}

/// Reads a plant model.
///
/// # Errors
/// `PQ6002` for XML that is not a plant model, and the errors of reading XML.
pub fn read(bytes: &[u8]) -> Result<Import> {
    let text = decode_xml(bytes)?;
    let mut tree = Tree::read(&text)?;
    let fragment = check_root(&tree)?;
    if fragment.is_some() {
        tree.wrap(ROOT);
    }
    let mut plant = import(&tree);
    if let Some(name) = fragment {
        let message = format!("the file is a fragment of a plant model: its root element is `{name}`");
        plant.builder.report(Finding::Fragment, message, &[]);
    }
    corrections::apply(&mut plant);
    Ok(plant.builder.finish())
}

/// Converts a plant model, without the corrections that an export adds.
fn import(tree: &Tree) -> PlantImport<'_> {
    let mut plant = import_items(tree);
    add_metadata(&mut plant);
    graphics::add(&mut plant);
    coordinates::report_invalid(&mut plant);
    report_omitted(&mut plant);
    plant
}

/// Converts the items of a plant model and what connects them, without the metadata and the graphics of the file.
pub fn import_items(tree: &Tree) -> PlantImport<'_> {
    let mut plant = PlantImport::new(tree);
    items::add(&mut plant);
    segments::add(&mut plant);
    signals::add(&mut plant);
    relations::add(&mut plant);
    items::add_qualified_tags(&mut plant);
    items::mark_actuated(&mut plant);
    relations::copy_fail_actions(&mut plant);
    touching_ends::add(&mut plant);
    plant
}

const ROOT: &str = "PlantModel";

/// Elements that are written to a file of their own, as an example or an excerpt of a plant model.
pub const FRAGMENTS: &[&str] =
    &["Equipment", "PipingNetworkSystem", "PipingNetworkSegment", "PipingComponent", "ProcessInstrumentationFunction"];

/// Checks the root element. Returns its name if the file is a fragment of a plant model.
fn check_root(tree: &Tree) -> Result<Option<String>> {
    match tree.elements.first().map(|root| root.name.as_str()) {
        Some(ROOT) => Ok(None),
        Some(name) if FRAGMENTS.contains(&name) => Ok(Some(name.to_owned())),
        name => {
            let name = name.unwrap_or_default();
            Err(Error::new(Code::NotProteus, format!("the root element is `{name}`, not `PlantModel`")))
        }
    }
}

fn first<'t>(tree: &'t Tree, name: &'t str) -> Option<(usize, &'t Element)> {
    tree.named(0, name).next()
}

/// Adds the metadata of the file.
fn add_metadata(plant: &mut PlantImport<'_>) {
    let tree = plant.tree;
    let information = first(tree, "PlantInformation").map(|(_, element)| element);
    let drawing = first(tree, "Drawing");
    let drawing_attribute = |name| drawing.and_then(|(_, element)| element.get(name));
    let drawing_attributes = drawing.map(|(index, _)| attributes::collect(plant, index)).unwrap_or_default();
    let number = attributes::value(&drawing_attributes, &["DrawingNumberAssignmentClass", "DrawingNumber"]);
    let names = [drawing_attribute("Name"), drawing_attribute("Title"), number];
    let mut metadata = new_metadata(names.into_iter().flatten().find(|name| !name.trim().is_empty()), "drawing");
    metadata.add_optional_text("title", drawing_attribute("Title"));
    metadata.add_optional_text("revision", drawing_attribute("Revision"));
    metadata.add_optional_text("size", drawing_attribute("Size"));
    metadata.add_optional_text("drawing_number", number);
    metadata.add("source", Json::Object(source(tree, information)));
    metadata.add("coordinate_system", Json::Object(coordinates(tree, information)));
    metadata.add_optional(
        "extent",
        attributes::extent(tree, 0).or_else(|| drawing.and_then(|(at, _)| attributes::extent(tree, at))),
    );
    metadata.add(
        "attributes",
        Json::Array(attributes::to_json_list(drawing_attributes.into_iter().chain(meta_attributes(plant)))),
    );
    check_version(plant, information);
    plant.builder.metadata = metadata;
}

fn meta_attributes(plant: &mut PlantImport<'_>) -> Vec<Attribute> {
    let indexes: Vec<usize> = plant.tree.named(0, "MetaData").map(|(index, _)| index).collect();
    indexes.into_iter().flat_map(|index| attributes::collect(plant, index)).collect()
}

fn source(tree: &Tree, information: Option<&Element>) -> Fields {
    let mut source = Fields::default();
    source.add("format", Json::text("Proteus XML"));
    for (name, value) in information.map(|element| element.attributes.as_slice()).unwrap_or_default() {
        source.add_if_absent(&snake_case(name), Json::text(value));
    }
    // The unit of distances is that of the coordinate system.
    let units = first(tree, "PlantInformation").and_then(|(index, _)| tree.named(index, "UnitsOfMeasure").next());
    let units = units.map(|(_, element)| element.attributes.as_slice()).unwrap_or_default();
    let units = units.iter().filter(|(name, _)| name != "Distance");
    let units: Vec<_> = units.map(|(name, unit)| (snake_case(name), Json::text(unit))).collect();
    if !units.is_empty() {
        source.add_if_absent("units_of_measure", Json::Object(Fields(units)));
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for element in tree.elements.iter().filter(|element| elements::find(&element.name).is_some()) {
        *counts.entry(&element.name).or_default() += 1;
    }
    let counts = counts.into_iter().map(|(name, count)| (name.to_owned(), Json::count(count))).collect();
    source.add("elements", Json::Object(Fields(counts)));
    source
}

/// Returns the coordinate system. In Proteus, y grows upwards; on screens, downwards.
fn coordinates(tree: &Tree, information: Option<&Element>) -> Fields {
    let units = first(tree, "PlantInformation").and_then(|(index, _)| tree.named(index, "UnitsOfMeasure").next());
    let distance = units.and_then(|(_, element)| element.get("Distance"));
    let mut fields = Fields::default();
    let unit = distance.or(information.and_then(|element| element.get("Units"))).unwrap_or("mm");
    fields.add("unit", Json::text(unit));
    fields.add("y_axis", Json::text("up"));
    fields
}

fn check_version(plant: &mut PlantImport<'_>, information: Option<&Element>) {
    let version = information.and_then(|element| element.get("SchemaVersion")).unwrap_or("none");
    if !["3.3", "4.0", "4.1", "4.2"].iter().any(|known| version.starts_with(known)) {
        plant.builder.report(
            Finding::UnknownVersion,
            format!("the version is `{version}`, not 3.3 or 4.0 to 4.2"),
            &[],
        );
    }
}

/// Reports elements that are not read, counted by name.
fn report_omitted(plant: &mut PlantImport<'_>) {
    let tree = plant.tree;
    let mut unknown = BTreeMap::new();
    for (index, element) in tree.elements.iter().enumerate() {
        if plant.mapping(index).is_none() && !plant.is_known(index) {
            *unknown.entry(element.name.clone()).or_insert(0) += 1;
        }
    }
    plant.builder.report_counts(Finding::UnknownElement, &unknown);
    plant.builder.report_counts(Finding::AttributesOmitted, &attributes_of_annotations(plant));
    if tree.had_doctype {
        plant.builder.report(Finding::DoctypeIgnored, Finding::DoctypeIgnored.summary(), &[]);
    }
}

/// Counts the attributes of annotations and shapes by element that are neither in the graphics nor those of ports.
fn attributes_of_annotations(plant: &PlantImport<'_>) -> BTreeMap<String, usize> {
    let elements = &plant.tree.elements;
    let mut counts = BTreeMap::new();
    for element in elements.iter().filter(|element| element.name == "GenericAttribute") {
        let Some(owner) = element.parent.and_then(|set| elements[set].parent) else { continue };
        let name = if plant.is_in_catalog(owner) { "ShapeCatalogue" } else { &elements[owner].name };
        let is_drawn_only =
            matches!(plant.mapping(owner), Some(elements::Mapping::Annotation | elements::Mapping::Graphic));
        if name != "Node" && is_drawn_only && !plant.drawn_with_attributes.contains(&owner) {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

#[cfg(test)]
pub mod tests;
