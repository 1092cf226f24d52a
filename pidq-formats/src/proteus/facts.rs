//! What the file tells about one item: attributes, position, ports, and the names that people use for it.

use crate::import::Finding;
use crate::json::{Fields, Json, is_number};
use crate::xml::{Element, Tree};

use super::kinds;
use super::plant::Plant;

/// An attribute of an item. A list, not a map: the same name comes in several languages.
#[derive(Clone, Debug, Default)]
pub struct Attribute {
    pub name: String,
    pub value: Option<String>,
    pub rest: Fields,
}

impl Attribute {
    /// The record in the document. Numbers are numbers where the file says so.
    fn record(self) -> Json {
        let mut fields = Fields::default();
        let is_numeric =
            matches!(self.rest.get("data_type"), Some(Json::Text(kind)) if NUMERIC.contains(&kind.as_str()));
        let value = match self.value {
            Some(text) if is_numeric => Json::guess(&text),
            Some(text) => Json::Text(text),
            None => Json::Null,
        };
        fields.add("name", Json::Text(self.name));
        fields.add("value", value);
        fields.0.extend(self.rest.0);
        Json::Record(fields)
    }
}

const NUMERIC: &[&str] = &["double", "float", "integer", "long", "ulong", "short", "byte"];

/// What an attribute of the file is called in the document.
const KEYS: &[(&str, &str)] = &[
    ("Format", "data_type"),
    ("Units", "unit"),
    ("AttributeURI", "uri"),
    ("ValueURI", "value_uri"),
    ("UnitsURI", "unit_uri"),
    ("Language", "language"),
];

/// The attributes of XML that became fields of the node.
const CONSUMED: &[&str] =
    &["ID", "TagName", "ComponentClass", "ComponentClassURI", "ComponentName", "NumPoints", "type"];

pub fn records(attributes: impl Iterator<Item = Attribute>) -> Vec<Json> {
    attributes.map(Attribute::record).collect()
}

/// The first value of one of these names; the names are tried in their order. What begins with `?` is a blank form.
pub fn value<'a>(attributes: &'a [Attribute], names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| {
        let named = attributes.iter().filter(|attribute| attribute.name == *name);
        named.filter_map(|attribute| attribute.value.as_deref()).find(|value| !value.trim().is_empty())
    })
}

/// Everything that an element says about itself as names and values.
pub fn attributes(plant: &mut Plant<'_>, element: usize) -> Vec<Attribute> {
    let tree = plant.tree;
    let mut list = Vec::new();
    for (child, it) in tree.children(element) {
        match it.name.as_str() {
            "GenericAttributes" => generic(plant, child, &mut list),
            // Some systems write attributes beside the points they belong to.
            "ConnectionPoints" => {
                for (set, _) in tree.named(child, "GenericAttributes") {
                    generic(plant, set, &mut list);
                }
            }
            "Description" if !it.text.trim().is_empty() => list.push(plain("Description", it.text.trim())),
            _ if is_value(it) => list.push(measured(it)),
            _ => {}
        }
    }
    list.extend(unused(&tree.elements[element]));
    list
}

/// Whether an element is a value with a unit, such as `NominalDiameter`.
pub fn is_value(element: &Element) -> bool {
    let is_free = kinds::find(&element.name).is_none() && !kinds::FACTS.contains(&element.name.as_str());
    is_free && element.attribute("Value").is_some() && element.get("ID").is_none()
}

fn generic(plant: &mut Plant<'_>, set: usize, list: &mut Vec<Attribute>) {
    let tree = plant.tree;
    for (_, it) in tree.named(set, "GenericAttribute") {
        let mut attribute = measured(it);
        match it.get("Name") {
            Some(name) => attribute.name = name.to_owned(),
            None => plant.draft.find(Finding::AttributeWithoutName, Finding::AttributeWithoutName.summary(), &[]),
        }
        attribute.rest.maybe_text("set", tree.elements[set].get("Set"));
        list.push(attribute);
    }
}

