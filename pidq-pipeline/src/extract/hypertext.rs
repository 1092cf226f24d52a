//! HTML → its text: blocks become lines, cells get tabs between, scripts and styles are left out.
//!
//! Tags are taken one after another and no tree is made: what has no tree cannot be too deep.

use html5gum::emitters::default::{DefaultEmitter, StartTag};
use html5gum::{Token, Tokenizer};

use super::gather::Gather;
use super::look::{Fit, Look};
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
    /// A cell of a table.
    Cell,
    /// A line break.
    Break,
    /// Blanks and line breaks count.
    Preformatted,
}

const KINDS: &[(Kind, &[&str])] = &[
    (Kind::Hidden, &["script", "style", "noscript", "template", "svg", "math", "iframe", "object", "title", "select"]),
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
            "table",
            "ul",
            "ol",
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
        ],
    ),
    (
        Kind::Line,
        &["div", "li", "tr", "dt", "dd", "body", "head", "address", "caption", "figcaption", "summary", "details"],
    ),
    (Kind::Cell, &["td", "th"]),
    (Kind::Break, &["br"]),
    (Kind::Preformatted, &["pre", "textarea", "listing", "xmp"]),
];

fn kind(name: &str) -> Option<Kind> {
    KINDS.iter().find(|(_, names)| names.contains(&name)).map(|(kind, _)| *kind)
}

/// Adds the text of HTML.
pub fn text(html: &str, gather: &mut Gather) -> Result<(), Failure> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut page = Page { gather, hidden: None, preformatted: 0, blank: false, title: None };
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => page.start(&tag)?,
            Token::EndTag(tag) => page.end(&String::from_utf8_lossy(&tag.name))?,
            Token::String(text) => page.text(&String::from_utf8_lossy(&text.value))?,
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    Ok(())
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
}

impl Page<'_> {
    fn start(&mut self, tag: &StartTag<()>) -> Result<(), Failure> {
        let name = String::from_utf8_lossy(&tag.name);
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(*hidden == name && !tag.self_closing);
            return Ok(());
        }
        match kind(&name) {
            Some(Kind::Hidden) if !tag.self_closing => self.hide(name.into_owned()),
            Some(Kind::Cell) => self.cell()?,
            Some(Kind::Break) => self.break_line()?,
            Some(Kind::Preformatted) => {
                self.border(Kind::Paragraph)?;
                self.preformatted += 1;
            }
            Some(kind) => self.border(kind)?,
            None if name == "img" => self.alternative(tag)?,
            None => {}
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
            Some(kind @ (Kind::Paragraph | Kind::Line)) => self.border(kind),
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

    fn cell(&mut self) -> Result<(), Failure> {
        self.blank = false;
        match self.at_start() {
            true => Ok(()),
            false => self.gather.push("\t"),
        }
    }

    /// A picture says what is written in its place.
    fn alternative(&mut self, tag: &StartTag<()>) -> Result<(), Failure> {
        match tag.attributes.get(&b"alt"[..]) {
            Some(text) => self.text(&String::from_utf8_lossy(text)),
            None => Ok(()),
        }
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
            return self.gather.push(text);
        }
        self.flowing(text)
    }

    /// Blanks of any number and kind are one, and none where a line begins. A no-break space is a character.
    fn flowing(&mut self, text: &str) -> Result<(), Failure> {
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C');
        self.blank |= text.starts_with(is_blank);
        for word in text.split(is_blank).filter(|word| !word.is_empty()) {
            if self.blank && !self.at_start() && !self.gather.page_text().ends_with('\t') {
                self.gather.push(" ")?;
            }
            self.gather.push(word)?;
            self.blank = true;
        }
        self.blank = text.ends_with(is_blank) || self.blank && text.trim_matches(is_blank).is_empty();
        Ok(())
    }
}
