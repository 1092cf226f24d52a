//! Words of a page: joins the glyphs that content streams draw.

use super::layout::{ASCENT, Direction, Rect, Word};
use super::matrix::Matrix;
use crate::ExtractError;

/// Largest gap between two glyphs of a word, relative to the font size. The narrowest spaces of justified text are 0.2.
const GLYPH_GAP: f64 = 0.16;
/// Largest gap between two glyphs of a word that a space character separates: it stands for a hyphen that is not displayed.
const SPACE_GAP: f64 = 0.03;
/// Smallest width of a space character.
const MIN_SPACE: f64 = 0.05;
/// Largest step back within a word, and largest step up or down.
const STEP_BACK: f64 = 0.3;
const STEP_SIDEWAYS: f64 = 0.1;

/// Builder of the words of a page.
#[derive(Debug)]
pub struct WordBuilder {
    words: Vec<Word>,
    open: Option<OpenWord>,
    /// `true` if the last glyph was a space.
    after_space: bool,
    characters: usize,
    limit: usize,
}

/// The word to which the next glyph may belong.
#[derive(Debug)]
struct OpenWord {
    word: Word,
    /// End of its last glyph, on the baseline.
    end: (f64, f64),
}

/// A glyph as drawn.
pub struct Glyph<'t> {
    pub text: &'t str,
    /// Transformation from text space at the glyph's origin to the displayed page.
    pub matrix: Matrix,
    pub font_size: f64,
    /// Advance width in text space.
    pub width: f64,
}

impl WordBuilder {
    /// Creates a builder for a document of at most `limit` characters.
    pub fn new(limit: usize) -> WordBuilder {
        WordBuilder { words: Vec::new(), open: None, after_space: false, characters: 0, limit }
    }

    /// Adds a glyph. Glyphs without text take up space within a word.
    ///
    /// # Errors
    /// Fails if the document has too many characters.
    pub fn glyph(&mut self, glyph: &Glyph<'_>) -> Result<(), ExtractError> {
        self.characters += glyph.text.chars().count();
        if self.characters > self.limit {
            return Err(ExtractError::too_large(format!("the text has more than {} characters", self.limit)));
        }
        let is_space = !glyph.text.is_empty() && glyph.text.chars().all(|c| c.is_whitespace() || c == '\0');
        if is_space {
            // Without a width nothing shows whether the next glyph is drawn beside the space or in its place.
            if glyph.width.abs() < MIN_SPACE * glyph.font_size.abs() {
                self.end_word();
            }
            self.after_space = true;
            return Ok(());
        }
        let [a, b, _, _, x, y] = glyph.matrix.0;
        let end = glyph.matrix.apply(glyph.width, 0.0);
        let rect = rect(glyph);
        let size = glyph.matrix.height(glyph.font_size);
        let direction = glyph.matrix.direction();
        let max_gap = if self.after_space { SPACE_GAP } else { GLYPH_GAP };
        let continues = |open: &&mut OpenWord| open.continues_at((x, y), (a, b), direction, size, max_gap);
        if let Some(open) = self.open.as_mut().filter(continues) {
            self.after_space = false;
            open.word.text.push_str(glyph.text);
            open.word.rect = union(open.word.rect, rect);
            open.end = end;
            return Ok(());
        }
        self.end_word();
        let follows_space = std::mem::take(&mut self.after_space);
        let word = Word { text: glyph.text.to_owned(), rect, size: size as f32, direction, follows_space };
        self.open = Some(OpenWord { word, end });
        Ok(())
    }

    /// Ends the word, so that the next glyph starts another one.
    pub fn end_word(&mut self) {
        let word = self.open.take().map(|open| open.word);
        self.words.extend(word.filter(|word| !word.text.trim().is_empty()));
    }

    /// Returns the number of complete words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the words and starts the next page.
    pub fn take(&mut self) -> Vec<Word> {
        self.end_word();
        self.after_space = false;
        std::mem::take(&mut self.words)
    }
}

impl OpenWord {
    /// Returns whether a glyph at a point follows the last one.
    fn continues_at(
        &self,
        (x, y): (f64, f64),
        (a, b): (f64, f64),
        direction: Direction,
        size: f64,
        max_gap: f64,
    ) -> bool {
        let length = a.hypot(b).max(1e-9);
        let (right, below) = ((x - self.end.0) / size, (y - self.end.1) / size);
        let along = (right * a + below * b) / length;
        let sideways = (below * a - right * b) / length;
        direction == self.word.direction
            && (f64::from(self.word.size) / size - 1.0).abs() < 0.15
            && (-STEP_BACK..max_gap).contains(&along)
            && sideways.abs() < STEP_SIDEWAYS
    }
}

/// Returns the box of a glyph on the page.
fn rect(glyph: &Glyph<'_>) -> Rect {
    let ascent = f64::from(ASCENT) * glyph.font_size;
    let descent = ascent - glyph.font_size;
    let corners = [(0.0, descent), (0.0, ascent), (glyph.width, descent), (glyph.width, ascent)];
    let corners = corners.map(|(x, y)| glyph.matrix.apply(x, y));
    let bound = |pick: fn(&(f64, f64)) -> f64, start: f64, choose: fn(f64, f64) -> f64| {
        corners.iter().map(pick).fold(start, choose) as f32
    };
    Rect {
        left: bound(|corner| corner.0, f64::MAX, f64::min),
        top: bound(|corner| corner.1, f64::MAX, f64::min),
        right: bound(|corner| corner.0, f64::MIN, f64::max),
        bottom: bound(|corner| corner.1, f64::MIN, f64::max),
    }
}

fn union(a: Rect, b: Rect) -> Rect {
    Rect {
        left: a.left.min(b.left),
        top: a.top.min(b.top),
        right: a.right.max(b.right),
        bottom: a.bottom.max(b.bottom),
    }
}
