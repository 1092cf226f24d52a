//! OpenDocument: sheets, texts and slides say what they say in the same words.

use super::archive::Archive;
use super::gather::Gather;
use super::xml::{self, Attributes, Node};
use super::{Failure, Format, Source};

/// Sheets.
pub const ODS: Format = Format {
    name: "ods",
    media_types: &["application/vnd.oasis.opendocument.spreadsheet"],
    extensions: &["ods"],
    summary: "OpenDocument spreadsheets: a page a sheet",
    sniff: |look| look.has_mimetype(ODS.media_types[0]),
    read: |source, gather| read(source, gather, "table"),
};

/// Texts.
pub const ODT: Format = Format {
    name: "odt",
    media_types: &["application/vnd.oasis.opendocument.text"],
    extensions: &["odt"],
    summary: "OpenDocument texts",
    sniff: |look| look.has_mimetype(ODT.media_types[0]),
    read: |source, gather| read(source, gather, ""),
};

/// Slides.
pub const ODP: Format = Format {
    name: "odp",
    media_types: &["application/vnd.oasis.opendocument.presentation"],
    extensions: &["odp"],
    summary: "OpenDocument presentations: a page a slide",
    sniff: |look| look.has_mimetype(ODP.media_types[0]),
    read: |source, gather| read(source, gather, "page"),
};

/// Blanks that one element stands for, and cells that one cell is repeated to.
const MAX_REPEAT: usize = 64;

/// Elements whose text is no text of the document.
const HIDDEN: &[&str] = &["annotation", "tracked-changes", "forms", "settings"];

fn read(source: &Source<'_>, gather: &mut Gather, page: &'static str) -> Result<(), Failure> {
    let mut archive = Archive::open(source.look.bytes, source.options)?;
    let manifest = archive.text("META-INF/manifest.xml").unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err(Failure::encrypted("the document is encrypted; save it without a password"));
    }
    let mut body = Body { gather, page, pages: 0, hidden: 0, paragraphs: 0, tables: 0, tabs: 0, cell: Cell::default() };
    xml::walk(archive.part("content.xml")?, |node| body.node(node))?;
    if let Some(title) = archive.part("meta.xml").ok().and_then(xml::title) {
        gather.title(&title);
    }
    Ok(())
}

struct Body<'g> {
    gather: &'g mut Gather,
    /// The element that begins a page.
    page: &'static str,
    pages: usize,
    hidden: usize,
    paragraphs: usize,
    tables: usize,
    /// Tabs that stand before the next cell that says something.
    tabs: usize,
    cell: Cell,
}

#[derive(Default)]
struct Cell {
    open: bool,
    repeat: usize,
    text: String,
}

impl Body<'_> {
    fn node(&mut self, node: Node<'_>) -> Result<(), Failure> {
        match node {
            Node::Start(name, _) if self.hidden > 0 || HIDDEN.contains(&name) => self.hidden += 1,
            Node::End(_) if self.hidden > 0 => self.hidden -= 1,
            Node::Start(name, attributes) => self.start(name, &attributes)?,
            Node::End(name) => self.end(name)?,
            Node::Text(text) if self.paragraphs > 0 && self.hidden == 0 => self.put(&text)?,
            Node::Text(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, name: &str, attributes: &Attributes<'_>) -> Result<(), Failure> {
        if name == self.page && self.tables == 0 {
            self.pages += 1;
            self.gather.page(attributes.get("name").unwrap_or_else(|| self.pages.to_string()))?;
        }
        match name {
            "p" | "h" => self.paragraphs += 1,
            "s" => self.put(&" ".repeat(count(attributes, "c")))?,
            "tab" => self.put("\t")?,
            "line-break" => self.put("\n")?,
            "table" => self.tables += 1,
            "table-row" if self.tables > 0 => self.tabs = 0,
            "table-cell" | "covered-table-cell" => {
                let repeat = count(attributes, "number-columns-repeated");
                self.cell = Cell { open: true, repeat, text: String::new() };
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Failure> {
        match name {
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                self.put("\n")?;
            }
            "table" => self.tables = self.tables.saturating_sub(1),
            "table-row" => self.gather.line()?,
            "table-cell" | "covered-table-cell" => self.end_cell()?,
            _ => {}
        }
        Ok(())
    }

    fn end_cell(&mut self) -> Result<(), Failure> {
        let cell = std::mem::take(&mut self.cell);
        let text = super::spreadsheet::one_line(&cell.text);
        if text.is_empty() {
            self.tabs = (self.tabs + cell.repeat).min(MAX_REPEAT);
            return Ok(());
        }
        for _ in 0..cell.repeat {
            let is_first = self.gather.page_text().is_empty() || self.gather.page_text().ends_with('\n');
            let tabs = if is_first { 0 } else { self.tabs };
            self.gather.push(&"\t".repeat(tabs))?;
            self.gather.push(&text)?;
            self.tabs = 1;
        }
        Ok(())
    }

    fn put(&mut self, text: &str) -> Result<(), Failure> {
        if self.cell.open {
            // A cell is bounded by its part; the text by its limit when the cell ends.
            self.cell.text.push_str(text);
            return Ok(());
        }
        match text {
            "\n" => self.gather.line(),
            text => self.gather.push(text),
        }
    }
}

fn count(attributes: &Attributes<'_>, name: &str) -> usize {
    attributes.get(name).and_then(|count| count.parse().ok()).unwrap_or(1).clamp(1, MAX_REPEAT)
}
