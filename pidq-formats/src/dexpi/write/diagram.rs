//! Diagram of a document: the graphics of the graph as graphical objects, and the shapes.

use std::collections::HashMap;

use pidq_core::{Array, Object, Value};

use crate::json::{Fields, Json, quote};
use crate::model::json;
use crate::proteus::alignment;
use crate::snake_case::snake_case;

use super::super::extension::{self, MAX_GROUPS};
use super::document::{Document, is_kept};
use super::items::Items;
use super::names::text;

/// Class of the group of each role. Other groups are `Static`, with their role as a member.
const ROLES: &[(&str, &str)] = &[
    ("label", "Core/Diagram.Label"),
    ("flow_arrow", "Core/Diagram.PipeFlowArrow"),
    ("border", "Core/Diagram.Border"),
    ("symbol", "Core/Diagram.Symbol"),
    ("pipe_slope_symbol", "Core/Diagram.PipeSlopeSymbol"),
    ("insulation_symbol", "Core/Diagram.InsulationSymbol"),
];
const STATIC: &str = "Core/Diagram.Static";
/// Dash style of each kind of line. Other kinds are drawn as the first.
const DASHES: &[(&str, &str)] = &[
    ("dash", "Dash"),
    ("solid", "Solid"),
    ("dash_short_dash", "DashShortDash"),
    ("dash_dot", "LongDashShortDash"),
    ("dash_dot_dot", "LongDashShortDashShortDash"),
    ("dot", "Dot"),
    ("long_dash", "LongDash"),
    ("long_dash_short_dash", "LongDashShortDash"),
    ("long_dash_short_dash_short_dash", "LongDashShortDashShortDash"),
    ("short_dash", "ShortDash"),
];
const BLACK: &str = "#000000";
const WHITE: &str = "#ffffff";
/// Width of lines, and height of texts, without one in the graph.
const LINE_WIDTH: &str = "0.25";
const TEXT_HEIGHT: &str = "2.5";
/// Extent of a sheet without one.
const EXTENT: [&str; 4] = ["0", "0", "841", "594"];

/// Object in the document that is drawn.
#[derive(Clone, Copy)]
pub struct Drawn<'a> {
    /// The id as it is written.
    pub id: &'a str,
    pub graphics: Option<Array<'a>>,
    pub item: Option<usize>,
    /// The items at the ends of a line.
    pub ends: Option<[Option<usize>; 2]>,
}

/// Writer of the diagram.
pub struct Diagram<'w, 'm, 'a, 'd> {
    items: &'w mut Items<'m, 'a, 'd>,
    /// Ids of the shapes by name.
    shapes: HashMap<String, String>,
    /// Ids of the positions of nodes by item and place.
    positions: HashMap<(usize, String, String), String>,
    groups: usize,
}

