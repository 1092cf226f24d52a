//! HTML reader: blocks become lines, table cells are separated by tabs, scripts, styles and invisible text are omitted.
//!
//! Tags are processed as a stream without building a tree, so nesting depth is no concern. The only state of enclosing
//! elements is the rows of open tables and the counters of open lists.

mod visibility;

use std::borrow::Cow;

use html5gum::emitters::default::{DefaultEmitter, StartTag};
use html5gum::{Token, Tokenizer};
use visibility::{Invisible, Place};

use super::list_numbers::NumberStyle;
use crate::formats::txt;
use crate::sniff::{Confidence, Content};
use crate::text_sink::TextSink;
use crate::{ExtractError, Format, Markup, Source};

/// The `html` format.
pub const HTML: Format = Format {
    name: "html",
    media_types: &["text/html", "application/xhtml+xml"],
    extensions: &["html", "htm", "xhtml"],
    summary: "HTML: its visible text, or the unchanged source for splitters that split at tags",
    sniff,
    read,
};

/// Prefixes of an HTML document, in lower case.
const PREFIXES: &[&str] =
    &["<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<h1", "<div", "<p>", "<table"];

fn sniff(content: &Content<'_>) -> Confidence {
    let Some(decoded) = content.text() else { return Confidence::No };
    let start = skip_prolog(&decoded.text);
    let head: String = start.chars().take(20).collect::<String>().to_ascii_lowercase();
    match PREFIXES.iter().any(|prefix| head.starts_with(prefix)) {
        true => Confidence::Certain,
        false => Confidence::Possible,
    }
}

/// Skips an XML declaration and up to two comments.
fn skip_prolog(text: &str) -> &str {
    let mut text = text.trim_start();
    for (begin, end) in [("<?xml", "?>"), ("<!--", "-->"), ("<!--", "-->")] {
        if let Some(remaining) = text.strip_prefix(begin).and_then(|remaining| remaining.split_once(end)) {
            text = remaining.1.trim_start();
        }
    }
    text
}

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let html = txt::text(source, sink)?;
    match source.options.markup {
        Markup::Strip => text(html, sink),
        Markup::Keep => sink.push(html),
    }
}

/// Treatment of an element; elements that are not listed are inline.
#[derive(Clone, Copy, PartialEq)]
enum ElementKind {
    /// Omitted with its content.
    Hidden,
    /// A paragraph: an empty line before and after.
    Paragraph,
    /// A line of its own.
    Line,
    /// A table, which is a paragraph.
    Table,
    /// A row of a table, which is a line.
    Row,
    /// A cell of a table.
    Cell,
    /// A list, which is a paragraph.
    List,
    /// An item of a list: a line with its number, if it has one.
    Item,
    /// A line break.
    Break,
    /// Preformatted text: white space is preserved.
    Preformatted,
}

const KINDS: &[(ElementKind, &[&str])] = &[
    (
        ElementKind::Hidden,
        &[
            "script",
            "style",
            "noscript",
            "template",
            "iframe",
            "object",
            "title",
            "select",
            "desc",
            "metadata",
            "defs",
            "annotation",
            "annotation-xml",
        ],
    ),
    (
        ElementKind::Paragraph,
        &[
            "p",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "blockquote",
            "dl",
            "section",
            "article",
            "hr",
            "figure",
            "header",
            "footer",
            "nav",
            "main",
            "aside",
            "form",
            "fieldset",
            "menu",
            "dir",
            "dialog",
            "hgroup",
            "search",
        ],
    ),
    (
        ElementKind::Line,
        &[
            "div",
            "dt",
            "dd",
            "body",
            "head",
            "address",
            "caption",
            "figcaption",
            "summary",
            "details",
            "center",
            "legend",
            "option",
            "optgroup",
            "button",
            "marquee",
            "noframes",
            "svg",
            "text",
        ],
    ),
    (ElementKind::Table, &["table"]),
    (ElementKind::Row, &["tr"]),
    (ElementKind::List, &["ul", "ol"]),
    (ElementKind::Item, &["li"]),
    (ElementKind::Cell, &["td", "th"]),
    (ElementKind::Break, &["br"]),
    (ElementKind::Preformatted, &["pre", "textarea", "listing", "xmp"]),
];

