//! The formats, one row each: what they are called, and how they are read and written.

use pidq_core::Value;

use crate::error::{Code, Error, Result};
use crate::import::Imported;
use crate::text::decode_plain;
use crate::{cypher, dot, graphml, lines, mermaid, model, proteus, svg, tables};

/// A format of files.
#[derive(Debug)]
pub struct Format {
    /// The name that people type.
    pub name: &'static str,
    /// The media type, for HTTP.
    pub media_type: &'static str,
    /// The ending of file names, without the dot.
    pub extension: &'static str,
    /// One line for the manual.
    pub summary: &'static str,
    /// How it is read, where it is.
    pub read: Option<Reader>,
    /// How it is written, where it is.
    pub write: Option<Writer>,
}

/// How a format is read.
#[derive(Debug)]
pub struct Reader {
    /// What its files are called; one for most formats.
    pub files: &'static [&'static str],
    read: fn(&[&[u8]]) -> Result<Imported>,
}

/// How a format is written.
#[derive(Debug)]
pub struct Writer {
    /// What its files are called; one for most formats.
    pub files: &'static [&'static str],
    write: fn(Value<'_>) -> Result<Vec<Vec<u8>>>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is called.
    pub name: &'static str,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Every format, in the order of the manual.
pub const FORMATS: &[Format] = &[
    Format {
        name: "proteus",
        media_type: "application/xml",
        extension: "xml",
        summary: "Proteus XML 3.3, 4.0 and 4.1, as DEXPI uses it",
        read: Some(Reader { files: &["drawing.xml"], read: |files| proteus::read(files[0]) }),
        write: None,
    },
    Format {
        name: "json",
        media_type: "application/json",
        extension: "json",
        summary: "the document itself: `pid_graph` JSON also of drawings in other formats",
        read: None,
        write: Some(Writer { files: &["graph.json"], write: lines::write_json }),
    },
    Format {
        name: "node-link",
        media_type: "application/json",
        extension: "json",
        summary: "node-link JSON, as NetworkX has it, with `edges` or `links`",
        read: Some(Reader { files: &["graph.json"], read: |files| lines::read_node_link(files[0]) }),
        write: Some(Writer { files: &["graph.json"], write: lines::write_node_link }),
    },
    Format {
        name: "graphml",
        media_type: "application/graphml+xml",
        extension: "graphml",
        summary: "GraphML with typed keys, for NetworkX, yEd and Gephi",
        read: Some(Reader { files: &["graph.graphml"], read: |files| graphml::read(files[0]) }),
        write: Some(Writer { files: &["graph.graphml"], write: graphml::write }),
    },
    Format {
        name: "csv-graph",
        media_type: "text/csv",
        extension: "csv",
        summary: "two tables, of nodes and of edges",
        read: Some(Reader { files: &["nodes.csv", "edges.csv"], read: |files| tables::read_pair(files[0], files[1]) }),
        write: Some(Writer { files: &["nodes.csv", "edges.csv"], write: tables::write_pair }),
    },
    Format {
        name: "csv",
        media_type: "text/csv",
        extension: "csv",
        summary: "a list of objects as one table; of a drawing, its nodes",
        read: None,
        write: Some(Writer { files: &["table.csv"], write: tables::write_table }),
    },
    Format {
        name: "xlsx",
        media_type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        extension: "xlsx",
        summary: "a workbook with one sheet a list",
        read: None,
        write: Some(Writer { files: &["tables.xlsx"], write: tables::write_workbook }),
    },
    Format {
        name: "dot",
        media_type: "text/vnd.graphviz",
        extension: "dot",
        summary: "Graphviz, with shapes by class and a frame around each line and equipment",
        read: None,
        write: Some(Writer { files: &["graph.dot"], write: dot::write }),
    },
    Format {
        name: "mermaid",
        media_type: "text/vnd.mermaid",
        extension: "mmd",
        summary: "a Mermaid flowchart, for Markdown",
        read: None,
        write: Some(Writer { files: &["graph.mmd"], write: mermaid::write }),
    },
    Format {
        name: "neo4j",
        media_type: "text/csv",
        extension: "csv",
        summary: "two tables that `neo4j-admin database import` loads",
        read: None,
        write: Some(Writer { files: &["nodes.csv", "rels.csv"], write: tables::write_neo4j }),
    },
    Format {
        name: "cypher",
        media_type: "application/x-cypher-query",
        extension: "cypher",
        summary: "statements that `cypher-shell` runs on an empty Neo4j",
        read: None,
        write: Some(Writer { files: &["graph.cypher"], write: cypher::write }),
    },
    Format {
        name: "ndjson",
        media_type: "application/x-ndjson",
        extension: "ndjson",
        summary: "nodes and edges, one JSON object a line",
        read: None,
        write: Some(Writer { files: &["nodes.ndjson", "edges.ndjson"], write: lines::write_lines }),
    },
    Format {
        name: "svg",
        media_type: "image/svg+xml",
        extension: "svg",
        summary: "a drawing with symbols in the manner of ISO 10628",
        read: None,
        write: Some(Writer { files: &["drawing.svg"], write: svg::write }),
    },
];

impl Format {
    /// The format of this name.
    ///
    /// # Errors
    /// `PQ6009` with the names there are.
    pub fn find(name: &str) -> Result<&'static Format> {
        FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            Error::new(Code::UnknownFormat, format!("no format `{name}`; there are {}", names.join(", ")))
        })
    }

    /// The format that a file begins like. Nothing for what is none, and for CSV, which begins like anything.
    pub fn sniff(bytes: &[u8]) -> Option<&'static Format> {
        let head = head(bytes);
        let name = match head.trim_start() {
            text if opens(text, "PlantModel") => "proteus",
            text if opens(text, "graphml") => "graphml",
            text if text.starts_with(['{', '[']) => "node-link",
            _ => return None,
        };
        Format::find(name).ok()
    }

    /// Reads the files of a drawing.
    ///
    /// # Errors
    /// `PQ6009` when the format cannot be read, `PQ6010` for another number of files, and what the format refuses.
    pub fn import(&self, files: &[&[u8]]) -> Result<Imported> {
        let reader = self.read.as_ref().ok_or_else(|| self.cannot("read"))?;
        if files.len() != reader.files.len() {
            let message = format!("`{}` is read from {} ({})", self.name, count(reader.files), reader.files.join(", "));
            return Err(Error::new(Code::WrongParts, message));
        }
        (reader.read)(files)
    }

    /// Writes a graph or a value.
    ///
    /// # Errors
    /// `PQ6009` when the format cannot be written, `PQ6003` and `PQ6004` for values that it has no place for.
    pub fn export(&self, value: Value<'_>) -> Result<Vec<Part>> {
        let writer = self.write.as_ref().ok_or_else(|| self.cannot("written"))?;
        let files = (writer.write)(value)?;
        Ok(writer.files.iter().zip(files).map(|(name, bytes)| Part { name, bytes }).collect())
    }

    /// As [`Format::export`], for so many nodes, edges and rows at most: for whoever writes what strangers ask for.
    ///
    /// # Errors
    /// Those of [`Format::export`], and `PQ6007` for more.
    pub fn export_within(&self, value: Value<'_>, items: usize) -> Result<Vec<Part>> {
        let found = model::items(value);
        if found > items {
            let message = format!("the result has {found} nodes, edges and rows: more than {items} are not written");
            return Err(Error::new(Code::TooLarge, message));
        }
        self.export(value)
    }

    fn cannot(&self, what: &str) -> Error {
        Error::new(Code::UnknownFormat, format!("`{}` cannot be {what}", self.name))
    }
}

