//! Zones of columns: the distinction of tables, which are read row by row, from columns of text.

use super::lines::{Line, median, pitches, quantile};

/// Maximum number of lines of a row of a table, on average; columns of text have more between gaps across the page.
const MAX_LINES_PER_ROW: f32 = 8.0;
/// Smallest part of the rows that have several cells, and of those whose cells start at the same height.
const MIN_FULL_ROWS: f32 = 0.4;
const MIN_ALIGNED_ROWS: f32 = 0.6;
/// Smallest part of the lines of a table that have a neighbor in another column.
const MIN_ALIGNED_LINES: f32 = 0.7;
/// Largest difference of the baselines of one line in two columns, relative to the font size.
const BASELINE_TOLERANCE: f32 = 0.3;
/// Distance of rows, relative to the distance of lines within a cell.
const ROW_PITCH: f32 = 1.17;
/// Smallest number of words in a line of a column of text, and the smallest part of the column's width that most lines fill.
const MIN_WORDS_PER_LINE: f32 = 3.0;
const MIN_FILL: f32 = 0.7;
/// Smallest part of the cells of a block of single-line rows that have the same number of lines.
const MIN_UNIFORM_CELLS: f32 = 0.8;
/// Maximum number of lines of a cell that is written as one line.
const MAX_CELL_LINES: usize = 6;

/// A row of a table.
pub struct Row<'l> {
    /// Lines of the cell in each column; it may be empty.
    pub cells: Vec<Vec<&'l Line>>,
}

impl Row<'_> {
    /// Returns whether its cells are blocks of text rather than entries of a table.
    pub fn has_long_cells(&self) -> bool {
        self.line_count() > MAX_CELL_LINES
    }

    fn line_count(&self) -> usize {
        self.cells.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn full_cells(&self) -> impl Iterator<Item = &Vec<&Line>> {
        self.cells.iter().filter(|cell| !cell.is_empty())
    }

    /// Returns whether the cells start or are centered at the same height.
    fn is_aligned(&self) -> bool {
        let is_level = |height: fn(&[&Line]) -> f32| {
            let mut cells = self.full_cells();
            let Some(first) = cells.next() else { return false };
            cells.all(|cell| (height(cell) - height(first)).abs() <= BASELINE_TOLERANCE * first[0].size)
        };
        is_level(|cell| cell[0].baseline) || is_level(|cell| (cell[0].baseline + cell[cell.len() - 1].baseline) / 2.0)
    }
}

/// Returns the rows of a zone if it is a table; none if it has columns of text.
pub fn rows<'l>(columns: &'l [Vec<Line>]) -> Option<Vec<Row<'l>>> {
    let blocks = rows_between_gaps(columns);
    let line_count: usize = blocks.iter().map(Row::line_count).sum();
    let full: Vec<&Row<'_>> = blocks.iter().filter(|row| row.full_cells().count() > 1).collect();
    let aligned = full.iter().filter(|row| row.is_aligned()).count();
    let has_short_rows = full.len() > 1
        && line_count as f32 <= MAX_LINES_PER_ROW * blocks.len() as f32
        && full.len() as f32 >= MIN_FULL_ROWS * blocks.len() as f32
        && aligned as f32 >= MIN_ALIGNED_ROWS * full.len() as f32;
    match () {
        () if has_short_rows => Some(blocks.into_iter().flat_map(split_uniform).collect()),
        () if aligned_lines(columns) >= MIN_ALIGNED_LINES && !are_text(columns) => {
            Some(blocks.iter().flat_map(|block| rows_by_first_cell(bands(block))).collect())
        }
        () => None,
    }
}

/// Cuts a zone at gaps that go through all columns and are larger than those between lines.
fn rows_between_gaps<'l>(columns: &'l [Vec<Line>]) -> Vec<Row<'l>> {
    let size = median(columns.iter().flatten().map(|line| line.size).collect());
    // The smallest distances are those within cells. Notes in smaller letters have smaller ones.
    let normal = |line: &&Line| line.size > size * 0.95;
    let pitches = columns.iter().flat_map(|column| pitches(column.iter().filter(normal)));
    let leading = quantile(pitches.collect(), 0.05);
    let min_gap = leading * ROW_PITCH - size;
    let mut all: Vec<(usize, &Line)> =
        columns.iter().enumerate().flat_map(|(column, lines)| lines.iter().map(move |line| (column, line))).collect();
    all.sort_by(|a, b| a.1.rect.top.total_cmp(&b.1.rect.top));
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut bottom = f32::MIN;
    for (column, line) in all {
        if line.rect.top - bottom > min_gap || rows.is_empty() {
            rows.push(Row { cells: vec![Vec::new(); columns.len()] });
        }
        if let Some(row) = rows.last_mut() {
            row.cells[column].push(line);
        }
        bottom = bottom.max(line.rect.bottom);
    }
    rows
}

