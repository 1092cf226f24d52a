//! Drawings as wholes: drawn, compared, joined.

use std::collections::BTreeSet;
use std::ffi::c_char;
use std::mem::{offset_of, size_of};
use std::sync::Arc;

use pidq_core::{Graph, JoinBy};
use pidq_formats::{Drawing, Style, marked};

use crate::boundary::boundary;
use crate::buffer::{Buffer, give_text};
use crate::error::{ErrorHandle, Fault};
use crate::graph::{GraphHandle, give_graph};
use crate::handle::lend;
use crate::limits::{Budget, LimitsOptions, read_sized};
use crate::result::ResultHandle;
use crate::slice::{items, word};

/// How a graph is drawn. Begin with `PIDQ_DRAW_OPTIONS_INIT`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DrawOptions {
    /// `sizeof(pidq_draw_options_t)`.
    pub size: usize,
    /// What is marked: the result of a query with nodes, edges, ids, or anything that holds them. May be NULL.
    pub highlight: *const ResultHandle,
    /// What is drawn, as `highlight`, with the edges between; all where it is NULL.
    pub only: *const ResultHandle,
    /// What stands in the corner; the name of the drawing where it is NULL.
    pub title: *const c_char,
    /// Not 0: light lines on a dark ground.
    pub dark: u32,
}

/// How two revisions are compared. Begin with `PIDQ_DIFF_OPTIONS_INIT`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DiffOptions {
    /// `sizeof(pidq_diff_options_t)`.
    pub size: usize,
    /// By what items are recognised: "persistent_id", "id" or "tag"; by the first that works where it is NULL.
    pub identity: *const c_char,
    /// Fields that are not compared, with commas between. May be NULL.
    pub ignore: *const c_char,
    /// Items that moved no further than this have not moved.
    pub tolerance: f64,
    /// What the comparison may cost. May be NULL.
    pub limits: *const LimitsOptions,
}

/// Draws a graph as SVG, at its own positions or laid out; `options` may be NULL. On success `*out` is a buffer that you
/// delete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_draw(
    graph: *const GraphHandle,
    options: *const DrawOptions,
    out: *mut *mut Buffer,
) -> *mut ErrorHandle {
    let draw = || {
        // SAFETY: the rules of the header.
        let (graph, drawing) = unsafe { (lend(graph)?, drawing(options)?) };
        Ok(drawing.draw(graph.root())?)
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_text(out, draw) })
}

/// Compares two revisions of a drawing; `options` may be NULL. On success `*out` is a JSON object: `added`, `removed`,
/// `changed`, `moved`, `retagged`, `rewired`, `edges_added`, `edges_removed` and `equal`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_diff(
    old_graph: *const GraphHandle,
    new_graph: *const GraphHandle,
    options: *const DiffOptions,
    out: *mut *mut Buffer,
) -> *mut ErrorHandle {
    let compare = || {
        // SAFETY: the rules of the header.
        let (old, new, (options, budget)) = unsafe { (lend(old_graph)?, lend(new_graph)?, comparison(options)?) };
        Ok(pidq_core::diff(old, new, &options, budget.limits())?)
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_text(out, compare) })
}

/// Joins sheets at their off-page connectors to one graph. What could not be matched stands in
/// `pid_graph.metadata.joined`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_join(
    sheets: *const *const GraphHandle,
    count: usize,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    unsafe { pidq_graph_join_with(sheets, count, std::ptr::null(), out) }
}

/// As `pidq_graph_join`, with limits, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_graph_join_with(
    sheets: *const *const GraphHandle,
    count: usize,
    limits: *const LimitsOptions,
    out: *mut *mut GraphHandle,
) -> *mut ErrorHandle {
    let join = || {
        // SAFETY: the rules of the header: so many handles, and limits or NULL.
        let (sheets, budget) = unsafe { (items(sheets, count, 1 << 20, "sheets")?, Budget::read(limits)?) };
        // SAFETY: each is a handle.
        let sheets: Vec<&Arc<Graph>> =
            sheets.iter().map(|sheet| unsafe { lend(*sheet) }).collect::<Result<_, Fault>>()?;
        let graphs: Vec<&Graph> = sheets.iter().map(|sheet| &***sheet).collect();
        Ok(Graph::from_json(pidq_core::join_sheets(&graphs, JoinBy::Any, budget.limits())?)?)
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_graph(out, join) })
}

/// # Safety
/// The rules of the header.
unsafe fn drawing(options: *const DrawOptions) -> Result<Drawing, Fault> {
    if options.is_null() {
        return Ok(Drawing::default());
    }
    let null = std::ptr::null();
    let usual =
        DrawOptions { size: size_of::<DrawOptions>(), highlight: null, only: null, title: null.cast(), dark: 0 };
    // SAFETY: the caller promises a structure of as many bytes as it says.
    let options: DrawOptions = unsafe { read_sized(options, offset_of!(DrawOptions, highlight), usual) }?;
    // SAFETY: as above.
    let (highlight, only, title) =
        unsafe { (ids(options.highlight)?, ids(options.only)?, word(options.title, "title")?) };
    Ok(Drawing {
        style: if options.dark == 0 { Style::Light } else { Style::Dark },
        highlight: highlight.unwrap_or_default(),
        only,
        title: title.map(str::to_owned),
    })
}

/// The ids in a result, where there is one.
///
/// # Safety
/// The rules of the header.
unsafe fn ids(result: *const ResultHandle) -> Result<Option<BTreeSet<String>>, Fault> {
    if result.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises the same.
    Ok(Some(marked(unsafe { lend(result) }?.value())))
}

/// # Safety
/// The rules of the header.
unsafe fn comparison(options: *const DiffOptions) -> Result<(pidq_core::DiffOptions, Budget), Fault> {
    if options.is_null() {
        return Ok(Default::default());
    }
    let null = std::ptr::null();
    let usual = DiffOptions {
        size: size_of::<DiffOptions>(),
        identity: null,
        ignore: null,
        tolerance: 0.0,
        limits: std::ptr::null(),
    };
    // SAFETY: the caller promises a structure of as many bytes as it says.
    let options: DiffOptions = unsafe { read_sized(options, offset_of!(DiffOptions, identity), usual) }?;
    // SAFETY: as above.
    let (identity, ignore) = unsafe { (word(options.identity, "identity")?, word(options.ignore, "ignore")?) };
    // SAFETY: as above.
    let budget = unsafe { Budget::read(options.limits) }?;
    if !(options.tolerance.is_finite() && options.tolerance >= 0.0) {
        return Err(Fault::misuse("`tolerance` is no number of at least zero".into()));
    }
    let options = pidq_core::DiffOptions {
        identity: identity.map(str::to_owned),
        ignore: ignore.unwrap_or_default().split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        tolerance: options.tolerance,
    };
    Ok((options, budget))
}
