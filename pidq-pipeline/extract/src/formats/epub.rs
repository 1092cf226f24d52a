//! EPUB reader: one page per document of the reading order (EPUB 3.3, W3C Recommendation).

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;

use super::html;
use crate::archive::Archive;
use crate::text_sink::TextSink;
use crate::xml::{self, Relationship, XmlEvent};
use crate::{ExtractError, Format, Source};

/// The `epub` format.
pub const EPUB: Format = Format {
    name: "epub",
    media_types: &["application/epub+zip"],
    extensions: &["epub"],
    summary: "EPUB: one page per document of the reading order",
    sniff: |content| content.has_mimetype(EPUB.media_types[0]),
    read,
};

/// File with the path of the package document.
const CONTAINER: &str = "META-INF/container.xml";
/// File with the paths of encrypted files.
const ENCRYPTION: &str = "META-INF/encryption.xml";

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut archive = Archive::open(source.content.bytes, source.options)?;
    let package = package_path(&mut archive)?;
    let package = Package::read(&mut archive, &package)?;
    sink.set_title(&package.title);
    let encrypted = encrypted_paths(&mut archive)?;
    for (number, path) in package.documents.iter().enumerate() {
        if encrypted.contains(path) {
            return Err(ExtractError::encrypted("the book is encrypted; use a copy without copy protection"));
        }
        if !archive.has(path) {
            sink.warn(format!("the document {path} is missing from the book"));
            continue;
        }
        sink.begin_page((number + 1).to_string())?;
        html::text(&archive.text(path)?, sink)?;
    }
    Ok(())
}

fn package_path(archive: &mut Archive<'_>) -> Result<String, ExtractError> {
    let mut path = None;
    xml::walk(archive.part(CONTAINER)?, |node| {
        if let XmlEvent::Start("rootfile", attributes) = node
            && path.is_none()
        {
            path = attributes.get("full-path");
        }
        Ok(())
    })?;
    path.ok_or_else(|| ExtractError::corrupt("the book names no package document"))
}

fn encrypted_paths(archive: &mut Archive<'_>) -> Result<HashSet<String>, ExtractError> {
    let mut paths = HashSet::new();
    if archive.has(ENCRYPTION) {
        xml::walk(archive.part(ENCRYPTION)?, |node| {
            if let XmlEvent::Start("CipherReference", attributes) = node {
                paths.extend(attributes.get("URI").map(|target| path(target, "")));
            }
            Ok(())
        })?;
    }
    Ok(paths)
}

/// The package document, read once.
#[derive(Default)]
struct Package {
    title: String,
    /// Paths of the documents in reading order, each once.
    documents: Vec<String>,
}

impl Package {
    fn read(archive: &mut Archive<'_>, path_in_archive: &str) -> Result<Package, ExtractError> {
        let folder = path_in_archive.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (mut title, mut in_title, mut items, mut order) = (String::new(), false, HashMap::new(), Vec::new());
        xml::walk(archive.part(path_in_archive)?, |node| {
            match node {
                XmlEvent::Start("title", _) => in_title = true,
                XmlEvent::End("title") => in_title = false,
                XmlEvent::Text(text) if in_title => title.push_str(&text),
                XmlEvent::Start("item", attributes) => {
                    if let (Some(id), Some(target)) = (attributes.get("id"), attributes.get("href")) {
                        items.insert(id, path(target, folder));
                    }
                }
                XmlEvent::Start("itemref", attributes) => order.extend(attributes.get("idref")),
                _ => {}
            }
            Ok(())
        })?;
        let is_image =
            |path: &String| [".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp"].iter().any(|end| path.ends_with(end));
        // Removed from the map so that a repeated document is read once.
        let documents = order.iter().filter_map(|id| items.remove(id)).filter(|path| !is_image(path)).collect();
        Ok(Package { title, documents })
    }
}

/// Returns the path of a reference, which may contain escapes such as `%20`.
fn path(target: String, folder: &str) -> String {
    let target = percent_decode_str(target.split('#').next().unwrap_or_default()).decode_utf8_lossy().into_owned();
    Relationship { id: String::new(), kind: String::new(), target }.path(folder)
}
