//! Text lines: words beside each other, and what separates words and lines.

use super::{ASCENT, Rect, Separator, Word};

/// Largest gap between the parts of one word, relative to the font size.
const PART_GAP: f32 = 0.1;
/// Largest overlap of two words, relative to the font size: widths of fonts may be missing.
const OVERLAP: f32 = 0.3;
/// Smallest gap between two cells in a line.
const CELL_GAP: f32 = 2.0;
/// Smallest distance of paragraphs, relative to the distance of lines.
const PARAGRAPH_PITCH: f32 = 1.35;
/// Smallest change of the font size between paragraphs.
const SIZE_CHANGE: f32 = 1.15;
/// Number of lines among which the line of a word is searched.
const OPEN_LINES: usize = 8;

/// A line of text.
#[derive(Clone, Debug)]
pub struct Line {
    /// Indexes of the words, from left to right.
    pub words: Vec<usize>,
    pub rect: Rect,
    pub baseline: f32,
    /// Font size of its largest word.
    pub size: f32,
    /// Box of its largest word.
    core: Rect,
}

impl Line {
    fn new(index: usize, word: &Word) -> Line {
        Line { words: vec![index], rect: word.rect, baseline: baseline(word), size: word.size, core: word.rect }
    }

    fn add(&mut self, index: usize, word: &Word) {
        self.words.push(index);
        self.rect = self.rect.union(&word.rect);
        if word.size > self.size {
            (self.baseline, self.size, self.core) = (baseline(word), word.size, word.rect);
        }
    }

    /// Returns whether a word is at the height of this line: a superscript is, a word of the next line is not.
    fn is_level_with(&self, word: &Word) -> bool {
        let overlap = self.core.bottom.min(word.rect.bottom) - self.core.top.max(word.rect.top);
        overlap > 0.5 * self.core.height().min(word.rect.height())
    }
}

fn baseline(word: &Word) -> f32 {
    word.rect.top + ASCENT * word.rect.height()
}

/// Returns the lines of a region from top to bottom.
pub fn lines_of(words: &[Word], region: &[usize]) -> Vec<Line> {
    let mut indexes = region.to_vec();
    indexes.sort_by(|&a, &b| baseline(&words[a]).total_cmp(&baseline(&words[b])).then(a.cmp(&b)));
    let mut lines: Vec<Line> = Vec::new();
    for index in indexes {
        let word = &words[index];
        let open = lines.len().saturating_sub(OPEN_LINES);
        match lines[open..].iter_mut().rev().find(|line| line.is_level_with(word)) {
            Some(line) => line.add(index, word),
            None => lines.push(Line::new(index, word)),
        }
    }
    for line in &mut lines {
        line.words.sort_by(|&a, &b| words[a].rect.left.total_cmp(&words[b].rect.left).then(a.cmp(&b)));
    }
    lines.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    lines
}

/// Returns what separates two words of a line.
pub fn between_words(previous: &Word, word: &Word) -> Separator {
    let size = previous.size.max(word.size);
    let gap = (word.rect.left - previous.rect.right) / size;
    match () {
        () if gap > CELL_GAP => Separator::Cell,
        () if word.follows_space || !(-OVERLAP..PART_GAP).contains(&gap) => Separator::Space,
        () if is_reference_mark(previous, word) => Separator::Space,
        () => Separator::Nothing,
    }
}

/// Returns whether a word is the raised number of a footnote, and not an exponent.
fn is_reference_mark(previous: &Word, word: &Word) -> bool {
    let is_raised = word.size < previous.size * 0.85 && baseline(word) < baseline(previous) - previous.size * 0.15;
    let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
    let is_unit = previous.text.chars().count() < 4 && previous.text.chars().all(char::is_alphanumeric);
    is_raised && is_number && !is_unit
}

/// Returns whether a word was drawn a second time at almost the same place, to look bold.
pub fn is_repeated(previous: &Word, word: &Word) -> bool {
    let tolerance = word.size * 0.2;
    let is_close = |a: f32, b: f32| (a - b).abs() < tolerance;
    previous.text == word.text
        && is_close(previous.rect.left, word.rect.left)
        && is_close(previous.rect.right, word.rect.right)
}

/// Returns what separates two lines below each other.
pub fn between(previous: &Line, line: &Line, pitch: f32) -> Separator {
    let distance = line.baseline - previous.baseline;
    let change = (line.size / previous.size).max(previous.size / line.size);
    match distance > pitch * PARAGRAPH_PITCH || change > SIZE_CHANGE {
        true => Separator::Paragraph,
        false => Separator::Line,
    }
}

/// Returns the distances of consecutive lines that may belong to one paragraph.
pub fn pitches<'l>(lines: impl Iterator<Item = &'l Line> + Clone) -> impl Iterator<Item = f32> {
    lines.clone().zip(lines.skip(1)).filter_map(|(line, next)| {
        let distance = next.baseline - line.baseline;
        let size = line.size.min(next.size);
        (distance > size * 0.85 && distance < size * 3.0).then_some(distance)
    })
}

/// Returns the distance of most lines.
pub fn typical_pitch(lines: &[Line]) -> f32 {
    let pitches: Vec<f32> = pitches(lines.iter()).collect();
    match pitches.is_empty() {
        true => median(lines.iter().map(|line| line.size).collect()) * 1.5,
        false => median(pitches),
    }
}

/// Returns the median; 0 for no values.
pub fn median(values: Vec<f32>) -> f32 {
    quantile(values, 0.5)
}

/// Returns the value below which a part of the values is; 0 for no values.
pub fn quantile(mut values: Vec<f32>, part: f32) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get((values.len().saturating_sub(1) as f32 * part) as usize).copied().unwrap_or(0.0)
}
