//! Table of the file formats: names, media types, readers and writers.

use pidq_core::Value;

use crate::encoding::decode_plain;
use crate::error::{Code, Error, Result};
use crate::import::{Diagnostic, Import};
use crate::{cypher, dexpi, dot, graphml, json_formats, mermaid, model, proteus, sfiles, svg, tables};

/// A format of files.
#[derive(Debug)]
pub struct Format {
    /// The name in commands and APIs.
    pub name: &'static str,
    /// The media type, for HTTP.
    pub media_type: &'static str,
    /// The ending of file names, without the dot.
    pub extension: &'static str,
    /// One line for the manual.
    pub summary: &'static str,
    /// The reader, if the format can be imported.
    pub read: Option<Reader>,
    /// The writer, if the format can be exported.
    pub write: Option<Writer>,
}

/// Reader of a format.
#[derive(Debug)]
pub struct Reader {
    /// The names of its files; one for most formats.
    pub files: &'static [&'static str],
    /// The name of files that may follow, any number of them.
    pub further_files: Option<&'static str>,
    /// Returns the maximum number of values in a file, such as elements and attributes.
    max_value_count: fn(&[u8]) -> usize,
    read: fn(&[&[u8]]) -> Result<Import>,
}

/// Writer of a format.
#[derive(Debug)]
pub struct Writer {
    /// The names of its files; one for most formats.
    pub files: &'static [&'static str],
    write: fn(Value<'_>) -> Result<Vec<Vec<u8>>>,
}

/// Exported file.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedFile {
    /// The file name.
    pub name: &'static str,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Every format, in the order of the manual.
pub const FORMATS: &[Format] = &[
    Format {
        name: "proteus",
        media_type: "application/xml",
        extension: "xml",
        summary: "Proteus XML 3.3 and 4.0 to 4.2, as DEXPI uses it; written as 4.2",
        read: Some(Reader {
            files: &["drawing.xml"],
            further_files: None,
            max_value_count: xml_values,
            read: |files| proteus::read(files[0]),
        }),
        write: Some(Writer { files: &["drawing.xml"], write: proteus::write }),
    },
    Format {
        name: "dexpi",
        media_type: "application/xml",
        extension: "xml",
        summary: "DEXPI 2.0 and 2.1 XML: plant models and process models with their diagrams",
        read: Some(Reader {
            files: &["drawing.xml"],
            further_files: Some("profile.xml"),
            max_value_count: xml_values,
            read: dexpi::read,
        }),
        write: Some(Writer { files: &["drawing.xml"], write: dexpi::write }),
    },
    Format {
        name: "json",
        media_type: "application/json",
        extension: "json",
        summary: "the document itself; a drawing in another format becomes `pid_graph` JSON",
        read: None,
        write: Some(Writer { files: &["graph.json"], write: json_formats::write_json }),
    },
    Format {
        name: "node-link",
        media_type: "application/json",
        extension: "json",
        summary: "node-link JSON, as used by NetworkX, with `edges` or `links`",
        read: Some(Reader {
            files: &["graph.json"],
            further_files: None,
            max_value_count: json_values,
            read: |files| json_formats::read_node_link(files[0], dexpi::graph::add_usual_fields),
        }),
        write: Some(Writer { files: &["graph.json"], write: json_formats::write_node_link }),
    },
    Format {
        name: "graphml",
        media_type: "application/graphml+xml",
        extension: "graphml",
        summary: "GraphML with typed keys, for NetworkX, yEd and Gephi",
        read: Some(Reader {
            files: &["graph.graphml"],
            further_files: None,
            max_value_count: xml_values,
            read: |files| graphml::read(files[0], dexpi::graph::add_usual_fields),
        }),
        write: Some(Writer { files: &["graph.graphml"], write: graphml::write }),
    },
    Format {
        name: "csv-graph",
        media_type: "text/csv",
        extension: "csv",
        summary: "two tables, of nodes and of edges",
        read: Some(Reader {
            files: &["nodes.csv", "edges.csv"],
            further_files: None,
            max_value_count: table_values,
            read: |files| tables::read_pair(files[0], files[1]),
        }),
        write: Some(Writer { files: &["nodes.csv", "edges.csv"], write: tables::write_pair }),
    },
    Format {
        name: "csv",
        media_type: "text/csv",
        extension: "csv",
        summary: "an array of objects as one table; for a drawing, its nodes",
        read: None,
        write: Some(Writer { files: &["table.csv"], write: tables::write_table }),
    },
    #[cfg(feature = "xlsx")]
    Format {
        name: "xlsx",
        media_type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        extension: "xlsx",
        summary: "a workbook with one sheet per list",
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
        read: Some(Reader {
            files: &["nodes.csv", "rels.csv"],
            further_files: None,
            max_value_count: table_values,
            read: |files| tables::read_neo4j(files[0], files[1]),
        }),
        write: Some(Writer { files: &["nodes.csv", "rels.csv"], write: tables::write_neo4j }),
    },
    Format {
        name: "cypher",
        media_type: "application/x-cypher-query",
        extension: "cypher",
        summary: "statements for `cypher-shell` and an empty Neo4j",
        read: None,
        write: Some(Writer { files: &["graph.cypher"], write: cypher::write }),
    },
    Format {
        name: "ndjson",
        media_type: "application/x-ndjson",
        extension: "ndjson",
        summary: "two files with one JSON object per line, of the nodes and of the edges; without the metadata",
        read: Some(Reader {
            files: &["nodes.ndjson", "edges.ndjson"],
            further_files: None,
            max_value_count: json_values,
            read: |files| json_formats::read_lines(files[0], files[1]),
        }),
        write: Some(Writer { files: &["nodes.ndjson", "edges.ndjson"], write: json_formats::write_lines }),
    },
    Format {
        name: "sfiles",
        media_type: "text/x-sfiles",
        extension: "sfiles",
        summary: "SFILES 2.0: the units, streams and signals of a flowsheet as one canonical line of text",
        read: Some(Reader {
            files: &["flowsheet.sfiles"],
            further_files: None,
            max_value_count: <[u8]>::len,
            read: |files| sfiles::read(files[0]),
        }),
        write: Some(Writer { files: &["flowsheet.sfiles"], write: sfiles::write }),
    },
    Format {
        name: "svg",
        media_type: "image/svg+xml",
        extension: "svg",
        summary: "a drawing with symbols in the style of ISO 10628",
        read: None,
        write: Some(Writer { files: &["drawing.svg"], write: svg::write }),
    },
];

