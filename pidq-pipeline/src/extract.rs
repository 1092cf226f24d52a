//! Uploaded bytes → text, with pages and exact offsets.
//!
//! Every format is a row of [`FORMATS`]. What a document is, its content says; its name and its declared media type are
//! hints, and one that contradicts the content is refused. The text is that of the source: not normalised, but for line
//! ends, which are LF, and NULs, which are left out.
//!
//! [`in_child`] reads uploads: in a process of their own, with limits, because the readers of other people's formats are
//! large and their writers are strangers. [`read`] does the same in this process.
//!
//! All offsets are bytes, as in [`splitter`](crate::splitter); [`CodePoints`] converts them where the API counts
//! characters.
//!
//! ```
//! use pidq_pipeline::extract::{Options, Upload, read};
//!
//! let upload = Upload { bytes: b"# Pumps\r\nP-101A", name: Some("pumps.md"), media_type: None };
//! let found = read(&upload, &Options::default())?;
//! assert_eq!((found.title.as_deref(), found.text.as_str()), (Some("Pumps"), "# Pumps\nP-101A"));
//! # Ok::<(), pidq_pipeline::extract::Failure>(())
//! ```

mod archive;
mod child;
mod delimited;
mod drawing;
mod failure;
mod figures;
mod frame;
mod gather;
mod hypertext;
mod json;
mod look;
mod mail;
mod markdown;
mod numbering;
mod numbers;
mod opendocument;
mod ordinals;
mod pdf;
mod plain;
mod positions;
mod presentation;
mod rich;
mod spreadsheet;
mod symbols;
mod word;
mod xml;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use child::{Isolation, Pieces, Running, Stop, child_main, in_child, in_child_by_pieces};
pub use failure::{Code, Failure};
use gather::Gather;
pub use look::foreign;
use look::{Fit, Look};
pub use positions::CodePoints;

/// A format of documents: a row of [`FORMATS`].
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Its media types; the first one is what a document is said to have.
    pub media_types: &'static [&'static str],
    /// The endings of its files, without the dot.
    pub extensions: &'static [&'static str],
    /// One line for the manual.
    pub summary: &'static str,
    sniff: fn(&Look<'_>) -> Fit,
    read: fn(&Source<'_>, &mut Gather) -> Result<(), Failure>,
}

/// All formats. Of two that a content could be, the first is taken.
pub const FORMATS: &[Format] = &[
    pdf::PDF,
    word::DOCX,
    spreadsheet::XLSX,
    presentation::PPTX,
    opendocument::ODS,
    opendocument::ODT,
    opendocument::ODP,
    rich::RTF,
    drawing::DRAWING,
    mail::EML,
    json::JSON,
    hypertext::HTML,
    markdown::MARKDOWN,
    delimited::CSV,
    delimited::TSV,
    plain::TEXT,
];

/// A document as it came in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Upload<'a> {
    /// What is in it.
    pub bytes: &'a [u8],
    /// What its file is called: a hint.
    pub name: Option<&'a str>,
    /// Of what media type it is said to be: a hint.
    pub media_type: Option<&'a str>,
}

/// What a reader may spend, and what is wanted of it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Options {
    /// Characters of text.
    pub characters: usize,
    /// Bytes that an archive unpacks to.
    pub unpacked: u64,
    /// How many bytes one byte of an archive may become.
    pub ratio: u64,
    /// Files in an archive.
    pub entries: usize,
    /// What becomes of HTML, and of escapes in JSON.
    pub markup: Markup,
    /// Poppler's `pdftotext`; without it PDF is read by a reader of our own.
    pub pdftotext: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            characters: 50_000_000,
            unpacked: 1 << 30,
            ratio: 200,
            entries: 10_000,
            markup: Markup::Read,
            pdftotext: None,
        }
    }
}

impl Options {
    /// The defaults, with the `pdftotext` that is installed.
    pub fn of_this_machine() -> Self {
        Options { pdftotext: pdf::installed(), ..Options::default() }
    }
}

/// What becomes of HTML, and of escapes in JSON.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Markup {
    /// The text alone.
    Read,
    /// The document as it stands, for splitters that cut at its marks.
    Keep,
}

/// What a document says.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Extracted {
    /// The text. Lines end with LF, and there is no NUL.
    #[serde(skip)]
    pub text: String,
    /// Its pages, slides or sheets in their order, at least one. What separates them belongs to none.
    pub pages: Vec<Page>,
    /// What the document calls itself.
    pub title: Option<String>,
    /// What a reader of the text should know: attachments, characters that could not be read.
    pub warnings: Vec<String>,
    /// The media type of the content.
    pub media_type: String,
    /// The row of [`FORMATS`] that read it.
    pub format: String,
}

impl Extracted {
    /// The page on which a byte of the text is, counted from 0. What stands between two pages counts to the first one.
    pub fn page_at(&self, byte: usize) -> usize {
        self.pages.partition_point(|page| page.start <= byte).saturating_sub(1)
    }
}

/// A page, a slide or a sheet.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Page {
    /// The byte at which it begins.
    pub start: usize,
    /// The byte after its end.
    pub end: usize,
    /// Its number, or the name of the sheet.
    pub label: String,
}

/// What a row reads.
struct Source<'a> {
    look: &'a Look<'a>,
    options: &'a Options,
}

/// Reads a document in this process: for documents that are trusted, and in the child of [`in_child`].
///
/// # Errors
/// A [`Failure`] with one of the codes of the contract. A panic of a reader is one of a corrupt document.
pub fn read(upload: &Upload<'_>, options: &Options) -> Result<Extracted, Failure> {
    let gave_up = |_| Failure::corrupt("the document is so broken that its reader gave up");
    // The readers share nothing that could be left half done.
    catch_unwind(AssertUnwindSafe(|| read_it(upload, options))).map_err(gave_up)?
}

fn read_it(upload: &Upload<'_>, options: &Options) -> Result<Extracted, Failure> {
    let look = Look::at(upload, options);
    let format = look::decide(&look, upload)?;
    let mut gather = Gather::new(options.characters);
    (format.read)(&Source { look: &look, options }, &mut gather)?;
    gather.finish(format)
}
