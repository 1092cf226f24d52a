//! `pidq_result_t`: what a run gave.

use std::cell::OnceCell;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex};

use pidq_core::{Graph, Limits, Outcome, Query, Scratch, Value};
use pidq_formats::Format;

use crate::boundary::{boundary, quiet, quietly};
use crate::buffer::{Files, give_files};
use crate::error::{ErrorHandle, Fault};
use crate::handle::{Slot, delete, handle, lend};
use crate::limits::Budget;
use crate::query::warnings_json;
use crate::slice::{Slice, Text, word};

/// What a run gave. One thread at a time. Delete it; it keeps what it needs of graph and query, which may be deleted
/// before.
pub struct ResultHandle(Slot<Arc<Answer>>);

handle!(ResultHandle, Arc<Answer>, b"rslt", "result");

/// The result of a run, with all that it borrows from. It is shared with what reads it row by row.
pub struct Answer {
    // Invariant: it borrows from the fields below, which live in boxes of their own, and is not used once they are gone.
    outcome: Outcome<'static>,
    json: OnceCell<Option<Vec<u8>>>,
    warnings: OnceCell<Text>,
    pub output: usize,
    scratch: Box<Scratch>,
    query: Arc<Query>,
    graph: Arc<Graph>,
}

impl Answer {
    /// Runs a query.
    pub fn run(query: &Arc<Query>, graph: &Arc<Graph>, budget: &Budget) -> pidq_core::Result<Arc<Answer>> {
        let scratch = scratch_within(budget.limits().memory);
        let output = budget.limits().output;
        // SAFETY: the answer keeps the first three as long as what borrows from them, and moving a box or an `Arc` does
        // not move what is in it. What the limits borrow is looked at during the run only.
        let outcome = unsafe {
            let (query, graph) = (&*Arc::as_ptr(query), &*Arc::as_ptr(graph));
            let scratch = &*std::ptr::from_ref(scratch.as_ref());
            let limits = std::mem::transmute::<Limits<'_>, Limits<'static>>(budget.limits());
            query.run(graph, scratch, limits)?
        };
        let (query, graph) = (query.clone(), graph.clone());
        let (json, warnings) = (OnceCell::new(), OnceCell::new());
        // Not for sharing between threads, but for handing on to another one together with its readers.
        #[allow(clippy::arc_with_non_send_sync)]
        Ok(Arc::new(Answer { outcome, json, warnings, output, scratch, query, graph }))
    }

    /// The value. It lives as long as the answer.
    pub fn value(&self) -> Value<'_> {
        self.outcome.value
    }

    /// The items of a list; anything else is one item.
    pub fn len(&self) -> usize {
        self.value().as_array().map_or(1, |rows| rows.len())
    }

    /// The graph that it is of.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The JSON text with its NUL byte. In memory that an earlier result has used, where there is some: touching fresh
    /// memory takes several times as long as writing the text.
    fn json(&self) -> Option<Slice> {
        let print = || {
            let mut text = SPARE.lock().map(|mut spare| std::mem::take(&mut *spare)).unwrap_or_default();
            let written = self.outcome.write_json(&mut text).map(|()| text.push(0));
            if written.is_err() {
                put_back(text);
                return None;
            }
            Some(text)
        };
        let text = self.json.get_or_init(print).as_ref()?;
        Some(Slice { data: text.as_ptr().cast(), len: text.len() - 1 })
    }

    /// An error with the place in the query.
    pub fn fault(&self, error: &pidq_core::Error) -> Fault {
        Fault::of(error, self.query.source())
    }
}

/// Memory for the JSON of the next result.
static SPARE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// More than this is not kept for the next result.
const MOST_SPARE: usize = 64 << 20;

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(Some(text)) = self.json.take() {
            put_back(text);
        }
        // Nobody looks at the outcome any more, and dropping it does not.
        keep(std::mem::take(&mut self.scratch));
    }
}

/// Working memory for the next runs.
// In the boxes in which results hold it: so none is made or moved for a run.
#[allow(clippy::vec_box)]
static SCRATCHES: Mutex<Vec<Box<Scratch>>> = Mutex::new(Vec::new());

/// So much working memory is kept, a piece at a time and as pieces.
const MOST_SCRATCH: (usize, usize) = (16 << 20, 4);

