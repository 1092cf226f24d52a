//! Text extraction: uploaded bytes to text, with pages and exact offsets.
//!
//! Each format is a row of [`FORMATS`]. The content determines the format; the file name and the declared media type are
//! hints, and a hint that contradicts the content is an error. The text is not normalized, except that line ends become
//! LF and NULs are removed.
//!
//! [`extract_in_sandbox`] extracts untrusted uploads in a subprocess with resource limits, because parsers of document
//! formats are large and their input is untrusted. [`extract_in_process`] does the same in this process.
//!
//! All offsets are byte offsets, as in the splitters; [`CodePoints`] converts them to the characters that
//! the API counts.
//!
//! ```
//! use pidq_extract::{Options, Upload, extract_in_process};
//!
//! let upload = Upload { bytes: b"# Pumps\r\nP-101A", name: Some("pumps.md"), media_type: None };
//! let document = extract_in_process(&upload, &Options::default())?;
//! assert_eq!((document.title.as_deref(), document.text.as_str()), (Some("Pumps"), "# Pumps\nP-101A"));
//! # Ok::<(), pidq_extract::ExtractError>(())
//! ```

#![forbid(unsafe_code)]

mod archive;
mod attachment;
mod compound_file;
mod conversion;
mod error;
mod formats;
mod ipc;
mod offsets;
mod page_image;
mod page_warnings;
mod program;
mod recognition;
mod sandbox;
mod sniff;
mod text_decoding;
mod text_sink;
mod word_boxes;
mod xml;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use attachment::{Attachment, AttachmentLimits};
pub use error::{ErrorCode, ExtractError};
pub use offsets::CodePoints;
pub use page_image::PageRendering;
use page_image::RenderError;
pub use program::{ProgramError, program_description};
pub use recognition::Recognition;
pub use sandbox::{
    ByteChunks, ReaderPool, SandboxOptions, SandboxProcess, StopHandle, extract_in_sandbox, extract_stream_in_sandbox,
    render_page_in_sandbox, sandbox_main,
};
use sniff::{Confidence, Content};
pub use sniff::{readable_formats, unsupported_media_type};
use text_sink::TextSink;
pub use word_boxes::{PageRect, PageSize, PageUnit, PageWords, WordBox};

/// Hash of the sources of this library, its version and features.
pub const BUILD_ID: &str = env!("BUILD_ID");

/// A document format: a row of [`FORMATS`], [`IMAGE_FORMATS`] or [`LEGACY_OFFICE_FORMATS`].
pub struct Format {
    /// Name.
    pub name: &'static str,
    /// Media types; the first one is reported for a document of this format.
    pub media_types: &'static [&'static str],
    /// File extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// One-line summary for the manual.
    pub summary: &'static str,
    sniff: fn(&Content<'_>) -> Confidence,
    read: fn(&Source<'_>, &mut TextSink) -> Result<(), ExtractError>,
}

/// All formats. If several match a content, the first one wins.
pub const FORMATS: &[Format] = &[
    #[cfg(feature = "pdf")]
    formats::pdf::PDF,
    formats::docx::DOCX,
    #[cfg(feature = "spreadsheets")]
    formats::xlsx::XLSX,
    #[cfg(feature = "spreadsheets")]
    formats::xls::XLS,
    formats::msg::MSG,
    formats::pptx::PPTX,
    formats::odf::ODS,
    formats::odf::ODT,
    formats::odf::ODP,
    formats::epub::EPUB,
    formats::rtf::RTF,
    formats::pid_graph::PID_GRAPH,
    formats::eml::EML,
    formats::json::JSON,
    formats::html::HTML,
    formats::markdown::MARKDOWN,
    formats::csv::CSV,
    formats::csv::TSV,
    formats::txt::TEXT,
];

/// Formats of images, which can be read only with text recognition.
pub const IMAGE_FORMATS: &[Format] = &[formats::image::PNG, formats::image::JPEG, formats::image::TIFF];

/// Formats of old Office documents, which can be read only with LibreOffice.
pub const LEGACY_OFFICE_FORMATS: &[Format] = &[formats::legacy_office::DOC, formats::legacy_office::PPT];

/// Returns whether documents of a media type have pages with positions, of which the boxes of words are kept.
pub fn has_positions(media_type: &str) -> bool {
    let formats = FORMATS.iter().filter(|format| format.name == "pdf").chain(IMAGE_FORMATS);
    formats.flat_map(|format| format.media_types).any(|known| *known == media_type)
}

/// An uploaded document.
#[derive(Clone, Copy, Debug, Default)]
pub struct Upload<'a> {
    /// Content of the file.
    pub bytes: &'a [u8],
    /// File name, used as a hint.
    pub name: Option<&'a str>,
    /// Declared media type, used as a hint.
    pub media_type: Option<&'a str>,
}

