//! Attribute of an item, and point of the drawing.

use crate::json::{Fields, Json, is_number};
use crate::xml::Element;

use super::elements;

/// Attribute of an item. Attributes form a list, not a map: the same name occurs in several languages.
#[derive(Clone, Debug, Default)]
pub struct Attribute {
    pub name: String,
    pub value: Option<String>,
    pub extra: Fields,
}

impl Attribute {
    /// Returns the attribute as JSON. Values are numbers if the file declares a numeric type.
    pub fn into_json(self) -> Json {
        let mut fields = Fields::default();
        let is_numeric =
            matches!(self.extra.get("data_type"), Some(Json::String(kind)) if NUMERIC.contains(&kind.as_str()));
        let value = match self.value {
            Some(text) if is_numeric => Json::number_or_text(&text),
            Some(text) => Json::String(text),
            None => Json::Null,
        };
        fields.add("name", Json::String(self.name));
        fields.add("value", value);
        fields.0.extend(self.extra.0);
        Json::Object(fields)
    }
}

const NUMERIC: &[&str] = &["double", "float", "integer", "long", "ulong", "short", "byte"];

/// Point of the drawing, with the digits of the file.
#[derive(Clone, Debug)]
pub struct Point {
    pub x: String,
    pub y: String,
}

impl Point {
    pub fn from_element(element: &Element) -> Option<Point> {
        let (x, y) = (element.get("X")?.trim(), element.get("Y")?.trim());
        (is_number(x) && is_number(y)).then(|| Point { x: x.into(), y: y.into() })
    }

    pub fn json(&self) -> [Json; 2] {
        [Json::Number(self.x.clone()), Json::Number(self.y.clone())]
    }

    /// Returns the point as numbers. The digits were validated when the point was created.
    pub fn xy(&self) -> (f64, f64) {
        (self.x.parse().unwrap_or_default(), self.y.parse().unwrap_or_default())
    }
}

/// Returns true for an element that is a value with a unit, such as `NominalDiameter`.
pub fn is_value(element: &Element) -> bool {
    let is_unmapped =
        elements::find(&element.name).is_none() && !elements::ATTRIBUTE_ELEMENTS.contains(&element.name.as_str());
    is_unmapped && element.attribute("Value").is_some() && element.get("ID").is_none()
}
