//! Attributes as data: the inverse of reading values. What the class of an object does not have is left out here.

use pidq_core::{Object, Value};

use crate::json::is_number;

use super::super::objects::last_name;
use super::super::plant_model::{Kind, PlantModel};
use super::Names;
use super::document::{Document, is_kept};
use super::names::text;

/// Endings of the names of attributes: of texts, and of values of enumerations.
const TEXT: &str = "AssignmentClass";
const ENUMERATED: &str = "Specialization";

/// Attribute of an object of the graph.
#[derive(Clone, Copy)]
pub struct Attribute<'t> {
    pub name: &'t str,
    pub value: Option<&'t str>,
    pub format: &'t str,
    /// Property with its prefix, if it belongs to a profile.
    pub uri: Option<&'t str>,
    pub value_uri: Option<&'t str>,
    pub unit_uri: Option<&'t str>,
    pub language: Option<&'t str>,
}

/// Returns the attributes of a node, an edge, a port or the metadata.
pub fn attributes(fields: Object<'_>) -> Vec<Attribute<'_>> {
    let list = fields.get("attributes").and_then(Value::as_array);
    list.into_iter().flat_map(|list| list.iter().filter_map(attribute)).collect()
}

fn attribute(value: Value<'_>) -> Option<Attribute<'_>> {
    let fields = value.as_object()?;
    let value = match fields.get("value") {
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.lexeme().filter(|digits| is_number(digits))?),
        Some(Value::Null) | None => None,
        Some(_) => return None,
    };
    let member = |key| text(Some(fields), key);
    Some(Attribute {
        name: member("name")?,
        value,
        format: member("data_type").unwrap_or("string"),
        uri: member("uri"),
        value_uri: member("value_uri"),
        unit_uri: member("unit_uri"),
        language: member("language"),
    })
}

/// Adds the attributes that the class of an object has, and those of its profiles.
pub fn add(document: &mut Document, object: usize, class: &str, names: &Names<'_>, attributes: &[Attribute<'_>]) {
    let properties = PlantModel::get().properties(class, Kind::Data);
    let mut index = 0;
    while let Some(attribute) = attributes.get(index) {
        // Texts of one name in several languages are one value.
        let same = attributes[index..].iter().take_while(|other| is_same_text(attribute, other)).count().max(1);
        let texts = &attributes[index..index + same];
        index += same;
        let (property, text) = property_of(attribute);
        match attribute.uri.filter(|path| names.is_profile_path(path)) {
            Some(path) if last_name(path) == property => {
                let target = if text == ENUMERATED { "enumeration" } else { "" };
                add_value(document, object, path, target, texts, names);
            }
            Some(_) => {}
            None => {
                if let Some(known) = properties.iter().find(|known| known.name == property) {
                    add_value(document, object, property, known.target, texts, names);
                }
            }
        }
    }
}

fn is_same_text(attribute: &Attribute<'_>, other: &Attribute<'_>) -> bool {
    attribute.language.is_some()
        && other.language.is_some()
        && attribute.name == other.name
        && attribute.uri == other.uri
}

/// Returns the property that an attribute is of, and the ending of its name.
fn property_of<'t>(attribute: &Attribute<'t>) -> (&'t str, &'static str) {
    let with = |ending| attribute.name.strip_suffix(ending).map(|name| (name, ending));
    with(TEXT).or(with(ENUMERATED)).unwrap_or((attribute.name, ""))
}

