//! `pidq_result_t`: the result of a run.

use std::cell::OnceCell;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex};

use pidq_core::error::Code;
use pidq_core::{BoundQuery, Graph, Limits, Query, RunResult, Scratch, Value};
use pidq_formats::Format;

use crate::abi_error::AbiError;
use crate::arguments::c_string;
use crate::buffer::{Files, write_files};
use crate::error_handle::ErrorHandle;
use crate::handle::{Slot, borrow, delete, handle};
use crate::limits::RunLimits;
use crate::panic_guard::{guard, guard_error, guard_or};
use crate::slice::{Slice, Text};
use crate::warnings_json::warnings_json;

/// Result of a run. For one thread at a time. Delete it with `pidq_result_delete`; graph and query may be deleted
/// before it.
pub struct ResultHandle(Slot<Arc<OwnedResult>>);

handle!(ResultHandle, Arc<OwnedResult>, b"rslt", "result");

/// Result of a run together with everything that it borrows from. Shared with row readers.
pub struct OwnedResult {
    // Invariant: it borrows from the fields below, which are boxed, and is not used once they are dropped.
    run_result: RunResult<'static>,
    json: OnceCell<Option<Vec<u8>>>,
    warnings: OnceCell<Text>,
    pub output: usize,
    scratch: Box<Scratch>,
    /// Values of the parameters of the run; it borrows from them and from the query.
    #[allow(dead_code, reason = "the result borrows from it")]
    bound: Option<Box<BoundQuery<'static>>>,
    query: Arc<Query>,
    graph: Arc<Graph>,
    #[allow(dead_code, reason = "the bound query borrows from it")]
    params: Option<Arc<Graph>>,
}

impl OwnedResult {
    /// Runs a query, with the values of its parameters if it was prepared.
    pub fn run(
        query: &Arc<Query>,
        graph: &Arc<Graph>,
        params: Option<&Arc<Graph>>,
        run_limits: &RunLimits,
    ) -> pidq_core::Result<Arc<OwnedResult>> {
        // SAFETY: the result owns query and parameters as long as the value that borrows from them, and moving an `Arc`
        // does not move its content.
        let bound = params.map(|params| unsafe { bind(&*Arc::as_ptr(query), &*Arc::as_ptr(params)) }).transpose()?;
        let scratch = acquire_scratch(run_limits.limits().memory);
        let output = run_limits.limits().output;
        // SAFETY: the result owns the first four as long as the value that borrows from them, and moving a box or an
        // `Arc` does not move its content. Borrows of the limits are used during the run only.
        let run_result = unsafe {
            let bound = bound.as_deref().map(|bound| &*std::ptr::from_ref(bound));
            let (query, graph) = (&*Arc::as_ptr(query), &*Arc::as_ptr(graph));
            let scratch = &*std::ptr::from_ref(scratch.as_ref());
            let limits = std::mem::transmute::<Limits<'_>, Limits<'static>>(run_limits.limits());
            match bound {
                Some(bound) => bound.run(graph, scratch, limits)?,
                None => query.run(graph, scratch, limits)?,
            }
        };
        let (query, graph, params) = (query.clone(), graph.clone(), params.cloned());
        let (json, warnings) = (OnceCell::new(), OnceCell::new());
        // Not shared between threads, but moved to another one together with its readers.
        #[allow(clippy::arc_with_non_send_sync)]
        Ok(Arc::new(OwnedResult { run_result, json, warnings, output, scratch, bound, query, graph, params }))
    }

    /// Returns the value.
    pub fn value(&self) -> Value<'_> {
        self.run_result.value
    }

    /// Returns the number of items of a list; 1 for any other value.
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Returns the graph that the query ran on.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Returns what columns are built from.
    pub fn view(&self) -> ResultView<'_> {
        ResultView { value: self.value(), graph: &self.graph, query: &self.query, output: self.output }
    }

    /// Returns the JSON text with its NUL byte. Reuses the buffer of an earlier result if there is one: touching fresh
    /// memory takes several times as long as writing the text.
    fn json(&self) -> Option<Slice> {
        let print = || {
            let mut text = JSON_BUFFER.lock().map(|mut buffer| std::mem::take(&mut *buffer)).unwrap_or_default();
            let result = self.run_result.write_json(&mut text).map(|()| text.push(0));
            if result.is_err() {
                recycle_buffer(text);
                return None;
            }
            Some(text)
        };
        let text = self.json.get_or_init(print).as_ref()?;
        Some(Slice { data: text.as_ptr().cast(), len: text.len() - 1 })
    }

    /// Converts an error, with its location in the query.
    pub fn abi_error(&self, error: &pidq_core::Error) -> AbiError {
        self.view().abi_error(error)
    }
}

/// The value of a run with its document and its query: what columns are built from.
pub struct ResultView<'a> {
    pub value: Value<'a>,
    pub graph: &'a Graph,
    pub query: &'a Query,
    /// Limit of the bytes of a column.
    pub output: usize,
}

impl ResultView<'_> {
    /// Returns the number of items of a list; 1 for any other value.
    pub fn len(&self) -> usize {
        self.value.as_array().map_or(1, |rows| rows.len())
    }

    /// Converts an error, with its location in the query.
    pub fn abi_error(&self, error: &pidq_core::Error) -> AbiError {
        AbiError::from_engine(error, self.query.source())
    }
}

/// Sets the parameters of a query to the fields of a document.
fn bind<'q>(query: &'q Query, params: &'q Graph) -> pidq_core::Result<Box<BoundQuery<'q>>> {
    let fields = params.root().as_object().into_iter().flat_map(|fields| fields.iter());
    query.bind(fields).map(Box::new).map_err(|error| match error.code() {
        Code::MissingParameter => error.with_help("the parameters of the run must have a value for it"),
        _ => error,
    })
}

