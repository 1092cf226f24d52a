//! Page layout: the reading order of the words of a page, from their boxes alone.
//!
//! Columns are found as tall empty rectangles with text on both sides, as in T. M. Breuel, "Two Geometric Algorithms for
//! Layout Analysis" (Document Analysis Systems, 2002). The page is cut at them recursively, in the manner of the XY-cut of
//! G. Nagy and S. Seth, "Hierarchical Representation of Optically Scanned Documents" (ICPR, 1984): text above, the columns one
//! after the other, text below. If the parts beside each other are cells of a table, they are read row by row.

mod gutters;
mod lines;
mod running;
mod zone;

pub use running::{PageEdges, running_lines};

use std::collections::BTreeSet;

use lines::{Line, lines_of};

/// Maximum depth of cuts within cuts.
const MAX_DEPTH: usize = 32;
/// Maximum number of steps of the search for columns on a page; a page that needs more is read line by line.
const MAX_STEPS: usize = 20_000_000;
/// Part of the font size above the baseline in the box of a word.
pub const ASCENT: f32 = 0.78;
/// Size of a footnote, relative to the text above it.
const FOOTNOTE_SIZE: f32 = 0.92;

/// A rectangle on the page as displayed: the origin is at the top left, the unit is 1/72 inch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
}

impl Rect {
    pub fn width(&self) -> f32 {
        self.right - self.left
    }

    pub fn height(&self) -> f32 {
        self.bottom - self.top
    }

    fn center_x(&self) -> f32 {
        (self.left + self.right) / 2.0
    }

    fn center_y(&self) -> f32 {
        (self.top + self.bottom) / 2.0
    }

    fn union(&self, other: &Rect) -> Rect {
        Rect {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Returns the rectangle turned so that text of a direction runs from left to right.
    fn turned(&self, direction: Direction) -> Rect {
        let Rect { left, top, right, bottom } = *self;
        match direction {
            Direction::Right | Direction::Oblique => *self,
            Direction::Up => Rect { left: -bottom, top: left, right: -top, bottom: right },
            Direction::Left => Rect { left: -right, top: -bottom, right: -left, bottom: -top },
            Direction::Down => Rect { left: top, top: -right, right: bottom, bottom: -left },
        }
    }
}

/// The direction in which the letters of a word follow each other.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Direction {
    Right,
    Up,
    Left,
    Down,
    /// At an angle, as in a watermark.
    Oblique,
}

/// All directions.
const DIRECTIONS: [Direction; 5] =
    [Direction::Right, Direction::Up, Direction::Left, Direction::Down, Direction::Oblique];

/// A word of a page.
#[derive(Clone, Debug)]
pub struct Word {
    pub text: String,
    pub rect: Rect,
    /// Font size.
    pub size: f32,
    pub direction: Direction,
    /// `true` if a space character was drawn before the word.
    pub follows_space: bool,
}

/// Separator of a word from the preceding one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Separator {
    /// Nothing: both are parts of one word.
    Nothing,
    /// A space.
    Space,
    /// The end of a line within a cell of a table.
    CellLine,
    /// The end of a cell of a table.
    Cell,
    /// The end of a line.
    Line,
    /// The end of a column; the sentence may continue.
    Column,
    /// The end of a paragraph or of another block of text.
    Paragraph,
}

/// A word in reading order, by its index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Placed {
    pub word: usize,
    pub separator: Separator,
}

/// Returns the words in reading order. Text in other directions than that of most of the page follows at the end.
pub fn reading_order(words: &[Word]) -> Vec<Placed> {
    let mut groups = DIRECTIONS.map(|direction| {
        let indexes: Vec<usize> = (0..words.len()).filter(|&index| words[index].direction == direction).collect();
        let size: usize = indexes.iter().map(|&index| words[index].text.len()).sum();
        (size, direction, indexes)
    });
    groups.sort_by_key(|(size, _, _)| std::cmp::Reverse(*size));
    let mut placed = Vec::with_capacity(words.len());
    let mut steps = MAX_STEPS;
    for (_, direction, indexes) in groups {
        let turned: Vec<Word> = indexes
            .iter()
            .map(|&index| Word { rect: words[index].rect.turned(direction), ..words[index].clone() })
            .collect();
        let mut reader = Reader { words: &turned, placed: Vec::new(), steps };
        reader.region((0..turned.len()).collect(), Separator::Paragraph, 0);
        steps = reader.steps;
        placed.extend(reader.placed.iter().map(|found| Placed { word: indexes[found.word], ..*found }));
    }
    placed
}