fn kind(name: &str) -> Option<ElementKind> {
    KINDS.iter().find(|(_, names)| names.contains(&name)).map(|(kind, _)| *kind)
}

/// Elements with raw text content.
const RAW: &[&str] = &["script", "style", "title", "textarea", "iframe", "xmp", "noembed", "noscript"];

/// Maximum length in bytes of a cell that is joined into one line. Longer cells keep their paragraphs: some tables lay out
/// whole pages.
const MAX_CELL_SIZE: usize = 1000;

/// Maximum nesting depth of tables and of lists that is tracked.
const MAX_NESTING: usize = 256;

/// Writes the text of an HTML document.
pub fn text(html: &str, sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let is_xml = html.contains("http://www.w3.org/1999/xhtml");
    let html = if is_xml { Cow::Owned(expand_self_closing(html)) } else { Cow::Borrowed(html) };
    let mut builder = TextBuilder::new(sink);
    for Ok(token) in Tokenizer::new_with_emitter(&*html, emitter) {
        match token {
            Token::StartTag(tag) => builder.start(&tag)?,
            Token::EndTag(tag) => builder.end(&String::from_utf8_lossy(&tag.name))?,
            Token::String(text) => builder.text(&String::from_utf8_lossy(&text.value))?,
            Token::Comment(text) if is_xml => builder.cdata(&String::from_utf8_lossy(&text.value))?,
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    Ok(())
}

/// Adds end tags to self-closing raw elements of XHTML (`<script src="a.js"/>`), whose `/` an HTML tokenizer ignores.
fn expand_self_closing(html: &str) -> String {
    let mut out = String::with_capacity(html.len() + 64);
    let mut remaining = html;
    while let Some((before, tag)) = remaining.split_once('<') {
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase();
        let end = if RAW.contains(&name.as_str()) { end_of_tag(tag) } else { Some(0) };
        // Stop at the first unterminated tag: searching on from each would take quadratic time.
        let Some((inside, after)) = end.map(|end| tag.split_at(end)) else { break };
        out.push_str(before);
        out.push('<');
        match inside.strip_suffix('/') {
            Some(inside) => out.push_str(&format!("{inside}></{name}")),
            None => out.push_str(inside),
        }
        remaining = after;
    }
    out + remaining
}

/// Returns the position of the bracket that ends a tag, ignoring brackets in quotes.
fn end_of_tag(tag: &str) -> Option<usize> {
    let mut quote = None;
    let ends = |byte: u8| {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            _ => {}
        }
        quote.is_none() && byte == b'>'
    };
    tag.bytes().position(ends)
}

struct TextBuilder<'g> {
    sink: &'g mut TextSink,
    /// The open hidden element and its nesting depth in itself.
    hidden: Option<(String, usize)>,
    /// The open element that a browser does not show.
    invisible: Option<Invisible>,
    preformatted: usize,
    /// `true` if a space precedes the next word.
    pending_space: bool,
    /// The title while it is being read.
    title: Option<String>,
    /// Open tables.
    tables: Vec<Row>,
    /// Open lists: the next number and its style, if the list is numbered.
    lists: Vec<Option<(u32, NumberStyle)>>,
    /// Number of a list item whose text has not started.
    number: Option<String>,
}

/// A row of a table.
#[derive(Default)]
struct Row {
    /// `true` if the row has a cell.
    started: bool,
    /// Start of the open cell's text.
    cell: Option<usize>,
}

impl<'g> TextBuilder<'g> {
    fn new(sink: &'g mut TextSink) -> Self {
        TextBuilder {
            sink,
            hidden: None,
            invisible: None,
            preformatted: 0,
            pending_space: false,
            title: None,
            tables: Vec::new(),
            lists: Vec::new(),
            number: None,
        }
    }

