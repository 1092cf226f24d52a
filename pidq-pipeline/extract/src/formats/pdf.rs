//! PDF reader: Poppler's `pdftotext` if it is installed, otherwise the built-in content stream reader.

#[cfg(feature = "pdf")]
mod cmap;
#[cfg(feature = "pdf")]
mod content_stream;
#[cfg(feature = "pdf")]
mod font;
#[cfg(feature = "pdf")]
mod glyph_widths;
mod poppler;

use std::path::PathBuf;

use crate::sniff::{Confidence, Content};
use crate::text_sink::TextSink;
use crate::{ErrorCode, ExtractError, Format, Source};

/// The `pdf` format.
pub const PDF: Format = Format {
    name: "pdf",
    media_types: &["application/pdf", "application/x-pdf"],
    extensions: &["pdf"],
    summary: "PDF with a text layer; scans without one have no text",
    sniff,
    read,
};

/// Detects the signature at or near the start, because some writers put a line before it. Plain text may quote it.
fn sniff(content: &Content<'_>) -> Confidence {
    let head = &content.bytes[..content.bytes.len().min(1024)];
    Confidence::certain_if(
        memchr::memmem::find(head, b"%PDF-")
            .is_some_and(|index| index == 0 || !content.is_archive() && content.text().is_none()),
    )
}

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    sink.set_hint(": a scan needs OCR first");
    let by_poppler = source.options.pdftotext.as_deref().map(|tool| poppler::text(tool, source));
    match by_poppler {
        Some(Ok(output)) => output.write_to(sink),
        // The built-in reader may open what Poppler cannot; encryption and limits concern both.
        Some(Err(error)) if error.code != ErrorCode::CorruptDocument && error.code != ErrorCode::Internal => Err(error),
        _ => read_built_in(source, sink),
    }
}

#[cfg(feature = "pdf")]
fn read_built_in(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    content_stream::text(source, sink)
}

#[cfg(not(feature = "pdf"))]
fn read_built_in(_: &Source<'_>, _: &mut TextSink) -> Result<(), ExtractError> {
    Err(ExtractError::internal("this program was built without a PDF reader; install `pdftotext` (Poppler)"))
}

/// Returns the path of the installed `pdftotext`.
pub fn installed() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join("pdftotext")).find(|path| path.is_file())
}