fn measured(element: &Element) -> Attribute {
    let mut rest = Fields::default();
    for (from, to) in KEYS {
        rest.maybe_text(to, element.get(from));
    }
    if element.name != "GenericAttribute" {
        rest.add_new("data_type", Json::text("double"));
    }
    Attribute { name: element.name.clone(), value: element.attribute("Value").map(str::to_owned), rest }
}

fn plain(name: &str, value: &str) -> Attribute {
    let mut rest = Fields::default();
    rest.add("data_type", Json::text("string"));
    Attribute { name: name.to_owned(), value: Some(value.to_owned()), rest }
}

/// Attributes of the XML element that no field has taken.
fn unused(element: &Element) -> impl Iterator<Item = Attribute> {
    let free = element.attributes.iter().filter(|(name, _)| !CONSUMED.contains(&name.as_str()));
    free.map(|(name, value)| plain(name, value))
}

/// A point of the drawing, with the digits of the file.
#[derive(Clone, Debug)]
pub struct Point {
    pub x: String,
    pub y: String,
}

impl Point {
    pub fn of(element: &Element) -> Option<Point> {
        let (x, y) = (element.get("X")?.trim(), element.get("Y")?.trim());
        (is_number(x) && is_number(y)).then(|| Point { x: x.into(), y: y.into() })
    }

    pub fn json(&self) -> [Json; 2] {
        [Json::Number(self.x.clone()), Json::Number(self.y.clone())]
    }

    /// The point as numbers. The digits were checked when the point was made.
    pub fn xy(&self) -> (f64, f64) {
        (self.x.parse().unwrap_or_default(), self.y.parse().unwrap_or_default())
    }
}

/// The position that an element gives itself.
pub fn position(tree: &Tree, element: usize) -> Option<Point> {
    let (position, _) = tree.named(element, "Position").next()?;
    tree.named(position, "Location").find_map(|(_, location)| Point::of(location))
}

/// The box around an element: smallest point, then width and height.
pub fn bounds(tree: &Tree, element: usize) -> Option<[f64; 4]> {
    let (extent, _) = tree.named(element, "Extent").next()?;
    let corner = |name| tree.named(extent, name).find_map(|(_, corner)| Point::of(corner));
    let (low, high) = (corner("Min")?.xy(), corner("Max")?.xy());
    let size = (high.0 - low.0, high.1 - low.1);
    (size.0 >= 0.0 && size.1 >= 0.0).then_some([low.0, low.1, size.0, size.1])
}

/// The same as a list of numbers.
pub fn extent(tree: &Tree, element: usize) -> Option<Json> {
    bounds(tree, element).map(|numbers| Json::List(numbers.map(number).into()))
}

/// A computed number, without the noise behind the ninth digit.
pub fn number(value: f64) -> Json {
    let rounded = (value * 1e9).round() / 1e9;
    Json::guess(&format!("{}", if rounded == 0.0 { 0.0 } else { rounded }))
}

/// The points of a centre line.
pub fn polyline(tree: &Tree, element: usize) -> Vec<Point> {
    tree.named(element, "Coordinate").filter_map(|(_, point)| Point::of(point)).collect()
}

/// The ports of an item. Point 0 is the item itself.
pub fn ports(plant: &mut Plant<'_>, element: usize) -> Vec<Json> {
    let tree = plant.tree;
    let sets: Vec<usize> = tree.named(element, "ConnectionPoints").map(|(index, _)| index).collect();
    let mut list = Vec::new();
    for points in sets {
        let nodes: Vec<usize> = tree.named(points, "Node").map(|(index, _)| index).collect();
        for (index, node) in nodes.into_iter().enumerate().skip(1) {
            list.push(port(plant, points, node, index));
        }
    }
    list
}

