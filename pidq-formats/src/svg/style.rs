//! Styles: colors and line widths.

use super::highlight::Part;

/// Color scheme of a drawing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Style {
    /// Dark lines on white paper.
    #[default]
    Light,
    /// Light lines on a dark screen.
    Dark,
}

struct Colors {
    paper: &'static str,
    ink: &'static str,
    muted: &'static str,
    signal: &'static str,
    line: &'static str,
    highlight: &'static str,
}

impl Style {
    fn colors(self) -> Colors {
        match self {
            Style::Light => Colors {
                paper: "#ffffff",
                ink: "#1b1f24",
                muted: "#6b7480",
                signal: "#3b6ea8",
                line: "#7a4b12",
                highlight: "#ff9f1c",
            },
            Style::Dark => Colors {
                paper: "#14181d",
                ink: "#e4e8ec",
                muted: "#8a949f",
                signal: "#7db4ee",
                line: "#e0b070",
                highlight: "#ff9f1c",
            },
        }
    }

    /// Returns the colors of paper and of lines, as `#rrggbb`. On white paper, lines from a file are black.
    pub fn paper_and_ink(self) -> (&'static str, &'static str) {
        let colors = self.colors();
        (colors.paper, if self == Style::Light { "#000000" } else { colors.ink })
    }

    /// Returns the CSS of symbols of our own on a sheet with the graphics of a file.
    pub fn symbol_css(self) -> String {
        let (paper, ink) = self.paper_and_ink();
        format!(
            ".pidq .s{{fill:{paper};stroke:{ink};stroke-width:1;stroke-linejoin:round}}\
             .pidq .n{{fill:none;stroke:{ink};stroke-width:1;stroke-linecap:round}}\
             .pidq .d{{fill:none;stroke:{ink};stroke-width:.8;stroke-dasharray:3 2}}\
             .pidq .w{{fill:none;stroke:{ink};stroke-width:3}}\
             .pidq .f{{fill:{ink};stroke:{ink};stroke-width:.8}}"
        )
    }

    /// Returns the CSS of a drawing.
    pub fn css(self) -> String {
        let Colors { paper, ink, muted, signal, line, highlight } = self.colors();
        // Parts of an isolation and kinds of changes; other highlights have the color of the style.
        let parts = [Part::Close, Part::Open, Part::Added, Part::Removed, Part::Changed];
        let parts: String = parts.iter().map(|part| part_css(*part)).collect();
        format!(
            ".b{{fill:{paper}}}\
             .p{{fill:none;stroke:{ink};stroke-width:1.6;stroke-linejoin:round}}\
             .a{{fill:{ink}}}\
             .g{{fill:none;stroke:{signal};stroke-width:1;stroke-dasharray:5 3}}\
             .o{{fill:none;stroke:{signal};stroke-width:.8}}\
             .s{{fill:{paper};stroke:{ink};stroke-width:1.3;stroke-linejoin:round}}\
             .n{{fill:none;stroke:{ink};stroke-width:1.3;stroke-linecap:round}}\
             .d{{fill:none;stroke:{ink};stroke-width:.9;stroke-dasharray:3 2}}\
             .w{{fill:none;stroke:{ink};stroke-width:3}}\
             .f{{fill:{ink};stroke:{ink};stroke-width:.8}}\
             .hit{{fill:{highlight};fill-opacity:.35;stroke:{highlight};stroke-width:1.5}}\
             .hot{{fill:none;stroke:{highlight};stroke-width:6;stroke-opacity:.6;stroke-linejoin:round;stroke-linecap:round}}\
             {parts}.hot.removed{{stroke-dasharray:5 7}}\
             text{{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;text-anchor:middle;fill:{ink};paint-order:stroke;stroke:{paper};stroke-width:2.5;stroke-linejoin:round}}\
             .e{{font-weight:bold}}.z{{fill:{muted}}}.c{{fill:{ink}}}.l{{fill:{line}}}.m{{fill:{muted};text-anchor:end}}.k{{text-anchor:start}}"
        )
    }
}

/// Returns the CSS of a marked item and of a marked line.
fn part_css(part: Part) -> String {
    let color = part.color();
    let [item, line] = part.classes().map(|classes| classes.replace(' ', "."));
    format!(".{item}{{fill:{color};stroke:{color}}}.{line}{{stroke:{color}}}")
}
