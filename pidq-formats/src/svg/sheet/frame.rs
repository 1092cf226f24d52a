//! Frame and title block of a sheet whose border is named in the file, but not drawn: as ISO 5457 and ISO 7200 have them.

use pidq_core::{Object, Value};

use crate::svg::symbol_marks::listed_attribute;
use crate::svg::title;

use super::outline::MissingUse;
use super::{Bounds, Picture, SheetWriter, number};

/// Margins of a frame: the filing margin on the left, and the others, in millimeters.
const MARGINS: [f64; 2] = [20.0, 10.0];
/// Width of the border with the grid references, outside of the frame.
const GRID: f64 = 5.0;
/// Length of a field of the grid, and height of its letters.
const FIELD: f64 = 50.0;
const LETTER: f64 = 3.5;
/// Largest number of fields along a side, since there are 24 letters without I and O.
const MAX_FIELDS: usize = 24;
const LETTERS: &[u8; MAX_FIELDS] = b"ABCDEFGHJKLMNPQRSTUVWXYZ";
/// Widths of the lines of the frame and of thin lines.
const FRAME_WIDTH: f64 = 0.7;
const THIN_WIDTH: f64 = 0.25;
/// Width of a title block, and heights of its texts.
const BLOCK: f64 = 180.0;
const NAME: f64 = 1.8;
const VALUE: f64 = 3.5;

/// Cell of a title block.
struct Cell {
    name: &'static str,
    /// Share of the width of its row.
    width: f64,
    /// Listed attributes with its value, as in DEXPI, of which all that differ are written.
    attributes: &'static [&'static str],
    /// Members of the metadata with its value, if no attribute has one.
    members: &'static [&'static str],
}

const fn cell(
    name: &'static str,
    width: f64,
    attributes: &'static [&'static str],
    members: &'static [&'static str],
) -> Cell {
    Cell { name, width, attributes, members }
}

/// Rows of a title block, with their heights.
const ROWS: &[(f64, &[Cell])] = &[
    (
        10.0,
        &[
            cell("Plant", 0.5, &["ProcessPlantName", "EnterpriseName"], &["plant", "plant_name"]),
            cell("Area", 0.25, &["AreaIsa95Name", "PlantAreaName"], &["area", "unit"]),
            cell("System", 0.25, &["PlantSystemIdentificationCode", "ProjectNumber"], &["system", "project"]),
        ],
    ),
    (12.0, &[cell("Title", 1.0, &["DrawingName", "DrawingSubTitle"], &["title", "drawing_name"])]),
    (
        10.0,
        &[
            cell("Created by", 0.25, &["CreatorName"], &["created_by", "author"]),
            cell("Drawing number", 0.6, &["DrawingNumber"], &["drawing_number", "drawing_name"]),
            cell("Revision", 0.15, &["RevisionNumber"], &["revision"]),
        ],
    ),
];

impl<'a> SheetWriter<'_, '_, 'a> {
    /// Draws the frame of a sheet, and its title block unless something of the drawing is there.
    pub fn frame(&mut self, picture: &Picture<'a>, usage: &MissingUse<'a>) {
        let name = usage.shape.to_lowercase();
        let is_frame = ["border", "frame"].iter().any(|word| name.contains(word));
        let Some(sheet) = self.source.sheets[picture.sheet].bounds().filter(|_| is_frame) else { return };
        let [left, margin] = MARGINS;
        let frame = Bounds {
            low: (sheet.low.0 + left, sheet.low.1 + margin),
            high: (sheet.high.0 - margin, sheet.high.1 - margin),
        };
        if frame.high.0 - frame.low.0 < FIELD || frame.high.1 - frame.low.1 < FIELD {
            return self.rectangle(frame, FRAME_WIDTH);
        }
        self.rectangle(frame.grown(GRID), THIN_WIDTH);
        self.rectangle(frame, FRAME_WIDTH);
        self.grid(sheet, frame);
        let height: f64 = ROWS.iter().map(|(height, _)| height).sum();
        let block = Bounds { low: (frame.high.0 - BLOCK, frame.high.1 - height), high: frame.high };
        if frame.contains(block) && !self.items.iter().any(|item| item.overlaps(block)) {
            return self.title_block(block);
        }
        let title = title(self.options, self.symbols.model);
        self.own_text(&title, (frame.high.0 - 4.0, frame.high.1 - 4.0), 0.0, 5.0, "end");
    }

