//! Style of a drawn element: its `Presentation`, and that of the annotation or item it is a part of.

use crate::json::{Fields, Json, is_number};
use crate::xml::{Element, Tree};

/// Color, line width, line type and layer. Solid black lines are the default, and not written.
#[derive(Clone, Debug, Default)]
pub struct Style {
    pub stroke: Option<String>,
    width: Option<String>,
    dash: Option<&'static str>,
    layer: Option<String>,
}

impl Style {
    /// Returns the own style of an element.
    pub fn of(tree: &Tree, element: usize) -> Style {
        let presentation = tree.named(element, "Presentation").next();
        presentation.map(|(_, presentation)| Style::from_presentation(presentation)).unwrap_or_default()
    }

    fn from_presentation(presentation: &Element) -> Style {
        let weight = presentation.get("LineWeight").and_then(|text| text.split_whitespace().next());
        let is_width = |text: &&str| is_number(text) && text.parse().is_ok_and(|width: f64| width > 0.0);
        Style {
            stroke: color(presentation),
            width: weight.filter(is_width).map(str::to_owned),
            dash: presentation.get("LineType").and_then(dash),
            layer: presentation.get("Layer").map(str::to_owned),
        }
    }

    /// Returns the style with the members that it lacks from another.
    pub fn or(self, other: &Style) -> Style {
        Style {
            stroke: self.stroke.or_else(|| other.stroke.clone()),
            width: self.width.or_else(|| other.width.clone()),
            dash: self.dash.or(other.dash),
            layer: self.layer.or_else(|| other.layer.clone()),
        }
    }

    /// Returns the color in which a closed element is filled.
    pub fn color(&self) -> &str {
        self.stroke.as_deref().unwrap_or(BLACK)
    }

    /// Adds the members that differ from the default.
    pub fn add_to(self, fields: &mut Fields) {
        fields.add_optional_text("stroke", self.stroke.as_deref().filter(|color| *color != BLACK));
        fields.add_optional("stroke_width", self.width.map(Json::Number));
        fields.add_optional_text("dash", self.dash.filter(|dash| *dash != "solid"));
        fields.add_optional_text("layer", self.layer.as_deref());
    }
}

const BLACK: &str = "#000000";

/// Colors by name, as AutoCAD and the vendors of plant design systems write them.
const COLORS: &[(&str, &str)] = &[
    ("black", BLACK),
    ("white", "#ffffff"),
    ("red", "#ff0000"),
    ("yellow", "#ffff00"),
    ("green", "#008000"),
    ("lime", "#00ff00"),
    ("cyan", "#00ffff"),
    ("aqua", "#00ffff"),
    ("blue", "#0000ff"),
    ("magenta", "#ff00ff"),
    ("gray", "#808080"),
    ("grey", "#808080"),
];

/// Returns the color: red, green and blue from 0 to 1 (some systems: to 255), otherwise a name.
fn color(presentation: &Element) -> Option<String> {
    let part = |name| presentation.get(name).and_then(|text| text.trim().parse::<f64>().ok());
    if let (Some(red), Some(green), Some(blue)) = (part("R"), part("G"), part("B")) {
        let scale = if red.max(green).max(blue) > 1.0 { 1.0 } else { 255.0 };
        let byte = |part: f64| (part * scale).round().clamp(0.0, 255.0) as u8;
        return Some(format!("#{:02x}{:02x}{:02x}", byte(red), byte(green), byte(blue)));
    }
    let name = presentation.get("Color")?.trim().to_lowercase();
    COLORS.iter().find(|(color, _)| *color == name).map(|(_, value)| (*value).to_owned())
}

/// Line types: the number of the schema, words of its name, and the name in the document.
const LINE_TYPES: &[(&str, &str, &str)] = &[
    ("7", "dash + short dash", "dash_dot"),
    ("6", "short dash + short dash", "dash_dot_dot"),
    ("4", "center", "dash_dot"),
    ("4", "long dash + short dash", "dash_dot"),
    ("4", "dashdot", "dash_dot"),
    ("3", "long dash", "long_dash"),
    ("5", "short dash", "short_dash"),
    ("2", "dash", "dash"),
    ("2", "hidden", "dash"),
    ("1", "dot", "dot"),
    ("0", "solid", "solid"),
    ("0", "continuous", "solid"),
];

fn dash(line_type: &str) -> Option<&'static str> {
    let line_type = line_type.trim().to_lowercase();
    let matches = |(number, words, _): &&(&str, &str, &str)| line_type == *number || line_type.contains(words);
    LINE_TYPES.iter().find(matches).map(|(_, _, name)| *name)
}
