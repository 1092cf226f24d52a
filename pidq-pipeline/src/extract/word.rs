//! DOCX: paragraphs a line each, cells of a table with tabs between, notes and margins after the text.

use super::archive::Archive;
use super::figures;
use super::gather::Gather;
use super::numbering::{Numbering, Paragraph};
use super::symbols;
use super::xml::{self, Attributes, Node};
use super::{Code, Failure, Format, Source};

/// The row.
pub const DOCX: Format = Format {
    name: "docx",
    media_types: &[
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        "application/vnd.ms-word.document.macroenabled.12",
    ],
    extensions: &["docx", "docm", "dotx", "dotm"],
    summary: "Word: text with the numbers of lists, tables, notes, comments, headers, footers, charts; what was deleted is not read",
    sniff: |look| look.has_file(MAIN),
    read,
};

const MAIN: &str = "word/document.xml";

/// What stands beside the text, in the order in which it is added.
const BESIDE: &[&str] = &["word/footnotes", "word/endnotes", "word/comments", "word/header", "word/footer"];

/// Elements whose content is not what the page shows: deleted text, the old place of moved text, the second form of a
/// shape that has two.
const HIDDEN: &[&str] = &["del", "moveFrom", "Fallback", "instrText", "delText", "pPrChange", "rPrChange"];

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let mut archive = Archive::open(source.look.bytes, source.options)?;
    let mut numbering = match Numbering::of(&mut archive) {
        Err(failure) if failure.code == Code::CorruptDocument => {
            gather.warn("the rules of lists are broken: numbers of paragraphs are missing");
            Numbering::default()
        }
        read => read?,
    };
    part(&mut archive, MAIN, &mut numbering, gather)?;
    let mut names = archive.names();
    names.sort();
    for kind in BESIDE {
        for name in names.iter().filter(|name| name.starts_with(kind) && name.ends_with(".xml")) {
            gather.paragraph()?;
            part(&mut archive, name, &mut numbering, gather)?;
        }
    }
    figures::beside(&mut archive, MAIN, &["chart", "diagramData"], gather)?;
    properties(&mut archive, gather);
    Ok(())
}

/// The title that a document of Office has in its properties.
pub fn properties(archive: &mut Archive<'_>, gather: &mut Gather) {
    if let Some(title) = archive.part("docProps/core.xml").ok().and_then(xml::title) {
        gather.title(&title);
    }
}

fn part(archive: &mut Archive<'_>, name: &str, numbering: &mut Numbering, gather: &mut Gather) -> Result<(), Failure> {
    let mut body = Body::new(gather);
    body.numbering = Some(numbering);
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
    /// The numbers of paragraphs, where the format has them.
    numbering: Option<&'g mut Numbering>,
    /// What the paragraph says of its number, and the number, until its text begins.
    paragraph: Paragraph,
    number: Option<String>,
}

impl<'g> Body<'g> {
    pub fn new(gather: &'g mut Gather) -> Self {
        Body {
            gather,
            hidden: 0,
            text: false,
            rows: Vec::new(),
            gap: false,
            numbering: None,
            paragraph: Paragraph::default(),
            number: None,
        }
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
            "ptab" => self.put("\t")?,
            "sym" => self.sign(attributes)?,
            "p" => (self.paragraph, self.number) = (Paragraph::default(), None),
            "pStyle" => self.style(attributes.get("val"))?,
            "numId" => self.paragraph.number = attributes.get("val"),
            "ilvl" => self.paragraph.level = attributes.get("val").and_then(|level| level.parse().ok()),
            // A box of text begins a line, wherever in one it hangs.
            "txbxContent" if self.rows.is_empty() => self.gather.line()?,
            "txbxContent" => self.gap = true,
            "tbl" => self.table(),
            "tr" => self.row(false),
            "tc" => self.cell()?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Failure> {
        match name {
            "t" => self.text = false,
            "pPr" => self.count(),
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

    /// A table in a cell stands apart from the text before it.
    fn table(&mut self) {
        self.gap = !self.rows.is_empty();
        self.rows.push(false);
    }

    fn cell(&mut self) -> Result<(), Failure> {
        self.gap &= self.rows.len() > 1;
        if self.rows.last() == Some(&true) {
            self.gap = false;
            self.gather.push("\t")?;
        }
        self.row(true);
        Ok(())
    }

    fn style(&mut self, style: Option<String>) -> Result<(), Failure> {
        self.paragraph.style = style;
        match &self.paragraph.style {
            Some(style) if is_heading(style) => self.gather.paragraph(),
            _ => Ok(()),
        }
    }

    /// Counts the paragraph, now that all is known of it.
    fn count(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        self.number = self.numbering.as_mut().and_then(|numbering| numbering.next(&paragraph));
    }

    /// A sign of a font of signs, which Word keeps in an area of its own.
    fn sign(&mut self, attributes: &Attributes<'_>) -> Result<(), Failure> {
        let code = attributes.get("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
        let (Some(code), Some(font)) = (code, attributes.get("font")) else { return Ok(()) };
        let known = match code {
            0xF000..=0xF0FF => symbols::of_font(&font, code as u8),
            code => char::from_u32(code),
        };
        match known {
            Some(sign) => self.put(sign.encode_utf8(&mut [0; 4])),
            None => {
                self.gather.warn(format!("a sign of the font {font} is not read"));
                Ok(())
            }
        }
    }

    fn put(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(number) = self.number.take() {
            self.put(&format!("{number} "))?;
        }
        if std::mem::take(&mut self.gap) && !self.gather.page_text().ends_with(['\t', '\n', ' ']) {
            self.gather.push(" ")?;
        }
        self.gather.push(text)
    }
}

fn is_heading(style: &str) -> bool {
    style.starts_with("Heading") || style == "Title"
}
