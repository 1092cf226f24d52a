//! Related parts of Office documents: charts, diagrams, drawings and comments.

use crate::archive::Archive;
use crate::text_sink::TextSink;
use crate::xml::{self, XmlEvent};
use crate::{ErrorCode, ExtractError};

/// Maximum number of related parts of a page or sheet.
const MAX_PARTS: usize = 1000;

/// Appends the text of a part's related parts of some kinds, and of the parts related to those.
pub fn append_related_parts(
    archive: &mut Archive<'_>,
    part: &str,
    kinds: &[&str],
    sink: &mut TextSink,
) -> Result<(), ExtractError> {
    for path in related_parts(archive, part, kinds) {
        append_part(archive, &path, sink)?;
        for path in related_parts(archive, &path, kinds) {
            append_part(archive, &path, sink)?;
        }
    }
    Ok(())
}

/// Appends a part. A damaged part becomes a warning and does not affect others.
fn append_part(archive: &mut Archive<'_>, path: &str, sink: &mut TextSink) -> Result<(), ExtractError> {
    match write_part(archive, path, sink) {
        Err(error) if error.code == ErrorCode::CorruptDocument => {
            sink.warn(format!("{path} is damaged; part of its text is missing"));
            sink.end_line()
        }
        result => result,
    }
}

/// Returns the paths of a part's related parts of some kinds.
fn related_parts(archive: &mut Archive<'_>, part: &str, kinds: &[&str]) -> Vec<String> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let targets = archive.part(&format!("{folder}/_rels/{file}.rels")).and_then(xml::relationships);
    let selected = targets.unwrap_or_default().into_iter().filter(|target| kinds.contains(&target.kind.as_str()));
    let paths: Vec<_> = selected.take(MAX_PARTS).map(|target| target.path(folder)).collect();
    paths.into_iter().filter(|path| archive.has(path)).collect()
}

/// Writes the text of a part: one line per paragraph, or one line for the names and one for the values of a series.
fn write_part(archive: &mut Archive<'_>, path: &str, sink: &mut TextSink) -> Result<(), ExtractError> {
    sink.end_paragraph()?;
    let mut is_text = false;
    xml::walk(archive.part(path)?, |node| match node {
        XmlEvent::Start("t" | "v" | "text", _) => {
            is_text = true;
            Ok(())
        }
        XmlEvent::Start("comment", attributes) => match attributes.get("ref") {
            Some(cell) => sink.push(&format!("{cell}: ")),
            None => Ok(()),
        },
        XmlEvent::Start("br", _) => sink.end_line(),
        XmlEvent::End("v") => {
            is_text = false;
            sink.push("\t")
        }
        XmlEvent::End("t") => {
            is_text = false;
            Ok(())
        }
        XmlEvent::End("p" | "tx" | "cat" | "val" | "xVal" | "yVal" | "comment" | "text") => {
            is_text = false;
            sink.end_line()
        }
        XmlEvent::Text(text) if is_text => sink.push(&text),
        _ => Ok(()),
    })
}
