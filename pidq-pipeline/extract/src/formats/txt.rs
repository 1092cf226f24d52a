//! Plain-text reader: text in any encoding, unchanged.

use crate::ExtractError;
use crate::sniff::Confidence;
use crate::{Format, Source, TextSink};

/// The `text` format.
pub const TEXT: Format = Format {
    name: "text",
    media_types: &["text/plain", "application/xml", "text/xml", "application/x-ndjson", "application/yaml"],
    extensions: &["txt", "text", "log", "xml", "ndjson", "jsonl", "yaml", "yml", "toml", "ini", "tex", "rst", "adoc"],
    summary: "text in any encoding, unchanged",
    sniff: |content| if content.text().is_some() { Confidence::Possible } else { Confidence::No },
    read: |source, sink| read(source, sink),
};

/// Returns the decoded text of a source and adds the warning of the decoding.
pub fn text<'s>(source: &Source<'s>, sink: &mut TextSink) -> Result<&'s str, ExtractError> {
    let decoded = source.content.text().ok_or_else(|| ExtractError::corrupt("the content is not text"))?;
    if let Some(warning) = &decoded.warning {
        sink.warn(warning);
    }
    Ok(&decoded.text)
}

/// Writes the unchanged text.
fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let text = text(source, sink)?;
    sink.push(text)
}