/// Limits and options of an extraction.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Options {
    /// Maximum number of characters of text.
    pub max_characters: usize,
    /// Maximum unpacked size of an archive, in bytes.
    pub max_unpacked_size: u64,
    /// Maximum ratio of an archive's unpacked size to its size.
    pub max_compression_ratio: u64,
    /// Maximum number of files in an archive.
    pub max_entries: usize,
    /// Treatment of HTML tags and of escapes in JSON.
    pub markup: Markup,
    /// Text recognition (OCR) on pages without text; `None` turns it off.
    pub recognition: Option<Recognition>,
    /// Path of LibreOffice's `soffice`, which converts old Office documents; `None` rejects these.
    pub soffice: Option<PathBuf>,
    /// Limits of the attachments that are returned with a mail; `None` returns none.
    pub attachments: Option<AttachmentLimits>,
}

impl Options {
    /// Returns whether programs of others may read a document.
    fn has_programs(&self) -> bool {
        self.recognition.is_some() || self.soffice.is_some()
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_characters: 50_000_000,
            max_unpacked_size: 1 << 30,
            max_compression_ratio: 200,
            max_entries: 10_000,
            markup: Markup::Strip,
            recognition: None,
            soffice: None,
            attachments: None,
        }
    }
}

/// Treatment of HTML tags and of escapes in JSON.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Markup {
    /// Extract the text only.
    Strip,
    /// Keep the source text, for splitters that split at markup.
    Keep,
}

/// The result of an extraction.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Extracted {
    /// The text. Lines end with LF, and it contains no NUL.
    #[serde(skip)]
    pub text: String,
    /// Pages, slides or sheets in order, at least one. The separators between them belong to no page.
    pub pages: Vec<Page>,
    /// Sizes of the pages and boxes of their words, as [`PageWords`] encodes them; empty for a page without, and no element
    /// at all if the format has no positions.
    #[serde(skip)]
    pub page_words: Vec<Vec<u8>>,
    /// Attachments of a mail, in its order. Those of the mails that it forwards are among them.
    pub attachments: Vec<Attachment>,
    /// Title from the document's metadata.
    pub title: Option<String>,
    /// Warnings, for example about attachments that are not returned and undecodable characters.
    pub warnings: Vec<String>,
    /// Media type of the content.
    pub media_type: String,
    /// Name of the format.
    pub format: String,
}

impl Extracted {
    /// Returns the index of the page that contains a byte of the text. Separators count as part of the preceding page.
    pub fn page_at(&self, byte: usize) -> usize {
        self.pages.partition_point(|page| page.start <= byte).saturating_sub(1)
    }
}

/// A page, a slide or a sheet.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Page {
    /// Byte offset of its start.
    pub start: usize,
    /// Byte offset after its end.
    pub end: usize,
    /// Page number, or the name of the sheet.
    pub label: String,
    /// Mean confidence in percent, if the text was recognized (OCR).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<u8>,
}

/// Input of a format's `read` function.
struct Source<'a> {
    content: &'a Content<'a>,
    options: &'a Options,
}

/// Extracts a document in this process: for trusted documents, and in the subprocess of [`extract_in_sandbox`].
///
/// # Errors
/// Returns an [`ExtractError`]. A panic of a reader is reported as a corrupt document.
pub fn extract_in_process(upload: &Upload<'_>, options: &Options) -> Result<Extracted, ExtractError> {
    let panicked = |_| ExtractError::corrupt("the document is corrupt: the extractor panicked");
    // The readers share no state that a panic could leave inconsistent.
    catch_unwind(AssertUnwindSafe(|| extract_unguarded(upload, options))).map_err(panicked)?
}

fn extract_unguarded(upload: &Upload<'_>, options: &Options) -> Result<Extracted, ExtractError> {
    let content = Content::new(upload, options);
    let format = sniff::detect_format(&content, upload)?;
    let mut sink = TextSink::new(options.max_characters).with_attachments(options.attachments);
    (format.read)(&Source { content: &content, options }, &mut sink)?;
    sink.finish(format)
}

/// Renders a page of a PDF in this process, which starts a program; none if the document has no page of the number.
fn render_page_in_process(pdf: &[u8], rendering: &PageRendering) -> Result<Option<Vec<u8>>, ExtractError> {
    match page_image::render(pdf, rendering) {
        Ok(image) => Ok(Some(image)),
        Err(RenderError::NoSuchPage) => Ok(None),
        Err(RenderError::NotOpened) => Err(not_opened(pdf)),
        Err(RenderError::Failed(error)) => Err(error),
    }
}

/// Returns the error of a file that a renderer cannot open.
#[cfg(feature = "pdf")]
fn not_opened(bytes: &[u8]) -> ExtractError {
    let (upload, options) = (Upload { bytes, ..Upload::default() }, Options::default());
    match sniff::detect_format(&Content::new(&upload, &options), &upload) {
        Ok(format) if format.name == formats::pdf::PDF.name => formats::pdf::not_rendered(bytes),
        _ => ExtractError::unsupported("the document is no PDF"),
    }
}

#[cfg(not(feature = "pdf"))]
fn not_opened(_: &[u8]) -> ExtractError {
    ExtractError::corrupt("the PDF cannot be opened")
}