fn count(files: &[&str]) -> String {
    if files.len() == 1 { "one file".into() } else { format!("{} files", files.len()) }
}

/// Whether an element of this name begins in a text, with any prefix.
fn opens(text: &str, name: &str) -> bool {
    let tags = text.split('<').skip(1).filter_map(|tag| tag.split([' ', '\t', '\r', '\n', '>', '/']).next());
    tags.map(|tag| tag.rsplit(':').next().unwrap_or(tag)).any(|local| local == name)
}

/// So much of a file is looked at: some systems write a page of comments first.
const HEAD: usize = 1 << 16;

/// The beginning of a file as text, as well as it can be told.
fn head(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(HEAD)];
    match decode_plain(bytes) {
        Ok(text) => text.into_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use pidq_core::Graph;

    use super::*;

    #[test]
    fn every_row_can_do_something_and_has_a_name_of_its_own() {
        for (index, format) in FORMATS.iter().enumerate() {
            assert!(format.read.is_some() || format.write.is_some(), "{}", format.name);
            assert!(!format.summary.is_empty() && format.media_type.contains('/'), "{}", format.name);
            assert!(FORMATS[..index].iter().all(|other| other.name != format.name), "{}", format.name);
        }
    }

    #[test]
    fn an_unknown_format_and_a_wrong_number_of_files_are_refused() {
        assert_eq!(Format::find("dwg").expect_err("there is none").code(), Code::UnknownFormat);
        let proteus = Format::find("proteus").expect("there is one");
        assert_eq!(proteus.import(&[]).expect_err("no file").code(), Code::WrongParts);
        assert_eq!(proteus.export(Value::Null).expect_err("not written").code(), Code::UnknownFormat);
    }

    #[test]
    fn a_file_is_known_by_its_beginning() {
        let sniffed = |bytes: &[u8]| Format::sniff(bytes).map(|format| format.name);
        assert_eq!(sniffed(b"<?xml version='1.0'?>\n<PlantModel xmlns='x'>"), Some("proteus"));
        assert_eq!(sniffed(b"<p:PlantModel\nxmlns:p='x'>"), Some("proteus"));
        assert_eq!(sniffed(b"<g:graphml xmlns:g='x'/>"), Some("graphml"));
        let late = format!("<!--{}--><PlantModel/>", "x".repeat(9000));
        assert_eq!(sniffed(late.as_bytes()), Some("proteus"));
        assert_eq!(sniffed(b"<PlantModels>"), None);
        let utf_16: Vec<u8> = "\u{FEFF}<PlantModel/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(sniffed(&utf_16), Some("proteus"));
        assert_eq!(sniffed(b"id,tag"), None);
        assert_eq!(sniffed(b"\xFF\xD8\xFF"), None);
    }

    #[test]
    fn more_than_is_wanted_is_not_written() {
        let graph = Graph::from_json(r#"{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}"#);
        let rows = Graph::from_json(r#"[{"a": 1}, {"a": 2}, {"a": 3}]"#);
        for (name, document) in [("graphml", &graph), ("csv", &rows)] {
            let format = Format::find(name).expect(name);
            let document = document.as_ref().expect("a document").root();
            assert!(format.export_within(document, 3).is_ok(), "{name}");
            assert_eq!(format.export_within(document, 2).expect_err(name).code(), Code::TooLarge);
        }
    }
}
