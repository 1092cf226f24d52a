//! Graphics: drawn elements of the file as `graphics` of nodes and edges, and as `metadata.graphics` of the sheet.
//!
//! Everything is in the units of the drawing, with the digits of the file. An element of the shape catalog is a shape
//! in its own coordinates; an item that names it has a `use` of it. All other elements are in the coordinates of the sheet.

mod curves;
mod placement;
mod style;
mod texts;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::import::Finding;
use crate::json::{Fields, Json};
use crate::snake_case::snake_case;
use crate::xml::Tree;

use super::attributes;
use super::elements::Mapping;
use super::plant_import::PlantImport;

use style::Style;

pub use texts::alignment;

/// Adds the graphics of all items, and of the sheet.
pub fn add(plant: &mut PlantImport<'_>) {
    let catalog = Catalog::new(plant.tree);
    let mut collector = Collector::new(plant, &catalog);
    let shapes = collector.shapes();
    let drawn_shapes = std::mem::take(&mut collector.drawn_shapes);
    let nodes: Vec<Vec<Json>> = (0..plant.items.len()).map(|item| collector.item(item)).collect();
    let edges = collector.edges();
    let sheet = collector.sheet();
    let Collector { omitted, empty, used, with_attributes, .. } = collector;
    plant.drawn_with_attributes = with_attributes;
    plant.builder.report_counts(Finding::GraphicsOmitted, &omitted);
    plant.builder.report_counts(Finding::AnnotationOmitted, &empty);
    let missing = used.into_iter().filter(|(name, _)| !drawn_shapes.contains(name)).collect();
    plant.builder.report_counts(Finding::MissingShape, &missing);
    let is_empty = shapes.is_empty() && sheet.is_empty() && nodes.iter().all(Vec::is_empty) && edges.is_empty();
    for (fields, graphics) in plant.builder.nodes.iter_mut().zip(nodes) {
        add_graphics(fields, graphics);
    }
    for (edge, graphics) in edges {
        add_graphics(&mut plant.builder.edges[edge], graphics);
    }
    if !is_empty {
        let fields = sheet_fields(plant.tree, shapes, sheet);
        plant.builder.metadata.add("graphics", Json::Object(fields));
    }
}

fn add_graphics(fields: &mut Fields, graphics: Vec<Json>) {
    if !graphics.is_empty() {
        fields.add("graphics", Json::Array(graphics));
    }
}

/// Returns the graphics of the sheet: unit, extent, shapes, and the elements that belong to no item.
fn sheet_fields(tree: &Tree, shapes: Fields, elements: Vec<Json>) -> Fields {
    let drawing = tree.named(0, "Drawing").next().map(|(index, _)| index);
    let unit = tree.named(0, "PlantInformation").find_map(|(_, element)| element.get("Units")).unwrap_or("mm");
    let mut fields = Fields::default();
    fields.add("unit", Json::text(unit));
    fields.add_optional("mm_per_unit", millimeters(unit).map(|number| Json::Number(number.into())));
    let extent = drawing.into_iter().chain([0]).find_map(|element| attributes::corners(tree, element));
    fields.add_optional("extent", extent.map(|corners| Json::Array(corners.iter().flat_map(|at| at.json()).collect())));
    fields.add("y_axis", Json::text("up"));
    let background = drawing.and_then(|drawing| Style::of(tree, drawing).stroke);
    fields.add_optional("background", background.map(Json::String));
    fields.add("shapes", Json::Object(shapes));
    fields.add("elements", Json::Array(elements));
    fields
}

/// Millimeters per unit of length, by the beginnings of its names.
const UNITS: &[(&str, &str)] = &[
    ("millimet", "1"),
    ("mm", "1"),
    ("centimet", "10"),
    ("cm", "10"),
    ("met", "1000"),
    ("inch", "25.4"),
    ("foot", "304.8"),
    ("feet", "304.8"),
];

fn millimeters(unit: &str) -> Option<&'static str> {
    let unit = unit.trim().to_lowercase();
    let exact = [("m", "1000"), ("in", "25.4"), ("ft", "304.8")].into_iter().find(|(name, _)| *name == unit);
    exact.or_else(|| UNITS.iter().copied().find(|(name, _)| unit.starts_with(name))).map(|(_, number)| number)
}

/// Roles of annotations whose role is not the name of the element in snake case.
const ROLES: &[(&str, &str)] = &[("DrawingBorder", "border"), ("PipeFlowArrow", "flow_arrow")];

/// Annotations that systems without a shape for them draw as a symbol of their own.
const SYMBOLS: &[&str] = &["PipeFlowArrow", "PipeSlopeSymbol", "InsulationSymbol"];

/// Shapes of the catalog: their names in the document.
struct Catalog {
    /// By element and component name, since an equipment and a nozzle may have the same name.
    names: HashMap<(String, String), String>,
    /// By component name: the first shape.
    first: HashMap<String, String>,
    /// Elements of the shapes with their names, in the order of the file.
    shapes: Vec<(usize, String)>,
}