fn port(plant: &mut Plant<'_>, points: usize, node: usize, index: usize) -> Json {
    let tree = plant.tree;
    let it = &tree.elements[node];
    let own =
        attributes(plant, node).into_iter().filter(|attribute| !["Type", "Name"].contains(&attribute.name.as_str()));
    let own: Vec<Attribute> = own.collect();
    let mut fields = Fields::default();
    fields.add("index", Json::count(index));
    fields.maybe_text("id", it.get("ID"));
    fields.maybe_text("name", it.get("Name"));
    fields.maybe_text("type", it.get("Type"));
    fields.maybe_text("flow", flow(&tree.elements[points], index));
    fields.maybe("nominal_diameter", diameter(&own));
    if let Some(point) = position(tree, node) {
        let [x, y] = point.json();
        fields.add("x", x);
        fields.add("y", y);
    }
    if !own.is_empty() {
        fields.add("attributes", Json::List(records(own.into_iter())));
    }
    Json::Record(fields)
}

/// A port that is both the way in and the way out has no direction of its own.
fn flow(points: &Element, index: usize) -> Option<&'static str> {
    let is = |name| points.get(name).and_then(|text| text.trim().parse().ok()) == Some(index);
    match (is("FlowIn"), is("FlowOut")) {
        (true, false) => Some("in"),
        (false, true) => Some("out"),
        _ => None,
    }
}

/// The port by which the flow leaves or enters, where the item says so.
pub fn flow_port(tree: &Tree, element: usize, way: &str) -> Option<Json> {
    let (_, points) = tree.named(element, "ConnectionPoints").next()?;
    points.get(way).map(Json::guess)
}

/// The nominal diameter as a number where that is possible: `80`, or the `80` of `Din2448ObjectDn80`.
pub fn diameter(attributes: &[Attribute]) -> Option<Json> {
    const PLAIN: &[&str] = &[
        "NominalDiameterNumericalValueRepresentationAssignmentClass",
        "NominalDiameter",
        "NominalDiameterRepresentationAssignmentClass",
        "Size",
    ];
    if let Some(plain) = value(attributes, PLAIN) {
        return Some(Json::guess(plain.trim().trim_start_matches("DN").trim_start()));
    }
    let standard = value(attributes, &["NominalDiameterStandardSpecialization"])?;
    let (_, digits) = standard.rsplit_once("Dn")?;
    is_number(digits).then(|| Json::Number(digits.to_owned()))
}

/// Fields that people ask for, and the attributes that may hold them.
const FIELDS: &[(&str, &[&str])] = &[
    ("line_number", &["LineNumberAssignmentClass", "LineNumber"]),
    ("segment_number", &["SegmentNumberAssignmentClass", "SegmentNumber"]),
    ("fluid_code", &["FluidCodeAssignmentClass", "FluidCode", "Fluid", "OperFluidCode"]),
    (
        "piping_class",
        &["PipingClassCodeAssignmentClass", "PipingClassCode", "PipingClass", "Specification", "PipingMaterialsClass"],
    ),
    ("insulation", &["InsulationTypeAssignmentClass", "InsulationType", "InsulPurpose", "Insulation_Table"]),
    (
        "fail_action",
        &[
            "FailActionSpecialization",
            "FailActionRepresentationAssignmentClass",
            "FailModeHigh.FailureAction",
            "FailAction",
            "FailPosition",
            "Failure",
        ],
    ),
    ("location", &["LocationSpecialization", "Location"]),
    ("description", &["EquipmentDescriptionAssignmentClass", "Description"]),
];

/// Adds the fields that people ask for.
pub fn add_fields(fields: &mut Fields, attributes: &[Attribute]) {
    fields.maybe("nominal_diameter", diameter(attributes));
    for (field, names) in FIELDS {
        fields.maybe_text(field, value(attributes, names));
    }
}

