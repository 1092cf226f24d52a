//! Markdown reader: keeps the source, because splitters split at the markup.

use crate::formats::txt;
use crate::sniff::{Confidence, Content};
use crate::text_sink::TextSink;
use crate::{ExtractError, Format, Source};

/// The `markdown` format.
pub const MARKDOWN: Format = Format {
    name: "markdown",
    media_types: &["text/markdown", "text/x-markdown"],
    extensions: &["md", "markdown", "mdown", "mkd"],
    summary: "Markdown, unchanged; the title is that of the front matter, or the first heading",
    sniff,
    read,
};

/// Detects Markdown: certain if the text starts with a heading, otherwise possible if the file name matches.
fn sniff(content: &Content<'_>) -> Confidence {
    match content.text() {
        None => Confidence::No,
        Some(decoded) if decoded.text.starts_with("# ") => Confidence::Certain,
        Some(_) => Confidence::Possible,
    }
}

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let text = txt::text(source, sink)?;
    sink.set_title(title(text).unwrap_or_default());
    sink.push(text)
}

fn title(text: &str) -> Option<&str> {
    let split = text.strip_prefix("---").and_then(|text| text.split_once("\n---"));
    let declared =
        split.and_then(|(front_matter, _)| front_matter.lines().find_map(|line| line.strip_prefix("title:")));
    declared
        .map(|title| title.trim().trim_matches(['"', '\'']))
        .or_else(|| heading(split.map_or(text, |(_, body)| body)))
}

/// Returns the first heading outside code blocks.
fn heading(text: &str) -> Option<&str> {
    let mut is_code = false;
    for line in text.lines() {
        let fence = line.trim_start();
        is_code ^= fence.starts_with("```") || fence.starts_with("~~~");
        if let (false, Some(heading)) = (is_code, line.strip_prefix("# ")) {
            return Some(heading.trim().trim_end_matches('#').trim_end());
        }
    }
    None
}
