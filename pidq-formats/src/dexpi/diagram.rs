//! Diagram of a model: what is drawn for each object, its position, and the shapes.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::json::{Fields, Json, is_number};
use crate::snake_case::snake_case;

use super::members;
use super::objects::{Objects, Target, last_name};
use super::primitives::{self, Point};

/// Diagram, or an empty one for a model without.
#[derive(Default)]
pub struct Diagram<'t> {
    object: Option<usize>,
    /// Drawing of each object by its id.
    pub drawings: HashMap<&'t str, Drawing<'t>>,
    /// Graphics of no object, in drawing order.
    pub sheet: Vec<Json>,
    /// Ids of the drawn objects in drawing order.
    pub order: Vec<&'t str>,
    /// Positions by the id of the node that they are of.
    pub node_points: HashMap<&'t str, Point>,
    /// By the id of a node position: its point, and the object in whose drawing it is.
    positions: HashMap<&'t str, (Point, Option<&'t str>)>,
    /// Shapes of the file by name.
    shapes: Fields,
    shape_names: HashSet<String>,
    /// Counts of the uses of shapes by name.
    used: BTreeMap<String, usize>,
}

/// Drawn representation of an object.
#[derive(Default)]
pub struct Drawing<'t> {
    pub graphics: Vec<Json>,
    /// The first shape that is used, with its position.
    pub symbol: Option<(String, Point)>,
    pub texts: Vec<&'t str>,
    pub lines: Vec<Line<'t>>,
    /// Signal ports: ids and positions.
    pub signal_ports: Vec<(Option<&'t str>, Point)>,
    /// All points of the forms that are drawn on the sheet itself.
    pub points: Vec<Point>,
}

/// Line between two objects.
pub struct Line<'t> {
    pub points: Vec<Point>,
    /// The objects in whose drawings the line starts and ends.
    pub ends: [Option<&'t str>; 2],
}

