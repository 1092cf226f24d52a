//! `pidq_graph_t`: an immutable document.

use std::borrow::Cow;
use std::ffi::c_char;
use std::fs;
use std::io::{self, Read};
use std::sync::Arc;

use pidq_core::{Graph, TopologyConfig};
use pidq_formats::Format;

use crate::abi_error::AbiError;
use crate::arguments::{borrow_items, bytes, c_string, text};
use crate::buffer::{Files, write_files};
use crate::error_handle::ErrorHandle;
use crate::handle::{Slot, borrow, delete, handle, write_handle};
use crate::panic_guard::{guard, guard_error, guard_or};
use crate::slice::Slice;

/// Document. It is immutable: any number of threads may use it. Delete it with `pidq_graph_delete`; results keep what
/// they need.
pub struct GraphHandle(Slot<Arc<Graph>>);

handle!(GraphHandle, Arc<Graph>, b"grph", "graph");

/// Parses a document: JSON in UTF-8, which is copied. On success, `*out` is a graph that the caller deletes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_graph_parse(
    json: *const c_char,
    len: usize,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_graph(out, || Ok(Graph::from_json(bytes(json, len, "json")?)?)) })
}

/// Parses a document as `pidq_graph_parse` does, with a topology configuration: a JSON object that maps field names and
/// classes of nodes and edges, described in docs/pid.md.
#[unsafe(no_mangle)]
#[must_use]
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
    guard_error(|| unsafe { write_graph(out, read) })
}

/// Parses a document as `pidq_graph_open` reads a file: JSON, or a drawing in a format detected by its beginning.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_graph_read(
    data: *const c_char,
    len: usize,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_graph(out, || detect_and_load(Cow::from(bytes(data, len, "data")?))) })
}

/// Opens the file at a path in UTF-8: JSON, or a drawing in a format detected by its beginning (Proteus XML, DEXPI 2.0 XML, GraphML).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_graph_open(path: *const c_char, out: *mut *mut GraphHandle) -> *mut ErrorHandle {
    let read = || {
        // SAFETY: the rules of the header.
        let path = unsafe { c_string(path, "path") }?.ok_or_else(|| AbiError::null("path"))?;
        let bytes = read_limited(path).map_err(|error| AbiError::unreadable_file(path, &error))?;
        detect_and_load(Cow::from(bytes))
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_graph(out, read) })
}

/// Imports a drawing from the files of a format: "proteus", "node-link", "graphml" or "sfiles" (one file), "dexpi" (one
/// file, then any profiles), "csv-graph", "neo4j" or "ndjson" (nodes, then edges). Findings are in
/// `pid_graph.metadata.diagnostics`. `PQ6009` names the formats that can be read, `PQ6010` the files of the format.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_graph_import(
    format: *const c_char,
    files: *const Slice,
    count: usize,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    let read = || {
        // SAFETY: the rules of the header.
        let (format, files) = unsafe { (c_string(format, "format")?, slices(files, count)?) };
        let format = Format::find(format.ok_or_else(|| AbiError::null("format"))?)?;
        Ok(Graph::from_json(format.import(&files)?.json)?)
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_graph(out, read) })
}

/// Exports the graph in a format: "proteus", "dexpi", "json", "node-link", "graphml", "csv-graph", "csv", "xlsx", "dot",
/// "mermaid", "neo4j", "cypher", "ndjson", "sfiles" or "svg". On success, `*out` holds files that the caller deletes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_graph_export(
    graph: *const GraphHandle,
    format: *const c_char,
    out: *mut *mut Files,
) -> *mut ErrorHandle {
    let export = || {
        // SAFETY: the rules of the header.
        let (graph, format) = unsafe { (borrow(graph)?, c_string(format, "format")?) };
        let format = Format::find(format.ok_or_else(|| AbiError::null("format"))?)?;
        Ok(format.export(graph.root())?)
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_files(out, export) })
}

/// Returns the memory size of the graph in bytes, without the text of the document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_size(graph: *const GraphHandle) -> usize {
    // SAFETY: the rules of the header.
    guard_or(0, || Ok(unsafe { borrow(graph) }?.size()))
}

/// Deletes a graph. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_delete(graph: *mut GraphHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(graph) });
}

/// Creates a graph and writes its handle to `out`.
///
/// # Safety
/// `out` is null or valid for writes.
pub unsafe fn write_graph(
    out: *mut *mut GraphHandle,
    read: impl FnOnce() -> Result<Graph, AbiError>,
) -> Result<(), AbiError> {
    // SAFETY: the caller promises the same.
    unsafe { write_handle(out, || read().map(Arc::new)) }
}

/// Loads a document in the format that its beginning shows.
fn detect_and_load(bytes: Cow<'_, [u8]>) -> Result<Graph, AbiError> {
    match Format::sniff(&bytes) {
        Some(format) if format.name != "node-link" => Ok(Graph::from_json(format.import(&[&bytes])?.json)?),
        _ => Ok(Graph::from_json(bytes)?),
    }
}

/// Reads up to one byte more than the engine accepts, since a device may be endless.
fn read_limited(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(u64::from(u32::MAX) + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the files passed by C for a call.
///
/// # Safety
/// `files` points to `count` slices, each of bytes that stay valid during the call.
unsafe fn slices<'a>(files: *const Slice, count: usize) -> Result<Vec<&'a [u8]>, AbiError> {
    // SAFETY: the caller promises `count` slices.
    let files = unsafe { borrow_items(files, count, 16, "files") }?;
    // SAFETY: the caller promises the bytes of each.
    files.iter().map(|file| unsafe { bytes(file.data, file.len, "files") }).collect()
}