/// Working memory: of an earlier run, where that is little beside what the run may take.
fn scratch_within(memory: usize) -> Box<Scratch> {
    let kept = SCRATCHES.lock().ok().and_then(|mut scratches| scratches.pop());
    kept.filter(|scratch| scratch.size() <= memory / 16).unwrap_or_default()
}

fn keep(mut scratch: Box<Scratch>) {
    if scratch.size() > MOST_SCRATCH.0 {
        return;
    }
    scratch.reset();
    if let Ok(mut scratches) = SCRATCHES.lock()
        && scratches.len() < MOST_SCRATCH.1
    {
        scratches.push(scratch);
    }
}

/// Keeps the larger of two memories.
fn put_back(mut text: Vec<u8>) {
    if let Ok(mut spare) = SPARE.lock()
        && text.capacity() > spare.capacity()
        && text.capacity() <= MOST_SPARE
    {
        text.clear();
        *spare = text;
    }
}

/// Takes a piece of text; `user` is what was handed in. False stops the writing.
pub type Write = Option<unsafe extern "C" fn(user: *mut c_void, data: *const c_char, len: usize) -> bool>;

/// The result as JSON. The result lends it; it is made when it is first asked for. `data` is NULL where it is longer than
/// `limits.output`: `pidq_result_write` tells the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_json(result: *const ResultHandle) -> Slice {
    // SAFETY: the rules of the header.
    quiet(Slice::NONE, || Ok(unsafe { lend(result) }?.json().unwrap_or(Slice::NONE)))
}

/// Writes the result as JSON in pieces of about 64 KiB, without keeping it. The pieces end at characters, and no NUL byte
/// follows them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_write(
    result: *const ResultHandle,
    write: Write,
    user: *mut c_void,
) -> *mut ErrorHandle {
    boundary(|| {
        // SAFETY: the rules of the header.
        let answer = unsafe { lend(result) }?;
        let write = write.ok_or_else(|| Fault::null("write"))?;
        let mut stopped = false;
        let mut sink = |piece: &str| {
            // SAFETY: the caller gave the function for this.
            stopped = stopped || !unsafe { write(user, piece.as_ptr().cast(), piece.len()) };
            if stopped { Err(stop()) } else { Ok(()) }
        };
        let written = answer.value().write_json(answer.output, &mut sink);
        if stopped { Ok(()) } else { written.map_err(|error| answer.fault(&error)) }
    })
}

/// What ends the writing; nobody sees it.
fn stop() -> pidq_core::Error {
    pidq_core::Error::new(pidq_core::error::Code::Cancelled, "stopped")
}

/// What the result is: "null", "boolean", "number", "string", "array" or "object". It is never freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_type(result: *const ResultHandle) -> *const c_char {
    quiet(std::ptr::null(), || {
        // SAFETY: the rules of the header.
        let name = match unsafe { lend(result) }?.value().type_name() {
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

/// How many items the result has; 1 where it is no list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_count(result: *const ResultHandle) -> usize {
    // SAFETY: the rules of the header.
    quiet(0, || Ok(unsafe { lend(result) }?.len()))
}

/// The steps that the run took.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_fuel(result: *const ResultHandle) -> u64 {
    // SAFETY: the rules of the header.
    quiet(0, || Ok(unsafe { lend(result) }?.outcome.fuel))
}

/// What looks like a mistake in the query: a JSON list of objects with `code`, `message`, `span` and `help`. The result
/// lends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_warnings(result: *const ResultHandle) -> Slice {
    quiet(Slice::NONE, || {
        // SAFETY: the rules of the header.
        let answer = unsafe { lend(result) }?;
        Ok(answer.warnings.get_or_init(|| Text::new(warnings_json(&answer.outcome.warnings))).slice())
    })
}

/// Writes the result in a format, as `pidq_graph_export`; "csv" and "xlsx" take lists of objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_export(
    result: *const ResultHandle,
    format: *const c_char,
    out: *mut *mut Files,
) -> *mut ErrorHandle {
    let export = || {
        // SAFETY: the rules of the header.
        let (answer, format) = unsafe { (lend(result)?, word(format, "format")?) };
        let format = Format::find(format.ok_or_else(|| Fault::null("format"))?)?;
        Ok(format.export(answer.value())?)
    };
    // SAFETY: the rules of the header.
    boundary(|| unsafe { give_files(out, export) })
}

/// Deletes a result. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_delete(result: *mut ResultHandle) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(result) });
}
