//! `pidq_rows_t`: a result read row by row.

use std::sync::Arc;

use crate::boundary::{boundary, quietly};
use crate::error::{ErrorHandle, Fault};
use crate::handle::{Slot, delete, hand_out, handle, lend, lend_mut};
use crate::result::{Answer, ResultHandle};
use crate::slice::{Slice, write_to};

/// Reads a result row by row, without making the JSON of all rows. One thread at a time, and the same as its result.
/// Delete it.
pub struct RowsHandle(Slot<Cursor>);

handle!(RowsHandle, Cursor, b"rows", "rows");

/// Where a reader is.
pub struct Cursor {
    answer: Arc<Answer>,
    next: usize,
    row: Vec<u8>,
}

/// Begins before the first row of a result: the items of a list; anything else is one row. On success `*out` is a reader
/// that you delete; the result may be deleted before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_rows_new(result: *const ResultHandle, out: *mut *mut RowsHandle) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    let begin = || Ok(Cursor { answer: unsafe { lend(result) }?.clone(), next: 0, row: Vec::new() });
    // SAFETY: the rules of the header.
    boundary(|| unsafe { hand_out(out, begin) })
}

/// Takes the next row: its JSON, which stays until the next call with the same reader. After the last row `row->data` is
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_rows_next(rows: *mut RowsHandle, row: *mut Slice) -> *mut ErrorHandle {
    boundary(|| {
        // SAFETY: the rules of the header. It comes first: what is not read is not passed over.
        unsafe { write_to(row, Slice::NONE) }?;
        // SAFETY: as above.
        let text = unsafe { lend_mut(rows) }?.advance()?;
        // SAFETY: as above.
        unsafe { write_to(row, text) }
    })
}

/// Deletes a reader. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_rows_delete(rows: *mut RowsHandle) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(rows) });
}

impl Cursor {
    fn advance(&mut self) -> Result<Slice, Fault> {
        let value = match self.answer.value().as_array() {
            Some(list) => list.get(self.next),
            None => (self.next == 0).then(|| self.answer.value()),
        };
        let Some(value) = value else { return Ok(Slice::NONE) };
        self.next += 1;
        self.row.clear();
        let written = value.write_json(self.answer.output, &mut |piece| {
            self.row.extend_from_slice(piece.as_bytes());
            Ok(())
        });
        written.map_err(|error| self.answer.fault(&error))?;
        self.row.push(0);
        Ok(Slice { data: self.row.as_ptr().cast(), len: self.row.len() - 1 })
    }
}
