//! Item attributes: generic attributes, position, ports and tag.

use crate::import::Finding;
use crate::json::{Fields, Json, is_number};
use crate::xml::{Element, Tree};

use super::attribute::{Attribute, Point, is_value};
use super::corrections;
use super::plant_import::PlantImport;

/// Names of attribute properties in the document.
const KEYS: &[(&str, &str)] = &[
    ("Format", "data_type"),
    ("Units", "unit"),
    ("AttributeURI", "uri"),
    ("ValueURI", "value_uri"),
    ("UnitsURI", "unit_uri"),
    ("Language", "language"),
];

/// XML attributes that are mapped to fields of the node.
const MAPPED_XML_ATTRIBUTES: &[&str] =
    &["ID", "TagName", "ComponentClass", "ComponentClassURI", "ComponentName", "NumPoints", "type"];

pub fn to_json_list(attributes: impl Iterator<Item = Attribute>) -> Vec<Json> {
    attributes.map(Attribute::into_json).collect()
}

/// Returns the first nonblank value of one of these names, tried in order.
pub fn value<'a>(attributes: &'a [Attribute], names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| {
        let named = attributes.iter().filter(|attribute| attribute.name == *name);
        named.filter_map(|attribute| attribute.value.as_deref()).find(|value| !value.trim().is_empty())
    })
}

/// Returns all attributes of an element.
pub fn collect(plant: &mut PlantImport<'_>, element: usize) -> Vec<Attribute> {
    let tree = plant.tree;
    let mut list = Vec::new();
    for (child, child_element) in tree.children(element) {
        match child_element.name.as_str() {
            "GenericAttributes" if !corrections::is_own_set(child_element) => generic(plant, child, &mut list),
            // Some systems write attributes next to the points they belong to.
            "ConnectionPoints" => {
                for (set, _) in tree.named(child, "GenericAttributes") {
                    generic(plant, set, &mut list);
                }
            }
            "Description" if !child_element.text.trim().is_empty() => {
                list.push(string_attribute("Description", child_element.text.trim()))
            }
            _ if is_value(child_element) => list.push(measured(child_element)),
            _ => {}
        }
    }
    list.extend(unmapped_attributes(&tree.elements[element]));
    list
}

fn generic(plant: &mut PlantImport<'_>, set: usize, list: &mut Vec<Attribute>) {
    let tree = plant.tree;
    for _ in tree.named(set, "GenericAttribute").filter(|(_, element)| element.get("Name").is_none()) {
        plant.builder.report(Finding::AttributeWithoutName, Finding::AttributeWithoutName.summary(), &[]);
    }
    list.extend(members(tree, set));
}

/// Returns the generic attributes of a drawn element, such as a label.
pub fn of_graphic(tree: &Tree, element: usize) -> Vec<Attribute> {
    tree.named(element, "GenericAttributes").flat_map(|(set, _)| members(tree, set)).collect()
}

/// Returns the attributes of a set.
fn members(tree: &Tree, set: usize) -> impl Iterator<Item = Attribute> {
    tree.named(set, "GenericAttribute").map(move |(_, element)| {
        let mut attribute = measured(element);
        if let Some(name) = element.get("Name") {
            name.clone_into(&mut attribute.name);
        }
        attribute.extra.add_optional_text("set", tree.elements[set].get("Set"));
        attribute
    })
}

fn measured(element: &Element) -> Attribute {
    let mut extra = Fields::default();
    for (from, to) in KEYS {
        extra.add_optional_text(to, element.get(from));
    }
    if element.name != "GenericAttribute" {
        extra.add_if_absent("data_type", Json::text("double"));
    }
    Attribute { name: element.name.clone(), value: element.attribute("Value").map(str::to_owned), extra }
}

fn string_attribute(name: &str, value: &str) -> Attribute {
    let mut extra = Fields::default();
    extra.add("data_type", Json::text("string"));
    Attribute { name: name.to_owned(), value: Some(value.to_owned()), extra }
}

