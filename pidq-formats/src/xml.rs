//! XML reader: reads a document in one pass into a table of its elements.
//!
//! The document is untrusted: only the five XML entities and character references are supported, a document type is
//! never read and one with declarations is rejected, depth and the number of attributes are limited.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::error::{Code, Error, Result};

/// Maximum nesting depth of a document. Proteus needs about twelve levels.
pub const MAX_DEPTH: usize = 128;
/// Maximum number of attributes of one element.
pub const MAX_ATTRIBUTES: usize = 1024;

/// Elements in document order: a parent comes before its children.
#[derive(Debug, Default)]
pub struct Tree {
    pub elements: Vec<Element>,
    /// True if there was a document type, which is not read.
    pub had_doctype: bool,
}

/// An element: its name without a prefix, its attributes, its own text.
#[derive(Debug)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub text: String,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
}

impl Element {
    /// Returns the value of an attribute that is present and not blank.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attribute(name).filter(|value| !value.trim().is_empty())
    }

    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Adds an attribute. Characters that XML does not allow are replaced.
    pub fn set(&mut self, name: &str, value: &str) {
        self.attributes.push((name.to_owned(), replace_forbidden(value)));
    }
}

impl Tree {
    /// Reads a document.
    ///
    /// # Errors
    /// `PQ6001` not XML, `PQ6006` entities, `PQ6007` too many attributes, `PQ6008` too deep; all with the line.
    pub fn read(text: &str) -> Result<Tree> {
        let mut reader = Reader::from_str(text);
        let mut builder = TreeBuilder { tree: Tree::default(), stack: Vec::new() };
        loop {
            let position = reader.buffer_position();
            let event = reader.read_event().map_err(|error| Error::new(Code::NotXml, error.to_string()));
            let step = event.and_then(|event| builder.handle_event(event));
            match step.map_err(|error| error.with_line(line(text, position)))? {
                Step::Continue => {}
                Step::Done => return Ok(builder.tree),
            }
        }
    }

    /// Puts the document into a new root element.
    pub fn wrap(&mut self, name: &str) {
        for element in &mut self.elements {
            element.parent = Some(element.parent.map_or(0, |parent| parent + 1));
            element.children.iter_mut().for_each(|child| *child += 1);
        }
        let children = if self.elements.is_empty() { Vec::new() } else { vec![1] };
        let root =
            Element { name: name.to_owned(), attributes: Vec::new(), text: String::new(), parent: None, children };
        self.elements.insert(0, root);
    }

    /// Adds an element as the last child of another one, and returns its index. Without a parent it is the root.
    pub fn add(&mut self, parent: Option<usize>, name: &str) -> usize {
        let index = self.elements.len();
        if let Some(parent) = parent {
            self.elements[parent].children.push(index);
        }
        let (attributes, text, children) = (Vec::new(), String::new(), Vec::new());
        self.elements.push(Element { name: name.to_owned(), attributes, text, parent, children });
        index
    }

    /// Writes the document: one element a line. The depth is at most that of a document that is read.
    pub fn write(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        if !self.elements.is_empty() {
            self.write_element(0, &mut out);
        }
        out
    }

    fn write_element(&self, index: usize, out: &mut String) {
        let element = &self.elements[index];
        out.push('<');
        out.push_str(&element.name);
        for (name, value) in &element.attributes {
            out.push_str(&format!(" {name}=\"{}\"", escape(value)));
        }
        if element.children.is_empty() && element.text.is_empty() {
            return out.push_str("/>\n");
        }
        out.push('>');
        out.push_str(&escape(&element.text));
        if !element.children.is_empty() {
            out.push('\n');
        }
        for child in &element.children {
            self.write_element(*child, out);
        }
        out.push_str(&format!("</{}>\n", element.name));
    }

    /// Returns the children of an element.
    pub fn children(&self, index: usize) -> impl Iterator<Item = (usize, &Element)> {
        self.elements[index].children.iter().map(|child| (*child, &self.elements[*child]))
    }

    /// Returns the children of an element with a given name.
    pub fn named<'t>(&'t self, index: usize, name: &'t str) -> impl Iterator<Item = (usize, &'t Element)> {
        self.children(index).filter(move |(_, child)| child.name == name)
    }
}

fn line(text: &str, byte: u64) -> usize {
    let byte = usize::try_from(byte).unwrap_or(usize::MAX).min(text.len());
    1 + text.as_bytes()[..byte].iter().filter(|byte| **byte == b'\n').count()
}

enum Step {
    Continue,
    Done,
}

