//! `pidq_rows_t`: an iterator over the rows of a result.

use std::sync::Arc;

use crate::abi_error::AbiError;
use crate::arguments::write_to;
use crate::error_handle::ErrorHandle;
use crate::handle::{Slot, borrow, borrow_mut, delete, handle, write_handle};
use crate::panic_guard::{guard, guard_error};
use crate::result::{OwnedResult, ResultHandle};
use crate::slice::Slice;

/// Reader of a result, row by row, without the JSON of all rows. A reader and its result are for one thread at a time:
/// the two must not be used concurrently. Delete it with `pidq_rows_delete`.
pub struct RowsHandle(Slot<Cursor>);

handle!(RowsHandle, Cursor, b"rows", "rows");

/// Position of a reader.
pub struct Cursor {
    result_data: Arc<OwnedResult>,
    next: usize,
    row: Vec<u8>,
}

/// Creates a reader before the first row of a result. The rows are the items of a list; any other value is one row. On
/// success, `*out` is a reader that the caller deletes; the result may be deleted before it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_rows_new(result: *const ResultHandle, out: *mut *mut RowsHandle) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    let create = || Ok(Cursor { result_data: unsafe { borrow(result) }?.clone(), next: 0, row: Vec::new() });
    // SAFETY: the rules of the header.
    guard_error(|| unsafe { write_handle(out, create) })
}

/// Reads the next row as JSON, which stays valid until the next call with the same reader. After the last row,
/// `row->data` is NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_rows_next(rows: *mut RowsHandle, row: *mut Slice) -> *mut ErrorHandle {
    guard_error(|| {
        // SAFETY: the rules of the header. It comes first, so that a failure does not skip a row.
        unsafe { write_to(row, Slice::NONE) }?;
        // SAFETY: as above.
        let text = unsafe { borrow_mut(rows) }?.advance()?;
        // SAFETY: as above.
        unsafe { write_to(row, text) }
    })
}

/// Deletes a reader. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_rows_delete(rows: *mut RowsHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(rows) });
}

impl Cursor {
    fn advance(&mut self) -> Result<Slice, AbiError> {
        let value = match self.result_data.value().as_array() {
            Some(list) => list.get(self.next),
            None => (self.next == 0).then(|| self.result_data.value()),
        };
        let Some(value) = value else { return Ok(Slice::NONE) };
        self.next += 1;
        self.row.clear();
        let result = value.write_json(self.result_data.output, &mut |chunk| {
            self.row.extend_from_slice(chunk.as_bytes());
            Ok(())
        });
        result.map_err(|error| self.result_data.abi_error(&error))?;
        self.row.push(0);
        Ok(Slice { data: self.row.as_ptr().cast(), len: self.row.len() - 1 })
    }
}
