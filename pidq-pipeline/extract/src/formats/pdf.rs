//! PDF reader: the words of each page with their boxes, in reading order.

mod cmap;
mod content_stream;
mod font;
mod glyph_widths;
mod layout;
mod matrix;
mod page;
mod page_box;
mod page_text;
mod scan;
mod words;

pub use content_stream::not_rendered;

use crate::sniff::{Confidence, Content};
use crate::text_sink::TextSink;
use crate::{ExtractError, Format, Source};

/// The `pdf` format.
pub const PDF: Format = Format {
    name: "pdf",
    media_types: &["application/pdf", "application/x-pdf"],
    extensions: &["pdf"],
    summary: "PDF: columns, tables and notes in reading order; pages without text are recognized (OCR) if that is on, else named in the warnings",
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
    sink.set_hint(match source.options.recognition {
        None => ": a scan needs OCR first",
        Some(_) => ", and text recognition found none",
    });
    content_stream::write_text(source, sink)
}