/// Returns the XML attributes that are not mapped to a field.
fn unmapped_attributes(element: &Element) -> impl Iterator<Item = Attribute> {
    let unmapped = element.attributes.iter().filter(|(name, _)| !MAPPED_XML_ATTRIBUTES.contains(&name.as_str()));
    unmapped.map(|(name, value)| string_attribute(name, value))
}

/// Returns the position of an element.
pub fn position(tree: &Tree, element: usize) -> Option<Point> {
    let (position, _) = tree.named(element, "Position").next()?;
    tree.named(position, "Location").find_map(|(_, location)| Point::from_element(location))
}

/// Returns the bounding box of an element: smallest point, then width and height.
pub fn bounds(tree: &Tree, element: usize) -> Option<[f64; 4]> {
    let (extent, _) = tree.named(element, "Extent").next()?;
    let corner = |name| tree.named(extent, name).find_map(|(_, corner)| Point::from_element(corner));
    let (min, max) = (corner("Min")?.xy(), corner("Max")?.xy());
    let size = (max.0 - min.0, max.1 - min.1);
    (size.0 >= 0.0 && size.1 >= 0.0).then_some([min.0, min.1, size.0, size.1])
}

/// Returns the bounding box as a JSON array.
pub fn extent(tree: &Tree, element: usize) -> Option<Json> {
    bounds(tree, element).map(|numbers| Json::Array(numbers.map(number).into()))
}

/// Returns the lower left and the upper right corner of an extent, with the digits of the file.
pub fn corners(tree: &Tree, element: usize) -> Option<[Point; 2]> {
    let (extent, _) = tree.named(element, "Extent").next()?;
    let corner = |name| tree.named(extent, name).find_map(|(_, corner)| Point::from_element(corner));
    let (min, max) = (corner("Min")?, corner("Max")?);
    let (low, high) = (min.xy(), max.xy());
    (low.0 < high.0 && low.1 < high.1).then_some([min, max])
}

/// Returns a computed number, rounded to nine decimals.
pub fn number(value: f64) -> Json {
    let rounded = (value * 1e9).round() / 1e9;
    Json::number_or_text(&format!("{}", if rounded == 0.0 { 0.0 } else { rounded }))
}

/// Returns the points of a center line.
pub fn polyline(tree: &Tree, element: usize) -> Vec<Point> {
    tree.named(element, "Coordinate").filter_map(|(_, point)| Point::from_element(point)).collect()
}

/// Returns the ports of an item. Point 0 is the item itself.
pub fn ports(plant: &mut PlantImport<'_>, element: usize) -> Vec<Json> {
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

fn port(plant: &mut PlantImport<'_>, points: usize, node: usize, index: usize) -> Json {
    let tree = plant.tree;
    let element = &tree.elements[node];
    let attributes =
        collect(plant, node).into_iter().filter(|attribute| !["Type", "Name"].contains(&attribute.name.as_str()));
    let attributes: Vec<Attribute> = attributes.collect();
    let mut fields = Fields::default();
    fields.add("index", Json::count(index));
    fields.add_optional_text("id", element.get("ID"));
    fields.add_optional_text("name", element.get("Name"));
    fields.add_optional_text("type", element.get("Type"));
    fields.add_optional_text("flow", flow(&tree.elements[points], index));
    fields.add_optional("nominal_diameter", diameter(&attributes));
    if let Some(point) = position(tree, node) {
        let [x, y] = point.json();
        fields.add("x", x);
        fields.add("y", y);
    }
    if !attributes.is_empty() {
        fields.add("attributes", Json::Array(to_json_list(attributes.into_iter())));
    }
    Json::Object(fields)
}

/// Returns the flow direction of a port; `None` for a port that is both inlet and outlet.
fn flow(points: &Element, index: usize) -> Option<&'static str> {
    let has_index = |name| points.get(name).and_then(|text| text.trim().parse().ok()) == Some(index);
    match (has_index("FlowIn"), has_index("FlowOut")) {
        (true, false) => Some("in"),
        (false, true) => Some("out"),
        _ => None,
    }
}