impl<'t> Diagram<'t> {
    /// Reads the diagram of an engineering model, and the shapes of its catalogs.
    pub fn read(objects: &Objects<'t>, model: usize) -> Diagram<'t> {
        let mut diagram = Diagram::default();
        for catalog in objects.components(model, "ShapeCatalogues") {
            objects.data(catalog, "Name");
            for shape in objects.components(catalog, "Shapes") {
                diagram.add_shape(objects, shape, primitives::shape_name(objects, shape));
            }
        }
        let Some(object) = objects.components(model, "Diagram").first().copied() else { return diagram };
        diagram.object = Some(object);
        objects.references(object, "Represents");
        diagram.add_positions(objects, object, None);
        diagram.add_groups(objects, object, None);
        diagram
    }

    /// Adds a shape, unless there is one of that name.
    pub fn add_shape(&mut self, objects: &Objects<'_>, shape: usize, name: String) {
        objects.data(shape, "Name");
        objects.data(shape, "SymbolRegistrationNumber");
        let primitives = objects.components(shape, "Primitives");
        let element = |primitive: &usize| {
            let groups = members::enclosing_groups(objects, *primitive);
            Some((groups, primitives::element(objects, *primitive, None)?))
        };
        let elements = primitives.iter().filter_map(element).collect();
        let mut fields = Fields::default();
        fields.add("elements", Json::Array(members::nest(elements)));
        if self.shape_names.insert(name.clone()) {
            self.shapes.add(&name, Json::Object(fields));
        }
    }

    /// Finds the positions of nodes, which lines refer to before or after they are drawn.
    fn add_positions(&mut self, objects: &Objects<'t>, group: usize, owner: Option<&'t str>) {
        for position in objects.components(group, "NodePositions") {
            let Some(point) = Point::of(objects, position, "Position") else { continue };
            if let Some(node) = objects.reference(position, "Node") {
                self.node_points.entry(node).or_insert_with(|| point.clone());
            } else if let Some(owner) = owner.filter(|_| objects.class(position) == "InstrumentationNodePosition") {
                let drawing = self.drawings.entry(owner).or_default();
                drawing.signal_ports.push((objects.own_id(position), point.clone()));
            }
            if let Some(id) = objects.id(position) {
                self.positions.insert(id, (point, owner));
            }
            objects.take_all(position);
        }
        for child in objects.components(group, "Groups") {
            let represented = represents(objects, child).or(owner);
            self.add_positions(objects, child, represented);
        }
    }

    fn add_groups(&mut self, objects: &Objects<'t>, group: usize, owner: Option<&'t str>) {
        for child in objects.components(group, "Groups") {
            let elements = objects.components(child, "Elements");
            if !elements.is_empty() {
                self.add_elements(objects, child, &elements, owner);
            }
            self.add_groups(objects, child, represents(objects, child).or(owner));
        }
    }

    /// Adds the elements of a group: those of a symbol as they are, those of a label and the like as a group.
    fn add_elements(&mut self, objects: &Objects<'t>, group: usize, elements: &[usize], owner: Option<&'t str>) {
        let class = objects.class(group);
        let mut drawn = Vec::new();
        for element in elements {
            let groups = members::enclosing_groups(objects, *element);
            let line = (objects.class(*element) == "ConnectorLine").then(|| self.line(objects, *element));
            let json = primitives::element(objects, *element, line.as_ref().map(|line| line.points.as_slice()));
            let Some(json) = json else { continue };
            drawn.push((groups, json));
            self.note_use(objects, *element, owner.filter(|_| class == "Static"));
            if let Some(owner) = owner {
                self.note_element(objects, *element, owner, line, class == "Static");
            }
        }
        if drawn.is_empty() {
            return;
        }
        let members = members::members(objects, group);
        let mut drawn = members::nest(drawn);
        if class != "Static" || !members.is_empty() {
            drawn = vec![grouped(role(class), drawn, members)];
        }
        match owner {
            Some(owner) => {
                self.order.push(owner);
                self.drawings.entry(owner).or_default().graphics.extend(drawn);
            }
            None => self.sheet.extend(drawn),
        }
    }

    /// Counts the use of a shape; that in the symbol of an object is also its position.
    fn note_use(&mut self, objects: &Objects<'t>, element: usize, owner: Option<&'t str>) {
        let Some(shape) = primitives::shape_of_use(objects, element) else { return };
        *self.used.entry(shape.clone()).or_insert(0) += 1;
        if let (Some(owner), Some(at)) = (owner, Point::of(objects, element, "Position")) {
            self.drawings.entry(owner).or_default().symbol.get_or_insert((shape, at));
        }
    }

    fn note_element(
        &mut self,
        objects: &Objects<'t>,
        element: usize,
        owner: &'t str,
        line: Option<Line<'t>>,
        is_symbol: bool,
    ) {
        let drawing = self.drawings.entry(owner).or_default();
        match objects.class(element) {
            "Text" => drawing.texts.extend(objects.text(element, "Text")),
            "PolyLine" | "Polygon" if is_symbol => {
                drawing.points.extend(primitives::points(objects, element, "Points"))
            }
            _ => {}
        }
        drawing.lines.extend(line);
    }

    /// Returns the points of a line, with the positions at its ends, and the objects there.
    fn line(&self, objects: &Objects<'t>, element: usize) -> Line<'t> {
        let end = |property| self.positions.get(objects.reference(element, property)?);
        let (source, target) = (end("Source"), end("Target"));
        let inner = primitives::points(objects, element, "InnerPoints");
        let first = source.map(|(point, _)| point.clone());
        let last = target.map(|(point, _)| point.clone());
        let points = first.into_iter().chain(inner).chain(last).collect();
        Line { points, ends: [source, target].map(|end| end.and_then(|(_, owner)| *owner)) }
    }

    /// Counts the uses of shapes that are not in the file.
    pub fn missing_shapes(&self) -> BTreeMap<String, usize> {
        let missing = self.used.iter().filter(|(name, _)| !self.shape_names.contains(*name));
        missing.map(|(name, count)| (name.clone(), *count)).collect()
    }

    /// Returns the name of the diagram.
    pub fn name(&self, objects: &Objects<'t>) -> Option<&'t str> {
        objects.text(self.object?, "Name")
    }

    /// Returns the extent of the sheet: the smallest point, then the largest.
    pub fn extent(&self, objects: &Objects<'_>) -> Option<[String; 4]> {
        let object = self.object?;
        let corners = ["MinX", "MinY", "MaxX", "MaxY"].map(|name| {
            objects.text(object, name).map(str::trim).filter(|digits| is_number(digits)).map(str::to_owned)
        });
        let [Some(min_x), Some(min_y), Some(max_x), Some(max_y)] = corners else { return None };
        Some([min_x, min_y, max_x, max_y])
    }

    /// Returns `metadata.graphics`; `None` if nothing is drawn.
    pub fn graphics(&mut self, objects: &Objects<'_>) -> Option<Json> {
        let object = self.object?;
        let mut fields = Fields::default();
        fields.add("unit", Json::text("mm"));
        fields.add("mm_per_unit", Json::count(1));
        let extent = self.extent(objects);
        fields.add_optional("extent", extent.map(|numbers| Json::Array(numbers.map(Json::Number).into())));
        fields.add("y_axis", Json::text("down"));
        let background = primitives::color(objects, object, "BackgroundColor");
        // Some systems write the parts of white paper from 0 to 1. As parts to 255, its black lines would be invisible.
        let background = background.map(|color| if color == "#010101" { "#ffffff".to_owned() } else { color });
        fields.add_optional("background", background.map(Json::String));
        members::restore(&mut fields, members::members(objects, object));
        fields.add("shapes", Json::Object(std::mem::take(&mut self.shapes)));
        fields.add("elements", Json::Array(std::mem::take(&mut self.sheet)));
        Some(Json::Object(fields))
    }
}

/// Returns the id of the object that a group represents.
fn represents<'t>(objects: &Objects<'t>, group: usize) -> Option<&'t str> {
    objects.references(group, "Represents").into_iter().find_map(|target| match target {
        Target::Id(id) => Some(id),
        Target::Name(_) => None,
    })
}

fn grouped(role: String, elements: Vec<Json>, members: Vec<(String, Option<Json>)>) -> Json {
    let mut fields = Fields::default();
    fields.add("type", Json::text("group"));
    fields.add("role", Json::String(role));
    fields.add("elements", Json::Array(elements));
    members::restore(&mut fields, members);
    Json::Object(fields)
}

/// Returns the role of a group: `label` for every kind of label.
fn role(class: &str) -> String {
    match last_name(class) {
        class if class.ends_with("Label") => "label".into(),
        "PipeFlowArrow" => "flow_arrow".into(),
        class => snake_case(class),
    }
}
