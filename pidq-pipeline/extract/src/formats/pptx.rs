//! PPTX reader: one page per slide in presentation order, with speaker notes.

use std::collections::HashMap;

use super::docx::{TextBody, read_title};
use super::ooxml_parts;
use crate::archive::Archive;
use crate::text_sink::TextSink;
use crate::xml::{self, Relationship, XmlEvent};
use crate::{ExtractError, Format, Source};

/// The `pptx` format.
pub const PPTX: Format = Format {
    name: "pptx",
    media_types: &[
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    ],
    extensions: &["pptx", "pptm", "ppsx", "potx"],
    summary: "PowerPoint: one page per slide, with charts, comments and notes",
    sniff: |content| content.has_file(MAIN),
    read,
};

const MAIN: &str = "ppt/presentation.xml";

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut archive = Archive::open(source.content.bytes, source.options)?;
    let targets = xml::relationships(archive.part("ppt/_rels/presentation.xml.rels")?)?;
    let mut targets: HashMap<String, Relationship> =
        targets.into_iter().map(|target| (target.id.clone(), target)).collect();
    for (number, id) in slide_ids(&mut archive)?.iter().enumerate() {
        // Removed from the map so that a repeated slide is read once.
        let Some(target) = targets.remove(id) else { continue };
        sink.begin_page((number + 1).to_string())?;
        slide(&mut archive, &target.path("ppt"), number + 1, sink)?;
    }
    read_title(&mut archive, sink);
    Ok(())
}

/// Returns the relationship ids of the slides in presentation order.
fn slide_ids(archive: &mut Archive<'_>) -> Result<Vec<String>, ExtractError> {
    let mut ids = Vec::new();
    xml::walk(archive.part(MAIN)?, |node| {
        if let XmlEvent::Start("sldId", attributes) = node {
            ids.extend(attributes.get_full("r:id").or_else(|| attributes.get("id")));
        }
        Ok(())
    })?;
    Ok(ids)
}

fn slide(archive: &mut Archive<'_>, path: &str, number: usize, sink: &mut TextSink) -> Result<(), ExtractError> {
    if !archive.has(path) {
        sink.warn("a slide is missing from the file");
        return Ok(());
    }
    if text(archive, path, sink)? {
        sink.warn(format!("the slide {number} is hidden in the presentation"));
    }
    ooxml_parts::append_related_parts(archive, path, &["chart", "diagramData", "comments"], sink)?;
    if let Some(notes) = notes_path(archive, path) {
        sink.end_paragraph()?;
        text(archive, &notes, sink)?;
    }
    Ok(())
}

/// Writes the text of a slide or of its notes. Returns true for a slide that is not shown in the presentation.
fn text(archive: &mut Archive<'_>, path: &str, sink: &mut TextSink) -> Result<bool, ExtractError> {
    let (mut body, mut is_hidden) = (TextBody::new(sink), false);
    // Fields (slide number, date) are skipped; they are paragraphs of their own.
    let mut in_field = false;
    xml::walk(archive.part(path)?, |node| match node {
        XmlEvent::Start("sld", attributes) => {
            is_hidden = attributes.get("show").is_some_and(|value| matches!(&*value, "0" | "false"));
            Ok(())
        }
        XmlEvent::Start("fld", _) => {
            in_field = true;
            Ok(())
        }
        XmlEvent::End("fld") => {
            in_field = false;
            Ok(())
        }
        XmlEvent::Text(_) if in_field => Ok(()),
        node => body.node(node),
    })?;
    Ok(is_hidden)
}

/// Returns the path of a slide's notes.
fn notes_path(archive: &mut Archive<'_>, slide: &str) -> Option<String> {
    let (folder, file) = slide.rsplit_once('/')?;
    let targets = xml::relationships(archive.part(&format!("{folder}/_rels/{file}.rels")).ok()?).ok()?;
    let is_notes = |target: &&Relationship| target.kind == "notesSlide";
    let path = targets.iter().find(is_notes)?.path(folder);
    archive.has(&path).then_some(path)
}