    fn start(&mut self, tag: &StartTag<()>) -> Result<(), ExtractError> {
        let name = String::from_utf8_lossy(&tag.name);
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(*hidden == name && !tag.self_closing);
            return Ok(());
        }
        if self.skips(&name, tag) {
            return Ok(());
        }
        match kind(&name) {
            Some(ElementKind::Hidden) if !tag.self_closing || RAW.contains(&&*name) => self.hide(name.into_owned()),
            Some(ElementKind::Hidden) => {}
            Some(ElementKind::Table) => self.table()?,
            Some(ElementKind::Row) => self.row()?,
            Some(ElementKind::Cell) => self.cell()?,
            Some(ElementKind::List) => self.list(&name, tag)?,
            Some(ElementKind::Item) => self.item(tag)?,
            Some(ElementKind::Break) => self.break_line()?,
            Some(ElementKind::Preformatted) => {
                self.block_boundary(ElementKind::Paragraph)?;
                self.preformatted += 1;
            }
            Some(kind) => self.block_boundary(kind)?,
            None => self.replaced_element(&name, tag)?,
        }
        Ok(())
    }

    /// Returns true if an element is not shown, or is within one that is not shown. Scripts and styles are read as usual.
    fn skips(&mut self, name: &str, tag: &StartTag<()>) -> bool {
        if kind(name) == Some(ElementKind::Hidden) {
            return false;
        }
        match self.invisible.as_mut().map(|element| element.start(name, tag.self_closing)) {
            Some(Place::Inside) => return true,
            _ => self.invisible = None,
        }
        let is_invisible = visibility::is_invisible(name, tag);
        if is_invisible && !visibility::is_void(name) && !tag.self_closing {
            self.invisible = Some(Invisible::new(name.to_owned()));
        }
        is_invisible
    }

    fn hide(&mut self, name: String) {
        if name == "title" {
            self.title = Some(String::new());
        }
        self.hidden = Some((name, 1));
    }

    fn end(&mut self, name: &str) -> Result<(), ExtractError> {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth -= usize::from(hidden == name);
            if *depth == 0 {
                self.hidden = None;
                self.sink.set_title(&self.title.take().unwrap_or_default());
            }
            return Ok(());
        }
        match self.invisible.as_mut().map(|element| element.end(name)) {
            Some(Place::Inside) => return Ok(()),
            Some(Place::End) => {
                self.invisible = None;
                return Ok(());
            }
            _ => self.invisible = None,
        }
        match kind(name) {
            Some(ElementKind::Preformatted) => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.block_boundary(ElementKind::Paragraph)
            }
            Some(ElementKind::Table) => self.end_table(),
            Some(ElementKind::Row) => self.row(),
            Some(ElementKind::Cell) => {
                self.end_cell();
                Ok(())
            }
            Some(ElementKind::List) => {
                self.lists.pop();
                self.block_boundary(ElementKind::Paragraph)
            }
            Some(kind @ (ElementKind::Paragraph | ElementKind::Line | ElementKind::Item)) => self.block_boundary(kind),
            _ => Ok(()),
        }
    }

    /// Writes the boundary between two blocks.
    fn block_boundary(&mut self, kind: ElementKind) -> Result<(), ExtractError> {
        self.pending_space = false;
        match kind {
            ElementKind::Paragraph => self.sink.end_paragraph(),
            _ => self.sink.end_line(),
        }
    }

    fn break_line(&mut self) -> Result<(), ExtractError> {
        self.pending_space = false;
        self.sink.push("\n")
    }

    fn table(&mut self) -> Result<(), ExtractError> {
        self.block_boundary(ElementKind::Paragraph)?;
        if self.tables.len() < MAX_NESTING {
            self.tables.push(Row::default());
        }
        Ok(())
    }

    fn end_table(&mut self) -> Result<(), ExtractError> {
        self.end_cell();
        self.tables.pop();
        self.block_boundary(ElementKind::Paragraph)
    }

    /// Starts or ends a table row.
    fn row(&mut self) -> Result<(), ExtractError> {
        self.end_cell();
        if let Some(row) = self.tables.last_mut() {
            *row = Row::default();
        }
        self.block_boundary(ElementKind::Line)
    }

    fn cell(&mut self) -> Result<(), ExtractError> {
        self.end_cell();
        self.pending_space = false;
        let is_next = match self.tables.last_mut() {
            Some(row) => std::mem::replace(&mut row.started, true),
            None => !self.at_start(),
        };
        if is_next {
            self.sink.push("\t")?;
        }
        let start = self.sink.page_text().len();
        if let Some(row) = self.tables.last_mut() {
            row.cell = Some(start);
        }
        Ok(())
    }

    /// Ends a cell, joining a short one into a single line so that the row is one line.
    fn end_cell(&mut self) {
        let Some(row) = self.tables.last_mut() else { return };
        if let Some(start) = row.cell.take() {
            self.pending_space = false;
            // A cell after a long cell starts a new line.
            row.started = self.sink.join_lines(start, MAX_CELL_SIZE);
        }
    }

    fn list(&mut self, name: &str, tag: &StartTag<()>) -> Result<(), ExtractError> {
        let first = || attribute(tag, "start").and_then(|start| start.parse().ok()).unwrap_or(1);
        let style = || match attribute(tag, "type").as_deref() {
            Some("a") => NumberStyle::LowerLetter,
            Some("A") => NumberStyle::UpperLetter,
            Some("i") => NumberStyle::LowerRoman,
            Some("I") => NumberStyle::UpperRoman,
            _ => NumberStyle::Decimal,
        };
        if self.lists.len() < MAX_NESTING {
            self.lists.push((name == "ol").then(|| (first(), style())));
        }
        self.block_boundary(ElementKind::Paragraph)
    }

    fn item(&mut self, tag: &StartTag<()>) -> Result<(), ExtractError> {
        self.block_boundary(ElementKind::Line)?;
        self.number = None;
        if let Some(Some((next, style))) = self.lists.last_mut() {
            let number = attribute(tag, "value").and_then(|value| value.parse().ok()).unwrap_or(*next);
            *next = number.saturating_add(1);
            self.number = Some(format!("{}. ", style.format(number)));
        }
        Ok(())
    }

    /// Adds the text of a CDATA section.
    fn cdata(&mut self, comment: &str) -> Result<(), ExtractError> {
        match comment.strip_prefix("[CDATA[") {
            Some(text) => self.text(text.strip_suffix("]]").unwrap_or(text)),
            None => Ok(()),
        }
    }

    /// Adds the replacement text of an element: the alternative text of an image, the value of an input field.
    fn replaced_element(&mut self, name: &str, tag: &StartTag<()>) -> Result<(), ExtractError> {
        let kind = attribute(tag, "type").unwrap_or_default().to_ascii_lowercase();
        let is_visible = !["hidden", "password", "checkbox", "radio"].contains(&kind.as_str());
        let replacement = match name {
            "img" => attribute(tag, "alt"),
            "input" if is_visible => attribute(tag, "value").map(|value| format!(" {value} ")),
            _ => None,
        };
        replacement.map_or(Ok(()), |text| self.text(&text))
    }

    fn at_start(&self) -> bool {
        let text = self.sink.page_text();
        text.is_empty() || text.ends_with('\n')
    }

    fn text(&mut self, text: &str) -> Result<(), ExtractError> {
        if let Some(title) = &mut self.title {
            title.push_str(text);
        }
        if self.hidden.is_some() {
            return Ok(());
        }
        if self.invisible.is_some() {
            self.sink.omit(text);
            return Ok(());
        }
        if self.preformatted > 0 {
            self.write_number()?;
            return self.sink.push(text);
        }
        self.flow_text(text)
    }

    /// Writes the pending number of a list item.
    fn write_number(&mut self) -> Result<(), ExtractError> {
        self.number.take().map_or(Ok(()), |number| self.sink.push(&number))
    }

    /// Adds text, collapsing white space to one space, or to nothing at the start of a line. A no-break space is kept.
    fn flow_text(&mut self, text: &str) -> Result<(), ExtractError> {
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C');
        self.pending_space |= text.starts_with(is_blank);
        for word in text.split(is_blank).filter(|word| !word.is_empty()) {
            if self.pending_space && !self.at_start() && !self.sink.page_text().ends_with('\t') {
                self.sink.push(" ")?;
            }
            self.write_number()?;
            self.sink.push(word)?;
            self.pending_space = true;
        }
        self.pending_space = text.ends_with(is_blank) || self.pending_space && text.trim_matches(is_blank).is_empty();
        Ok(())
    }
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value).into_owned())
}
