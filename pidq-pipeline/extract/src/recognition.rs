//! Text recognition (OCR): images of pages to words with their places and confidences, by the program Tesseract.
//!
//! Pages of a PDF are rendered by `pdftoppm`. Both programs are named by the options, never searched, so that the text of a
//! document does not depend on what else is installed.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::ExtractError;
use super::program::{ProgramError, RunLimits, run};

/// Resolution at which pages are rendered, in pixels per inch.
const RESOLUTION: f32 = 200.0;
/// Resolution below which letters have too few pixels: a page that would need it is not recognized.
const MIN_RESOLUTION: f32 = 100.0;
/// Maximum number of pixels of a page: enough for A0 at the full resolution.
const MAX_PIXELS: f32 = 64e6;
/// Timeout of a program for one page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of the table of words of a page in bytes.
const MAX_TABLE_SIZE: u64 = 64 << 20;
/// Columns of Tesseract's table.
const COLUMNS: usize = 12;
/// Start of the row of a page in Tesseract's table.
const PAGE_ROW: &str = "1\t";
/// Level of a word in Tesseract's table.
const WORD_LEVEL: &str = "5";

/// Programs and limits of text recognition.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Recognition {
    /// Path of Tesseract.
    pub tesseract: PathBuf,
    /// Path of pdftoppm, from poppler-utils.
    pub pdftoppm: PathBuf,
    /// Languages, as for Tesseract: `eng`, or `eng+deu`.
    pub languages: String,
    /// Maximum time for all pages of a document.
    pub timeout: Duration,
}

/// Arrangement of the text on a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrangement {
    /// Text in columns, as in a manual.
    Columns,
    /// Words at any place, as on a drawing.
    Scattered,
}

impl Arrangement {
    /// Returns the page segmentation mode of Tesseract.
    fn mode(self) -> &'static str {
        match self {
            Arrangement::Columns => "3",
            Arrangement::Scattered => "11",
        }
    }
}

/// A word in an image.
#[derive(Clone, Debug, PartialEq)]
pub struct RecognizedWord {
    pub text: String,
    /// Left, top, right and bottom in pixels.
    pub place: [f32; 4],
    /// Confidence in percent.
    pub confidence: f32,
    pub page: usize,
    pub block: usize,
    pub paragraph: usize,
    pub line: usize,
}

/// Pages of an image file.
pub struct ImagePages {
    /// Width and height of each page in pixels.
    pub sizes: Vec<(f32, f32)>,
    /// Words of all pages.
    pub words: Vec<RecognizedWord>,
}

/// A rendered page.
pub struct PageImage {
    bytes: Vec<u8>,
    resolution: f32,
    /// Size in points of a pixel.
    pub point_width: f32,
    pub point_height: f32,
}

impl PageImage {
    /// Returns whether the page was rendered with less than the usual resolution.
    pub fn is_reduced(&self) -> bool {
        self.resolution < RESOLUTION
    }
}

/// Cause for which a page was not recognized.
#[derive(Debug, thiserror::Error)]
pub enum RecognitionError {
    /// The installation is wrong; the document may be read later.
    #[error(transparent)]
    Installation(#[from] ExtractError),
    #[error("the time for text recognition was used up")]
    OutOfTime,
    #[error("the page is too large for text recognition")]
    PageTooLarge,
    #[error("the page could not be rendered: {0}")]
    NotRendered(ProgramError),
    #[error("the page could not be recognized: {0}")]
    NotRecognized(ProgramError),
}

/// Text recognition for one document.
pub struct Recognizer<'o> {
    options: &'o Recognition,
    deadline: Instant,
}

impl<'o> Recognizer<'o> {
    /// Starts the time of a document.
    pub fn new(options: &'o Recognition) -> Self {
        Recognizer { options, deadline: Instant::now() + options.timeout }
    }

