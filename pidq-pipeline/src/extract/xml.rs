//! XML of documents as events, from a stream: bounded in depth, without document types, expanding nothing.

use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::Failure;
use super::archive::unreadable;

/// Levels of nesting.
const MAX_DEPTH: usize = 256;
/// Attributes of an element that are looked at.
const MAX_ATTRIBUTES: usize = 256;

/// What a reader of XML is told. Names have no prefix.
pub enum Node<'e> {
    Start(&'e str, Attributes<'e>),
    End(&'e str),
    Text(Cow<'e, str>),
}

/// The attributes of an element.
pub struct Attributes<'e>(&'e BytesStart<'e>);

impl Attributes<'_> {
    /// The value of an attribute by its name without a prefix.
    pub fn get(&self, name: &str) -> Option<String> {
        self.find(|local, _| local == name)
    }

    /// The value of an attribute by its name with the prefix.
    pub fn get_full(&self, name: &str) -> Option<String> {
        self.find(|_, full| full == name)
    }

    fn find(&self, is_it: impl Fn(&str, &str) -> bool) -> Option<String> {
        let mut all = self.0.attributes();
        let mut all = all.with_checks(false).take(MAX_ATTRIBUTES).flatten();
        let found = all.find(|each| is_it(each.key.local_name().into_inner(), each.key.into_inner()))?;
        Some(quick_xml::escape::unescape(&found.value).map_or_else(|_| String::new(), Cow::into_owned))
    }
}

/// Goes through a document.
pub fn walk(input: impl BufRead, mut each: impl FnMut(Node<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut reader = Reader::from_reader(input);
    reader.config_mut().check_end_names = true;
    let mut buffer = Vec::new();
    let mut depth = 0;
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(wrong)? {
            Event::Start(start) => {
                depth = deeper(depth)?;
                each(Node::Start(start.local_name().into_inner(), Attributes(&start)))?;
            }
            Event::Empty(start) => {
                deeper(depth)?;
                each(Node::Start(start.local_name().into_inner(), Attributes(&start)))?;
                each(Node::End(start.local_name().into_inner()))?;
            }
            Event::End(end) => {
                depth -= 1;
                each(Node::End(end.local_name().into_inner()))?;
            }
            Event::Text(text) => each(Node::Text(text.xml10_content()))?,
            Event::CData(text) => each(Node::Text(text.xml10_content()))?,
            Event::GeneralRef(name) => each(Node::Text(expand(&name.into_inner())?))?,
            Event::DocType(_) => {
                return Err(Failure::corrupt("a part has a document type, which documents of Office do not"));
            }
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
            Event::Eof if depth > 0 => return Err(Failure::corrupt("a part ends inside of an element")),
            Event::Eof => return Ok(()),
        }
    }
}

fn deeper(depth: usize) -> Result<usize, Failure> {
    if depth >= MAX_DEPTH {
        return Err(Failure::corrupt(format!("elements are nested deeper than {MAX_DEPTH} levels")));
    }
    Ok(depth + 1)
}

/// One of the five references of XML, or a character by its number.
fn expand(name: &str) -> Result<Cow<'static, str>, Failure> {
    let named = quick_xml::escape::resolve_predefined_entity(name);
    let numbered = || {
        let digits = name.strip_prefix('#')?;
        let number = match digits.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => digits.parse().ok()?,
        };
        char::from_u32(number).map(|c| Cow::Owned(c.to_string()))
    };
    named
        .map(Cow::Borrowed)
        .or_else(numbered)
        .ok_or_else(|| Failure::corrupt("a part has an entity that it may not have"))
}

fn wrong(error: quick_xml::Error) -> Failure {
    match error {
        quick_xml::Error::Io(error) => unreadable(&error),
        _ => Failure::corrupt("a part is no XML"),
    }
}

/// The title in the properties of a document: the text of the element `title`.
pub fn title(input: impl BufRead) -> Option<String> {
    let (mut inside, mut title) = (false, String::new());
    let done = walk(input, |node| {
        match node {
            Node::Start(name, _) => inside = name == "title",
            Node::End(_) => inside = false,
            Node::Text(text) if inside => title.push_str(&text),
            Node::Text(_) => {}
        }
        Ok(())
    });
    done.ok().map(|()| title)
}

/// A part and what it points to: kind and target of each relationship, by its id.
pub fn relationships(input: impl BufRead) -> Result<Vec<Relationship>, Failure> {
    let mut found = Vec::new();
    walk(input, |node| {
        if let Node::Start("Relationship", attributes) = node
            && let (Some(id), Some(target)) = (attributes.get("Id"), attributes.get("Target"))
        {
            let kind = attributes.get("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            found.push(Relationship { id, kind, target });
        }
        Ok(())
    })?;
    Ok(found)
}

/// A part that another part points to.
pub struct Relationship {
    pub id: String,
    pub kind: String,
    pub target: String,
}

impl Relationship {
    /// The name of the target in the archive, seen from a folder.
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