type ListLosses = fn(Value<'_>) -> Result<Vec<Diagnostic>>;

/// Formats that leave out parts of a drawing which a reader would expect, with the list of these parts.
const LOSSES: &[(&str, ListLosses)] = &[
    ("dexpi", dexpi::losses),
    ("proteus", proteus::losses),
    ("sfiles", sfiles::losses),
    ("csv-graph", tables::losses),
    ("neo4j", tables::losses),
];

impl Format {
    /// Finds a format by name.
    ///
    /// # Errors
    /// `PQ6009` with the known names.
    pub fn find(name: &str) -> Result<&'static Format> {
        FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            Error::new(Code::UnknownFormat, format!("unknown format `{name}`; known formats: {}", names.join(", ")))
        })
    }

    /// Returns the names of the formats that can be read.
    pub fn readable_names() -> Vec<&'static str> {
        FORMATS.iter().filter(|format| format.read.is_some()).map(|format| format.name).collect()
    }

    /// Detects the format of a file by its beginning. Returns `None` for unknown files and for CSV, which has no
    /// signature.
    pub fn sniff(bytes: &[u8]) -> Option<&'static Format> {
        let head = head(bytes);
        let name = match head.trim_start() {
            text if starts_element(text, "PlantModel") => "proteus",
            text if starts_element(text, "graphml") => "graphml",
            text if starts_element(text, "Model") => "dexpi",
            text if is_proteus_fragment(text) => "proteus",
            text if text.starts_with(['{', '[']) => "node-link",
            _ => return None,
        };
        Format::find(name).ok()
    }

    /// Names the kind of a file that is known, but is not read, and says what to do.
    pub fn unreadable(bytes: &[u8]) -> Option<&'static str> {
        let is_dxf = || head(bytes).split_whitespace().take(2).eq(["0", "SECTION"]);
        let signature = SIGNATURES.iter().find(|(start, _)| bytes.starts_with(start));
        signature.map(|(_, text)| *text).or_else(|| is_dxf().then_some(DXF))
    }

    /// Reads the files of a drawing.
    ///
    /// # Errors
    /// `PQ6009` if the format cannot be read, `PQ6010` for the wrong number of files, and the errors of the format.
    pub fn import(&self, files: &[&[u8]]) -> Result<Import> {
        let reader = self.read.as_ref().ok_or_else(|| self.unsupported("read"))?;
        let has_further_files = files.len() > reader.files.len() && reader.further_files.is_some();
        if files.len() != reader.files.len() && !has_further_files {
            let message = format!("`{}` is read from {} ({})", self.name, count(reader.files), reader.files.join(", "));
            return Err(Error::new(Code::WrongParts, message));
        }
        (reader.read)(files)
    }

    /// Returns the maximum number of values, such as elements and attributes, in the files of a drawing, without reading
    /// them. An import needs some hundred bytes of memory for each: check the number before untrusted files are imported.
    pub fn max_value_count(&self, files: &[&[u8]]) -> usize {
        let count = |reader: &Reader| files.iter().map(|file| (reader.max_value_count)(file)).sum();
        self.read.as_ref().map_or(0, count)
    }

    /// Writes a graph or a value.
    ///
    /// # Errors
    /// `PQ6009` if the format cannot be written, `PQ6003` and `PQ6004` for values that it cannot represent.
    pub fn export(&self, value: Value<'_>) -> Result<Vec<ExportedFile>> {
        let writer = self.write.as_ref().ok_or_else(|| self.unsupported("written"))?;
        let files = self.with_stated_directions(value, writer.write)?;
        Ok(writer.files.iter().zip(files).map(|(name, bytes)| ExportedFile { name, bytes }).collect())
    }

    /// [`Format::export`] with a limit on the number of nodes, edges and rows, for untrusted requests.
    ///
    /// # Errors
    /// Those of [`Format::export`], and `PQ6007` above the limit.
    pub fn export_with_limit(&self, value: Value<'_>, max_items: usize) -> Result<Vec<ExportedFile>> {
        let found = model::item_count(value);
        if found > max_items {
            let message = format!("the result has {found} nodes, edges and rows; the limit is {max_items}");
            return Err(Error::new(Code::TooLarge, message));
        }
        self.export(value)
    }

    /// Lists the parts of a graph that an export leaves out, for formats that cannot hold a whole drawing.
    ///
    /// # Errors
    /// Those of [`Format::export`].
    pub fn losses(&self, value: Value<'_>) -> Result<Vec<Diagnostic>> {
        let row = LOSSES.iter().find(|(name, _)| *name == self.name);
        row.map_or(Ok(Vec::new()), |(_, losses)| self.with_stated_directions(value, *losses))
    }

    /// Applies a function to a value. Of an undirected graph, each edge states that its direction is unknown: only the
    /// document itself says it for all.
    fn with_stated_directions<T>(&self, value: Value<'_>, apply: fn(Value<'_>) -> Result<T>) -> Result<T> {
        match json_formats::is_undirected(value) && self.name != "json" {
            true => apply(json_formats::stated_directions(value)?.root()),
            false => apply(value),
        }
    }

    fn unsupported(&self, verb: &str) -> Error {
        let names = match verb {
            "read" => format!("; formats that can be: {}", Format::readable_names().join(", ")),
            _ => String::new(),
        };
        Error::new(Code::UnknownFormat, format!("`{}` cannot be {verb}{names}", self.name))
    }
}

