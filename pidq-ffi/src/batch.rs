//! `pidq_batch_t`: the results of one query on many documents, as one table.
//!
//! Each document is loaded for the query alone. The columns of the documents are joined as long as their types are the
//! same, so that the table is that of each document by itself.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pidq_core::error::Code;
use pidq_core::{Limits, Query, Scratch};

use crate::abi_error::AbiError;
use crate::arguments::{borrow_items, bytes, write_to};
use crate::arrow::{ArrowArrayStream, stream};
use crate::columns::Table;
use crate::columns::column::{Column, Data};
use crate::error_handle::ErrorHandle;
use crate::handle::{Slot, borrow, delete, handle, write_handle};
use crate::limits::{LimitsOptions, RunLimits};
use crate::panic_guard::{guard, guard_error, guard_or};
use crate::query::QueryHandle;
use crate::result::{ResultView, acquire_scratch, recycle_scratch};
use crate::slice::{Slice, Text};

/// Results of a query on several documents. For one thread at a time. Delete it with `pidq_batch_delete`; query and
/// documents may be deleted before it.
pub struct BatchHandle(Slot<Batch>);

handle!(BatchHandle, Batch, b"btch", "batch");

/// Results of a query on several documents, with everything they need.
pub struct Batch {
    table: std::cell::RefCell<Option<Table>>,
    count: usize,
    failures: Text,
}

/// A batch ends after this number of rows.
const MAX_ROWS: usize = 65_536;
/// A batch ends after this number of bytes of documents.
const MAX_BYTES: usize = 64 << 20;
/// Maximum number of documents of a call.
const MAX_DOCUMENTS: usize = 1 << 24;

/// Runs a query on several documents, each JSON in UTF-8, from the first on. Only the values that the query can read are
/// loaded. `limits` apply to each document and may be NULL. On success, `*out` is a batch that the caller deletes: the
/// results of the first `pidq_batch_count` documents. It ends before a document in which a column has another type than
/// before, and after many rows or bytes; call again with the rest.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_query_run_batch(
    query: *const QueryHandle,
    documents: *const Slice,
    count: usize,
    limits: *const LimitsOptions,
    out: *mut *mut BatchHandle,
) -> *mut ErrorHandle {
    let run = || {
        // SAFETY: the rules of the header.
        let (query, run_limits) = unsafe { (borrow(query)?, RunLimits::read(limits)?) };
        // SAFETY: as above.
        let documents = unsafe { borrow_items(documents, count, MAX_DOCUMENTS, "documents") }?;
        let mut builder = BatchBuilder::new(&query.query, run_limits.limits());
        for document in documents {
            // SAFETY: as above.
            let json = unsafe { bytes::<'_>(document.data, document.len, "documents") }?;
            if builder.is_full() || !builder.add(json)? {
                break;
            }
        }
        builder.finish()
    };
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_handle(out, run) })
}

/// Returns the number of documents of the batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_batch_count(batch: *const BatchHandle) -> usize {
    // SAFETY: the rules of the header.
    guard_or(0, || Ok(unsafe { borrow(batch) }?.count))
}

/// Returns the documents that failed: a JSON array of objects with `document`, its number from 0, and `error`, as
/// `pidq_error_json` returns it. The batch owns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_batch_failures(batch: *const BatchHandle) -> Slice {
    // SAFETY: the rules of the header.
    guard_or(Slice::NONE, || Ok(unsafe { borrow(batch) }?.failures.slice()))
}

/// Exports the results as columns, as `pidq_result_arrow` does for one; once per batch. The first column, `document`, is
/// the number of the document of each row. A document that failed has one row, in which all other columns are null.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_batch_arrow(batch: *const BatchHandle, out: *mut ArrowArrayStream) -> *mut ErrorHandle {
    guard_error(|| {
        // SAFETY: the rules of the header. It comes first, so that a stream is marked as released on failure.
        unsafe { write_to(out, ArrowArrayStream::RELEASED) }?;
        // SAFETY: as above.
        let table = unsafe { borrow(batch) }?.table.take();
        let table = table.ok_or_else(|| AbiError::misuse("the columns of the batch were exported before".into()))?;
        // SAFETY: as above.
        unsafe { write_to(out, stream(table)) }
    })
}

/// Deletes a batch. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_batch_delete(batch: *mut BatchHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(batch) });
}

/// The rows of the documents so far.
struct BatchBuilder<'q> {
    query: &'q Query,
    limits: Limits<'q>,
    scratch: Box<Scratch>,
    table: Table,
    /// The document of each row.
    documents: Vec<i64>,
    failures: Vec<String>,
    count: usize,
    bytes: usize,
}

impl<'q> BatchBuilder<'q> {
    fn new(query: &'q Query, limits: Limits<'q>) -> BatchBuilder<'q> {
        BatchBuilder {
            query,
            limits,
            scratch: acquire_scratch(limits.memory),
            table: Table { columns: Vec::new(), rows: 0 },
            documents: Vec::new(),
            failures: Vec::new(),
            count: 0,
            bytes: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.table.rows >= MAX_ROWS || self.bytes >= MAX_BYTES
    }

    /// Runs the query on a document and adds its rows. Returns false, without adding them, if their types differ from
    /// those of the rows before.
    fn add(&mut self, json: &[u8]) -> Result<bool, AbiError> {
        match self.run(json) {
            Ok(table) => {
                let rows = if table.columns.is_empty() { 0 } else { table.rows };
                if rows > 0 && !self.table.append(table) {
                    return Ok(false);
                }
                self.documents.resize(self.documents.len() + rows, self.count as i64);
            }
            Err(error) if is_cancellation(&error) => return Err(error),
            Err(error) => {
                self.table.push_null();
                self.documents.push(self.count as i64);
                let json = String::from_utf8_lossy(error.0.json.as_bytes()).into_owned();
                self.failures.push(format!(r#"{{"document":{},"error":{json}}}"#, self.count));
            }
        }
        self.count += 1;
        self.bytes += json.len();
        Ok(true)
    }

    /// Returns the rows of a document.
    fn run(&mut self, json: &[u8]) -> Result<Table, AbiError> {
        self.scratch.reset();
        let (query, scratch, limits) = (self.query, &*self.scratch, self.limits);
        // A defect that one document shows does not concern the others.
        let run = AssertUnwindSafe(|| {
            let document = query.load(json)?;
            let result = document.run_without_warnings(scratch, limits);
            let value = result.map_err(|error| AbiError::from_engine(&error, query.source()))?.value;
            Table::from_result(&ResultView { value, graph: document.graph(), query, output: limits.output })
        });
        catch_unwind(run).unwrap_or_else(|_| Err(AbiError::panic()))
    }

    fn finish(self) -> Result<Batch, AbiError> {
        recycle_scratch(self.scratch);
        let mut table = self.table.finish()?;
        let data = Data::Integers(self.documents);
        table.columns.insert(0, Column { name: "document".into(), data, valid: None, len: table.rows, nulls: 0 });
        let failures = Text::new(format!("[{}]", self.failures.join(",")));
        Ok(Batch { table: Some(table).into(), count: self.count, failures })
    }
}

/// Returns true if an error ends all runs, and not only that on one document.
fn is_cancellation(error: &AbiError) -> bool {
    [Code::Cancelled, Code::OutOfTime].iter().any(|code| error.0.code.to_bytes() == code.as_str().as_bytes())
}