/// Reader of the words of one direction.
struct Reader<'w> {
    words: &'w [Word],
    placed: Vec<Placed>,
    /// Steps left for the search for columns.
    steps: usize,
}

impl Reader<'_> {
    /// Reads a region: the zones of columns or tables in it, and the lines above and below them.
    fn region(&mut self, mut region: Vec<usize>, mut separator: Separator, depth: usize) {
        while depth < MAX_DEPTH && !region.is_empty() {
            let Some(zone) = gutters::find_zone(self.words, &region, &mut self.steps) else { break };
            let (above, rest): (Vec<_>, Vec<_>) =
                region.into_iter().partition(|&index| self.words[index].rect.center_y() < zone.top);
            let (inside, below) = rest.into_iter().partition(|&index| self.words[index].rect.center_y() <= zone.bottom);
            if !above.is_empty() {
                self.region(above, separator, depth + 1);
                separator = Separator::Paragraph;
            }
            self.zone(inside, &zone, separator, depth);
            separator = Separator::Paragraph;
            region = below;
        }
        self.lines(&lines_of(self.words, &region), separator);
    }

    /// Reads columns one after the other, and tables row by row.
    fn zone(&mut self, inside: Vec<usize>, zone: &gutters::Zone, separator: Separator, depth: usize) {
        let columns = zone.columns(self.words, inside);
        let lines: Vec<Vec<Line>> = columns.iter().map(|column| lines_of(self.words, column)).collect();
        match zone::rows(&lines) {
            Some(rows) => self.table(&rows, separator),
            None => self.columns(&columns, &lines, separator, depth),
        }
    }

    fn columns(&mut self, columns: &[Vec<usize>], lines: &[Vec<Line>], separator: Separator, depth: usize) {
        let mut notes = Vec::new();
        let mut separator = separator;
        for (column, lines) in columns.iter().zip(lines) {
            let first_note = footnotes_start(self.words, lines);
            let in_notes: BTreeSet<usize> = lines[first_note..].iter().flat_map(|line| line.words.clone()).collect();
            let body = column.iter().copied().filter(|index| !in_notes.contains(index)).collect();
            self.region(body, separator, depth + 1);
            separator = Separator::Column;
            notes.push(&lines[first_note..]);
        }
        for notes in notes {
            self.lines(notes, Separator::Paragraph);
        }
    }

    fn table(&mut self, rows: &[zone::Row<'_>], separator: Separator) {
        let mut separator = separator;
        for row in rows {
            for cell in row.cells.iter().filter(|cell| !cell.is_empty()) {
                match row.has_long_cells() {
                    true => self.lines_of_cell(cell, separator, Separator::Line),
                    false => self.lines_of_cell(cell, separator, Separator::CellLine),
                }
                separator = if row.has_long_cells() { Separator::Paragraph } else { Separator::Cell };
            }
            separator = if row.has_long_cells() { Separator::Paragraph } else { Separator::Line };
        }
    }

    fn lines_of_cell(&mut self, lines: &[&Line], first: Separator, between: Separator) {
        for (index, line) in lines.iter().enumerate() {
            self.line(line, if index == 0 { first } else { between });
        }
    }

    /// Reads lines below each other, in paragraphs.
    fn lines(&mut self, lines: &[Line], first: Separator) {
        let pitch = lines::typical_pitch(lines);
        let mut previous: Option<&Line> = None;
        for line in lines {
            let separator = previous.map_or(first, |previous| lines::between(previous, line, pitch));
            self.line(line, separator);
            previous = Some(line);
        }
    }

    fn line(&mut self, line: &Line, first: Separator) {
        let mut previous: Option<&Word> = None;
        for &index in &line.words {
            let word = &self.words[index];
            if previous.is_some_and(|previous| lines::is_repeated(previous, word)) {
                continue;
            }
            let separator = previous.map_or(first, |previous| lines::between_words(previous, word));
            self.placed.push(Placed { word: index, separator });
            previous = Some(word);
        }
    }
}

/// Returns the index of the first footnote line of a column: smaller lines at its end, of which the first starts with a mark.
fn footnotes_start(words: &[Word], lines: &[Line]) -> usize {
    let size = lines::median(lines.iter().map(|line| line.size).collect());
    let is_small = |line: &&Line| line.size < size * FOOTNOTE_SIZE;
    let small = lines.iter().rev().take_while(is_small).count();
    let is_mark = |line: &Line| {
        let mark = line.words.first().map_or("", |&index| &words[index].text);
        mark.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '*' | '†' | '‡' | '§' | '¹' | '²' | '³'))
    };
    (lines.len() - small..lines.len()).find(|&index| is_mark(&lines[index])).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests;