/// Adds a value if it is one of the type of the property. The type of a property of a profile is not known.
fn add_value(
    document: &mut Document,
    object: usize,
    property: &str,
    target: &str,
    texts: &[Attribute<'_>],
    names: &Names<'_>,
) {
    let Some(attribute) = texts.first() else { return };
    let is_any = target.is_empty();
    let has_ending = attribute.name.ends_with(TEXT);
    let value = attribute.value.filter(|value| is_kept(value));
    match (value, attribute.format) {
        (None, "string") if has_ending && attribute.value.is_none() => {
            document.datum(object, property, "Undefined", "");
        }
        (Some(value), _) if target.contains('.') || target == "enumeration" => {
            let path = attribute.value_uri.filter(|path| names.is_path(path) && last_name(path) == value);
            if let Some(path) = path.filter(|path| target == "enumeration" || path.starts_with(target)) {
                document.enumerated(object, property, path);
            }
        }
        (Some(value), "double") if (is_any || target == "quantity") && is_number(value.trim()) => {
            let unit = attribute.unit_uri.filter(|path| names.is_path(path));
            if is_any || unit.is_some() {
                add_quantity(document, object, property, value, unit);
            }
        }
        (Some(_), _) if has_ending && (target == "texts" || is_any && attribute.language.is_some()) => {
            add_texts(document, object, property, texts);
        }
        (Some(value), "integer") if has_ending && (is_any || target == "integer") && is_integer(value) => {
            document.datum(object, property, "Integer", value);
        }
        (Some(value), "string") if has_ending && (is_any || target == "text") => {
            document.datum(object, property, "String", value);
        }
        _ => {}
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Units of pressures in DEXPI, by their usual names and what they are relative to.
const PRESSURE_UNITS: &[(&str, &str, &str)] = &[
    ("bar", "gauge", "Core/PhysicalQuantities.PressureGaugeUnit.Bar"),
    ("mbar", "gauge", "Core/PhysicalQuantities.PressureGaugeUnit.Millibar"),
    ("kpa", "gauge", "Core/PhysicalQuantities.PressureGaugeUnit.Kilopascal"),
    ("mpa", "gauge", "Core/PhysicalQuantities.PressureGaugeUnit.Megapascal"),
    ("pa", "gauge", "Core/PhysicalQuantities.PressureGaugeUnit.Pascal"),
    ("psi", "gauge", "Core/PhysicalQuantities.PressureGaugeUnit.PoundForcePerInchSquared"),
    ("bar", "absolute", "Core/PhysicalQuantities.PressureAbsoluteUnit.Bar"),
    ("mbar", "absolute", "Core/PhysicalQuantities.PressureAbsoluteUnit.Millibar"),
    ("kpa", "absolute", "Core/PhysicalQuantities.PressureAbsoluteUnit.Kilopascal"),
    ("mpa", "absolute", "Core/PhysicalQuantities.PressureAbsoluteUnit.Megapascal"),
    ("psi", "absolute", "Core/PhysicalQuantities.PressureAbsoluteUnit.PoundForcePerInchSquared"),
];

/// Returns the value and the unit of a pressure in DEXPI: `85 barg`.
pub fn pressure(text: &str) -> Option<(&str, &'static str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-')).unwrap_or(text.len());
    let value = Some(text[..end].trim()).filter(|value| is_number(value))?;
    let (name, zero) = pidq_core::pressure_unit_name(&text[end..])?;
    let row = PRESSURE_UNITS.iter().find(|(known, relative_to, _)| *known == name && Some(*relative_to) == zero);
    row.map(|(.., path)| (value, *path))
}

/// Adds a number with its unit.
pub fn add_quantity(document: &mut Document, object: usize, property: &str, value: &str, unit: Option<&str>) {
    let data = document.data(object, property);
    match unit {
        Some(unit) => {
            let quantity = document.aggregated(data, "Core/PhysicalQuantities.PhysicalQuantity");
            document.enumerated(quantity, "Unit", unit);
            document.datum(quantity, "Value", "Double", value.trim());
        }
        None => document.value(data, "Double", value.trim()),
    }
}

fn add_texts(document: &mut Document, object: usize, property: &str, texts: &[Attribute<'_>]) {
    let data = document.data(object, property);
    let value = document.aggregated(data, "Core/DataTypes.MultiLanguageString");
    let strings = document.data(value, "SingleLanguageStrings");
    for text in texts {
        let string = document.aggregated(strings, "Core/DataTypes.SingleLanguageString");
        document.datum(string, "Language", "String", text.language.unwrap_or_default());
        document.datum(string, "Value", "String", text.value.unwrap_or_default());
    }
}