impl Catalog {
    fn new(tree: &Tree) -> Catalog {
        let mut catalog = Catalog { names: HashMap::new(), first: HashMap::new(), shapes: Vec::new() };
        let shapes = tree.named(0, "ShapeCatalogue").flat_map(|(index, _)| tree.children(index));
        for (index, element) in shapes {
            let Some(component) = element.get("ComponentName").or(element.get("ID")) else { continue };
            let key = (element.name.clone(), component.to_owned());
            if catalog.names.contains_key(&key) {
                continue;
            }
            let is_taken = catalog.first.contains_key(component);
            let name = if is_taken { format!("{}:{component}", element.name) } else { component.to_owned() };
            catalog.first.entry(component.to_owned()).or_insert_with(|| name.clone());
            catalog.names.insert(key, name.clone());
            catalog.shapes.push((index, name));
        }
        catalog
    }

    /// Returns the shape that an element names.
    fn find(&self, element: &str, component: &str) -> Option<&str> {
        let own = self.names.get(&(element.to_owned(), component.to_owned()));
        own.or_else(|| self.first.get(component)).map(String::as_str)
    }
}

/// Reader of graphics, with counts of what it left out.
struct Collector<'p, 't> {
    plant: &'p PlantImport<'t>,
    tree: &'t Tree,
    catalog: &'p Catalog,
    /// By element: the edge of which it is the center line.
    edge_by_line: HashMap<usize, usize>,
    /// Counts by element name of graphics without a position or a size.
    omitted: BTreeMap<String, usize>,
    /// Counts by element name of annotations without graphics.
    empty: BTreeMap<String, usize>,
    /// Counts of the uses of shapes, by name.
    used: BTreeMap<String, usize>,
    /// Drawn elements whose attributes are in the graphics.
    with_attributes: HashSet<usize>,
    /// Names of the shapes that have graphics.
    drawn_shapes: HashSet<String>,
}

impl<'p, 't> Collector<'p, 't> {
    fn new(plant: &'p PlantImport<'t>, catalog: &'p Catalog) -> Collector<'p, 't> {
        let lines = plant.edge_lines.iter().flat_map(|(edge, lines)| lines.iter().map(|line| (*line, *edge)));
        Collector {
            plant,
            tree: plant.tree,
            catalog,
            edge_by_line: lines.collect(),
            omitted: BTreeMap::new(),
            empty: BTreeMap::new(),
            used: BTreeMap::new(),
            with_attributes: HashSet::new(),
            drawn_shapes: HashSet::new(),
        }
    }

    /// Returns the shapes of the catalog. One without graphics is kept for its attributes, such as its number in a library of
    /// symbols.
    fn shapes(&mut self) -> Fields {
        let catalog = self.catalog;
        let mut shapes = Fields::default();
        for (element, name) in &catalog.shapes {
            let style = Style::of(self.tree, *element);
            let elements = self.children(*element, &style);
            let mut shape = Fields::default();
            self.add_attributes(&mut shape, *element);
            if !elements.is_empty() {
                self.drawn_shapes.insert(name.clone());
            } else if shape.is_empty() {
                continue;
            }
            shape.add("elements", Json::Array(elements));
            // The names of shapes are unique.
            shapes.add(name, Json::Object(shape));
        }
        shapes
    }

    /// Returns the graphics of an item.
    fn item(&mut self, item: usize) -> Vec<Json> {
        self.own_elements(self.plant.items[item].element, &Style::default())
    }

    /// Returns the graphics of edges: the center lines of pipes, and everything of a signal line.
    fn edges(&mut self) -> Vec<(usize, Vec<Json>)> {
        let plant = self.plant;
        let mut edges: BTreeMap<usize, Vec<Json>> = BTreeMap::new();
        for (element, edge) in &plant.signal_edges {
            edges.entry(*edge).or_default().extend(self.own_elements(*element, &Style::default()));
        }
        for (edge, lines) in &plant.edge_lines {
            let lines = lines.iter().filter_map(|line| self.primitive(*line, &Style::default()));
            let lines: Vec<Json> = lines.collect();
            edges.entry(*edge).or_default().extend(lines);
        }
        edges.into_iter().filter(|(_, graphics)| !graphics.is_empty()).collect()
    }

    /// Returns the graphics that belong to no item: the frame, and annotations of the sheet.
    fn sheet(&mut self) -> Vec<Json> {
        let tree = self.tree;
        let mut elements = Vec::new();
        for (index, element) in tree.children(0) {
            match element.name.as_str() {
                // The color of the drawing is that of the paper.
                "Drawing" => elements.extend(self.children(index, &Style::default())),
                "ShapeCatalogue" => {}
                _ => elements.extend(self.child(index, &Style::default())),
            }
        }
        elements
    }

