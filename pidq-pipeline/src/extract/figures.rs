//! What Office puts beside a text: charts, diagrams, drawings and comments, each in a part of its own.

use super::archive::Archive;
use super::gather::Gather;
use super::xml::{self, Node};
use super::{Code, Failure};

/// Parts of one page or sheet.
const MAX_PARTS: usize = 1000;

/// Adds the text of the parts of some kinds that stand beside a part, and of those beside them.
pub fn beside(archive: &mut Archive<'_>, part: &str, kinds: &[&str], gather: &mut Gather) -> Result<(), Failure> {
    for path in parts(archive, part, kinds) {
        readable(archive, &path, gather)?;
        for path in parts(archive, &path, kinds) {
            readable(archive, &path, gather)?;
        }
    }
    Ok(())
}

/// Adds what can be read of a part: one that is broken takes no other with it.
fn readable(archive: &mut Archive<'_>, path: &str, gather: &mut Gather) -> Result<(), Failure> {
    match figure(archive, path, gather) {
        Err(failure) if failure.code == Code::CorruptDocument => {
            gather.warn(format!("{path} is broken and was not read to its end"));
            gather.line()
        }
        done => done,
    }
}

/// The parts that a part points to and that show text.
fn parts(archive: &mut Archive<'_>, part: &str, kinds: &[&str]) -> Vec<String> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let targets = archive.part(&format!("{folder}/_rels/{file}.rels")).and_then(xml::relationships);
    let shown = targets.unwrap_or_default().into_iter().filter(|target| kinds.contains(&target.kind.as_str()));
    let paths: Vec<_> = shown.take(MAX_PARTS).map(|target| target.path(folder)).collect();
    paths.into_iter().filter(|path| archive.has(path)).collect()
}

/// Adds the text of one part as a paragraph: a line a paragraph, or a line for the names and values of a series.
fn figure(archive: &mut Archive<'_>, path: &str, gather: &mut Gather) -> Result<(), Failure> {
    gather.paragraph()?;
    let mut is_text = false;
    xml::walk(archive.part(path)?, |node| match node {
        Node::Start("t" | "v" | "text", _) => {
            is_text = true;
            Ok(())
        }
        Node::Start("comment", attributes) => match attributes.get("ref") {
            Some(cell) => gather.push(&format!("{cell}: ")),
            None => Ok(()),
        },
        Node::Start("br", _) => gather.line(),
        Node::End("v") => {
            is_text = false;
            gather.push("\t")
        }
        Node::End("t") => {
            is_text = false;
            Ok(())
        }
        Node::End("p" | "tx" | "cat" | "val" | "xVal" | "yVal" | "comment" | "text") => {
            is_text = false;
            gather.line()
        }
        Node::Text(text) if is_text => gather.push(&text),
        _ => Ok(()),
    })
}
