//! DOCX reader: one line per paragraph, tabs between table cells; notes, headers and footers follow the text.

use super::docx_numbering::{Numbering, Paragraph};
use super::ooxml_parts;
use super::symbol_fonts;
use crate::archive::Archive;
use crate::text_sink::TextSink;
use crate::xml::{self, Attributes, XmlEvent};
use crate::{ErrorCode, ExtractError, Format, Source};

/// The `docx` format.
pub const DOCX: Format = Format {
    name: "docx",
    media_types: &[
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        "application/vnd.ms-word.document.macroenabled.12",
    ],
    extensions: &["docx", "docm", "dotx", "dotm"],
    summary: "Word: text with list numbers, tables, notes, comments, headers, footers and charts; deleted and hidden text is omitted",
    sniff: |content| content.has_file(MAIN),
    read,
};

const MAIN: &str = "word/document.xml";

/// Parts that are appended after the text, in this order.
const NOTE_PARTS: &[&str] = &["word/footnotes", "word/endnotes", "word/comments", "word/header", "word/footer"];

/// Elements whose content is not displayed: deleted text, the old position of moved text, the fallback form of a shape.
const HIDDEN: &[&str] = &["del", "moveFrom", "Fallback", "instrText", "delText", "pPrChange", "rPrChange"];

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut archive = Archive::open(source.content.bytes, source.options)?;
    let mut numbering = match Numbering::load(&mut archive) {
        Err(error) if error.code == ErrorCode::CorruptDocument => {
            sink.warn("the list definitions are damaged: paragraph numbers are missing");
            Numbering::default()
        }
        result => result?,
    };
    read_part(&mut archive, MAIN, &mut numbering, sink)?;
    let mut names = archive.names();
    names.sort();
    for kind in NOTE_PARTS {
        for name in names.iter().filter(|name| name.starts_with(kind) && name.ends_with(".xml")) {
            sink.end_paragraph()?;
            read_part(&mut archive, name, &mut numbering, sink)?;
        }
    }
    ooxml_parts::append_related_parts(&mut archive, MAIN, &["chart", "diagramData"], sink)?;
    read_title(&mut archive, sink);
    Ok(())
}

/// Sets the title from the properties of an Office document.
pub fn read_title(archive: &mut Archive<'_>, sink: &mut TextSink) {
    if let Some(title) = archive.part("docProps/core.xml").ok().and_then(xml::title) {
        sink.set_title(&title);
    }
}

fn read_part(
    archive: &mut Archive<'_>,
    name: &str,
    numbering: &mut Numbering,
    sink: &mut TextSink,
) -> Result<(), ExtractError> {
    let mut body = TextBody::new(sink);
    body.numbering = Some(numbering);
    xml::walk(archive.part(name)?, |node| body.node(node))
}

/// State of reading an Office text body. Word and PowerPoint use the same element names.
pub struct TextBody<'g> {
    pub sink: &'g mut TextSink,
    hidden_depth: usize,
    in_text: bool,
    /// `true` in the properties of a run, and `true` in a run whose text is formatted as hidden.
    in_run_properties: bool,
    is_vanished: bool,
    /// Open tables; `true` if the current row has a cell.
    rows: Vec<bool>,
    /// `true` if a paragraph ended inside a cell: a space follows if the cell has more text.
    pending_space: bool,
    /// Paragraph numbering, if the format has it.
    numbering: Option<&'g mut Numbering>,
    /// Numbering properties of the current paragraph, and its number until its text starts.
    paragraph: Paragraph,
    number: Option<String>,
}

impl<'g> TextBody<'g> {
    pub fn new(sink: &'g mut TextSink) -> Self {
        TextBody {
            sink,
            hidden_depth: 0,
            in_text: false,
            in_run_properties: false,
            is_vanished: false,
            rows: Vec::new(),
            pending_space: false,
            numbering: None,
            paragraph: Paragraph::default(),
            number: None,
        }
    }