/// Beginnings of files that are not read, with what they are and what to do.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"AC10", "it is an AutoCAD drawing (DWG), which has no plant data; export it as DEXPI XML from the P&ID program"),
    (b"AutoCAD Binary DXF", DXF),
    (b"PK\x03\x04", "it is a zip file; unpack it and pass the drawing in it"),
    (b"%PDF-", "it is a PDF, which has no plant data; export the drawing as DEXPI XML from the P&ID program"),
];

const DXF: &str = "it is an AutoCAD exchange file (DXF), which has no plant data; export the drawing as DEXPI XML from \
                   the P&ID program";

fn count(files: &[&str]) -> String {
    if files.len() == 1 { "one file".into() } else { format!("{} files", files.len()) }
}

/// Counts what may begin an element or an attribute.
fn xml_values(file: &[u8]) -> usize {
    count_bytes(file, b"<=")
}

/// Counts what may begin a container, an item or a field.
fn json_values(file: &[u8]) -> usize {
    count_bytes(file, b"{[,:")
}

/// Counts what may end a cell: any byte if the table declares its delimiter.
fn table_values(file: &[u8]) -> usize {
    if head(file).starts_with("sep=") { file.len() } else { count_bytes(file, b",;\t\r\n") }
}

fn count_bytes(file: &[u8], counted: &[u8]) -> usize {
    file.iter().filter(|byte| counted.contains(byte)).count()
}

/// Returns true if a text has a start tag of this name, with any prefix.
fn starts_element(text: &str, name: &str) -> bool {
    let tags = text.split('<').skip(1).filter_map(|tag| tag.split([' ', '\t', '\r', '\n', '>', '/']).next());
    tags.map(|tag| tag.rsplit(':').next().unwrap_or(tag)).any(|local| local == name)
}

/// Returns true if the root element is one of a plant model, and has a class as its elements have.
fn is_proteus_fragment(text: &str) -> bool {
    let is_tag = |tag: &&str| tag.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let root = text.split('<').skip(1).find(is_tag).unwrap_or_default();
    let name = root.split([' ', '\t', '\r', '\n', '>', '/']).next().unwrap_or_default();
    proteus::FRAGMENTS.contains(&name) && root.contains("ComponentClass")
}

