//! PPTX: a page a slide, in the order in which they are shown, with the notes of the speaker.

use std::collections::HashMap;

use super::archive::Archive;
use super::figures;
use super::gather::Gather;
use super::word::{Body, properties};
use super::xml::{self, Node, Relationship};
use super::{Failure, Format, Source};

/// The row.
pub const PPTX: Format = Format {
    name: "pptx",
    media_types: &[
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    ],
    extensions: &["pptx", "pptm", "ppsx", "potx"],
    summary: "PowerPoint: a page a slide, with charts, comments and notes",
    sniff: |look| look.has_file(MAIN),
    read,
};

const MAIN: &str = "ppt/presentation.xml";

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let mut archive = Archive::open(source.look.bytes, source.options)?;
    let targets = xml::relationships(archive.part("ppt/_rels/presentation.xml.rels")?)?;
    let mut targets: HashMap<String, Relationship> = targets.into_iter().map(|it| (it.id.clone(), it)).collect();
    for (number, id) in order(&mut archive)?.iter().enumerate() {
        // A slide is shown once: it is taken out.
        let Some(target) = targets.remove(id) else { continue };
        gather.page((number + 1).to_string())?;
        slide(&mut archive, &target.path("ppt"), gather)?;
    }
    properties(&mut archive, gather);
    Ok(())
}

/// The slides in their order, by the ids of their relationships.
fn order(archive: &mut Archive<'_>) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    xml::walk(archive.part(MAIN)?, |node| {
        if let Node::Start("sldId", attributes) = node {
            ids.extend(attributes.get_full("r:id").or_else(|| attributes.get("id")));
        }
        Ok(())
    })?;
    Ok(ids)
}

fn slide(archive: &mut Archive<'_>, path: &str, gather: &mut Gather) -> Result<(), Failure> {
    if !archive.has(path) {
        gather.warn("a slide is missing in the file");
        return Ok(());
    }
    text(archive, path, gather)?;
    figures::beside(archive, path, &["chart", "diagramData", "comments"], gather)?;
    if let Some(notes) = notes(archive, path) {
        gather.paragraph()?;
        text(archive, &notes, gather)?;
    }
    Ok(())
}

fn text(archive: &mut Archive<'_>, path: &str, gather: &mut Gather) -> Result<(), Failure> {
    let mut body = Body::new(gather);
    // The number of the slide and the date are fields, which say nothing; they stand in paragraphs of their own.
    let mut field = false;
    xml::walk(archive.part(path)?, |node| match node {
        Node::Start("fld", _) => {
            field = true;
            Ok(())
        }
        Node::End("fld") => {
            field = false;
            Ok(())
        }
        Node::Text(_) if field => Ok(()),
        node => body.node(node),
    })
}

/// The page of notes of a slide.
fn notes(archive: &mut Archive<'_>, slide: &str) -> Option<String> {
    let (folder, file) = slide.rsplit_once('/')?;
    let targets = xml::relationships(archive.part(&format!("{folder}/_rels/{file}.rels")).ok()?).ok()?;
    let is_notes = |target: &&Relationship| target.kind == "notesSlide";
    let path = targets.iter().find(is_notes)?.path(folder);
    archive.has(&path).then_some(path)
}
