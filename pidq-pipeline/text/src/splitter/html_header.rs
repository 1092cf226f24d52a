//! The `html_header` splitter: sections of HTML with their headings.

use std::collections::HashMap;
use std::ops::Range;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

use super::length::is_space;
use super::parameters::{Parameter, ParameterKind, Parameters};
use super::size_limit::ChunkList;
use super::{Chunk, Embed, Split, SplitError, Splitter};

/// The `html_header` splitter.
pub const HTML_HEADER: Splitter = Splitter {
    name: "html_header",
    summary: "sections of HTML, one chunk each, with the headings above it",
    parameters: &[
        Parameter {
            name: "headers_to_split_on",
            kind: ParameterKind::Pairs,
            default: r#"[["h1", "h1"], ["h2", "h2"], ["h3", "h3"]]"#,
            summary: "heading elements and the names of their levels",
        },
        Parameter {
            name: "return_each_element",
            kind: ParameterKind::Flag,
            default: "false",
            summary: "whether each element is its own chunk",
        },
    ],
    build: |parameters| Ok(Box::new(HtmlHeaderSplitter::new(parameters)?)),
};

/// Elements without an end tag.
const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "command", "embed", "frame", "hr", "image", "img", "input",
    "isindex", "keygen", "link", "menuitem", "meta", "nextid", "param", "source", "spacer", "track", "wbr",
];

struct HtmlHeaderSplitter {
    levels: Vec<Level>,
    each_element: bool,
}

struct Level {
    tag: String,
    level: usize,
    name: String,
}

impl HtmlHeaderSplitter {
    fn new(parameters: &Parameters) -> Result<Self, SplitError> {
        let levels: Result<Vec<_>, _> = parameters.pairs("headers_to_split_on").into_iter().map(level).collect();
        Ok(HtmlHeaderSplitter { levels: levels?, each_element: parameters.flag("return_each_element") })
    }
}

fn level((tag, name): (String, String)) -> Result<Level, SplitError> {
    match tag.get(1..).and_then(|number| number.parse().ok()) {
        Some(level) => Ok(Level { tag, level, name }),
        None => Err(SplitError::parameter(
            "headers_to_split_on",
            format!("{tag:?} is not a heading element such as \"h1\""),
        )),
    }
}

impl Split for HtmlHeaderSplitter {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let mut state = SplitState {
            splitter: self,
            open: Vec::new(),
            section: Section::default(),
            chunks: ChunkList::for_text(text),
        };
        for element in body(elements(text)) {
            state.element(element)?;
        }
        state.close()?;
        Ok(state.chunks.into_vec())
    }
}

/// An element, in document order.
#[derive(Debug, Default)]
struct Element {
    name: String,
    depth: usize,
    texts: Vec<String>,
    span: Option<Range<usize>>,
}

impl Element {
    fn add(&mut self, text: &[u8], span: Range<usize>) {
        let text = String::from_utf8_lossy(text);
        let text = text.trim_matches(is_space);
        if !text.is_empty() {
            self.texts.push(text.to_owned());
            self.span = Some(self.span.as_ref().map_or(span.start, |span| span.start)..span.end);
        }
    }
}

/// Returns all elements of a document, the document itself first. Tags are interpreted literally, without implied ones.
fn elements(html: &str) -> Vec<Element> {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut tree = Tree { elements: vec![Element::default()], open: vec![0], names: HashMap::new() };
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => tree.begin(&String::from_utf8_lossy(&tag.name), tag.self_closing),
            Token::EndTag(tag) => tree.end(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => {
                let span = text.span.start..text.span.end;
                tree.last().add(source_text(html, &span).unwrap_or(&text.value), span);
            }
            Token::Comment(text) => tree.last().add(&text.value, text.span.start..text.span.end),
            Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    tree.elements
}

/// Returns text without entities as in the source, because the tokenizer normalizes line breaks.
fn source_text<'h>(html: &'h str, span: &Range<usize>) -> Option<&'h [u8]> {
    html.as_bytes().get(span.clone()).filter(|text| !text.contains(&b'&'))
}

struct Tree {
    elements: Vec<Element>,
    /// Open elements; the document is never closed.
    open: Vec<usize>,
    /// Number of open elements by name, so that unmatched end tags are detected in constant time.
    names: HashMap<String, usize>,
}

impl Tree {
    fn begin(&mut self, name: &str, ends: bool) {
        self.elements.push(Element { name: name.to_owned(), depth: self.open.len(), ..Element::default() });
        if !ends && !VOID.contains(&name) {
            self.open.push(self.elements.len() - 1);
            *self.names.entry(name.to_owned()).or_default() += 1;
        }
    }

    fn end(&mut self, name: &str) {
        if self.names.get(name).is_none_or(|&open| open == 0) {
            return;
        }
        while let Some(open) = self.open.pop_if(|open| *open > 0) {
            let ended = &self.elements[open].name;
            if let Some(open) = self.names.get_mut(ended) {
                *open -= 1;
            }
            if ended == name {
                break;
            }
        }
    }

    fn last(&mut self) -> &mut Element {
        let last = self.open.last().copied().unwrap_or(0);
        &mut self.elements[last]
    }
}

/// Returns the body and its content, or all elements if there is no body.
fn body(elements: Vec<Element>) -> Vec<Element> {
    let Some(index) = elements.iter().position(|element| element.name == "body") else { return elements };
    let depth = elements[index].depth;
    let inside = elements.iter().skip(index + 1).take_while(|element| element.depth > depth).count();
    elements.into_iter().skip(index).take(inside + 1).collect()
}

/// Text under the open headings.
#[derive(Default)]
struct Section {
    texts: Vec<String>,
    span: Option<Range<usize>>,
}

/// State of splitting one text.
struct SplitState<'s, 't> {
    splitter: &'s HtmlHeaderSplitter,
    open: Vec<Heading>,
    section: Section,
    chunks: ChunkList<'t>,
}

struct Heading {
    name: String,
    text: String,
    level: usize,
    depth: usize,
}

impl SplitState<'_, '_> {
    fn element(&mut self, element: Element) -> Result<(), SplitError> {
        let Some(span) = element.span else { return Ok(()) };
        let text = element.texts.join(" ");
        if let Some(level) = self.splitter.levels.iter().find(|level| level.tag == element.name) {
            self.close()?;
            self.open.retain(|open| open.level < level.level);
            self.open(Heading {
                name: level.name.clone(),
                text: text.clone(),
                level: level.level,
                depth: element.depth,
            });
            return self.push(text, span);
        }
        self.open.retain(|open| element.depth >= open.depth);
        if self.splitter.each_element {
            return self.push(text, span);
        }
        self.section.texts.push(text);
        let start = self.section.span.as_ref().map_or(span.start, |open| open.start.min(span.start));
        let end = self.section.span.as_ref().map_or(span.end, |open| open.end.max(span.end));
        self.section.span = Some(start..end);
        Ok(())
    }

    fn open(&mut self, heading: Heading) {
        match self.open.iter_mut().find(|open| open.name == heading.name) {
            Some(open) => *open = heading,
            None => self.open.push(heading),
        }
    }

    fn close(&mut self) -> Result<(), SplitError> {
        let section = std::mem::take(&mut self.section);
        match section.span {
            Some(span) => self.push(section.texts.join("  \n"), span),
            None => Ok(()),
        }
    }

    fn push(&mut self, text: String, span: Range<usize>) -> Result<(), SplitError> {
        let headings = self.open.iter().map(|open| (open.name.clone(), open.text.clone())).collect();
        self.chunks.push(Chunk { text: text.into(), span: Some(span), headings })
    }
}
