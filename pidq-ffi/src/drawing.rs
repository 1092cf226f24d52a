//! Operations on whole drawings: draw, diff, join.

use std::collections::BTreeSet;
use std::ffi::c_char;
use std::mem::{offset_of, size_of};
use std::sync::Arc;

use pidq_core::{Graph, JoinBy, Value};
use pidq_formats::{Changes, Isolation, Style, ids_in};

use crate::abi_error::AbiError;
use crate::arguments::{borrow_items, c_string};
use crate::buffer::{Buffer, write_buffer};
use crate::error_handle::ErrorHandle;
use crate::graph::{GraphHandle, write_graph};
use crate::handle::borrow;
use crate::limits::{LimitsOptions, RunLimits, read_sized};
use crate::panic_guard::guard_error;
use crate::result::ResultHandle;

/// Options for drawing a graph. Initialize with `PIDQ_DRAW_OPTIONS_INIT`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DrawOptions {
    /// `sizeof(pidq_draw_options_t)`.
    pub size: usize,
    /// Nodes and edges to highlight: the result of a query with nodes, edges or ids, nested in any way. May be NULL.
    pub highlight: *const ResultHandle,
    /// Nodes to draw, as in `highlight`, with the edges between them; all if NULL.
    pub only: *const ResultHandle,
    /// Title in the corner; the name of the drawing if NULL.
    pub title: *const c_char,
    /// Dark color scheme if not 0.
    pub dark: u32,
}

/// Options for comparing two revisions. Initialize with `PIDQ_DIFF_OPTIONS_INIT`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DiffOptions {
    /// `sizeof(pidq_diff_options_t)`.
    pub size: usize,
    /// Field that identifies items: "persistent_id", "id" or "tag"; the first usable one if NULL.
    pub identity: *const c_char,
    /// Fields that are not compared, separated by commas. May be NULL.
    pub ignore: *const c_char,
    /// Movements up to this distance are ignored.
    pub tolerance: f64,
    /// Limits of the comparison. May be NULL.
    pub limits: *const LimitsOptions,
}

/// Draws a graph as SVG, at its own positions or with automatic layout; `options` may be NULL. On success, `*out` is a
/// buffer that the caller deletes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_graph_draw(
    graph: *const GraphHandle,
    options: *const DrawOptions,
    out: *mut *mut Buffer,
) -> *mut ErrorHandle {
    let draw = || {
        // SAFETY: the rules of the header.
        let (graph, drawing) = unsafe { (borrow(graph)?, draw_options(options)?) };
        Ok(drawing.draw(graph.root())?)
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_buffer(out, draw) })
}

/// Compares two revisions of a drawing; `options` may be NULL. On success, `*out` is a JSON object: `added`, `removed`,
/// `changed`, `moved`, `retagged`, `rewired`, `edges_added`, `edges_removed` and `equal`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_graph_diff(
    old_graph: *const GraphHandle,
    new_graph: *const GraphHandle,
    options: *const DiffOptions,
    out: *mut *mut Buffer,
) -> *mut ErrorHandle {
    let compare = || {
        // SAFETY: the rules of the header.
        let (old, new, (options, run_limits)) =
            unsafe { (borrow(old_graph)?, borrow(new_graph)?, diff_options(options)?) };
        Ok(pidq_core::diff(old, new, &options, run_limits.limits())?)
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_buffer(out, compare) })
}

/// Joins sheets at their off-page connectors into one graph. Unmatched connectors are listed in
/// `pid_graph.metadata.joined`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_graph_join(
    sheets: *const *const GraphHandle,
    count: usize,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    unsafe { pidq_graph_join_with(sheets, count, std::ptr::null(), out) }
}

