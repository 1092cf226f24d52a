//! `pidq_query_t`: a compiled query.

use std::ffi::c_char;
use std::sync::{Arc, OnceLock};

use pidq_core::{Dialect, Query};
use serde_json::Value as Json;

use crate::abi_error::AbiError;
use crate::arguments::text;
use crate::buffer::{Buffer, write_buffer};
use crate::error_handle::ErrorHandle;
use crate::graph::GraphHandle;
use crate::handle::{Slot, borrow, delete, handle, write_handle};
use crate::limits::{LimitsOptions, RunLimits};
use crate::panic_guard::{guard, guard_error, guard_or};
use crate::params::{ParamsHandle, Values};
use crate::result::{OwnedResult, ResultHandle};
use crate::slice::{Slice, Text};
use crate::warnings_json::warnings_json;

/// Compiled query. It is immutable: any number of threads may run it. Delete it with `pidq_query_delete`; results keep
/// what they need.
pub struct QueryHandle(Slot<Compiled>);

handle!(QueryHandle, Compiled, b"qury", "query");

/// Query with its texts, owned by the handle.
pub struct Compiled {
    pub query: Arc<Query>,
    text: OnceLock<Text>,
    tree: OnceLock<Text>,
    parameters: OnceLock<Text>,
}

/// Compiles a query in the text format. On success, `*out` is a query that the caller deletes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_query_parse(
    text: *const c_char,
    len: usize,
    out: *mut *mut QueryHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { compile(text, len, std::ptr::null(), out, parse_text) })
}

/// Compiles a query in the text format with values for its `$names`; `params` may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_query_parse_with(
    text: *const c_char,
    len: usize,
    params: *const ParamsHandle,
    out: *mut *mut QueryHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { compile(text, len, params, out, parse_text) })
}

/// Compiles a query in the text format for many runs with different values: `pidq_query_run_with` sets every `$name` that
/// the query itself does not bind. On success, `*out` is a query that the caller deletes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_query_prepare(
    text: *const c_char,
    len: usize,
    out: *mut *mut QueryHandle,
) -> *mut ErrorHandle {
    let prepare = |text: &str, _: &str| Ok(Dialect::standard().prepare(text));
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { compile(text, len, std::ptr::null(), out, prepare) })
}

/// Compiles a query in the JSON format, such as `["size"]`; `params` may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_query_from_json(
    json: *const c_char,
    len: usize,
    params: *const ParamsHandle,
    out: *mut *mut QueryHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { compile(json, len, params, out, parse_json) })
}

/// Runs a query; `limits` may be NULL. On success, `*out` is a result that the caller deletes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_query_run(
    query: *const QueryHandle,
    graph: *const GraphHandle,
    limits: *const LimitsOptions,
    out: *mut *mut ResultHandle,
) -> *mut ErrorHandle {
    let run = || {
        // SAFETY: the rules of the header.
        let (query, graph, run_limits) = unsafe { (borrow(query)?, borrow(graph)?, RunLimits::read(limits)?) };
        OwnedResult::run(&query.query, graph, None, &run_limits).map_err(|error| query.abi_error(&error))
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_handle(out, run) })
}

/// Runs a prepared query with values for its `$names`: all of them, and no others. `limits` may be NULL, and `params` if
/// the query has no parameters. On success, `*out` is a result that the caller deletes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_query_run_with(
    query: *const QueryHandle,
    graph: *const GraphHandle,
    params: *const ParamsHandle,
    limits: *const LimitsOptions,
    out: *mut *mut ResultHandle,
) -> *mut ErrorHandle {
    let run = || {
        // SAFETY: the rules of the header.
        let (query, graph, run_limits) = unsafe { (borrow(query)?, borrow(graph)?, RunLimits::read(limits)?) };
        // SAFETY: as above.
        let params = (!params.is_null()).then(|| unsafe { borrow(params) }).transpose()?;
        let params = params.map(Values::document).transpose()?;
        OwnedResult::run(&query.query, graph, params, &run_limits).map_err(|error| query.abi_error(&error))
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_handle(out, run) })
}