    /// Renders a page of a PDF, numbered from 1. The size of the page in points and the limits of this module determine that
    /// of the image, not the file.
    pub fn render(&self, pdf: &[u8], number: usize, size: (f32, f32)) -> Result<PageImage, RecognitionError> {
        let (width, height, resolution) = image_size(size).ok_or(RecognitionError::PageTooLarge)?;
        let [number, columns, rows] = [number, width, height].map(|number| number.to_string());
        let arguments =
            ["-f", &number, "-l", &number, "-gray", "-cropbox", "-scale-to-x", &columns, "-scale-to-y", &rows, "-"];
        let header = format!("P5\n{width} {height}\n255\n");
        let max_output = (header.len() + width * height) as u64;
        let timeout = self.page_timeout()?;
        let bytes = run(&self.options.pdftoppm, &arguments, pdf, RunLimits { timeout, max_output });
        let bytes = bytes.map_err(|error| not_started("pdftoppm", error, RecognitionError::NotRendered))?;
        if !bytes.starts_with(header.as_bytes()) || bytes.len() as u64 != max_output {
            return Err(RecognitionError::NotRendered(ProgramError::Unreadable));
        }
        let (point_width, point_height) = (size.0 / width as f32, size.1 / height as f32);
        Ok(PageImage { bytes, resolution, point_width, point_height })
    }

    /// Returns the words of a rendered page.
    pub fn page_words(
        &self,
        image: &PageImage,
        arrangement: Arrangement,
    ) -> Result<Vec<RecognizedWord>, RecognitionError> {
        let resolution = image.resolution.round().to_string();
        let table = self.table(&image.bytes, &["--dpi", &resolution, "--psm", arrangement.mode()])?;
        Ok(table.lines().filter_map(word).collect())
    }

    /// Returns the pages of an image file with their words.
    pub fn file_words(&self, image: &[u8]) -> Result<ImagePages, RecognitionError> {
        let table = self.table(image, &["--psm", Arrangement::Columns.mode()])?;
        let pages = table.lines().filter(|row| row.starts_with(PAGE_ROW));
        Ok(ImagePages { sizes: pages.map(page_size).collect(), words: table.lines().filter_map(word).collect() })
    }

    /// Returns Tesseract's table of pages, lines and words.
    fn table(&self, image: &[u8], options: &[&str]) -> Result<String, RecognitionError> {
        let fixed = ["stdin", "stdout", "-l", &self.options.languages, "-c", "tessedit_create_tsv=1"];
        let arguments = [&fixed[..], options].concat();
        let limits = RunLimits { timeout: self.page_timeout()?, max_output: MAX_TABLE_SIZE };
        let table = run(&self.options.tesseract, &arguments, image, limits);
        let table = table.map_err(|error| not_started("tesseract", error, RecognitionError::NotRecognized))?;
        Ok(String::from_utf8_lossy(&table).into_owned())
    }

    fn page_timeout(&self) -> Result<Duration, RecognitionError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(RecognitionError::OutOfTime) } else { Ok(left.min(PAGE_TIMEOUT)) }
    }
}

/// Separates an installation that is wrong from a page that cannot be read.
fn not_started(name: &str, error: ProgramError, other: fn(ProgramError) -> RecognitionError) -> RecognitionError {
    match error {
        ProgramError::NotStarted(error) => ExtractError::internal(format!("{name} cannot be started: {error}")).into(),
        error => other(error),
    }
}

/// Returns width, height and resolution of the image of a page, whose size is in points; none if it would be too large.
fn image_size((width, height): (f32, f32)) -> Option<(usize, usize, f32)> {
    let square_inches = width * height / (72.0 * 72.0);
    let resolution = RESOLUTION.min((MAX_PIXELS / square_inches).sqrt());
    let pixels = |points: f32| (points / 72.0 * resolution).round().max(1.0);
    let (columns, rows) = (pixels(width), pixels(height));
    // A page may be an inch high and a mile wide.
    let is_possible = resolution >= MIN_RESOLUTION && columns.max(rows) < 32_767.0;
    is_possible.then_some((columns as usize, rows as usize, resolution))
}

/// Parses the size of a page in its row of Tesseract's table; zero if it has none.
fn page_size(row: &str) -> (f32, f32) {
    let fields: Vec<&str> = row.splitn(COLUMNS, '\t').collect();
    let size = |index: usize| fields.get(index).and_then(|field| field.parse::<f32>().ok()).unwrap_or(0.0);
    (size(8), size(9))
}

