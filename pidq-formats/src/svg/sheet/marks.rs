//! Marks of highlighted items on a sheet, under everything else, and the legend of an isolation or of changes.

use crate::svg::highlight::Part;
use crate::svg::part_of;

use super::{Bounds, Drawn, Item, Outline, Picture, SheetWriter, number, path_data};

/// Width of a marked line, and distance of a mark from its item, in millimeters.
const LINE: f64 = 2.4;
const DISTANCE: f64 = 1.2;
/// Height of the legend below the sheet.
pub const LEGEND_HEIGHT: f64 = 12.0;

impl<'a> SheetWriter<'_, '_, 'a> {
    /// Draws the marks of highlighted items.
    pub fn marks(&mut self, pictures: &[Picture<'a>]) {
        for picture in pictures {
            let Some(part) = picture.item.and_then(|item| self.part(item)) else { continue };
            match picture.item {
                Some(Item::Edge(_)) => self.mark_line(picture, part),
                _ => self.mark_item(picture, part),
            }
        }
    }

    fn part(&self, item: Item) -> Option<Part> {
        let model = self.symbols.model;
        match item {
            Item::Node(index) => part_of(self.options, &model.nodes[index]),
            Item::Edge(index) => crate::svg::edge_part(self.options, model, &model.edges[index]),
        }
    }

    fn mark_line(&mut self, picture: &Picture<'_>, part: Part) {
        let (color, class) = (part.color(), part.classes()[1]);
        // Dashed, since what was added may lie over it.
        let dash = if part == Part::Removed { " stroke-dasharray=\"2 4\"" } else { "" };
        let lines = picture.drawn.iter().filter(|drawn| matches!(drawn.outline, Outline::Path(_)));
        for line in lines {
            let data = path_data(std::slice::from_ref(line));
            self.write_fmt(format_args!(
                "<path class=\"{class}\" d=\"{data}\" fill=\"none\" stroke=\"{color}\" stroke-opacity=\".55\" \
                 stroke-width=\"{LINE}\" stroke-linecap=\"round\" stroke-linejoin=\"round\"{dash}/>\n"
            ));
        }
    }

    fn mark_item(&mut self, picture: &Picture<'_>, part: Part) {
        let Some(Bounds { low, high }) = self.symbol_bounds(picture).map(|bounds| bounds.grown(DISTANCE)) else {
            return;
        };
        let (color, class) = (part.color(), part.classes()[0]);
        let [x, y, w, h] = [low.0, low.1, high.0 - low.0, high.1 - low.1].map(number);
        self.write_fmt(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"1.5\" fill=\"{color}\" \
             fill-opacity=\".35\" stroke=\"{color}\" stroke-width=\".5\"/>\n"
        ));
    }

    /// Returns the bounds of the symbol of an item, or of its texts and leaders if it has no symbol.
    fn symbol_bounds(&self, picture: &Picture<'_>) -> Option<Bounds> {
        let is_symbol = |drawn: &&Drawn| !drawn.is_annotation && !matches!(drawn.outline, Outline::Text(_));
        let lines = picture.drawn.iter().filter(is_symbol);
        let lines = lines.filter_map(|drawn| super::bounds::of(&drawn.outline));
        let missing = picture.missing.iter().filter_map(|usage| self.substitute_bounds(picture, usage));
        lines.chain(missing).reduce(Bounds::union).or_else(|| picture.bounds())
    }

    /// Draws the legend of an isolation or of changes below the sheet.
    pub fn legend(&mut self) {
        let rows = self.options.legend();
        if rows.is_empty() {
            return;
        }
        let ink = self.palette.ink_css();
        let (mut x, y) = (self.view.low.0 + 8.0, self.view.high.1 - LEGEND_HEIGHT / 2.0);
        self.out.push_str("<g class=\"legend\">");
        for (part, text) in rows {
            let (color, [left, top, base]) = (part.color(), [x, y - 2.0, y + 1.3].map(number));
            let start = number(x + 7.0);
            self.write_fmt(format_args!(
                "<rect x=\"{left}\" y=\"{top}\" width=\"5\" height=\"4\" fill=\"{color}\" fill-opacity=\".55\" stroke=\"{color}\" \
                 stroke-width=\".4\"/><text x=\"{start}\" y=\"{base}\" font-size=\"3.5\" font-family=\"Arial,Helvetica,sans-serif\" \
                 fill=\"{ink}\">{text}</text>"
            ));
            x += 14.0 + text.chars().count() as f64 * 2.0;
        }
        self.out.push_str("</g>\n");
    }
}
