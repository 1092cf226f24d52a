//! PDF: a page a page. Read by poppler's `pdftotext` where it is installed, else by a walk over the text of the pages.

mod cmap;
mod font;
mod poppler;
mod walk;
mod widths;

use std::path::PathBuf;

use super::gather::Gather;
use super::look::{Fit, Look};
use super::{Code, Failure, Format, Source};

/// The row.
pub const PDF: Format = Format {
    name: "pdf",
    media_types: &["application/pdf", "application/x-pdf"],
    extensions: &["pdf"],
    summary: "PDF with a text layer: a page a page; what was only scanned has no text",
    sniff,
    read,
};

/// The mark stands at the beginning, or near it: some writers put a line before. A text may speak of the mark.
fn sniff(look: &Look<'_>) -> Fit {
    let head = &look.bytes[..look.bytes.len().min(1024)];
    Fit::certain(
        memchr::memmem::find(head, b"%PDF-").is_some_and(|at| at == 0 || !look.is_archive() && look.text().is_none()),
    )
}

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    gather.hint(": a scan needs OCR first");
    let by_poppler = source.options.pdftotext.as_deref().map(|tool| poppler::text(tool, source));
    match by_poppler {
        Some(Ok(found)) => found.put(gather),
        // What poppler cannot open, the walk may; what is secret or too much, it is for both.
        Some(Err(failure)) if failure.code != Code::CorruptDocument && failure.code != Code::Internal => Err(failure),
        _ => walk::text(source, gather),
    }
}

/// The `pdftotext` of this machine.
pub fn installed() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join("pdftotext")).find(|path| path.is_file())
}