/// Runs a query and returns its profile: a JSON object with `fuel`, `rows`, `steps` and `warnings`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_query_explain(
    query: *const QueryHandle,
    graph: *const GraphHandle,
    limits: *const LimitsOptions,
    out: *mut *mut Buffer,
) -> *mut ErrorHandle {
    let explain = || {
        // SAFETY: the rules of the header.
        let (query, graph, run_limits) = unsafe { (borrow(query)?, borrow(graph)?, RunLimits::read(limits)?) };
        let profile = query.query.explain(graph, run_limits.limits()).map_err(|error| query.abi_error(&error))?;
        let mut json = serde_json::to_value(&profile).unwrap_or_default();
        json["text"] = Json::from(profile.to_string());
        Ok(json.to_string())
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_buffer(out, explain) })
}

/// Checks a query without running it: a JSON array of warnings. With a graph, also checks against its data, such as
/// fields that do not exist; `graph` may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_query_check(
    query: *const QueryHandle,
    graph: *const GraphHandle,
    out: *mut *mut Buffer,
) -> *mut ErrorHandle {
    let check = || {
        // SAFETY: the rules of the header.
        let (query, graph) = unsafe { (borrow(query)?, (!graph.is_null()).then(|| borrow(graph)).transpose()?) };
        let mut warnings = query.query.check().map_err(|error| query.abi_error(&error))?;
        if let Some(graph) = graph {
            warnings.extend(query.query.check_against(graph, Default::default()));
        }
        Ok(warnings_json(&warnings))
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_buffer(out, check) })
}

/// Returns the query in the text format; compiling it again gives the same query. The query owns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_text(query: *const QueryHandle) -> Slice {
    guard_or(Slice::NONE, || {
        // SAFETY: the rules of the header.
        let query = unsafe { borrow(query) }?;
        Ok(query.text.get_or_init(|| Text::new(query.query.to_string())).slice())
    })
}

/// Returns the query in the JSON format. The query owns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_tree(query: *const QueryHandle) -> Slice {
    guard_or(Slice::NONE, || {
        // SAFETY: the rules of the header.
        let query = unsafe { borrow(query) }?;
        Ok(query.tree.get_or_init(|| Text::new(query.query.tree())).slice())
    })
}

/// Returns the names of the parameters of a prepared query, in the order of their first use: a JSON array. The query owns
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_parameters(query: *const QueryHandle) -> Slice {
    guard_or(Slice::NONE, || {
        // SAFETY: the rules of the header.
        let query = unsafe { borrow(query) }?;
        let names = || Json::from(query.query.parameters().collect::<Vec<_>>()).to_string();
        Ok(query.parameters.get_or_init(|| Text::new(names())).slice())
    })
}

/// Deletes a query. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_delete(query: *mut QueryHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(query) });
}

impl Compiled {
    /// Converts an error of a run, with its location in the query.
    pub fn abi_error(&self, error: &pidq_core::Error) -> AbiError {
        AbiError::from_engine(error, self.query.source())
    }
}

/// Compiles a query with parameters, given as a JSON object to `parse`, and writes its handle to `out`.
///
/// # Safety
/// The rules of the header.
pub unsafe fn compile(
    source: *const c_char,
    len: usize,
    params: *const ParamsHandle,
    out: *mut *mut QueryHandle,
    parse: impl FnOnce(&str, &str) -> Result<pidq_core::Result<Query>, AbiError>,
) -> Result<(), AbiError> {
    let compile = || {
        // SAFETY: the caller promises the same.
        let source = unsafe { text(source, len, "text") }?;
        // SAFETY: as above.
        let params = (!params.is_null()).then(|| unsafe { borrow(params) }).transpose()?;
        let params = params.map_or("{}".into(), Values::json);
        let query = parse(source, &params)?.map_err(|error| AbiError::from_engine(&error, source))?;
        let (text, tree, parameters) = Default::default();
        Ok(Compiled { query: Arc::new(query), text, tree, parameters })
    };
    // SAFETY: as above.
    unsafe { write_handle(out, compile) }
}

fn parse_text(text: &str, params: &str) -> Result<pidq_core::Result<Query>, AbiError> {
    Ok(Dialect::standard().parse_with(text, params))
}

fn parse_json(json: &str, params: &str) -> Result<pidq_core::Result<Query>, AbiError> {
    Ok(Dialect::standard().compile_json_with(json, params))
}
