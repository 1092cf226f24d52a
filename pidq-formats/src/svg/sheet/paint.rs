//! Paint: color, line width, line type and fill of drawn elements.

use pidq_core::Object;

use crate::svg::style::Style;

use super::members::{number, text};

/// Color as red, green and blue.
pub type Color = [u8; 3];

/// Fill of a closed outline.
#[derive(Clone, Copy, PartialEq)]
pub enum Fill {
    None,
    Solid(Color),
    /// Hatched, drawn as a light fill.
    Hatch,
}

/// Paint of an element; what it does not say is that of its group.
#[derive(Clone, PartialEq)]
pub struct Paint {
    pub stroke: Color,
    /// In millimeters.
    pub width: f64,
    /// Dashes and gaps, in millimeters; empty for a solid line.
    pub dash: &'static str,
    pub fill: Fill,
    /// True for a layer that is not shown.
    pub is_hidden: bool,
}

/// Line types of the document with their dashes.
const DASHES: &[(&str, &str)] = &[
    ("dash", "3 1.5"),
    ("long_dash", "3 3"),
    ("short_dash", "1.5 1"),
    ("dot", "0.3 1"),
    ("dash_dot", "5 1.2 0.4 1.2"),
    ("dash_dot_dot", "5 1.2 0.4 1.2 0.4 1.2"),
    ("dash_short_dash", "3 1 1 1"),
    ("long_dash_short_dash", "5 1.2 1 1.2"),
    ("long_dash_short_dash_short_dash", "5 1.2 1 1.2 1 1.2"),
];

/// White whose parts were written from 0 to 1 and read from 0 to 255. Such a fill covers what is below it, and its outline is
/// black.
const UNIT_WHITE: Color = [1; 3];
const WHITE: Color = [255; 3];

/// Smallest and largest plausible line width, in millimeters.
const MIN_WIDTH: f64 = 0.1;
const MAX_WIDTH: f64 = 5.0;

impl Paint {
    /// Solid black lines.
    pub fn new(width: f64) -> Paint {
        Paint { stroke: [0; 3], width, dash: "", fill: Fill::None, is_hidden: false }
    }

    pub fn dashed(self, dash: &'static str) -> Paint {
        Paint { dash, ..self }
    }

    /// Returns the paint with the style members of an element, whose widths are in drawing units.
    pub fn with(&self, element: Object<'_>, unit: f64) -> Paint {
        let dash = text(element, "dash");
        let named_dash = DASHES.iter().find(|(name, _)| *name == dash).map(|(_, dashes)| *dashes);
        let solid = (dash == "solid").then_some("");
        let width = number(element, "stroke_width").filter(|width| *width > 0.0);
        let layer = text(element, "layer").to_lowercase();
        let fill = fill(text(element, "fill"));
        Paint {
            stroke: parse(text(element, "stroke")).unwrap_or(self.stroke),
            width: width.map_or(self.width, |width| plausible_width(width, unit)),
            dash: named_dash.or(solid).unwrap_or(self.dash),
            fill: if fill == Fill::Solid(UNIT_WHITE) { Fill::Solid(WHITE) } else { fill },
            is_hidden: self.is_hidden || layer.contains("hidden"),
        }
    }
}

/// Returns a width in millimeters. Some systems write millimeters whatever the unit of the drawing is.
fn plausible_width(width: f64, unit: f64) -> f64 {
    let scaled = width * unit;
    let width = if scaled <= MAX_WIDTH { scaled } else { width };
    width.clamp(MIN_WIDTH, MAX_WIDTH)
}

fn fill(text: &str) -> Fill {
    match (text, parse(text)) {
        (_, Some(color)) => Fill::Solid(color),
        ("hatch", _) => Fill::Hatch,
        _ => Fill::None,
    }
}

/// Parses `#rrggbb`.
pub fn parse(text: &str) -> Option<Color> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let byte = |from: usize| u8::from_str_radix(&digits[from..from + 2], 16).ok();
    Some([byte(0)?, byte(2)?, byte(4)?])
}

/// Colors of a drawing on the paper of a style.
pub struct Palette {
    paper: Color,
    ink: Color,
    /// True if black and white change places: a drawing made on a dark screen, on white paper.
    is_inverted: bool,
}

/// Largest level of a line that is as dark as a dark background.
const DARKEST: u8 = 64;

impl Palette {
    /// Returns the colors for a background of the file and the lines drawn on it. Some systems state a black background and
    /// draw black lines for white paper: black and white change places only if the lines are not mostly dark.
    pub fn new<'p>(style: Style, background: Option<Color>, lines: impl Iterator<Item = &'p Paint>) -> Palette {
        let (paper, ink) = style.paper_and_ink();
        let (paper, ink) = (parse(paper).unwrap_or([255; 3]), parse(ink).unwrap_or([0; 3]));
        let is_dark = |color: Color| color.iter().map(|part| u32::from(*part)).sum::<u32>() < 384;
        let is_inverted = background.is_some_and(is_dark) && {
            let (mut dark, mut light) = (0_usize, 0_usize);
            // Lines in other colors are seen on both.
            let lines = lines.filter(|paint| !paint.is_hidden && is_gray(paint.stroke));
            lines.for_each(|paint| match is_dark(paint.stroke) {
                true => dark += 1,
                false => light += 1,
            });
            light >= dark
        };
        Palette { paper, ink, is_inverted }
    }

    /// Returns a color as CSS: grays between those of ink and paper, other colors unchanged.
    pub fn css(&self, color: Color) -> String {
        hex(if is_gray(color) { self.gray(color[0].min(color[1]).min(color[2])) } else { color })
    }

    /// Returns the color of a line or a text as CSS: one as dark as a dark background has that of the ink.
    pub fn line_css(&self, color: Color) -> String {
        let is_lost = self.is_inverted && is_gray(color) && color.iter().all(|part| *part <= DARKEST);
        if is_lost { hex(self.ink) } else { self.css(color) }
    }

    /// Returns the color of the ink as CSS.
    pub fn ink_css(&self) -> String {
        hex(self.ink)
    }

    /// Returns the color of the paper as CSS.
    pub fn paper_css(&self) -> String {
        hex(self.paper)
    }

    fn gray(&self, level: u8) -> Color {
        let level = f64::from(if self.is_inverted { 255 - level } else { level }) / 255.0;
        let mix =
            |at: usize| (f64::from(self.ink[at]) * (1.0 - level) + f64::from(self.paper[at]) * level).round() as u8;
        [mix(0), mix(1), mix(2)]
    }
}

fn is_gray(color: Color) -> bool {
    let (low, high) = (color.iter().min().copied().unwrap_or(0), color.iter().max().copied().unwrap_or(0));
    high - low <= 24
}

fn hex([r, g, b]: Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
