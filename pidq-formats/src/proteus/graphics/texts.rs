//! Texts: as written, or composed of attributes of an item.

use crate::json::{Fields, Json, is_number};
use crate::xml::{Element, Tree};

use super::super::attribute::Point;
use super::super::attributes;
use super::super::labels::written;
use super::super::plant_import::PlantImport;
use super::placement::Placement;

/// Returns a text. One without a position is kept, although it cannot be drawn.
pub fn text(plant: &PlantImport<'_>, element: usize) -> Fields {
    let tree = plant.tree;
    let xml_element = &tree.elements[element];
    let mut fields = Fields::default();
    fields.add("type", Json::text("text"));
    let written = written(tree, element);
    let text = if written.trim().is_empty() { composed(plant, element) } else { Some(written) };
    let pattern = xml_element.get("DependantAttribute").filter(|_| text.is_none());
    fields.add("text", Json::String(text.unwrap_or_default()));
    fields.add_optional_text("attribute", pattern);
    let placement = Placement::of(tree, element);
    let at = placement.as_ref().map(|placement| placement.at.clone()).or_else(|| center(tree, element));
    fields.add_optional("at", at.map(|at| Json::Array(at.json().into())));
    add_lengths(&mut fields, xml_element);
    fields.add_optional_text("font", xml_element.get("Font"));
    let (align, vertical) = alignment(xml_element.get("Justification").unwrap_or("LeftBottom"));
    fields.add("align", Json::text(align));
    fields.add("vertical", Json::text(vertical));
    let angle = xml_element.get("TextAngle").and_then(|text| text.trim().parse::<f64>().ok());
    let angle = angle.filter(|angle| angle.is_finite()).or(placement.map(|placement| placement.rotation));
    if let Some(angle) = angle.filter(|angle| angle.abs() > 1e-6) {
        fields.add("rotation", attributes::number(angle));
    }
    fields
}

fn add_lengths(fields: &mut Fields, element: &Element) {
    for (key, name) in [("height", "Height"), ("width", "Width")] {
        let digits = element.get(name).map(str::trim).filter(|digits| is_number(digits));
        let digits = digits.filter(|digits| digits.parse().is_ok_and(|length: f64| length > 0.0));
        fields.add_optional(key, digits.map(|digits| Json::Number(digits.to_owned())));
    }
}

/// Returns the center of the extent, for a text without a position.
fn center(tree: &Tree, element: usize) -> Option<Point> {
    let [x, y, width, height] = attributes::bounds(tree, element)?;
    let digits = |number| match attributes::number(number) {
        Json::Number(digits) => Some(digits),
        _ => None,
    };
    Some(Point { x: digits(x + width / 2.0)?, y: digits(y + height / 2.0)? })
}

/// Returns the horizontal and the vertical alignment: `LeftCenter` is the left end, at half the height.
pub fn alignment(text: &str) -> (&'static str, &'static str) {
    let align = match text {
        _ if text.starts_with("Center") => "middle",
        _ if text.starts_with("Right") => "end",
        _ => "start",
    };
    let vertical = match text {
        _ if text.ends_with("Top") => "top",
        _ if text.ends_with("Center") => "middle",
        _ => "bottom",
    };
    (align, vertical)
}

/// Returns a text that the file describes by attributes; `None` if none of them has a value.
fn composed(plant: &PlantImport<'_>, element: usize) -> Option<String> {
    let text = by_specification(plant, element)
        .or_else(|| by_pattern(plant, element))
        .or_else(|| tag_of_owner(plant, element))?;
    let text = text.trim_end().to_owned();
    (!text.trim().is_empty()).then_some(text)
}

/// Returns the text of a `TextStringFormatSpecification`: attributes of items, and literal parts between them.
fn by_specification(plant: &PlantImport<'_>, element: usize) -> Option<String> {
    let tree = plant.tree;
    let (specification, _) = tree.named(element, "TextStringFormatSpecification").next()?;
    let parts = tree.named(specification, "ObjectAttributesReference").map(|(_, part)| {
        // Blanks are part of a literal.
        let name = part.attribute("DependantAttribute").unwrap_or_default();
        match part.get("ItemID") {
            Some(item) => attribute(plant, item, name, part.get("DependantAttributeContents")).unwrap_or_default(),
            None => name.to_owned(),
        }
    });
    Some(parts.collect())
}

/// Returns the text of a pattern such as `[TagName] DN [NominalDiameter]`.
fn by_pattern(plant: &PlantImport<'_>, element: usize) -> Option<String> {
    let xml_element = &plant.tree.elements[element];
    let (pattern, item) = (xml_element.get("DependantAttribute")?, xml_element.get("ItemID")?);
    let mut text = String::new();
    let mut has_value = false;
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        let (name, after) = after.split_once(']')?;
        text.push_str(before);
        if let Some(value) = attribute(plant, item, name, None) {
            has_value = true;
            text.push_str(&value);
        }
        rest = after;
    }
    text.push_str(rest);
    has_value.then_some(text)
}

/// Returns an attribute of an item: its value, its unit, or both.
fn attribute(plant: &PlantImport<'_>, id: &str, name: &str, contents: Option<&str>) -> Option<String> {
    let item = &plant.items[plant.lookup(id)?];
    let name = name.trim();
    if name == "TagName" && !item.tag.is_empty() {
        return Some(item.tag.clone());
    }
    let base = name.trim_end_matches("AssignmentClass");
    let is_named = |candidate: &str| candidate == name || candidate.trim_end_matches("AssignmentClass") == base;
    let found = item.attributes.iter().find(|attribute| is_named(&attribute.name))?;
    let unit = match found.extra.get("unit") {
        Some(Json::String(unit)) => unit.as_str(),
        _ => "",
    };
    let value = found.value.as_deref().unwrap_or_default();
    let text = match contents.map(str::to_lowercase).as_deref() {
        Some("units") => unit.to_owned(),
        Some("valueandunits" | "value and units") => format!("{value} {unit}"),
        _ => value.to_owned(),
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the displayed name of the item that a label without any text belongs to.
fn tag_of_owner(plant: &PlantImport<'_>, element: usize) -> Option<String> {
    let xml_element = &plant.tree.elements[element];
    let is_label = xml_element.parent.is_some_and(|parent| plant.tree.elements[parent].name == "Label");
    let has_description = xml_element.get("DependantAttribute").is_some()
        || plant.tree.named(element, "TextStringFormatSpecification").next().is_some();
    if !is_label || has_description {
        return None;
    }
    let item = &plant.items[plant.owner(element)?];
    let displayed = attributes::value(&item.attributes, &["ObjectDisplayNameAssignmentClass", "ObjectDisplayName"]);
    displayed.map(str::to_owned).or_else(|| Some(item.tag.clone())).filter(|text| !text.is_empty())
}