    pub fn node(&mut self, node: XmlEvent<'_>) -> Result<(), ExtractError> {
        match node {
            XmlEvent::Start(name, _) if self.hidden_depth > 0 || HIDDEN.contains(&name) => self.hidden_depth += 1,
            XmlEvent::End(_) if self.hidden_depth > 0 => self.hidden_depth -= 1,
            XmlEvent::Start(name, attributes) => self.start(name, &attributes)?,
            XmlEvent::End(name) => self.end(name)?,
            XmlEvent::Text(text) if self.in_text && self.is_vanished => self.sink.omit(&text),
            XmlEvent::Text(text) if self.in_text && self.hidden_depth == 0 => self.write(&text)?,
            XmlEvent::Text(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, name: &str, attributes: &Attributes<'_>) -> Result<(), ExtractError> {
        match name {
            "t" => self.in_text = true,
            "r" => (self.is_vanished, self.in_run_properties) = (false, false),
            "rPr" => self.in_run_properties = true,
            "vanish" if self.in_run_properties => {
                self.is_vanished = attributes.get("val").is_none_or(|value| !matches!(&*value, "0" | "false" | "off"));
            }
            "tab" if attributes.get("val").is_none() => self.write("\t")?,
            "br" | "cr" if self.rows.is_empty() => self.sink.push("\n")?,
            "br" | "cr" => self.pending_space = true,
            "noBreakHyphen" => self.write("\u{2011}")?,
            "ptab" => self.write("\t")?,
            "sym" => self.symbol(attributes)?,
            "p" => (self.paragraph, self.number) = (Paragraph::default(), None),
            "pStyle" => self.style(attributes.get("val"))?,
            "numId" => self.paragraph.instance_id = attributes.get("val"),
            "ilvl" => self.paragraph.level = attributes.get("val").and_then(|level| level.parse().ok()),
            // A text box starts a new line, wherever it is anchored.
            "txbxContent" if self.rows.is_empty() => self.sink.end_line()?,
            "txbxContent" => self.pending_space = true,
            "tbl" => self.table(),
            "tr" => self.set_row_started(false),
            "tc" => self.cell()?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), ExtractError> {
        match name {
            "rPr" => {
                self.in_run_properties = false;
                return Ok(());
            }
            "t" => self.in_text = false,
            "pPr" => self.number_paragraph(),
            "p" if self.rows.is_empty() => self.sink.end_line()?,
            "p" => self.pending_space = true,
            "tr" if self.rows.len() < 2 => self.sink.end_line()?,
            "tbl" => drop(self.rows.pop()),
            _ => return Ok(()),
        }
        if self.rows.is_empty() || name == "tr" {
            self.pending_space = self.rows.len() > 1;
        }
        Ok(())
    }

    fn set_row_started(&mut self, started: bool) {
        if let Some(row) = self.rows.last_mut() {
            *row = started;
        }
    }

    /// Starts a table. A nested table is separated from the text before it.
    fn table(&mut self) {
        self.pending_space = !self.rows.is_empty();
        self.rows.push(false);
    }

    fn cell(&mut self) -> Result<(), ExtractError> {
        self.pending_space &= self.rows.len() > 1;
        if self.rows.last() == Some(&true) {
            self.pending_space = false;
            self.sink.push("\t")?;
        }
        self.set_row_started(true);
        Ok(())
    }

    fn style(&mut self, style: Option<String>) -> Result<(), ExtractError> {
        self.paragraph.style = style;
        match &self.paragraph.style {
            Some(style) if is_heading(style) => self.sink.end_paragraph(),
            _ => Ok(()),
        }
    }

    /// Computes the number of the paragraph once its properties are complete.
    fn number_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        self.number = self.numbering.as_mut().and_then(|numbering| numbering.next(&paragraph));
    }

    /// Adds a character of a symbol font, which Word stores in the private use area.
    fn symbol(&mut self, attributes: &Attributes<'_>) -> Result<(), ExtractError> {
        let code = attributes.get("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
        let (Some(code), Some(font)) = (code, attributes.get("font")) else { return Ok(()) };
        let character = match code {
            0xF000..=0xF0FF => symbol_fonts::decode(&font, code as u8),
            code => char::from_u32(code),
        };
        match character {
            Some(symbol) => self.write(symbol.encode_utf8(&mut [0; 4])),
            None => {
                self.sink.warn(format!("a symbol of the font {font} is not supported"));
                Ok(())
            }
        }
    }

    fn write(&mut self, text: &str) -> Result<(), ExtractError> {
        if let Some(number) = self.number.take() {
            self.write(&format!("{number} "))?;
        }
        if std::mem::take(&mut self.pending_space) && !self.sink.page_text().ends_with(['\t', '\n', ' ']) {
            self.sink.push(" ")?;
        }
        self.sink.push(text)
    }
}

fn is_heading(style: &str) -> bool {
    style.starts_with("Heading") || style == "Title"
}
