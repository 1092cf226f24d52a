//! HTML → its text: blocks become lines, cells get tabs between, scripts and styles are left out.
//!
//! Tags are taken one after another and no tree is made: what has no tree cannot be too deep. What has to be known of
//! the elements around is counted: the rows of open tables, and the numbers of open lists.

use std::borrow::Cow;

use html5gum::emitters::default::{DefaultEmitter, StartTag};
use html5gum::{Token, Tokenizer};

use super::gather::Gather;
use super::look::{Fit, Look};
use super::ordinals::Count;
use super::{Failure, Format, Markup, Source, plain};

/// The row.
pub const HTML: Format = Format {
    name: "html",
    media_types: &["text/html", "application/xhtml+xml"],
    extensions: &["html", "htm", "xhtml"],
    summary: "HTML: its text, or the document as it stands for splitters that cut at tags",
    sniff,
    read,
};

/// What HTML begins with.
const BEGINNINGS: &[&str] =
    &["<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<h1", "<div", "<p>", "<table"];

fn sniff(look: &Look<'_>) -> Fit {
    let Some(decoded) = look.text() else { return Fit::No };
    let start = after_comments(&decoded.text);
    let head: String = start.chars().take(20).collect::<String>().to_ascii_lowercase();
    match BEGINNINGS.iter().any(|beginning| head.starts_with(beginning)) {
        true => Fit::Certain,
        false => Fit::Possible,
    }
}

/// Comments and a declaration of XML may stand before the document.
fn after_comments(text: &str) -> &str {
    let mut text = text.trim_start();
    for (begin, end) in [("<?xml", "?>"), ("<!--", "-->"), ("<!--", "-->")] {
        if let Some(rest) = text.strip_prefix(begin).and_then(|rest| rest.split_once(end)) {
            text = rest.1.trim_start();
        }
    }
    text
}

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let html = plain::text(source, gather)?;
    match source.options.markup {
        Markup::Read => text(html, gather),
        Markup::Keep => gather.push(html),
    }
}

/// What becomes of an element; those that are not listed are part of their line.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Left out with all that is in it.
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
    /// Blanks and line breaks count.
    Preformatted,
}

const KINDS: &[(Kind, &[&str])] = &[
    (
        Kind::Hidden,
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
        Kind::Paragraph,
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
        Kind::Line,
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
    (Kind::Table, &["table"]),
    (Kind::Row, &["tr"]),
    (Kind::List, &["ul", "ol"]),
    (Kind::Item, &["li"]),
    (Kind::Cell, &["td", "th"]),
    (Kind::Break, &["br"]),
    (Kind::Preformatted, &["pre", "textarea", "listing", "xmp"]),
];

fn kind(name: &str) -> Option<Kind> {
    KINDS.iter().find(|(_, names)| names.contains(&name)).map(|(kind, _)| *kind)
}

/// Elements whose content is no markup.
const RAW: &[&str] = &["script", "style", "title", "textarea", "iframe", "xmp", "noembed", "noscript"];

/// Characters of a cell that is shown on one line. In longer ones paragraphs stay apart: tables also hold whole pages.
const MAX_CELL: usize = 1000;

/// Tables and lists in each other that are told apart.
const MAX_OPEN: usize = 256;

/// Adds the text of HTML.
pub fn text(html: &str, gather: &mut Gather) -> Result<(), Failure> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let is_xml = html.contains("http://www.w3.org/1999/xhtml");
    let html = if is_xml { Cow::Owned(with_ends(html)) } else { Cow::Borrowed(html) };
    let mut page = Page::new(gather);
    for Ok(token) in Tokenizer::new_with_emitter(&*html, emitter) {
        match token {
            Token::StartTag(tag) => page.start(&tag)?,
            Token::EndTag(tag) => page.end(&String::from_utf8_lossy(&tag.name))?,
            Token::String(text) => page.text(&String::from_utf8_lossy(&text.value))?,
            Token::Comment(text) if is_xml => page.section(&String::from_utf8_lossy(&text.value))?,
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    Ok(())
}

/// XHTML ends elements at once (`<script src="a.js"/>`), where HTML takes all that follows for their content: they get
/// ends of their own.
fn with_ends(html: &str) -> String {
    let mut out = String::with_capacity(html.len() + 64);
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase();
        let end = if RAW.contains(&name.as_str()) { end_of_tag(tag) } else { Some(0) };
        // A tag without an end is the last one; to look for that of each would take its time.
        let Some((inside, after)) = end.map(|end| tag.split_at(end)) else { break };
        out.push_str(before);
        out.push('<');
        match inside.strip_suffix('/') {
            Some(inside) => out.push_str(&format!("{inside}></{name}")),
            None => out.push_str(inside),
        }
        rest = after;
    }
    out + rest
}

/// Where the bracket is that ends a tag; one in quotes does not.
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

struct Page<'g> {
    gather: &'g mut Gather,
    /// The hidden element that is open, and how often it is nested in itself.
    hidden: Option<(String, usize)>,
    preformatted: usize,
    /// Whether a blank stands before the next word.
    blank: bool,
    /// The title, while it is read.
    title: Option<String>,
    /// The tables that are open.
    tables: Vec<Row>,
    /// The lists that are open: the number of the next item and how it is shown, if they count.
    lists: Vec<Option<(u32, Count)>>,
    /// The number of an item whose text has not begun.
    number: Option<String>,
}

