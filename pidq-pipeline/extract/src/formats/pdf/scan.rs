//! Text recognition on the pages of a PDF that have no text: scans, and drawings whose letters are lines.

use super::layout::{Direction, Placed, Rect, Separator, Word, reading_order};
use super::page::Page;
use crate::ExtractError;
use crate::recognition::{
    Arrangement, PageImage, Recognition, RecognitionError, RecognizedWord, Recognizer, mean_confidence,
};

/// Size in square points of the largest page that is read in columns: between Legal and A3. Larger pages are drawings.
const MAX_COLUMN_PAGE: f32 = 750_000.0;

/// Text recognized on a page.
pub struct RecognizedText {
    pub words: Vec<Word>,
    pub order: Vec<Placed>,
    /// Mean confidence in percent.
    pub confidence: u8,
    /// `true` if the page is so large that it was rendered with a reduced resolution.
    pub is_reduced: bool,
}

/// Result of text recognition on a page.
pub enum Scan {
    /// Text recognition is off.
    Off,
    Text(RecognizedText),
    /// There is no text, for the given reason.
    NoText(String),
}

/// Text recognition for one PDF, if it is on.
pub struct ScanReader<'s> {
    pdf: &'s [u8],
    recognizer: Option<Recognizer<'s>>,
}

impl<'s> ScanReader<'s> {
    pub fn new(pdf: &'s [u8], options: Option<&'s Recognition>) -> Self {
        ScanReader { pdf, recognizer: options.map(Recognizer::new) }
    }

    /// Recognizes a page. Words that the page has as text, such as those of a running header, are not repeated.
    ///
    /// # Errors
    /// If a program cannot be started.
    pub fn read(&self, page: &Page) -> Result<Scan, ExtractError> {
        let Some(recognizer) = &self.recognizer else { return Ok(Scan::Off) };
        match self.recognize(recognizer, page) {
            Ok(Some(text)) => Ok(Scan::Text(text)),
            Ok(None) => Ok(Scan::NoText("text recognition found none".into())),
            Err(RecognitionError::Installation(error)) => Err(error),
            Err(error) => Ok(Scan::NoText(error.to_string())),
        }
    }

    fn recognize(&self, recognizer: &Recognizer<'_>, page: &Page) -> Result<Option<RecognizedText>, RecognitionError> {
        let image = recognizer.render(self.pdf, page.number, (page.width, page.height))?;
        let arrangement = arrangement(page);
        let mut recognized = recognizer.page_words(&image, arrangement)?;
        recognized.retain(|word| !is_text_of(page, &rect(word, &image)));
        let Some(confidence) = mean_confidence(&recognized) else { return Ok(None) };
        let words: Vec<Word> =
            recognized.iter().enumerate().map(|(index, word)| page_word(index, word, &image)).collect();
        let order = match arrangement {
            Arrangement::Columns => recognized_order(&recognized),
            Arrangement::Scattered => reading_order(&words),
        };
        Ok(Some(RecognizedText { words, order, confidence, is_reduced: image.is_reduced() }))
    }
}

/// Returns the arrangement of a page's text. Lines are taken for those of a drawing; letters that are lines are found on
/// both.
fn arrangement(page: &Page) -> Arrangement {
    match page.width * page.height <= MAX_COLUMN_PAGE && page.is_scan() {
        true => Arrangement::Columns,
        false => Arrangement::Scattered,
    }
}

/// Returns whether a recognized word is one that the page has as text.
fn is_text_of(page: &Page, rect: &Rect) -> bool {
    let (x, y) = ((rect.left + rect.right) / 2.0, (rect.top + rect.bottom) / 2.0);
    let contains = |word: &Word| {
        let Rect { left, top, right, bottom } = word.rect;
        (left..=right).contains(&x) && (top..=bottom).contains(&y)
    };
    page.words.iter().any(contains)
}

fn page_word(index: usize, word: &RecognizedWord, image: &PageImage) -> Word {
    let rect = rect(word, image);
    Word { text: word.text.clone(), rect, size: rect.height(), direction: Direction::Right, follows_space: index > 0 }
}

fn rect(word: &RecognizedWord, image: &PageImage) -> Rect {
    let [left, top, right, bottom] = word.place;
    let (width, height) = (image.point_width, image.point_height);
    Rect { left: left * width, top: top * height, right: right * width, bottom: bottom * height }
}

/// Returns the words in the order in which they were recognized.
fn recognized_order(words: &[RecognizedWord]) -> Vec<Placed> {
    let separator = |index: usize| {
        let Some(previous) = index.checked_sub(1).map(|previous| &words[previous]) else { return Separator::Paragraph };
        let word = &words[index];
        match () {
            () if (previous.block, previous.paragraph) != (word.block, word.paragraph) => Separator::Paragraph,
            () if previous.line != word.line => Separator::Line,
            () => Separator::Space,
        }
    };
    (0..words.len()).map(|word| Placed { word, separator: separator(word) }).collect()
}