/// Joins sheets as `pidq_graph_join` does, with limits, which may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_graph_join_with(
    sheets: *const *const GraphHandle,
    count: usize,
    limits: *const LimitsOptions,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    let join = || {
        // SAFETY: the rules of the header: `count` handles, and limits or NULL.
        let (sheets, run_limits) =
            unsafe { (borrow_items(sheets, count, 1 << 20, "sheets")?, RunLimits::read(limits)?) };
        // SAFETY: each is a handle.
        let sheets: Vec<&Arc<Graph>> =
            sheets.iter().map(|sheet| unsafe { borrow(*sheet) }).collect::<Result<_, AbiError>>()?;
        let graphs: Vec<&Graph> = sheets.iter().map(|sheet| &***sheet).collect();
        Ok(Graph::from_json(pidq_core::join_sheets(&graphs, JoinBy::Any, run_limits.limits())?)?)
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_graph(out, join) })
}

/// # Safety
/// The rules of the header.
unsafe fn draw_options(options: *const DrawOptions) -> Result<pidq_formats::DrawOptions, AbiError> {
    if options.is_null() {
        return Ok(pidq_formats::DrawOptions::default());
    }
    let null = std::ptr::null();
    let default =
        DrawOptions { size: size_of::<DrawOptions>(), highlight: null, only: null, title: null.cast(), dark: 0 };
    // SAFETY: the caller promises a structure of the size in its first word.
    let options: DrawOptions = unsafe { read_sized(options, offset_of!(DrawOptions, highlight), default) }?;
    // SAFETY: as above.
    let (highlight, only, title) =
        unsafe { (ids(options.highlight)?, ids(options.only)?, c_string(options.title, "title")?) };
    // SAFETY: as above.
    let (isolation, changes) = unsafe { (isolation(options.highlight)?, changes(options.highlight)?) };
    Ok(pidq_formats::DrawOptions {
        style: if options.dark == 0 { Style::Light } else { Style::Dark },
        highlight: highlight.unwrap_or_default(),
        isolation,
        changes,
        only,
        title: title.map(str::to_owned),
    })
}

/// Returns the ids in a result, if there is one.
///
/// # Safety
/// The rules of the header.
unsafe fn ids(result: *const ResultHandle) -> Result<Option<BTreeSet<String>>, AbiError> {
    if result.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises the same.
    Ok(Some(ids_in(unsafe { borrow(result) }?.value())))
}

/// Returns the parts of an isolation, if the result is one.
///
/// # Safety
/// The rules of the header.
unsafe fn isolation(result: *const ResultHandle) -> Result<Option<Isolation>, AbiError> {
    if result.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises the same.
    Ok(Isolation::in_document(Value::Null, unsafe { borrow(result) }?.value()))
}

/// Returns the changes since an older revision, if the result is a comparison.
///
/// # Safety
/// The rules of the header.
unsafe fn changes(result: *const ResultHandle) -> Result<Option<Changes>, AbiError> {
    if result.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises the same.
    Ok(Changes::in_document(Value::Null, unsafe { borrow(result) }?.value()))
}

/// # Safety
/// The rules of the header.
unsafe fn diff_options(options: *const DiffOptions) -> Result<(pidq_core::DiffOptions, RunLimits), AbiError> {
    if options.is_null() {
        return Ok(Default::default());
    }
    let null = std::ptr::null();
    let default = DiffOptions {
        size: size_of::<DiffOptions>(),
        identity: null,
        ignore: null,
        tolerance: 0.0,
        limits: std::ptr::null(),
    };
    // SAFETY: the caller promises a structure of the size in its first word.
    let options: DiffOptions = unsafe { read_sized(options, offset_of!(DiffOptions, identity), default) }?;
    // SAFETY: as above.
    let (identity, ignore) = unsafe { (c_string(options.identity, "identity")?, c_string(options.ignore, "ignore")?) };
    // SAFETY: as above.
    let run_limits = unsafe { RunLimits::read(options.limits) }?;
    if !(options.tolerance.is_finite() && options.tolerance >= 0.0) {
        return Err(AbiError::misuse("`tolerance` must be a number of at least zero".into()));
    }
    let options = pidq_core::DiffOptions {
        identity: identity.map(str::to_owned),
        ignore: ignore.unwrap_or_default().split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        tolerance: options.tolerance,
    };
    Ok((options, run_limits))
}
