//! JSON: kept as it stands, for the splitter that cuts it by its structure.

use serde::de::IgnoredAny;

use super::gather::Gather;
use super::look::{Fit, Look};
use super::{Failure, Format, Source, plain};

/// The row.
pub const JSON: Format = Format {
    name: "json",
    media_types: &["application/json", "text/json"],
    extensions: &["json", "geojson"],
    summary: "JSON as it stands, checked",
    sniff,
    read,
};

/// Levels of nesting, as for graphs.
const MAX_DEPTH: usize = 512;

fn sniff(look: &Look<'_>) -> Fit {
    match look.text() {
        Some(decoded) if !decoded.text.trim_start().starts_with(['{', '[']) => Fit::No,
        Some(decoded) if is_json(&decoded.text) => Fit::Certain,
        Some(_) => Fit::Possible,
        None => Fit::No,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let text = plain::text(source, gather)?;
    if depth(text) > MAX_DEPTH {
        return Err(Failure::corrupt(format!("the JSON is nested deeper than {MAX_DEPTH} levels")));
    }
    serde_json::from_str::<IgnoredAny>(text)
        .map_err(|error| Failure::corrupt(format!("no JSON at line {}, column {}", error.line(), error.column())))?;
    gather.push(text)
}

/// How deep brackets are nested outside of texts.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}