struct TreeBuilder {
    tree: Tree,
    stack: Vec<usize>,
}

impl TreeBuilder {
    fn handle_event(&mut self, event: Event<'_>) -> Result<Step> {
        match event {
            Event::Start(start) => self.start(&start)?,
            Event::Empty(start) => {
                self.start(&start)?;
                self.end();
            }
            Event::End(_) => self.end(),
            Event::Text(text) => self.text(&text.xml10_content())?,
            Event::CData(text) => self.text(&text.xml10_content())?,
            Event::GeneralRef(name) => self.text(&resolve_reference(&name.into_inner())?)?,
            Event::DocType(text) => self.doctype(&text.into_inner())?,
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
            Event::Eof => return self.finish(),
        }
        Ok(Step::Continue)
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<()> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(Error::new(Code::TooDeep, format!("elements are nested deeper than {MAX_DEPTH} levels")));
        }
        let name = start.local_name().into_inner();
        check_attribute_names(start)?;
        self.store(name, start)
    }

    fn store(&mut self, name: &str, start: &BytesStart<'_>) -> Result<()> {
        let index = self.tree.elements.len();
        let parent = self.stack.last().copied();
        match parent {
            Some(parent) => self.tree.elements[parent].children.push(index),
            None if index > 0 => return Err(Error::new(Code::NotXml, "a second root element")),
            None => {}
        }
        let element = Element {
            name: name.to_owned(),
            attributes: attributes(start)?,
            text: String::new(),
            parent,
            children: Vec::new(),
        };
        self.tree.elements.push(element);
        self.stack.push(index);
        Ok(())
    }

    /// Closes an element. The reader has checked that the tags match.
    fn end(&mut self) {
        self.stack.pop();
    }

    fn text(&mut self, text: &str) -> Result<()> {
        match self.stack.last() {
            Some(element) => self.tree.elements[*element].text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err(Error::new(Code::NotXml, "text outside of the root element")),
        }
        Ok(())
    }

    /// Handles a document type. It may name a schema, which is not fetched; one with declarations is rejected.
    fn doctype(&mut self, text: &str) -> Result<()> {
        self.tree.had_doctype = true;
        if text.contains('[') {
            return Err(Error::new(Code::Entity, "the document type has custom declarations"));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Step> {
        match self.stack.last() {
            Some(element) => {
                let name = &self.tree.elements[*element].name;
                Err(Error::new(Code::NotXml, format!("the file ends inside `{name}`")))
            }
            None if self.tree.elements.is_empty() => Err(Error::new(Code::NotXml, "the document has no root element")),
            None => Ok(Step::Done),
        }
    }
}

fn attributes(start: &BytesStart<'_>) -> Result<Vec<(String, String)>> {
    let mut list: Vec<(String, String)> = Vec::new();
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| Error::new(Code::NotXml, error.to_string()))?;
        list.push((attribute.key.local_name().into_inner().to_owned(), unescape(&attribute.value)?));
    }
    Ok(list)
}

/// Checks the number of attributes of an element, and that no name occurs twice. The check of the XML library is
/// quadratic.
fn check_attribute_names(start: &BytesStart<'_>) -> Result<()> {
    let mut names = Vec::new();
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| Error::new(Code::NotXml, error.to_string()))?;
        if names.len() == MAX_ATTRIBUTES {
            return Err(Error::new(Code::TooLarge, format!("an element has more than {MAX_ATTRIBUTES} attributes")));
        }
        names.push(attribute.key.into_inner());
    }
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let message = format!("the element `{}` has the attribute `{}` twice", start.name().into_inner(), pair[0]);
            Err(Error::new(Code::NotXml, message))
        }
    }
}

/// Returns the value of an attribute: references are expanded, and unescaped whitespace is normalized to spaces, as XML
/// requires.
fn unescape(raw: &str) -> Result<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        text.push_str(&normalize_whitespace(&rest[..at]));
        let end = rest[at..].find(';').ok_or_else(|| Error::new(Code::NotXml, "`&` without `;`"))?;
        text.push_str(&resolve_reference(&rest[at + 1..at + end])?);
        rest = &rest[at + end + 1..];
    }
    text.push_str(&normalize_whitespace(rest));
    Ok(text)
}

fn normalize_whitespace(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}

/// Resolves a reference: one of the five XML entities, or a character reference. Nothing else is supported.
fn resolve_reference(name: &str) -> Result<String> {
    let known = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => character_reference(name).ok_or_else(|| unknown(name))?,
    };
    Ok(known.into())
}

