//! Markdown: kept as it stands, because its marks are what splitters cut at.

use super::gather::Gather;
use super::look::{Fit, Look};
use super::{Failure, Format, Source, plain};

/// The row.
pub const MARKDOWN: Format = Format {
    name: "markdown",
    media_types: &["text/markdown", "text/x-markdown"],
    extensions: &["md", "markdown", "mdown", "mkd"],
    summary: "Markdown as it stands; its title is the one in its preamble, or its first heading",
    sniff,
    read,
};

/// Text that begins with a heading is taken for Markdown, all other text only when its name says so.
fn sniff(look: &Look<'_>) -> Fit {
    match look.text() {
        None => Fit::No,
        Some(decoded) if decoded.text.starts_with("# ") => Fit::Certain,
        Some(_) => Fit::Possible,
    }
}

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let text = plain::text(source, gather)?;
    gather.title(title(text).unwrap_or_default());
    gather.push(text)
}

fn title(text: &str) -> Option<&str> {
    let body = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---"));
    let named = body.and_then(|(preamble, _)| preamble.lines().find_map(|line| line.strip_prefix("title:")));
    named.map(|title| title.trim().trim_matches(['"', '\''])).or_else(|| heading(body.map_or(text, |(_, rest)| rest)))
}

/// The first heading outside of code.
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