/// Adds the diagram and the shapes to the engineering model.
pub fn add(
    items: &mut Items<'_, '_, '_>,
    model: usize,
    plant_id: &str,
    metadata: Option<Object<'_>>,
    drawn: &[Drawn<'_>],
) {
    let graphics = metadata.and_then(|metadata| metadata.get("graphics")?.as_object());
    let is_drawn = drawn.iter().any(|drawn| drawn.graphics.is_some());
    if graphics.is_none() && !is_drawn && items.positions.is_empty() {
        return;
    }
    let mut diagram = Diagram { items, shapes: HashMap::new(), positions: HashMap::new(), groups: 0 };
    let shapes = graphics.and_then(|graphics| graphics.get("shapes")?.as_object());
    diagram.add_shapes(model, shapes);
    let object = diagram.add_sheet(model, plant_id, metadata, graphics);
    diagram.add_drawn(object, drawn);
    if let Some(elements) = graphics.and_then(|graphics| graphics.get("elements")?.as_array()) {
        diagram.add_elements(object, elements, None);
    }
}

impl Diagram<'_, '_, '_, '_> {
    fn document(&mut self) -> &mut Document {
        self.items.document
    }

    fn add_shapes(&mut self, model: usize, shapes: Option<Object<'_>>) {
        let Some(shapes) = shapes.filter(|shapes| !shapes.is_empty()) else { return };
        for (name, _) in shapes.iter() {
            let id = self.document().generated_id();
            self.shapes.insert(name.to_owned(), id);
        }
        let catalog = self.document().component(model, "ShapeCatalogues", "Core/Diagram.ShapeCatalogue", None);
        self.document().datum(catalog, "Name", "String", "shapes");
        for (name, shape) in shapes.iter() {
            let id = self.shapes.get(name).cloned();
            let object = self.document().component(catalog, "Shapes", "Core/Diagram.Shape", id.as_deref());
            self.document().datum(object, "Name", "String", name);
            self.document().datum(object, "SymbolRegistrationNumber", "String", "");
            if let Some(elements) = shape.as_object().and_then(|shape| shape.get("elements")?.as_array()) {
                self.add_parts(object, "Primitives", elements, &mut Vec::new(), None);
            }
        }
    }

    /// Adds the object of the diagram: its name, extent and background.
    fn add_sheet(
        &mut self,
        model: usize,
        plant_id: &str,
        metadata: Option<Object<'_>>,
        graphics: Option<Object<'_>>,
    ) -> usize {
        let object = self.document().component(model, "Diagram", "Core/Diagram.Diagram", None);
        let name = text(metadata, "drawing_name").filter(|name| is_kept(name)).unwrap_or("drawing");
        self.document().datum(object, "Name", "String", name);
        self.document().reference(object, "Represents", &format!("#{plant_id}"));
        let mut read = Fields::default();
        read.add("unit", Json::text("mm"));
        read.add("mm_per_unit", Json::count(1));
        let extent = graphics.and_then(|graphics| corners(graphics)).unwrap_or(EXTENT.map(str::to_owned));
        for (property, digits) in ["MinX", "MinY", "MaxX", "MaxY"].iter().zip(&extent) {
            self.document().datum(object, property, "Double", digits);
        }
        read.add("extent", Json::Array(extent.map(Json::Number).into()));
        read.add("y_axis", Json::text("down"));
        let background = text(graphics, "background").filter(|color| rgb(color).is_some()).unwrap_or(WHITE);
        self.add_color(object, "BackgroundColor", background);
        read.add("background", Json::text(background));
        if let Some(graphics) = graphics {
            self.add_members(object, graphics, &read, &["shapes", "elements"]);
        }
        object
    }

    /// Adds what is drawn for each object, and the positions of its nodes.
    fn add_drawn(&mut self, diagram: usize, drawn: &[Drawn<'_>]) {
        let mut positions: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, position) in self.items.positions.iter().enumerate() {
            positions.entry(position.item).or_default().push(index);
            self.positions
                .entry((position.item, position.x.clone(), position.y.clone()))
                .or_insert_with(|| position.written_id.clone());
        }
        for drawn in drawn {
            let nodes = drawn.item.and_then(|item| positions.remove(&item)).unwrap_or_default();
            let graphics = drawn.graphics.filter(|graphics| !graphics.is_empty());
            if nodes.is_empty() && graphics.is_none() {
                continue;
            }
            let class = "Core/Diagram.RepresentationGroup";
            let group = self.document().component(diagram, "Groups", class, None);
            self.document().reference(group, "Represents", &format!("#{}", drawn.id));
            for position in nodes {
                self.add_node_position(group, position);
            }
            if let Some(graphics) = graphics {
                self.add_elements(group, graphics, drawn.ends);
            }
        }
    }

    fn add_node_position(&mut self, group: usize, position: usize) {
        let position = &self.items.positions[position];
        let (id, node, at) =
            (position.written_id.clone(), position.node.clone(), [position.x.clone(), position.y.clone()]);
        let class = match node {
            Some(_) => "Plant/Diagram.PipingNodePosition",
            None => "Plant/Diagram.InstrumentationNodePosition",
        };
        let object = self.document().component(group, "NodePositions", class, Some(&id));
        self.add_point(object, "Position", &at);
        if let Some(node) = node {
            self.document().reference(object, "Node", &format!("#{node}"));
        }
    }

    /// Adds graphics to a group of groups. Elements that follow each other are one group.
    fn add_elements(&mut self, owner: usize, elements: Array<'_>, ends: Option<[Option<usize>; 2]>) {
        let mut plain = None;
        for element in elements.iter().filter_map(Value::as_object) {
            if text(Some(element), "type") == Some("group") {
                plain = None;
                self.add_group(owner, element, ends);
                continue;
            }
            let group = match plain {
                Some(group) => group,
                None => self.document().component(owner, "Groups", STATIC, None),
            };
            plain = Some(group);
            self.add_element(group, "Elements", element, &[], ends);
        }
    }

    fn add_group(&mut self, owner: usize, group: Object<'_>, ends: Option<[Option<usize>; 2]>) {
        let Some(elements) = group.get("elements").and_then(Value::as_array) else { return };
        let role = text(Some(group), "role").unwrap_or_default();
        let class = ROLES.iter().find(|(known, _)| *known == role).map_or(STATIC, |(_, class)| *class);
        let object = self.document().component(owner, "Groups", class, None);
        let mut read = Fields::default();
        read.add("type", Json::text("group"));
        let read_role = if class == STATIC { "static" } else { role };
        read.add("role", Json::text(read_role));
        self.add_members(object, group, &read, &["elements"]);
        self.add_parts(object, "Elements", elements, &mut Vec::new(), ends);
    }

    /// Adds elements, and those of the groups in them, which they name.
    fn add_parts(
        &mut self,
        owner: usize,
        property: &str,
        elements: Array<'_>,
        groups: &mut Vec<String>,
        ends: Option<[Option<usize>; 2]>,
    ) {
        for element in elements.iter().filter_map(Value::as_object) {
            if text(Some(element), "type") != Some("group") {
                self.add_element(owner, property, element, groups, ends);
            } else if let Some(inside) = element.get("elements").and_then(Value::as_array)
                && groups.len() < MAX_GROUPS
            {
                self.groups += 1;
                groups.push(format!("{} {}", self.groups, members_text(element)));
                self.add_parts(owner, property, inside, groups, ends);
                groups.pop();
            }
        }
    }

    fn add_element(
        &mut self,
        owner: usize,
        property: &str,
        element: Object<'_>,
        groups: &[String],
        ends: Option<[Option<usize>; 2]>,
    ) {
        let kind = text(Some(element), "type").unwrap_or_default();
        let mut read = Fields::default();
        let object = match kind {
            "polyline" if ends.is_some() => self.add_line(owner, property, element, ends, &mut read),
            "polyline" | "spline" => self.add_points(owner, property, "PolyLine", element, &mut read),
            "polygon" => self.add_points(owner, property, "Polygon", element, &mut read),
            "circle" | "ellipse" => self.add_ellipse(owner, property, element, &mut read),
            "arc" => self.add_arc(owner, property, element, &mut read),
            "text" => self.add_text(owner, property, element, &mut read),
            "use" => self.add_use(owner, property, element, &mut read),
            _ => None,
        };
        let Some(object) = object else { return };
        self.add_members(object, element, &read, &[]);
        if !groups.is_empty() {
            let groups_property = format!("{}/{}", extension::PREFIX, extension::encode(extension::GROUPS));
            let data = self.document().data(object, &groups_property);
            groups.iter().for_each(|group| self.document().value(data, "String", group));
        }
    }

    /// Adds the members that are not read back, and states those that would be read although they are not there.
    fn add_members(&mut self, object: usize, element: Object<'_>, read: &Fields, elsewhere: &[&str]) {
        for (key, value) in element.iter().filter(|(key, _)| !elsewhere.contains(key)) {
            let text = json(value);
            if read.get(key).map(Json::to_text).as_ref() != Some(&text) {
                self.document().member(object, key, Some(&text));
            }
        }
        for (key, _) in read.0.iter().filter(|(key, _)| element.get(key).is_none()) {
            self.document().member(object, key, None);
        }
    }

    fn object(&mut self, owner: usize, property: &str, class: &str) -> usize {
        self.document().component(owner, property, &format!("Core/Diagram.{class}"), None)
    }

    fn add_points(
        &mut self,
        owner: usize,
        property: &str,
        class: &str,
        element: Object<'_>,
        read: &mut Fields,
    ) -> Option<usize> {
        let points = points(element)?;
        let object = self.object(owner, property, class);
        let data = self.document().data(object, "Points");
        points.iter().for_each(|point| self.add_point_value(data, point));
        read.add("type", Json::text(snake_case(class).replace('_', "")));
        read.add("points", Json::Array(points.into_iter().flatten().map(Json::Number).collect()));
        self.add_style(object, element, class == "Polygon", read);
        Some(object)
    }

    /// Adds a line between two items. A point at which a node of them is belongs to the node.
    fn add_line(
        &mut self,
        owner: usize,
        property: &str,
        element: Object<'_>,
        ends: Option<[Option<usize>; 2]>,
        read: &mut Fields,
    ) -> Option<usize> {
        let points = points(element)?;
        read.add("type", Json::text("polyline"));
        read.add("points", Json::Array(points.iter().flatten().cloned().map(Json::Number).collect()));
        let object = self.object(owner, property, "ConnectorLine");
        let [from, to] = ends.unwrap_or_default();
        let node = |item: Option<usize>, point: &[String; 2]| {
            self.positions.get(&(item?, point[0].clone(), point[1].clone())).cloned()
        };
        let source = points.first().and_then(|point| node(from, point));
        let target = points.last().and_then(|point| node(to, point));
        let inner = &points[usize::from(source.is_some())..points.len() - usize::from(target.is_some())];
        for (property, id) in [("Source", source), ("Target", target)] {
            if let Some(id) = id {
                self.document().reference(object, property, &format!("#{id}"));
            }
        }
        if !inner.is_empty() {
            let data = self.document().data(object, "InnerPoints");
            inner.iter().for_each(|point| self.add_point_value(data, point));
        }
        self.add_style(object, element, false, read);
        Some(object)
    }

    fn add_center(&mut self, object: usize, element: Object<'_>, read: &mut Fields) -> Option<()> {
        let center = point(element.get("center"))?;
        let radius = element.get("radius").and_then(number).map(|radius| [radius.clone(), radius]);
        let [a, b] = radius.or_else(|| point(element.get("radii")))?;
        self.add_point(object, "Center", &center);
        self.document().datum(object, "HorizontalSemiAxis", "Double", &a);
        self.document().datum(object, "VerticalSemiAxis", "Double", &b);
        read.add("center", Json::Array(center.map(Json::Number).into()));
        match a == b {
            true => read.add("radius", Json::Number(a)),
            false => read.add("radii", Json::Array([a, b].map(Json::Number).into())),
        }
        self.add_rotation(object, element, read);
        Some(())
    }

    fn add_rotation(&mut self, object: usize, element: Object<'_>, read: &mut Fields) {
        let rotation = element.get("rotation").and_then(number).unwrap_or_else(|| "0".to_owned());
        self.document().datum(object, "Rotation", "Double", &rotation);
        if rotation.parse() != Ok(0.0) {
            read.add("rotation", Json::Number(rotation));
        }
    }

    fn add_ellipse(&mut self, owner: usize, property: &str, element: Object<'_>, read: &mut Fields) -> Option<usize> {
        has_center(element)?;
        let object = self.object(owner, property, "Ellipse");
        self.add_center(object, element, read);
        let kind = if read.get("radius").is_some() { "circle" } else { "ellipse" };
        read.add("type", Json::text(kind));
        self.add_style(object, element, true, read);
        Some(object)
    }

    fn add_arc(&mut self, owner: usize, property: &str, element: Object<'_>, read: &mut Fields) -> Option<usize> {
        has_center(element)?;
        let [start, end] = ["start", "end"].map(|key| element.get(key).and_then(number));
        let (start, end) = (start?, end?);
        let object = self.object(owner, property, "EllipseArc");
        read.add("type", Json::text("arc"));
        self.add_center(object, element, read);
        self.document().datum(object, "StartAngle", "Double", &start);
        self.document().datum(object, "EndAngle", "Double", &end);
        read.add("start", Json::Number(start));
        read.add("end", Json::Number(end));
        self.add_style(object, element, false, read);
        Some(object)
    }

    fn add_text(&mut self, owner: usize, property: &str, element: Object<'_>, read: &mut Fields) -> Option<usize> {
        let at = point(element.get("at"))?;
        let object = self.object(owner, property, "Text");
        let written = element.get("text").and_then(Value::as_str).unwrap_or_default();
        self.document().datum(object, "Text", "String", written);
        read.add("type", Json::text("text"));
        // A text with characters that XML does not have is a member, too.
        read.add("text", Json::text(if is_kept(written) { written } else { "\u{FFFD}" }));
        self.add_point(object, "Position", &at);
        read.add("at", Json::Array(at.map(Json::Number).into()));
        let height = element.get("height").and_then(number).unwrap_or_else(|| TEXT_HEIGHT.to_owned());
        self.document().datum(object, "Size", "Double", &height);
        read.add("height", Json::Number(height));
        let font = element.get("font").and_then(Value::as_str).filter(|font| is_kept(font)).unwrap_or_default();
        self.document().datum(object, "Font", "String", font);
        read.add("font", Json::text(font));
        let alignment_name = alignment_of(element);
        self.document().enumerated(object, "Alignment", &format!("Core/Diagram.TextAlignment.{alignment_name}"));
        let (align, vertical) = alignment(&alignment_name);
        read.add("align", Json::text(align));
        read.add("vertical", Json::text(vertical));
        self.add_rotation(object, element, read);
        let color = stroke(element);
        self.add_color(object, "Color", color);
        if color != BLACK {
            read.add("stroke", Json::text(color));
        }
        Some(object)
    }

    fn add_use(&mut self, owner: usize, property: &str, element: Object<'_>, read: &mut Fields) -> Option<usize> {
        let shape = element.get("shape").and_then(Value::as_str)?;
        let at = point(element.get("at"))?;
        let object = self.object(owner, property, "ShapeUsage");
        let target = match self.shapes.get(shape) {
            Some(id) => format!("#{id}"),
            None => format!("{}/{}", extension::PREFIX, extension::encode(shape)),
        };
        self.document().reference(object, "Shape", &target);
        read.add("type", Json::text("use"));
        read.add("shape", Json::text(shape));
        self.add_point(object, "Position", &at);
        read.add("at", Json::Array(at.map(Json::Number).into()));
        self.add_rotation(object, element, read);
        let scale = point(element.get("scale")).unwrap_or(["1", "1"].map(str::to_owned));
        self.document().datum(object, "ScaleX", "Double", &scale[0]);
        self.document().datum(object, "ScaleY", "Double", &scale[1]);
        if !scale.iter().all(|digits| digits.parse() == Ok(1.0)) {
            read.add("scale", Json::Array(scale.map(Json::Number).into()));
        }
        let is_mirrored = matches!(element.get("mirrored"), Some(Value::Bool(true)));
        self.document().datum(object, "IsMirrored", "Boolean", if is_mirrored { "true" } else { "false" });
        if is_mirrored {
            read.add("mirrored", Json::Bool(true));
        }
        Some(object)
    }

    /// Adds the line style, and the fill of a closed form.
    fn add_style(&mut self, object: usize, element: Object<'_>, is_closed: bool, read: &mut Fields) {
        let color = stroke(element);
        let width = element.get("stroke_width").and_then(number).unwrap_or_else(|| LINE_WIDTH.to_owned());
        let dash = element.get("dash").and_then(Value::as_str).unwrap_or("solid");
        let style = DASHES.iter().find(|(known, _)| *known == dash).or(DASHES.first()).map_or("", |(_, style)| style);
        let data = self.document().data(object, "Stroke");
        let value = self.document().aggregated(data, "Core/Diagram.Stroke");
        self.add_color(value, "Color", color);
        self.document().enumerated(value, "DashStyle", &format!("Core/Diagram.DashStyle.{style}"));
        self.document().datum(value, "Width", "Double", &width);
        if color != BLACK {
            read.add("stroke", Json::text(color));
        }
        read.add("stroke_width", Json::Number(width));
        if style != "Solid" {
            read.add("dash", Json::text(snake_case(style)));
        }
        if !is_closed {
            return;
        }
        let (style, fill) = match element.get("fill").and_then(Value::as_str) {
            None | Some("none") => ("Transparent", None),
            Some("hatch") => ("Hatch", Some("hatch")),
            Some(_) => ("Solid", Some(color)),
        };
        self.document().enumerated(object, "FillStyle", &format!("Core/Diagram.FillStyle.{style}"));
        read.add_optional_text("fill", fill);
    }

    fn add_color(&mut self, owner: usize, property: &str, color: &str) {
        let [r, g, b] = rgb(color).unwrap_or_default();
        let data = self.document().data(owner, property);
        let value = self.document().aggregated(data, "Core/Diagram.Color");
        for (property, part) in [("B", b), ("G", g), ("R", r)] {
            self.document().datum(value, property, "Integer", &part.to_string());
        }
    }

    fn add_point(&mut self, object: usize, property: &str, point: &[String; 2]) {
        let data = self.document().data(object, property);
        self.add_point_value(data, point);
    }

    fn add_point_value(&mut self, data: usize, [x, y]: &[String; 2]) {
        let value = self.document().aggregated(data, "Core/Diagram.Point");
        self.document().datum(value, "X", "Double", x);
        self.document().datum(value, "Y", "Double", y);
    }
}

/// Returns the members of a group as JSON text, without its elements.
fn members_text(group: Object<'_>) -> String {
    let mut out = String::from("{");
    for (key, value) in group.iter().filter(|(key, _)| *key != "elements") {
        if out.len() > 1 {
            out.push(',');
        }
        quote(key, &mut out);
        out.push(':');
        out.push_str(&json(value));
    }
    out.push('}');
    out
}

fn number(value: Value<'_>) -> Option<String> {
    match value {
        Value::Number(number) if number.value().is_finite() => Some(json(value)),
        _ => None,
    }
}

fn numbers(value: Option<Value<'_>>) -> Option<Vec<String>> {
    value?.as_array()?.iter().map(number).collect()
}

fn point(value: Option<Value<'_>>) -> Option<[String; 2]> {
    numbers(value)?.try_into().ok()
}

/// Returns the points of an element; `None` if there are fewer than two.
fn points(element: Object<'_>) -> Option<Vec<[String; 2]>> {
    let numbers = numbers(element.get("points"))?;
    let (pairs, rest) = numbers.as_chunks::<2>();
    (pairs.len() > 1 && rest.is_empty()).then(|| pairs.to_vec())
}

fn has_center(element: Object<'_>) -> Option<()> {
    point(element.get("center"))?;
    let has_radius = element.get("radius").and_then(number).is_some() || point(element.get("radii")).is_some();
    has_radius.then_some(())
}

/// Returns the extent of a sheet: the smallest point, then the largest.
fn corners(graphics: Object<'_>) -> Option<[String; 4]> {
    numbers(graphics.get("extent"))?.try_into().ok()
}

fn stroke(element: Object<'_>) -> &str {
    element.get("stroke").and_then(Value::as_str).filter(|color| rgb(color).is_some()).unwrap_or(BLACK)
}

/// Returns red, green and blue of a color as `#rrggbb` in lower case.
fn rgb(color: &str) -> Option<[u8; 3]> {
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    if !digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

/// Returns the name of the alignment of a text.
fn alignment_of(element: Object<'_>) -> String {
    let member = |key| element.get(key).and_then(Value::as_str).unwrap_or_default();
    let horizontal = match member("align") {
        "middle" => "Center",
        "end" => "Right",
        _ => "Left",
    };
    let vertical = match member("vertical") {
        "top" => "Top",
        "middle" => "Center",
        _ => "Bottom",
    };
    format!("{horizontal}{vertical}")
}