/// Splits what is between two gaps into rows of one line each, if all cells have as many lines and none is running text.
fn split_uniform(block: Row<'_>) -> Vec<Row<'_>> {
    let count = block.line_count();
    let counts: Vec<usize> = block.full_cells().map(Vec::len).collect();
    let full = counts.iter().filter(|&&lines| lines == count).count();
    let is_uniform = full as f32 >= MIN_UNIFORM_CELLS * counts.len() as f32 && (counts.len() > 2 || count > 3);
    let is_text = || block.full_cells().any(|cell| cell.len() > 2 && is_text(cell.iter().copied()));
    match count > 1 && counts.len() > 1 && is_uniform && !is_text() {
        true => bands(&block),
        false => vec![block],
    }
}

/// Returns the lines of a block, each with its words in all columns.
fn bands<'l>(block: &Row<'l>) -> Vec<Row<'l>> {
    let columns = block.cells.len();
    let cells = block.cells.iter().enumerate();
    let mut all: Vec<(usize, &Line)> =
        cells.flat_map(|(column, cell)| cell.iter().map(move |line| (column, *line))).collect();
    all.sort_by(|a, b| a.1.baseline.total_cmp(&b.1.baseline));
    let mut bands: Vec<Row<'_>> = Vec::new();
    let mut baseline = f32::MIN;
    for (column, line) in all {
        if line.baseline - baseline > BASELINE_TOLERANCE * line.size || bands.is_empty() {
            bands.push(Row { cells: vec![Vec::new(); columns] });
            baseline = line.baseline;
        }
        if let Some(band) = bands.last_mut() {
            band.cells[column].push(line);
        }
    }
    bands
}

/// Joins lines without a first cell to the row above, unless all other cells are filled.
fn rows_by_first_cell(bands: Vec<Row<'_>>) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for band in bands {
        let columns = band.cells.len();
        let is_continuation = band.cells[0].is_empty() && (columns == 2 || band.full_cells().count() + 1 < columns);
        match rows.last_mut().filter(|_| is_continuation) {
            Some(row) => row.cells.iter_mut().zip(band.cells).for_each(|(cell, lines)| cell.extend(lines)),
            None => rows.push(band),
        }
    }
    rows
}

/// Returns the part of the lines that have a neighbor on the same baseline, in the columns other than the longest.
fn aligned_lines(columns: &[Vec<Line>]) -> f32 {
    let longest = (0..columns.len()).max_by_key(|&column| columns[column].len()).unwrap_or(0);
    let (mut aligned, mut count) = (0, 0);
    for (column, lines) in columns.iter().enumerate().filter(|(column, _)| *column != longest) {
        count += lines.len();
        let others = || columns.iter().enumerate().filter(move |(other, _)| *other != column);
        aligned += lines.iter().filter(|line| others().any(|(_, other)| has_baseline(other, line))).count();
    }
    aligned as f32 / count.max(1) as f32
}

fn has_baseline(lines: &[Line], line: &Line) -> bool {
    let tolerance = BASELINE_TOLERANCE * line.size;
    let first = lines.partition_point(|other| other.baseline < line.baseline - tolerance);
    lines.get(first).is_some_and(|other| other.baseline <= line.baseline + tolerance)
}

/// Returns whether at least two columns have the lines of running text, and no long one has other lines.
fn are_text(columns: &[Vec<Line>]) -> bool {
    let long = || columns.iter().filter(|lines| lines.len() >= 4);
    long().count() >= 2 && long().all(|lines| is_text(lines.iter()))
}

fn is_text<'l>(lines: impl Iterator<Item = &'l Line> + Clone) -> bool {
    let left = lines.clone().map(|line| line.rect.left).fold(f32::MAX, f32::min);
    let right = lines.clone().map(|line| line.rect.right).fold(f32::MIN, f32::max);
    let fills: Vec<f32> = lines.clone().map(|line| line.rect.width() / (right - left).max(0.1)).collect();
    let count = fills.len() as f32;
    let words: usize = lines.map(|line| line.words.len()).sum();
    median(fills) >= MIN_FILL && words as f32 >= MIN_WORDS_PER_LINE * count
}