/// Attributes that make up a tag where the file gives none: the element, and parts to be joined.
const TAGS: &[(&str, &[&[&str]])] = &[
    (
        "Equipment",
        &[
            &["TagNamePrefixAssignmentClass"],
            &["TagNameSequenceNumberAssignmentClass"],
            &["TagNameSuffixAssignmentClass"],
        ],
    ),
    ("Equipment", &[&["TagNameAssignmentClass", "SubTagNameAssignmentClass"]]),
    ("Nozzle", &[&["SubTagNameAssignmentClass", "SubTagName"]]),
    ("PipingNetworkSystem", &[&["LineNumberAssignmentClass", "LineNumber"]]),
    ("PipingNetworkSegment", &[&["SegmentNumberAssignmentClass"]]),
    ("PipingComponent", &[&["PipingComponentNumberAssignmentClass", "PositionNumberAssignmentClass"]]),
    ("PipeOffPageConnector", &[&["PipeOffPageConnectorNumberAssignmentClass", "PipeConnectorNumberAssignmentClass"]]),
    (
        "ProcessInstrumentationFunction",
        &[
            &["ProcessInstrumentationFunctionCategoryAssignmentClass"],
            &["ProcessInstrumentationFunctionModifierAssignmentClass"],
            &["ProcessInstrumentationFunctionsAssignmentClass"],
            &["ProcessInstrumentationFunctionNumberAssignmentClass"],
        ],
    ),
    ("ProcessSignalGeneratingFunction", &[&["ProcessSignalGeneratingFunctionNumberAssignmentClass"]]),
    ("ProcessSignalGeneratingSystem", &[&["ProcessSignalGeneratingSystemNumberAssignmentClass"]]),
    ("ActuatingFunction", &[&["ActuatingFunctionNumberAssignmentClass"]]),
    ("ActuatingSystem", &[&["ActuatingSystemNumberAssignmentClass"]]),
    ("ActuatingSystemComponent", &[&["SubTagNameAssignmentClass"]]),
    ("InstrumentationLoopFunction", &[&["InstrumentationLoopFunctionNumberAssignmentClass"]]),
    (
        "PlantStructureItem",
        &[&["PlantSectionIdentificationCodeAssignmentClass", "ProcessPlantIdentificationCodeAssignmentClass"]],
    ),
];

/// What systems call a tag among attributes of their own.
const OWN_TAGS: &[&str] = &["ItemTag", "OPCTag", "Tag", "TagNumber"];

/// The tag of an item: what the file calls it, or what its parts make; empty when there is nothing.
pub fn tag(element: &Element, attributes: &[Attribute]) -> String {
    if let Some(tag) = element.get("TagName") {
        return tag.trim().to_owned();
    }
    let rows = TAGS.iter().filter(|(name, _)| *name == element.name);
    let tag = rows.map(|(_, parts)| joined(parts, attributes)).find(|tag| !tag.is_empty());
    // The tag of a run is that of its line, which has it already.
    let own =
        Some(OWN_TAGS).filter(|_| element.name != "PipingNetworkSegment").and_then(|names| value(attributes, names));
    tag.or_else(|| own.map(|tag| tag.trim().to_owned())).unwrap_or_default()
}

/// The parts one behind the other, with a blank between letters and number where there are several letters' parts.
fn joined(parts: &[&[&str]], attributes: &[Attribute]) -> String {
    let mut tag = String::new();
    for (index, names) in parts.iter().enumerate() {
        let Some(part) = value(attributes, names) else { continue };
        if index == 3 && !tag.is_empty() {
            tag.push(' ');
        }
        tag.push_str(part.trim());
    }
    tag
}

/// The texts written beside an item on the drawing, that are not its tag.
pub fn label(tree: &Tree, element: usize, tag: &str) -> Option<String> {
    let labels = tree.named(element, "Label").flat_map(|(label, _)| tree.named(label, "Text"));
    let texts = labels.chain(tree.named(element, "Text")).filter_map(|(_, text)| text.get("String"));
    let mut lines: Vec<String> = Vec::new();
    for text in texts.map(|text| text.split_whitespace().collect::<Vec<&str>>().join(" ")) {
        if text != tag && !lines.contains(&text) {
            lines.push(text);
        }
    }
    (!lines.is_empty()).then(|| lines.join(" "))
}

/// Copies to valves what is told of their actuators.
pub fn add_late(plant: &mut Plant<'_>) {
    for index in 0..plant.items.len() {
        let Some(action) = plant.draft.nodes[index].get("fail_action").cloned() else { continue };
        for valve in super::relations::operated_by(plant, index) {
            plant.draft.nodes[valve].add_new("fail_action", action.clone());
        }
    }
}