    /// Draws the lines and letters of the grid references: fields of equal length from the center of the sheet.
    fn grid(&mut self, sheet: Bounds, frame: Bounds) {
        let center = ((sheet.low.0 + sheet.high.0) / 2.0, (sheet.low.1 + sheet.high.1) / 2.0);
        let mut lines = String::new();
        let sides = [(frame.low.1 - GRID, frame.low.1), (frame.high.1, frame.high.1 + GRID)];
        for (index, [low, high]) in fields(center.0, frame.low.0, frame.high.0, sheet.high.0 - sheet.low.0) {
            for (top, bottom) in sides {
                if high < frame.high.0 {
                    lines.extend(["M", &number(high), " ", &number(top), "V", &number(bottom)]);
                }
                let at = ((low + high) / 2.0, (top + bottom) / 2.0);
                self.own_text(&(index + 1).to_string(), at, 0.0, LETTER, "middle");
            }
        }
        let sides = [(frame.low.0 - GRID, frame.low.0), (frame.high.0, frame.high.0 + GRID)];
        for (index, [low, high]) in fields(center.1, frame.low.1, frame.high.1, sheet.high.1 - sheet.low.1) {
            for (left, right) in sides {
                if high < frame.high.1 {
                    lines.extend(["M", &number(left), " ", &number(high), "H", &number(right)]);
                }
                let letter = LETTERS.get(index).map_or(String::new(), |letter| char::from(*letter).to_string());
                self.own_text(&letter, ((left + right) / 2.0, (low + high) / 2.0), 0.0, LETTER, "middle");
            }
        }
        self.thin_path(&lines);
    }

    /// Draws the title block: what the metadata of the drawing states.
    fn title_block(&mut self, block: Bounds) {
        self.rectangle(block, FRAME_WIDTH);
        let Some(metadata) = self.symbols.model.metadata else { return };
        let mut top = block.low.1;
        for (height, cells) in ROWS {
            let mut left = block.low.0;
            let mut lines = format!("M{} {}H{}", number(left), number(top), number(block.high.0));
            for cell in *cells {
                lines.extend(["M", &number(left), " ", &number(top), "V", &number(top + height)]);
                self.own_text(cell.name, (left + 1.5, top + 2.0), 0.0, NAME, "start");
                let value = cell.value(metadata);
                let width = cell.width * (block.high.0 - block.low.0);
                let letters = value.chars().count().max(1) as f64;
                let size = VALUE.min((width - 3.0) / letters * 1.6);
                self.own_text(&value, (left + 1.5, top + height - 3.2), 0.0, size, "start");
                left += width;
            }
            self.thin_path(&lines);
            top += height;
        }
    }

    fn rectangle(&mut self, bounds: Bounds, width: f64) {
        let Bounds { low: (x, y), high } = bounds;
        let [w, h, x, y, width] = [high.0 - x, high.1 - y, x, y, width].map(number);
        let ink = self.palette.ink_css();
        self.write_fmt(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\"/>"
        ));
    }

    fn thin_path(&mut self, data: &str) {
        let (ink, width) = (self.palette.ink_css(), number(THIN_WIDTH));
        self.write_fmt(format_args!("<path d=\"{data}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\"/>"));
    }
}

impl Cell {
    fn value(&self, metadata: Object<'_>) -> String {
        let mut values: Vec<String> = Vec::new();
        for value in self.attributes.iter().map(|name| listed_attribute(metadata, name)) {
            if !value.is_empty() && !values.contains(&value) {
                values.push(value);
            }
        }
        let member = |name: &&str| metadata.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let member = || self.members.iter().find_map(member).unwrap_or_default().to_owned();
        if values.is_empty() { member() } else { values.join(" – ") }
    }
}

/// Returns the fields along a side: index, ends. There is an even number of them; the outermost ones end at the frame.
fn fields(center: f64, low: f64, high: f64, length: f64) -> impl Iterator<Item = (usize, [f64; 2])> {
    let half = ((length / FIELD / 2.0).round() as usize).clamp(1, MAX_FIELDS / 2);
    (0..2 * half).map(move |index| {
        let line = |index: usize| center + (index as f64 - half as f64) * FIELD;
        let start = if index == 0 { low } else { line(index) };
        let end = if index + 1 == 2 * half { high } else { line(index + 1) };
        (index, [start, end])
    })
}
