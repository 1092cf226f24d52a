//! Import and export of P&ID graphs: bytes in, bytes out. No files, no network, no `unsafe`.
//!
//! Every format is a row of [`FORMATS`]. Imports produce a `pid_graph` as JSON text, with everything that was not
//! imported unchanged in `metadata.diagnostics`. Exports take any value of [`pidq_core`]: a whole graph or the result
//! of a query.
//!
//! ```
//! use pidq_core::{Graph, Limits, Query};
//! use pidq_formats::Format;
//!
//! let xml = br#"<PlantModel>
//!   <PlantInformation SchemaVersion="4.1" Units="mm"/>
//!   <Equipment ID="E1" TagName="T4711" ComponentClass="Tank"/>
//!   <PipingNetworkSystem ID="L1" TagName="80-W-101">
//!     <PipingNetworkSegment ID="S1"><Connection FromID="E1"/></PipingNetworkSegment>
//!   </PipingNetworkSystem>
//! </PlantModel>"#;
//! let imported = Format::find("proteus")?.import(&[xml])?;
//! assert_eq!(imported.diagnostics[0].message, "the end of the segment `S1` is not connected");
//!
//! let graph = Graph::from_json(imported.json)?;
//! let query = Query::parse(r#".pid_graph.nodes | filter(.node_classification == "equipment.tank") | map(.tag)"#)?;
//! assert_eq!(query.to_json(&graph, Limits::default())?, r#"["T4711"]"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod columns;
mod cypher;
mod dexpi;
mod dot;
mod encoding;
mod error;
mod format;
mod graphml;
mod import;
mod json;
mod json_formats;
mod mermaid;
mod model;
mod other_fields;
mod proteus;
mod sfiles;
mod snake_case;
mod svg;
mod symbols;
mod tables;
mod visibility;
mod xml;

pub use error::{Code, Error, Result};
pub use format::{ExportedFile, FORMATS, Format, Reader, Writer};
pub use import::{Diagnostic, Finding, Import, Severity};
pub use svg::{Changes, DrawOptions, Isolation, Style, ids_in, ids_in_document, symbol_sheet};
pub use tables::{plain_table_cell, table_cell, table_delimiter};

/// The example of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