/// A row of a table.
#[derive(Default)]
struct Row {
    /// Whether it has a cell.
    begun: bool,
    /// Where the text of the cell that is open begins.
    cell: Option<usize>,
}

impl<'g> Page<'g> {
    fn new(gather: &'g mut Gather) -> Self {
        Page {
            gather,
            hidden: None,
            preformatted: 0,
            blank: false,
            title: None,
            tables: Vec::new(),
            lists: Vec::new(),
            number: None,
        }
    }

    fn start(&mut self, tag: &StartTag<()>) -> Result<(), Failure> {
        let name = String::from_utf8_lossy(&tag.name);
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(*hidden == name && !tag.self_closing);
            return Ok(());
        }
        match kind(&name) {
            Some(Kind::Hidden) if !tag.self_closing || RAW.contains(&&*name) => self.hide(name.into_owned()),
            Some(Kind::Hidden) => {}
            Some(Kind::Table) => self.table()?,
            Some(Kind::Row) => self.row()?,
            Some(Kind::Cell) => self.cell()?,
            Some(Kind::List) => self.list(&name, tag)?,
            Some(Kind::Item) => self.item(tag)?,
            Some(Kind::Break) => self.break_line()?,
            Some(Kind::Preformatted) => {
                self.border(Kind::Paragraph)?;
                self.preformatted += 1;
            }
            Some(kind) => self.border(kind)?,
            None => self.replaced(&name, tag)?,
        }
        Ok(())
    }

    fn hide(&mut self, name: String) {
        if name == "title" {
            self.title = Some(String::new());
        }
        self.hidden = Some((name, 1));
    }

    fn end(&mut self, name: &str) -> Result<(), Failure> {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth -= usize::from(hidden == name);
            if *depth == 0 {
                self.hidden = None;
                self.gather.title(&self.title.take().unwrap_or_default());
            }
            return Ok(());
        }
        match kind(name) {
            Some(Kind::Preformatted) => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.border(Kind::Paragraph)
            }
            Some(Kind::Table) => self.end_table(),
            Some(Kind::Row) => self.row(),
            Some(Kind::Cell) => {
                self.end_cell();
                Ok(())
            }
            Some(Kind::List) => {
                self.lists.pop();
                self.border(Kind::Paragraph)
            }
            Some(kind @ (Kind::Paragraph | Kind::Line | Kind::Item)) => self.border(kind),
            _ => Ok(()),
        }
    }

    /// The end of one block, or the beginning of another.
    fn border(&mut self, kind: Kind) -> Result<(), Failure> {
        self.blank = false;
        match kind {
            Kind::Paragraph => self.gather.paragraph(),
            _ => self.gather.line(),
        }
    }

    fn break_line(&mut self) -> Result<(), Failure> {
        self.blank = false;
        self.gather.push("\n")
    }

    fn table(&mut self) -> Result<(), Failure> {
        self.border(Kind::Paragraph)?;
        if self.tables.len() < MAX_OPEN {
            self.tables.push(Row::default());
        }
        Ok(())
    }

    fn end_table(&mut self) -> Result<(), Failure> {
        self.end_cell();
        self.tables.pop();
        self.border(Kind::Paragraph)
    }

    /// The beginning or the end of a row.
    fn row(&mut self) -> Result<(), Failure> {
        self.end_cell();
        if let Some(row) = self.tables.last_mut() {
            *row = Row::default();
        }
        self.border(Kind::Line)
    }

    fn cell(&mut self) -> Result<(), Failure> {
        self.end_cell();
        self.blank = false;
        let is_next = match self.tables.last_mut() {
            Some(row) => std::mem::replace(&mut row.begun, true),
            None => !self.at_start(),
        };
        if is_next {
            self.gather.push("\t")?;
        }
        let start = self.gather.page_text().len();
        if let Some(row) = self.tables.last_mut() {
            row.cell = Some(start);
        }
        Ok(())
    }

    /// Puts a short cell on one line, so that its row is one.
    fn end_cell(&mut self) {
        let Some(row) = self.tables.last_mut() else { return };
        if let Some(start) = row.cell.take() {
            self.blank = false;
            // What comes after paragraphs begins a line of its own.
            row.begun = self.gather.join_lines(start, MAX_CELL);
        }
    }

    fn list(&mut self, name: &str, tag: &StartTag<()>) -> Result<(), Failure> {
        let first = || value(tag, "start").and_then(|start| start.parse().ok()).unwrap_or(1);
        let count = || match value(tag, "type").as_deref() {
            Some("a") => Count::LowerLetter,
            Some("A") => Count::UpperLetter,
            Some("i") => Count::LowerRoman,
            Some("I") => Count::UpperRoman,
            _ => Count::Decimal,
        };
        if self.lists.len() < MAX_OPEN {
            self.lists.push((name == "ol").then(|| (first(), count())));
        }
        self.border(Kind::Paragraph)
    }

    fn item(&mut self, tag: &StartTag<()>) -> Result<(), Failure> {
        self.border(Kind::Line)?;
        self.number = None;
        if let Some(Some((next, count))) = self.lists.last_mut() {
            let number = value(tag, "value").and_then(|value| value.parse().ok()).unwrap_or(*next);
            *next = number.saturating_add(1);
            self.number = Some(format!("{}. ", count.show(number)));
        }
        Ok(())
    }

    /// A section of XML whose content is text as it stands.
    fn section(&mut self, comment: &str) -> Result<(), Failure> {
        match comment.strip_prefix("[CDATA[") {
            Some(text) => self.text(text.strip_suffix("]]").unwrap_or(text)),
            None => Ok(()),
        }
    }

    /// What stands in the place of an element: the words for a picture, what is in a field.
    fn replaced(&mut self, name: &str, tag: &StartTag<()>) -> Result<(), Failure> {
        let kind = value(tag, "type").unwrap_or_default().to_ascii_lowercase();
        let is_seen = !["hidden", "password", "checkbox", "radio"].contains(&kind.as_str());
        let shown = match name {
            "img" => value(tag, "alt"),
            "input" if is_seen => value(tag, "value").map(|value| format!(" {value} ")),
            _ => None,
        };
        shown.map_or(Ok(()), |text| self.text(&text))
    }

    fn at_start(&self) -> bool {
        let text = self.gather.page_text();
        text.is_empty() || text.ends_with('\n')
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(title) = &mut self.title {
            title.push_str(text);
        }
        if self.hidden.is_some() {
            return Ok(());
        }
        if self.preformatted > 0 {
            self.begin()?;
            return self.gather.push(text);
        }
        self.flowing(text)
    }

    /// Puts the number before the text of an item.
    fn begin(&mut self) -> Result<(), Failure> {
        self.number.take().map_or(Ok(()), |number| self.gather.push(&number))
    }

    /// Blanks of any number and kind are one, and none where a line begins. A no-break space is a character.
    fn flowing(&mut self, text: &str) -> Result<(), Failure> {
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C');
        self.blank |= text.starts_with(is_blank);
        for word in text.split(is_blank).filter(|word| !word.is_empty()) {
            if self.blank && !self.at_start() && !self.gather.page_text().ends_with('\t') {
                self.gather.push(" ")?;
            }
            self.begin()?;
            self.gather.push(word)?;
            self.blank = true;
        }
        self.blank = text.ends_with(is_blank) || self.blank && text.trim_matches(is_blank).is_empty();
        Ok(())
    }
}

fn value(tag: &StartTag<()>, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value).into_owned())
}
