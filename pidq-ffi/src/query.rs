//! `pidq_query_t`: a compiled query.

use std::ffi::c_char;
use std::sync::{Arc, OnceLock};

use pidq_core::error::Warning;
use pidq_core::{Dialect, Query};
use serde_json::{Value as Json, json};

use crate::boundary::{boundary, quiet, quietly};
use crate::buffer::{Buffer, give_text};
use crate::error::{ErrorHandle, Fault};
use crate::graph::GraphHandle;
use crate::handle::{Slot, delete, hand_out, handle, lend};
use crate::limits::{Budget, LimitsOptions};
use crate::params::{ParamsHandle, Values};
use crate::result::{Answer, ResultHandle};
use crate::slice::{Slice, Text, text};

/// A compiled query. Does not change once it is made: any number of threads may run it. Delete it; results keep what
/// they need of it.
pub struct QueryHandle(Slot<Compiled>);

handle!(QueryHandle, Compiled, b"qury", "query");

/// A query with its texts as they are lent.
pub struct Compiled {
    pub query: Arc<Query>,
    text: OnceLock<Text>,
    tree: OnceLock<Text>,
}

/// Compiles a query in the text format. On success `*out` is a query that you delete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_parse(
    text: *const c_char,
    len: usize,
    out: *mut *mut QueryHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    boundary(|| unsafe { compile(text, len, std::ptr::null(), out, Dialect::parse_with) })
}

/// Compiles a query in the text format with values for its `$names`; `params` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_parse_with(
    text: *const c_char,
    len: usize,
    params: *const ParamsHandle,
    out: *mut *mut QueryHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    boundary(|| unsafe { compile(text, len, params, out, Dialect::parse_with) })
}

/// Compiles a query in the JSON format, such as `["size"]`; `params` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_from_json(
    json: *const c_char,
    len: usize,
    params: *const ParamsHandle,
    out: *mut *mut QueryHandle,
) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    boundary(|| unsafe { compile(json, len, params, out, Dialect::compile_json_with) })
}

/// Runs a query; `limits` may be NULL. On success `*out` is a result that you delete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_run(
    query: *const QueryHandle,
    graph: *const GraphHandle,
    limits: *const LimitsOptions,
    out: *mut *mut ResultHandle,
) -> *mut ErrorHandle {
    let run = || {
        // SAFETY: the rules of the header.
        let (query, graph, budget) = unsafe { (lend(query)?, lend(graph)?, Budget::read(limits)?) };
        Answer::run(&query.query, graph, &budget).map_err(|error| query.fault(&error))
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { hand_out(out, run) })
}

/// Runs a query and tells what its calls did: a JSON object with `fuel`, `rows`, `steps` and `warnings`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_explain(
    query: *const QueryHandle,
    graph: *const GraphHandle,
    limits: *const LimitsOptions,
    out: *mut *mut Buffer,
) -> *mut ErrorHandle {
    let tell = || {
        // SAFETY: the rules of the header.
        let (query, graph, budget) = unsafe { (lend(query)?, lend(graph)?, Budget::read(limits)?) };
        let told = query.query.explain(graph, budget.limits()).map_err(|error| query.fault(&error))?;
        let mut json = serde_json::to_value(&told).unwrap_or_default();
        json["text"] = Json::from(told.to_string());
        Ok(json.to_string())
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_text(out, tell) })
}

/// Tells what looks like a mistake, without a run: a JSON list of warnings. With a graph also what only it can tell, such
/// as fields that nothing has; `graph` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_check(
    query: *const QueryHandle,
    graph: *const GraphHandle,
    out: *mut *mut Buffer,
) -> *mut ErrorHandle {
    let look = || {
        // SAFETY: the rules of the header.
        let (query, graph) = unsafe { (lend(query)?, (!graph.is_null()).then(|| lend(graph)).transpose()?) };
        let mut warnings = query.query.check().map_err(|error| query.fault(&error))?;
        if let Some(graph) = graph {
            warnings.extend(query.query.check_against(graph, Default::default()));
        }
        Ok(warnings_json(&warnings))
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_text(out, look) })
}

/// The query in the text format; compiling it again gives the same query. The query lends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_text(query: *const QueryHandle) -> Slice {
    quiet(Slice::NONE, || {
        // SAFETY: the rules of the header.
        let query = unsafe { lend(query) }?;
        Ok(query.text.get_or_init(|| Text::new(query.query.to_string())).slice())
    })
}

/// The query in the JSON format. The query lends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_tree(query: *const QueryHandle) -> Slice {
    quiet(Slice::NONE, || {
        // SAFETY: the rules of the header.
        let query = unsafe { lend(query) }?;
        Ok(query.tree.get_or_init(|| Text::new(query.query.tree())).slice())
    })
}

/// Deletes a query. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_query_delete(query: *mut QueryHandle) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(query) });
}

impl Compiled {
    /// An error of a run, with the place in the query.
    pub fn fault(&self, error: &pidq_core::Error) -> Fault {
        Fault::of(error, self.query.source())
    }
}

/// # Safety
/// The rules of the header.
unsafe fn compile(
    source: *const c_char,
    len: usize,
    params: *const ParamsHandle,
    out: *mut *mut QueryHandle,
    parse: impl Fn(&Dialect, &str, &str) -> pidq_core::Result<Query>,
) -> Result<(), Fault> {
    let compile = || {
        // SAFETY: the caller promises the same.
        let source = unsafe { text(source, len, "text") }?;
        // SAFETY: as above.
        let params = (!params.is_null()).then(|| unsafe { lend(params) }).transpose()?;
        let params = params.map_or("{}".into(), Values::json);
        let query = parse(&Dialect::standard(), source, &params).map_err(|error| Fault::of(&error, source))?;
        Ok(Compiled { query: Arc::new(query), text: OnceLock::new(), tree: OnceLock::new() })
    };
    // SAFETY: as above.
    unsafe { hand_out(out, compile) }
}

/// Warnings as a JSON list.
pub fn warnings_json(warnings: &[Warning]) -> String {
    let warning = |warning: &Warning| {
        let span = warning.span.map(|span| json!({"start": span.start, "end": span.end}));
        json!({"code": warning.code, "message": warning.message, "span": span, "help": warning.help})
    };
    Json::Array(warnings.iter().map(warning).collect()).to_string()
}
