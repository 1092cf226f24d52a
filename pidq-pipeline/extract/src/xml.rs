//! Streaming XML reader for documents: bounded nesting depth, no document types, no entity expansion.

use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::ExtractError;
use super::archive::unpack_error;

/// Maximum nesting depth.
const MAX_DEPTH: usize = 256;
/// Maximum number of attributes of an element that are searched.
const MAX_ATTRIBUTES: usize = 256;

/// XML event. Names have no prefix.
pub enum XmlEvent<'e> {
    Start(&'e str, Attributes<'e>),
    End(&'e str),
    Text(Cow<'e, str>),
}

/// The attributes of an element.
pub struct Attributes<'e>(&'e BytesStart<'e>);

impl Attributes<'_> {
    /// Returns the value of an attribute by its local name.
    pub fn get(&self, name: &str) -> Option<String> {
        self.find(|local, _| local == name)
    }

    /// Returns the value of an attribute by its qualified name.
    pub fn get_full(&self, name: &str) -> Option<String> {
        self.find(|_, full| full == name)
    }

    fn find(&self, predicate: impl Fn(&str, &str) -> bool) -> Option<String> {
        let mut attributes = self.0.attributes();
        let mut attributes = attributes.with_checks(false).take(MAX_ATTRIBUTES).flatten();
        let found = attributes
            .find(|attribute| predicate(attribute.key.local_name().into_inner(), attribute.key.into_inner()))?;
        Some(quick_xml::escape::unescape(&found.value).map_or_else(|_| String::new(), Cow::into_owned))
    }
}

/// Calls `on_event` for each event of a document.
pub fn walk(
    input: impl BufRead,
    mut on_event: impl FnMut(XmlEvent<'_>) -> Result<(), ExtractError>,
) -> Result<(), ExtractError> {
    let mut reader = Reader::from_reader(input);
    reader.config_mut().check_end_names = true;
    let mut buffer = Vec::new();
    let mut depth = 0;
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(xml_error)? {
            Event::Start(start) => {
                depth = increase_depth(depth)?;
                on_event(XmlEvent::Start(start.local_name().into_inner(), Attributes(&start)))?;
            }
            Event::Empty(start) => {
                increase_depth(depth)?;
                on_event(XmlEvent::Start(start.local_name().into_inner(), Attributes(&start)))?;
                on_event(XmlEvent::End(start.local_name().into_inner()))?;
            }
            Event::End(end) => {
                depth -= 1;
                on_event(XmlEvent::End(end.local_name().into_inner()))?;
            }
            Event::Text(text) => on_event(XmlEvent::Text(text.xml10_content()))?,
            Event::CData(text) => on_event(XmlEvent::Text(text.xml10_content()))?,
            Event::GeneralRef(name) => on_event(XmlEvent::Text(resolve_reference(&name.into_inner())?))?,
            Event::DocType(_) => {
                return Err(ExtractError::corrupt(
                    "a part has a document type declaration, which Office documents must not have",
                ));
            }
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
            Event::Eof if depth > 0 => return Err(ExtractError::corrupt("a part ends inside an element")),
            Event::Eof => return Ok(()),
        }
    }
}

fn increase_depth(depth: usize) -> Result<usize, ExtractError> {
    if depth >= MAX_DEPTH {
        return Err(ExtractError::corrupt(format!("elements are nested deeper than {MAX_DEPTH} levels")));
    }
    Ok(depth + 1)
}

/// Resolves one of the five predefined entities or a character reference.
fn resolve_reference(name: &str) -> Result<Cow<'static, str>, ExtractError> {
    let named = quick_xml::escape::resolve_predefined_entity(name);
    let numbered = || {
        let digits = name.strip_prefix('#')?;
        let number = match digits.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => digits.parse().ok()?,
        };
        char::from_u32(number).map(|c| Cow::Owned(c.to_string()))
    };
    named.map(Cow::Borrowed).or_else(numbered).ok_or_else(|| ExtractError::corrupt("a part has an undefined entity"))
}

fn xml_error(error: quick_xml::Error) -> ExtractError {
    match error {
        quick_xml::Error::Io(error) => unpack_error(&error),
        _ => ExtractError::corrupt("a part is not valid XML"),
    }
}

/// Returns the text of the element `title` of the document properties.
pub fn title(input: impl BufRead) -> Option<String> {
    let (mut inside, mut title) = (false, String::new());
    let result = walk(input, |node| {
        match node {
            XmlEvent::Start(name, _) => inside = name == "title",
            XmlEvent::End(_) => inside = false,
            XmlEvent::Text(text) if inside => title.push_str(&text),
            XmlEvent::Text(_) => {}
        }
        Ok(())
    });
    result.ok().map(|()| title)
}

/// Returns the relationships of a part.
pub fn relationships(input: impl BufRead) -> Result<Vec<Relationship>, ExtractError> {
    let mut relationships = Vec::new();
    walk(input, |node| {
        if let XmlEvent::Start("Relationship", attributes) = node
            && let (Some(id), Some(target)) = (attributes.get("Id"), attributes.get("Target"))
        {
            let kind = attributes.get("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            relationships.push(Relationship { id, kind, target });
        }
        Ok(())
    })?;
    Ok(relationships)
}

/// A relationship to another part.
pub struct Relationship {
    pub id: String,
    pub kind: String,
    pub target: String,
}

impl Relationship {
    /// Returns the path of the target in the archive, relative to a folder.
    pub fn path(&self, folder: &str) -> String {
        if let Some(absolute) = self.target.strip_prefix('/') {
            return absolute.to_owned();
        }
        let mut path: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
        for step in self.target.split('/') {
            match step {
                ".." => drop(path.pop()),
                "." | "" => {}
                step => path.push(step),
            }
        }
        path.join("/")
    }
}