/// Returns the port by which the flow leaves or enters, if the item declares it.
pub fn flow_port(tree: &Tree, element: usize, attribute: &str) -> Option<Json> {
    let (_, points) = tree.named(element, "ConnectionPoints").next()?;
    points.get(attribute).map(Json::number_or_text)
}

/// Returns the nominal diameter, as a number if possible: `80`, or the `80` of `Din2448ObjectDn80`.
pub fn diameter(attributes: &[Attribute]) -> Option<Json> {
    const PLAIN: &[&str] = &[
        "NominalDiameterNumericalValueRepresentationAssignmentClass",
        "NominalDiameter",
        "NominalDiameterRepresentationAssignmentClass",
        "NominalDiameterAssignmentClass",
        "Size",
    ];
    if let Some(plain) = value(attributes, PLAIN) {
        return Some(Json::number_or_text(plain.trim().trim_start_matches("DN").trim_start()));
    }
    let standard = value(attributes, &["NominalDiameterStandardSpecialization"])?;
    let (_, digits) = standard.rsplit_once("Dn")?;
    is_number(digits).then(|| Json::Number(digits.to_owned()))
}

/// Common fields, and the attributes that may hold them.
pub const FIELDS: &[(&str, &[&str])] = &[
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

/// Adds the common fields.
pub fn add_fields(fields: &mut Fields, attributes: &[Attribute]) {
    fields.add_optional("nominal_diameter", diameter(attributes));
    for (field, names) in FIELDS {
        fields.add_optional_text(field, value(attributes, names));
    }
}

/// Attributes from which a missing tag is composed: element name, and parts to be joined.
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

/// Names of vendor attributes that hold a tag.
const TAG_ATTRIBUTES: &[&str] = &["ItemTagAssignmentClass", "ItemTag", "OPCTag", "Tag", "TagNumber"];

/// Returns the tag of an item: from the file, or composed of its parts; empty if there is none.
pub fn tag(element: &Element, attributes: &[Attribute]) -> String {
    if let Some(tag) = element.get("TagName") {
        return tag.trim().to_owned();
    }
    let rows = TAGS.iter().filter(|(name, _)| *name == element.name);
    let composed = || rows.map(|(_, parts)| join_parts(parts, attributes)).find(|tag| !tag.is_empty());
    // A complete tag takes precedence over parts of it.
    let tag = value(attributes, &["ItemTagAssignmentClass"]).map(|tag| tag.trim().to_owned()).or_else(composed);
    // The tag of a run is that of its line.
    let vendor_tag = Some(TAG_ATTRIBUTES)
        .filter(|_| element.name != "PipingNetworkSegment")
        .and_then(|names| value(attributes, names));
    tag.or_else(|| vendor_tag.map(|tag| tag.trim().to_owned())).unwrap_or_default()
}

/// Returns the tag of an item of a class, composed of its attributes.
pub fn tag_of_class(class: &str, attributes: &[Attribute]) -> Option<String> {
    /// Elements whose classes have names of their own.
    const GENERAL: &[&str] = &[
        "Equipment",
        "Nozzle",
        "PipingComponent",
        "PipeOffPageConnector",
        "ActuatingSystemComponent",
        "PlantStructureItem",
    ];
    /// Attributes that hold a tag if there is no number.
    const OTHERS: &[&str] = &["PipingComponentName", "ControlledActuatorNumber", "PositionerNumber"];
    let is_own = TAGS.iter().any(|(name, _)| *name == class);
    let rows = TAGS.iter().filter(|(name, _)| if is_own { *name == class } else { GENERAL.contains(name) });
    let mut composed = rows.map(|(_, parts)| join_parts(parts, attributes));
    let other = || value(attributes, OTHERS).map(|tag| tag.trim().to_owned());
    composed.find(|tag| !tag.is_empty()).or_else(other)
}

/// Joins the parts, with a space between letters and number if there are several letter parts.
fn join_parts(parts: &[&[&str]], attributes: &[Attribute]) -> String {
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