    /// Returns the shape that an element uses, and its elements.
    fn own_elements(&mut self, element: usize, inherited: &Style) -> Vec<Json> {
        let style = Style::of(self.tree, element).or(inherited);
        let shape = self.usage(element);
        let children = self.children(element, &style);
        shape.into_iter().chain(children).collect()
    }

    fn children(&mut self, element: usize, style: &Style) -> Vec<Json> {
        let tree = self.tree;
        tree.children(element).filter_map(|(child, _)| self.child(child, style)).collect()
    }

    /// Returns the graphics of a child that is no item of its own.
    fn child(&mut self, element: usize, style: &Style) -> Option<Json> {
        let name = self.tree.elements[element].name.as_str();
        let is_own_item = self.plant.item_of(element).is_some() || self.edge_by_line.contains_key(&element);
        let is_signal = self.plant.mapping(element) == Some(Mapping::Signal);
        if is_own_item || is_signal || self.plant.is_known(element) || name == "Presentation" {
            return None;
        }
        if curves::is_primitive(name) || name == "Text" {
            return self.primitive(element, style);
        }
        self.group(element, style)
    }

    fn primitive(&mut self, element: usize, inherited: &Style) -> Option<Json> {
        let name = &self.tree.elements[element].name;
        let style = Style::of(self.tree, element).or(inherited);
        let fields = match name.as_str() {
            "Text" => Some(texts::text(self.plant, element)),
            _ => curves::curve(self.tree, element, &style),
        };
        if fields.is_none() {
            *self.omitted.entry(name.clone()).or_default() += 1;
        }
        fields.map(|mut fields| {
            style.add_to(&mut fields);
            fields.add_optional_text("id", self.tree.elements[element].get("ID"));
            self.add_persistent_id(&mut fields, element);
            self.add_attributes(&mut fields, element);
            Json::Object(fields)
        })
    }

    /// Returns an annotation, such as a label or a flow arrow, that is selected as a whole.
    fn group(&mut self, element: usize, style: &Style) -> Option<Json> {
        let xml_element = &self.tree.elements[element];
        let mut elements = self.own_elements(element, style);
        if elements.is_empty() && SYMBOLS.contains(&xml_element.name.as_str()) {
            let name = xml_element.get("ComponentName").unwrap_or(&xml_element.name);
            elements.extend(self.placed(element, name));
        }
        if elements.is_empty() {
            let is_annotation = self.plant.mapping(element) == Some(Mapping::Annotation) && xml_element.name != "Node";
            let says_something =
                xml_element.get("ID").is_some() || !attributes::of_graphic(self.tree, element).is_empty();
            if is_annotation && !says_something {
                *self.empty.entry(xml_element.name.clone()).or_default() += 1;
            }
            if !is_annotation || !says_something {
                return None;
            }
        }
        let mut fields = Fields::default();
        fields.add("type", Json::text("group"));
        let role = ROLES.iter().find(|(name, _)| *name == xml_element.name).map(|(_, role)| (*role).to_owned());
        fields.add("role", Json::String(role.unwrap_or_else(|| snake_case(&xml_element.name))));
        fields.add_optional_text("id", xml_element.get("ID"));
        let class = xml_element.get("ComponentClass").filter(|class| *class != xml_element.name);
        fields.add_optional_text("component_class", class);
        self.add_persistent_id(&mut fields, element);
        self.add_attributes(&mut fields, element);
        fields.add("elements", Json::Array(elements));
        Some(Json::Object(fields))
    }

    /// Adds the persistent id of a drawn element, such as a center line or a flow arrow.
    fn add_persistent_id(&self, fields: &mut Fields, element: usize) {
        if let Some((_, id)) = self.tree.named(element, "PersistentID").next() {
            fields.add_optional_text("persistent_id", id.get("Identifier"));
            fields.add_optional_text("persistent_id_context", id.get("Context"));
        }
    }

    /// Adds the generic attributes of a drawn element, such as those that its system gives a label.
    fn add_attributes(&mut self, fields: &mut Fields, element: usize) {
        let list = attributes::of_graphic(self.tree, element);
        if !list.is_empty() {
            fields.add("attributes", Json::Array(attributes::to_json_list(list.into_iter())));
            self.with_attributes.insert(element);
        }
    }

    /// Returns the use of the shape that an element names.
    fn usage(&mut self, element: usize) -> Option<Json> {
        let xml_element = &self.tree.elements[element];
        let name = self.catalog.find(&xml_element.name, xml_element.get("ComponentName")?)?;
        self.placed(element, name)
    }

    /// Returns the use of a shape at the position of an element.
    fn placed(&mut self, element: usize, name: &str) -> Option<Json> {
        let placement = placement::Placement::of(self.tree, element)?;
        *self.used.entry(name.to_owned()).or_default() += 1;
        let mut fields = Fields::default();
        fields.add("type", Json::text("use"));
        fields.add("shape", Json::text(name));
        placement.add_to(&mut fields);
        Some(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests;
