//! OpenDocument reader (ODS, ODT, ODP): spreadsheets, texts and presentations share the same elements.

use crate::archive::Archive;
use crate::text_sink::{TextSink, one_line};
use crate::xml::{self, Attributes, XmlEvent};
use crate::{ExtractError, Format, Source};

/// The `ods` format.
pub const ODS: Format = Format {
    name: "ods",
    media_types: &["application/vnd.oasis.opendocument.spreadsheet"],
    extensions: &["ods"],
    summary: "OpenDocument spreadsheets: one page per sheet",
    sniff: |content| content.has_mimetype(ODS.media_types[0]),
    read: |source, sink| read(source, sink, "table"),
};

/// The `odt` format.
pub const ODT: Format = Format {
    name: "odt",
    media_types: &["application/vnd.oasis.opendocument.text"],
    extensions: &["odt"],
    summary: "OpenDocument text documents",
    sniff: |content| content.has_mimetype(ODT.media_types[0]),
    read: |source, sink| read(source, sink, ""),
};

/// The `odp` format.
pub const ODP: Format = Format {
    name: "odp",
    media_types: &["application/vnd.oasis.opendocument.presentation"],
    extensions: &["odp"],
    summary: "OpenDocument presentations: one page per slide",
    sniff: |content| content.has_mimetype(ODP.media_types[0]),
    read: |source, sink| read(source, sink, "page"),
};

/// Maximum repeat count of spaces and of cells.
const MAX_REPEAT: usize = 64;

/// Elements whose text is not part of the document's text.
const HIDDEN: &[&str] = &["annotation", "tracked-changes", "forms", "settings"];

fn read(source: &Source<'_>, sink: &mut TextSink, page: &'static str) -> Result<(), ExtractError> {
    let mut archive = Archive::open(source.content.bytes, source.options)?;
    let manifest = archive.text("META-INF/manifest.xml").unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err(ExtractError::encrypted("the document is encrypted; save it without a password"));
    }
    let mut body = Body {
        sink,
        page,
        pages: 0,
        hidden_depth: 0,
        paragraph_depth: 0,
        table_depth: 0,
        tabs: 0,
        cell: Cell::default(),
    };
    xml::walk(archive.part("content.xml")?, |node| body.node(node))?;
    if let Some(title) = archive.part("meta.xml").ok().and_then(xml::title) {
        sink.set_title(&title);
    }
    Ok(())
}

struct Body<'g> {
    sink: &'g mut TextSink,
    /// Name of the element that starts a page.
    page: &'static str,
    pages: usize,
    hidden_depth: usize,
    paragraph_depth: usize,
    table_depth: usize,
    /// Tabs before the next cell that is not empty.
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
    fn node(&mut self, node: XmlEvent<'_>) -> Result<(), ExtractError> {
        match node {
            XmlEvent::Start(name, _) if self.hidden_depth > 0 || HIDDEN.contains(&name) => self.hidden_depth += 1,
            XmlEvent::End(_) if self.hidden_depth > 0 => self.hidden_depth -= 1,
            XmlEvent::Start(name, attributes) => self.start(name, &attributes)?,
            XmlEvent::End(name) => self.end(name)?,
            XmlEvent::Text(text) if self.paragraph_depth > 0 && self.hidden_depth == 0 => self.write(&text)?,
            XmlEvent::Text(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, name: &str, attributes: &Attributes<'_>) -> Result<(), ExtractError> {
        if name == self.page && self.table_depth == 0 {
            self.pages += 1;
            self.sink.begin_page(attributes.get("name").unwrap_or_else(|| self.pages.to_string()))?;
        }
        match name {
            "p" | "h" => self.paragraph_depth += 1,
            "s" => self.write(&" ".repeat(count(attributes, "c")))?,
            "tab" => self.write("\t")?,
            "line-break" => self.write("\n")?,
            "table" => self.table_depth += 1,
            "table-row" if self.table_depth > 0 => self.tabs = 0,
            "table-cell" | "covered-table-cell" => {
                let repeat = count(attributes, "number-columns-repeated");
                self.cell = Cell { open: true, repeat, text: String::new() };
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), ExtractError> {
        match name {
            "p" | "h" => {
                self.paragraph_depth = self.paragraph_depth.saturating_sub(1);
                self.write("\n")?;
            }
            "table" => self.table_depth = self.table_depth.saturating_sub(1),
            "table-row" => self.sink.end_line()?,
            "table-cell" | "covered-table-cell" => self.end_cell()?,
            _ => {}
        }
        Ok(())
    }

    fn end_cell(&mut self) -> Result<(), ExtractError> {
        let cell = std::mem::take(&mut self.cell);
        let text = one_line(&cell.text);
        if text.is_empty() {
            self.tabs = (self.tabs + cell.repeat).min(MAX_REPEAT);
            return Ok(());
        }
        for _ in 0..cell.repeat {
            let is_first = self.sink.page_text().is_empty() || self.sink.page_text().ends_with('\n');
            let tabs = if is_first { 0 } else { self.tabs };
            self.sink.push(&"\t".repeat(tabs))?;
            self.sink.push(&text)?;
            self.tabs = 1;
        }
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<(), ExtractError> {
        if self.cell.open {
            // The archive limits the size of a cell; the text limit applies when the cell ends.
            self.cell.text.push_str(text);
            return Ok(());
        }
        match text {
            "\n" => self.sink.end_line(),
            text => self.sink.push(text),
        }
    }
}

fn count(attributes: &Attributes<'_>, name: &str) -> usize {
    attributes.get(name).and_then(|count| count.parse().ok()).unwrap_or(1).clamp(1, MAX_REPEAT)
}
