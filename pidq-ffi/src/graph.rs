//! `pidq_graph_t`: a document, read once and then only asked.

use std::ffi::c_char;
use std::fs;
use std::io::{self, Read};
use std::sync::Arc;

use pidq_core::{Graph, TopologyConfig};
use pidq_formats::Format;

use crate::boundary::{boundary, quiet, quietly};
use crate::buffer::{Files, give_files};
use crate::error::{ErrorHandle, Fault};
use crate::handle::{Slot, delete, hand_out, handle, lend};
use crate::slice::{Slice, bytes, items, text, word};

/// A document. Does not change once it is made: any number of threads may use it. Delete it; results keep what they
/// need of it.
pub struct GraphHandle(Slot<Arc<Graph>>);

handle!(GraphHandle, Arc<Graph>, b"grph", "graph");

/// Reads a document: JSON in UTF-8, which is copied. On success `*out` is a graph that you delete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_parse(
    json: *const c_char,
    len: usize,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_graph(out, || Ok(Graph::from_json(bytes(json, len, "json")?)?)) })
}

/// As `pidq_graph_parse`, with other names for the fields of nodes and edges and other words for their classes: a JSON
/// object, as docs/pid.md describes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_parse_with(
    json: *const c_char,
    len: usize,
    topology: *const c_char,
    topology_len: usize,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    let read = || {
        // SAFETY: the rules of the header.
        let (json, topology) = unsafe { (bytes(json, len, "json")?, text(topology, topology_len, "topology")?) };
        Ok(Graph::from_json(json)?.with_topology(TopologyConfig::from_json(topology)?))
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_graph(out, read) })
}

/// Reads the file at a path in UTF-8: JSON, or a drawing of another program that begins like one of the formats
/// (Proteus XML, GraphML).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_open(path: *const c_char, out: *mut *mut GraphHandle) -> *mut ErrorHandle {
    let read = || {
        // SAFETY: the rules of the header.
        let path = unsafe { word(path, "path") }?.ok_or_else(|| Fault::null("path"))?;
        let bytes = up_to_the_limit(path).map_err(|error| Fault::unreadable(path, &error))?;
        match Format::sniff(&bytes) {
            Some(format) if format.name != "node-link" => Ok(Graph::from_json(format.import(&[&bytes])?.json)?),
            _ => Ok(Graph::from_json(bytes)?),
        }
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_graph(out, read) })
}

/// Imports a drawing from the files of a format: "proteus", "graphml", "node-link" (one file) or "csv-graph" (nodes, then
/// edges). What did not come through as it was stands in `pid_graph.metadata.diagnostics`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_import(
    format: *const c_char,
    files: *const Slice,
    count: usize,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    let read = || {
        // SAFETY: the rules of the header.
        let (format, files) = unsafe { (word(format, "format")?, slices(files, count)?) };
        let format = Format::find(format.ok_or_else(|| Fault::null("format"))?)?;
        Ok(Graph::from_json(format.import(&files)?.json)?)
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_graph(out, read) })
}

/// Writes the graph in a format: "json", "graphml", "node-link", "csv", "csv-graph", "xlsx", "dot", "mermaid", "neo4j",
/// "cypher", "ndjson" or "svg". On success `*out` holds files that you delete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_export(
    graph: *const GraphHandle,
    format: *const c_char,
    out: *mut *mut Files,
) -> *mut ErrorHandle {
    let export = || {
        // SAFETY: the rules of the header.
        let (graph, format) = unsafe { (lend(graph)?, word(format, "format")?) };
        let format = Format::find(format.ok_or_else(|| Fault::null("format"))?)?;
        Ok(format.export(graph.root())?)
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_files(out, export) })
}

/// Bytes of memory that the graph takes, without the text of the document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_size(graph: *const GraphHandle) -> usize {
    // SAFETY: the rules of the header.
    quiet(0, || Ok(unsafe { lend(graph) }?.size()))
}

/// Deletes a graph. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_delete(graph: *mut GraphHandle) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(graph) });
}

/// Makes a graph where somebody takes it.
///
/// # Safety
/// `out` is null or a place that can be written.
pub unsafe fn give_graph(out: *mut *mut GraphHandle, read: impl FnOnce() -> Result<Graph, Fault>) -> Result<(), Fault> {
    // SAFETY: the caller promises the same.
    unsafe { hand_out(out, || read().map(Arc::new)) }
}

/// What the engine takes, and a byte more, which it refuses: a device may never end.
fn up_to_the_limit(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(u64::from(u32::MAX) + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The files that C lends for a call.
///
/// # Safety
/// `files` points to `count` slices, each of bytes that stay during the call.
unsafe fn slices<'a>(files: *const Slice, count: usize) -> Result<Vec<&'a [u8]>, Fault> {
    // SAFETY: the caller promises so many slices.
    let files = unsafe { items(files, count, 16, "files") }?;
    // SAFETY: the caller promises the bytes of each.
    files.iter().map(|file| unsafe { bytes(file.data, file.len, "files") }).collect()
}