/// Parses a row of Tesseract's table; none for rows that are no words.
fn word(row: &str) -> Option<RecognizedWord> {
    let fields: Vec<&str> = row.splitn(COLUMNS, '\t').collect();
    let [level, page, block, paragraph, line, _, left, top, width, height, confidence, text] = fields[..] else {
        return None;
    };
    let text = text.trim();
    if level != WORD_LEVEL || text.is_empty() {
        return None;
    }
    let [left, top, width, height] = [left, top, width, height].map(pixels);
    let (left, top) = (left?, top?);
    Some(RecognizedWord {
        text: text.to_owned(),
        place: [left, top, left + width?, top + height?],
        confidence: confidence.parse::<f32>().ok().filter(|confidence| confidence.is_finite())?.clamp(0.0, 100.0),
        page: page.parse().ok()?,
        block: block.parse().ok()?,
        paragraph: paragraph.parse().ok()?,
        line: line.parse().ok()?,
    })
}

/// Parses a number of pixels. `f32` also reads infinity and numbers that are none, which would make a place without an
/// area, or one that JSON cannot express.
fn pixels(field: &str) -> Option<f32> {
    field.parse::<f32>().ok().filter(|number| (0.0..1e9).contains(number))
}

/// Returns the mean confidence of words in percent, weighted by their lengths; none without words.
pub fn mean_confidence<'w>(words: impl IntoIterator<Item = &'w RecognizedWord>) -> Option<u8> {
    let (mut sum, mut characters) = (0.0, 0.0);
    for word in words {
        let length = word.text.chars().count() as f32;
        sum += word.confidence * length;
        characters += length;
    }
    (characters > 0.0).then(|| (sum / characters).floor() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_words_are_parsed() {
        let row = "5\t1\t2\t3\t4\t5\t100\t200\t50\t20\t96.5\tPSV-2015A";
        let expected = RecognizedWord {
            text: "PSV-2015A".into(),
            place: [100.0, 200.0, 150.0, 220.0],
            confidence: 96.5,
            page: 1,
            block: 2,
            paragraph: 3,
            line: 4,
        };
        assert_eq!(word(row), Some(expected));
        for other in [
            "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext",
            "4\t1\t2\t3\t4\t0\t100\t200\t50\t20\t-1\t",
            "5\t1\t2\t3\t4\t5\t100\t200\t50\t20\t96.5\t ",
            "5\t1\t2\t3\t4\t5\tx\t200\t50\t20\t96.5\tP",
            "5\t1\t2\t3\t4\t5\tinf\t200\t50\t20\t96.5\tP",
            "5\t1\t2\t3\t4\t5\t100\t-1\t50\t20\t96.5\tP",
            "5\t1\t2\t3\t4\t5\t100\t200\tNaN\t20\t96.5\tP",
            "5\t1\t2\t3\t4\t5\t100\t200\t50\t1e39\t96.5\tP",
            "5\t1\t2\t3\t4\t5\t100\t200\t50\t20\tNaN\tP",
            "",
        ] {
            assert_eq!(word(other), None, "{other}");
        }
    }

    #[test]
    fn rows_of_pages_have_their_size() {
        assert_eq!(page_size("1\t1\t0\t0\t0\t0\t0\t0\t1240\t1754\t-1\t"), (1240.0, 1754.0));
        assert_eq!(page_size("1\t1"), (0.0, 0.0));
    }

    #[test]
    fn the_confidence_is_weighted_by_length() {
        let of = |text: &str, confidence| {
            let row = format!("5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t{confidence}\t{text}");
            word(&row).expect("a word")
        };
        assert_eq!(mean_confidence(&[of("a", 20), of("bcd", 100)]), Some(80));
        assert_eq!(mean_confidence(&[of("a", -1)]), Some(0));
        assert_eq!(mean_confidence(&[]), None);
    }

    #[test]
    fn the_size_of_an_image_is_limited() {
        assert_eq!(image_size((595.0, 842.0)), Some((1653, 2339, 200.0)));
        let (a0_width, a0_height, resolution) = image_size((2384.0, 3370.0)).expect("A0 fits");
        assert_eq!((a0_width, a0_height, resolution), (6622, 9361, 200.0));
        let (width, height, resolution) = image_size((4000.0, 4000.0)).expect("a reduced resolution");
        assert!((100.0..200.0).contains(&resolution) && width * height <= 64_100_000, "{resolution}");
        for size in [(14_400.0, 14_400.0), (1e9, 1e9), (72.0, 1e6), (f32::INFINITY, 1.0)] {
            assert_eq!(image_size(size), None, "{size:?}");
        }
    }
}
