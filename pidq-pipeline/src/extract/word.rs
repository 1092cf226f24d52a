//! DOCX: paragraphs a line each, cells of a table with tabs between, notes and margins after the text.

use super::archive::Archive;
use super::gather::Gather;
use super::xml::{self, Attributes, Node};
use super::{Failure, Format, Source};

/// The row.
pub const DOCX: Format = Format {
    name: "docx",
    media_types: &[
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        "application/vnd.ms-word.document.macroenabled.12",
    ],
    extensions: &["docx", "docm", "dotx", "dotm"],
    summary: "Word: text, tables, notes, headers and footers; what was deleted is not read",
    sniff: |look| look.has_file(MAIN),
    read,
};

const MAIN: &str = "word/document.xml";

/// What stands beside the text, in the order in which it is added.
const BESIDE: &[&str] = &["word/footnotes", "word/endnotes", "word/header", "word/footer"];

/// Elements whose content is not what the page shows: deleted text, the old place of moved text, the second form of a
/// shape that has two.
const HIDDEN: &[&str] = &["del", "moveFrom", "Fallback", "instrText", "delText", "pPrChange", "rPrChange"];

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let mut archive = Archive::open(source.look.bytes, source.options)?;
    part(&mut archive, MAIN, gather)?;
    let mut names = archive.names();
    names.sort();
    for kind in BESIDE {
        for name in names.iter().filter(|name| name.starts_with(kind) && name.ends_with(".xml")) {
            gather.paragraph()?;
            part(&mut archive, name, gather)?;
        }
    }
    properties(&mut archive, gather);
    Ok(())
}

/// The title that a document of Office has in its properties.
pub fn properties(archive: &mut Archive<'_>, gather: &mut Gather) {
    if let Some(title) = archive.part("docProps/core.xml").ok().and_then(xml::title) {
        gather.title(&title);
    }
}

fn part(archive: &mut Archive<'_>, name: &str, gather: &mut Gather) -> Result<(), Failure> {
    let mut body = Body { gather, hidden: 0, text: false, rows: Vec::new(), gap: false };
    xml::walk(archive.part(name)?, |node| body.node(node))
}

/// Where a reader of text of Office is. Word and PowerPoint name what matters alike.
pub struct Body<'g> {
    pub gather: &'g mut Gather,
    hidden: usize,
    text: bool,
    /// The tables that are open: whether a cell of the row has begun.
    rows: Vec<bool>,
    /// Whether a paragraph ended inside of a cell: a blank, if more comes in the cell.
    gap: bool,
}

impl<'g> Body<'g> {
    pub fn new(gather: &'g mut Gather) -> Self {
        Body { gather, hidden: 0, text: false, rows: Vec::new(), gap: false }
    }

    pub fn node(&mut self, node: Node<'_>) -> Result<(), Failure> {
        match node {
            Node::Start(name, _) if self.hidden > 0 || HIDDEN.contains(&name) => self.hidden += 1,
            Node::End(_) if self.hidden > 0 => self.hidden -= 1,
            Node::Start(name, attributes) => self.start(name, &attributes)?,
            Node::End(name) => self.end(name)?,
            Node::Text(text) if self.text && self.hidden == 0 => self.put(&text)?,
            Node::Text(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, name: &str, attributes: &Attributes<'_>) -> Result<(), Failure> {
        match name {
            "t" => self.text = true,
            "tab" if attributes.get("val").is_none() => self.put("\t")?,
            "br" | "cr" if self.rows.is_empty() => self.gather.push("\n")?,
            "br" | "cr" => self.gap = true,
            "noBreakHyphen" => self.put("\u{2011}")?,
            "pStyle" if attributes.get("val").is_some_and(|style| is_heading(&style)) => self.gather.paragraph()?,
            "tbl" => self.rows.push(false),
            "tr" => self.row(false),
            "tc" => self.cell()?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Failure> {
        match name {
            "t" => self.text = false,
            "p" if self.rows.is_empty() => self.gather.line()?,
            "p" => self.gap = true,
            "tr" if self.rows.len() < 2 => self.gather.line()?,
            "tbl" => drop(self.rows.pop()),
            _ => return Ok(()),
        }
        if self.rows.is_empty() || name == "tr" {
            self.gap = self.rows.len() > 1;
        }
        Ok(())
    }

    fn row(&mut self, begun: bool) {
        if let Some(row) = self.rows.last_mut() {
            *row = begun;
        }
    }

    fn cell(&mut self) -> Result<(), Failure> {
        self.gap = false;
        if self.rows.last() == Some(&true) {
            self.gather.push("\t")?;
        }
        self.row(true);
        Ok(())
    }

    fn put(&mut self, text: &str) -> Result<(), Failure> {
        if std::mem::take(&mut self.gap) && !self.gather.page_text().ends_with(['\t', '\n', ' ']) {
            self.gather.push(" ")?;
        }
        self.gather.push(text)
    }
}

fn is_heading(style: &str) -> bool {
    style.starts_with("Heading") || style == "Title"
}
