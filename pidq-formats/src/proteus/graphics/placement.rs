//! Placement of a shape: location, rotation, mirroring and scale.

use crate::json::{Fields, Json, is_number};
use crate::xml::{Element, Tree};

use super::super::attribute::Point;
use super::super::attributes;

/// Placement of a shape on the sheet.
///
/// `Reference` is the direction of the x axis of the shape, `Axis` that of its z axis: downwards if it is mirrored.
pub struct Placement {
    pub at: Point,
    /// Counterclockwise rotation of the x axis, in degrees.
    pub rotation: f64,
    /// True if the shape is mirrored at its x axis before it is rotated.
    pub is_mirrored: bool,
    scale: Option<[String; 2]>,
}

impl Placement {
    /// Returns the placement of an element with a position.
    pub fn of(tree: &Tree, element: usize) -> Option<Placement> {
        let at = attributes::position(tree, element)?;
        let (position, _) = tree.named(element, "Position").next()?;
        let scale = tree.named(element, "Scale").next().and_then(|(_, scale)| scale_of(scale));
        let direction = |name| tree.named(position, name).next().map(|(_, element)| vector(element));
        let rotation = direction("Reference").map_or(0.0, angle);
        let is_mirrored = direction("Axis").is_some_and(|[x, y, z]| z < 0.0 && z.abs() > x.abs().max(y.abs()));
        Some(Placement { at, rotation, is_mirrored, scale })
    }

    /// Adds the placement. Members with their default value are left out.
    pub fn add_to(self, fields: &mut Fields) {
        fields.add("at", Json::Array(self.at.json().into()));
        if self.rotation != 0.0 {
            fields.add("rotation", attributes::number(self.rotation));
        }
        if let Some(scale) = self.scale {
            fields.add("scale", Json::Array(scale.map(Json::Number).into()));
        }
        if self.is_mirrored {
            fields.add("mirrored", Json::Bool(true));
        }
    }
}

/// Returns the counterclockwise angle of a vector, in degrees; 0 for the zero vector that some systems write.
fn angle([x, y, _]: [f64; 3]) -> f64 {
    let degrees = y.atan2(x).to_degrees();
    // Right angles are exact.
    let right = (degrees / 90.0).round() * 90.0;
    if (degrees - right).abs() < 1e-6 { right } else { degrees }
}

fn vector(element: &Element) -> [f64; 3] {
    ["X", "Y", "Z"].map(|name| {
        let number = element.get(name).and_then(|text| text.trim().parse::<f64>().ok());
        number.filter(|number| number.is_finite()).unwrap_or(0.0)
    })
}

/// Returns a scale other than 1.
fn scale_of(element: &Element) -> Option<[String; 2]> {
    let digits = |name| element.get(name).map(str::trim).filter(|text| is_number(text));
    let (x, y) = (digits("X")?, digits("Y")?);
    let is_one = |text: &str| text.parse() == Ok(1.0_f64);
    (!is_one(x) || !is_one(y)).then(|| [x.to_owned(), y.to_owned()])
}