/// Number of bytes used for detection: some systems write a page of comments first.
const SNIFF_SIZE: usize = 1 << 16;

/// Decodes the beginning of a file, lossily if necessary.
fn head(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(SNIFF_SIZE)];
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
    fn formats_have_a_reader_or_a_writer_and_unique_names() {
        for (index, format) in FORMATS.iter().enumerate() {
            assert!(format.read.is_some() || format.write.is_some(), "{}", format.name);
            assert!(!format.summary.is_empty() && format.media_type.contains('/'), "{}", format.name);
            assert!(FORMATS[..index].iter().all(|other| other.name != format.name), "{}", format.name);
        }
    }

    #[test]
    fn unknown_formats_and_wrong_file_counts_are_rejected() {
        assert_eq!(Format::find("dwg").expect_err("there is none").code(), Code::UnknownFormat);
        let dexpi = Format::find("dexpi").expect("there is one");
        assert_eq!(dexpi.import(&[]).expect_err("no file").code(), Code::WrongParts);
        assert_eq!(dexpi.export(Value::Null).expect_err("no graph").code(), Code::NotGraph);
    }

    #[test]
    fn formats_are_detected_by_their_signature() {
        let sniffed = |bytes: &[u8]| Format::sniff(bytes).map(|format| format.name);
        assert_eq!(sniffed(b"<?xml version='1.0'?>\n<PlantModel xmlns='x'>"), Some("proteus"));
        assert_eq!(sniffed(b"<p:PlantModel\nxmlns:p='x'>"), Some("proteus"));
        assert_eq!(sniffed(b"<g:graphml xmlns:g='x'/>"), Some("graphml"));
        assert_eq!(sniffed(b"<Model name='m' uri='x'>"), Some("dexpi"));
        let after_long_comment = format!("<!--{}--><PlantModel/>", "x".repeat(9000));
        assert_eq!(sniffed(after_long_comment.as_bytes()), Some("proteus"));
        assert_eq!(sniffed(b"<PlantModels>"), None);
        assert_eq!(sniffed(b"<!-- one tank --><Equipment ID = 'T' ComponentClass = 'Tank'/>"), Some("proteus"));
        assert_eq!(sniffed(b"<Equipment ID='T'/>"), None);
        let utf_16: Vec<u8> = "\u{FEFF}<PlantModel/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(sniffed(&utf_16), Some("proteus"));
        assert_eq!(sniffed(b"id,tag"), None);
        assert_eq!(sniffed(b"\xFF\xD8\xFF"), None);
    }

    #[test]
    fn files_that_are_not_read_are_named() {
        for (bytes, part) in [
            (b"AC1032\0\0".as_slice(), "DWG"),
            (b"PK\x03\x04rest", "zip"),
            (b"  0\r\nSECTION\r\n  2\r\nHEADER", "DXF"),
            (b"AutoCAD Binary DXF\r\n", "DXF"),
            (b"%PDF-1.7", "PDF"),
        ] {
            assert!(Format::unreadable(bytes).is_some_and(|text| text.contains(part)), "{part}");
            assert!(Format::sniff(bytes).is_none(), "{part}");
        }
        assert_eq!(Format::unreadable(b"id,tag"), None);
    }

    #[test]
    fn the_number_of_values_is_found_without_reading_a_file() {
        let graphml: &[u8] = br#"<graphml><graph edgedefault="directed"><node id="a"/></graph></graphml>"#;
        for (name, files, values) in [
            ("graphml", [graphml].as_slice(), 7),
            ("node-link", &[br#"{"nodes": [{"id": 1}, {"id": 2}], "links": []}"#], 11),
            ("csv-graph", &[b"id\na\n", b"from,to\na,a\n"], 6),
            ("csv-graph", &[b"sep=x\nid\na\n", b"from,to\na,a\n"], 15),
            ("sfiles", &[b"(raw)(prod)"], 11),
            ("proteus", &[b"a < b, c = d"], 2),
        ] {
            assert_eq!(Format::find(name).expect(name).max_value_count(files), values, "{name}");
        }
    }

    #[test]
    fn exports_above_the_item_limit_are_rejected() {
        let graph = Graph::from_json(r#"{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}"#);
        let rows = Graph::from_json(r#"[{"a": 1}, {"a": 2}, {"a": 3}]"#);
        for (name, document) in [("graphml", &graph), ("csv", &rows)] {
            let format = Format::find(name).expect(name);
            let document = document.as_ref().expect("a document").root();
            assert!(format.export_with_limit(document, 3).is_ok(), "{name}");
            assert_eq!(format.export_with_limit(document, 2).expect_err(name).code(), Code::TooLarge);
        }
    }
}