fn character_reference(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let number = match digits.strip_prefix('x') {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(number).filter(|c| *c >= ' ' || matches!(c, '\t' | '\n' | '\r'))
}

fn unknown(name: &str) -> Error {
    let name: String = name.chars().take(40).collect();
    Error::new(Code::Entity, format!("unknown entity `{name}`"))
}

/// Returns true if XML allows all characters of a text.
pub fn is_xml_text(text: &str) -> bool {
    text.chars().all(|c| !matches!(c, '\u{FFFE}' | '\u{FFFF}') && (c >= ' ' || matches!(c, '\t' | '\n' | '\r')))
}

/// Replaces the characters that XML does not allow.
fn replace_forbidden(text: &str) -> String {
    let is_allowed = |c: char| !matches!(c, '\u{FFFE}' | '\u{FFFF}') && (c >= ' ' || matches!(c, '\t' | '\n' | '\r'));
    text.chars().map(|c| if is_allowed(c) { c } else { '\u{FFFD}' }).collect()
}

/// Escapes characters that XML reserves and replaces those that it does not allow.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' | '\r' => out.push_str(&format!("&#{};", c as u32)),
            c if c < ' ' || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Tree> {
        Tree::read(text)
    }

    #[track_caller]
    fn check_rejected(text: &str, code: Code) {
        let error = read(text).expect_err("it is rejected");
        assert_eq!(error.code(), code, "{error}");
    }

    #[test]
    fn elements_have_attributes_text_and_children() {
        let tree = read("<a x='1 &lt; &#x32;'><n:b y=\"&amp;\"/>t&gt;<![CDATA[<c>]]></a>").expect("it is XML");
        let [a, b] = tree.elements.as_slice() else { panic!("two elements") };
        assert_eq!((a.name.as_str(), a.attribute("x"), a.text.as_str()), ("a", Some("1 < 2"), "t><c>"));
        assert_eq!((b.name.as_str(), b.attribute("y"), b.parent), ("b", Some("&"), Some(0)));
    }

    #[test]
    fn malformed_documents_are_rejected_with_the_line() {
        for text in ["", "hello", "<a>", "<a></b>", "<a/><b/>", "<a/>x", "<a x='1>", "<a b='&'/>", "<graphics>"] {
            check_rejected(text, Code::NotXml);
        }
        assert_eq!(read("<a>\n\n</b>").expect_err("broken").line(), Some(3));
    }

    #[test]
    fn an_attribute_given_twice_is_rejected_with_its_name_and_line() {
        for text in ["<a>\n<b x='1' y='2' x='1'/></a>", "<a>\n<graphics x='1' x='2'/></a>"] {
            check_rejected(text, Code::NotXml);
            assert_eq!(read(text).expect_err("malformed").line(), Some(2));
        }
        let error = read("<b x='1' y='2' x='1'/>").expect_err("malformed");
        assert_eq!(error.message(), "the element `b` has the attribute `x` twice");
        assert!(read("<a n:x='1' m:x='2' x='3'/>").is_ok(), "the names differ");
    }

    #[test]
    fn entities_are_rejected_and_external_subsets_ignored() {
        check_rejected("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", Code::Entity);
        check_rejected("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", Code::Entity);
        check_rejected("<a>&b;</a>", Code::Entity);
        check_rejected("<a x='&b;'/>", Code::Entity);
        check_rejected("<a>&#0;</a>", Code::Entity);
        assert!(read("<!DOCTYPE a SYSTEM 'http://example.com/a.dtd'><a/>").expect("it is XML").had_doctype);
    }

    #[test]
    fn elements_have_a_depth_limit() {
        check_rejected(&"<a>".repeat(1_000_000), Code::TooDeep);
        check_rejected(&format!("<a>{}", "<graphics>".repeat(1_000_000)), Code::TooDeep);
    }

    #[test]
    fn attributes_are_limited_in_number_but_not_in_length() {
        let huge = "x".repeat(4 << 20);
        let tree = read(&format!("<a b='{huge}'/>")).expect("it is XML");
        assert_eq!(tree.elements[0].attribute("b").map(str::len), Some(4 << 20));
        let many: String = (0..100_000).map(|n| format!(" a{n}='1'")).collect();
        check_rejected(&format!("<a{many}/>"), Code::TooLarge);
    }

    #[test]
    fn escaped_text_round_trips() {
        let text = "a<b>&\"'\n\tü";
        let tree = read(&format!("<a x=\"{}\"/>", escape(text))).expect("it is XML");
        assert_eq!(tree.elements[0].attribute("x"), Some(text));
    }
}