/// Buffer for the JSON of the next result.
static JSON_BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Maximum size of the kept buffer.
const MAX_JSON_BUFFER: usize = 64 << 20;

impl Drop for OwnedResult {
    fn drop(&mut self) {
        if let Some(Some(text)) = self.json.take() {
            recycle_buffer(text);
        }
        // The value is not used any more, and dropping it does not access the scratch.
        recycle_scratch(std::mem::take(&mut self.scratch));
    }
}

/// Pool of working memory.
// Boxed as in results, so that none is allocated or moved for a run.
#[allow(clippy::vec_box)]
static SCRATCH_POOL: Mutex<Vec<Box<Scratch>>> = Mutex::new(Vec::new());

/// Limits of the pool: bytes per scratch, and number.
const SCRATCH_POOL_LIMITS: (usize, usize) = (16 << 20, 4);

/// Returns working memory: of an earlier run, if it is small relative to the limit of the run.
pub fn acquire_scratch(memory: usize) -> Box<Scratch> {
    let scratch = SCRATCH_POOL.lock().ok().and_then(|mut scratches| scratches.pop());
    scratch.filter(|scratch| scratch.size() <= memory / 16).unwrap_or_default()
}

/// Returns working memory that is no longer used.
pub fn recycle_scratch(mut scratch: Box<Scratch>) {
    if scratch.size() > SCRATCH_POOL_LIMITS.0 {
        return;
    }
    scratch.reset();
    if let Ok(mut scratches) = SCRATCH_POOL.lock()
        && scratches.len() < SCRATCH_POOL_LIMITS.1
    {
        scratches.push(scratch);
    }
}

/// Keeps the larger of two buffers.
fn recycle_buffer(mut text: Vec<u8>) {
    if let Ok(mut buffer) = JSON_BUFFER.lock()
        && text.capacity() > buffer.capacity()
        && text.capacity() <= MAX_JSON_BUFFER
    {
        text.clear();
        *buffer = text;
    }
}

/// Callback that receives a chunk of text; `user` is the pointer passed in. Returning false stops the writing.
pub type Write = Option<unsafe extern "C" fn(user: *mut c_void, data: *const c_char, len: usize) -> bool>;

/// Returns the result as JSON. The result owns it; it is created on the first call. `data` is NULL if it is longer than
/// `limits.output`: `pidq_result_write` returns the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_json(result: *const ResultHandle) -> Slice {
    // SAFETY: the rules of the header.
    guard_or(Slice::NONE, || Ok(unsafe { borrow(result) }?.json().unwrap_or(Slice::NONE)))
}

/// Writes the result as JSON in chunks of about 64 KiB, without keeping it. Chunks end at character boundaries, without
/// a NUL byte.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_result_write(
    result: *const ResultHandle,
    write: Write,
    user: *mut c_void,
) -> *mut ErrorHandle {
    guard_error(|| {
        // SAFETY: the rules of the header.
        let result_data = unsafe { borrow(result) }?;
        let write = write.ok_or_else(|| AbiError::null("write"))?;
        let mut stopped = false;
        let mut sink = |chunk: &str| {
            // SAFETY: the caller provides the function for this purpose.
            stopped = stopped || !unsafe { write(user, chunk.as_ptr().cast(), chunk.len()) };
            if stopped { Err(write_stopped()) } else { Ok(()) }
        };
        let write_result = result_data.value().write_json(result_data.output, &mut sink);
        if stopped { Ok(()) } else { write_result.map_err(|error| result_data.abi_error(&error)) }
    })
}

/// Returns the internal error that stops the writing.
fn write_stopped() -> pidq_core::Error {
    pidq_core::Error::new(Code::Cancelled, "stopped")
}

/// Returns the type of the result: "null", "boolean", "number", "string", "array" or "object". The string is static.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_type(result: *const ResultHandle) -> *const c_char {
    guard_or(std::ptr::null(), || {
        // SAFETY: the rules of the header.
        let name = match unsafe { borrow(result) }?.value().type_name() {
            "boolean" => c"boolean",
            "number" => c"number",
            "string" => c"string",
            "array" => c"array",
            "object" => c"object",
            _ => c"null",
        };
        Ok(name.as_ptr())
    })
}

/// Returns the number of items of the result; 1 if it is not a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_count(result: *const ResultHandle) -> usize {
    // SAFETY: the rules of the header.
    guard_or(0, || Ok(unsafe { borrow(result) }?.len()))
}

/// Returns the fuel that the run used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_fuel(result: *const ResultHandle) -> u64 {
    // SAFETY: the rules of the header.
    guard_or(0, || Ok(unsafe { borrow(result) }?.run_result.fuel))
}

/// Returns the warnings: a JSON array of objects with `code`, `message`, `span` and `help`. The result owns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_warnings(result: *const ResultHandle) -> Slice {
    guard_or(Slice::NONE, || {
        // SAFETY: the rules of the header.
        let result_data = unsafe { borrow(result) }?;
        Ok(result_data.warnings.get_or_init(|| Text::new(warnings_json(&result_data.run_result.warnings))).slice())
    })
}

/// Exports the result in a format, as `pidq_graph_export` does; "csv" and "xlsx" require a list of objects.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_result_export(
    result: *const ResultHandle,
    format: *const c_char,
    out: *mut *mut Files,
) -> *mut ErrorHandle {
    let export = || {
        // SAFETY: the rules of the header.
        let (result_data, format) = unsafe { (borrow(result)?, c_string(format, "format")?) };
        let format = Format::find(format.ok_or_else(|| AbiError::null("format"))?)?;
        Ok(format.export(result_data.value())?)
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_files(out, export) })
}

/// Deletes a result. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_delete(result: *mut ResultHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(result) });
}
