//! Column views: lists whose items are in one stored list, so that columns can be used.

use super::EvalContext;
use super::call_stats::Strategy;
use super::row_set::RowSet;
use crate::arena::{Cell, ContainerId};
use crate::error::Result;
use crate::graph::column::{Distinct, MIN_ROWS};
use crate::value::{Array, Items};

/// Rows of a stored list, in the order of the resulting list.
#[derive(Clone, Copy)]
pub(crate) struct ColumnView<'a> {
    pub list: ContainerId,
    /// The items of the stored list.
    pub cells: &'a [Cell],
    /// The rows; `None` for all in order.
    pub rows: Option<&'a [u32]>,
}

/// Count of each value of a coded column, and the values in the order of their first occurrence.
pub(crate) struct ValueCounts {
    pub counts: Box<[u32; 256]>,
    pub order: Vec<u8>,
}

/// Nesting depth up to which lists are vectorized; plain evaluation needs less stack.
const MAX_DEPTH: u32 = 4;

/// A view with fewer than one in this many rows of the list is faster without a row set.
const MAX_SPARSITY: usize = 64;

impl<'a> EvalContext<'a> {
    /// Returns the view of a list if it is long enough, of this document, and optimizations are enabled.
    pub(crate) fn view(&self, array: Array<'a>) -> Option<ColumnView<'a>> {
        let (arena, list, rows) = match array.0 {
            Items::Stored(arena, list) => (arena, list, None),
            Items::Rows(rows) => (rows.arena, rows.base, Some(rows.rows)),
            _ => return None,
        };
        let is_eligible = self.is_optimized && array.len() >= MIN_ROWS && std::ptr::eq(arena, self.document);
        (is_eligible && self.vectorized_depth < MAX_DEPTH).then(|| ColumnView { list, cells: arena.items(list), rows })
    }

    /// Runs a vectorized operation. Returns `None` if it is not possible or failed: then the items must be evaluated
    /// one by one, and the fuel is refunded.
    ///
    /// After a failure, optimizations stay disabled: otherwise each level of a query would double the work of the next.
    pub(crate) fn try_vectorized<T>(&mut self, operation: impl FnOnce(&mut Self) -> Result<Option<T>>) -> Option<T> {
        let (used, inner_fuel) = (self.fuel_used, self.inner_fuel);
        let checkpoint = self.checkpoint();
        self.vectorized_depth += 1;
        let result = operation(self);
        self.vectorized_depth -= 1;
        if let Ok(Some(done)) = result {
            // The warnings of the running call are attached to it at its end.
            self.set_strategy(if self.has_pending_warnings() { Strategy::Warned } else { Strategy::Columns });
            return Some(done);
        }
        self.drop_pending_warnings();
        self.is_optimized &= result.is_ok();
        self.refund(used, inner_fuel);
        self.rollback(checkpoint);
        None
    }
}

impl ColumnView<'_> {
    pub fn len(&self) -> usize {
        self.rows.map_or(self.cells.len(), <[u32]>::len)
    }

    /// Returns the row at a position.
    pub fn row(&self, at: usize) -> u32 {
        self.rows.map_or(at as u32, |rows| rows[at])
    }

    /// Returns the rows as a set; `None` if a row occurs twice, or if there are too few rows for a set to pay off.
    pub fn row_set(&self) -> Option<RowSet> {
        let Some(rows) = self.rows else { return Some(RowSet::all(self.cells.len())) };
        if rows.len() * MAX_SPARSITY < self.cells.len() {
            return None;
        }
        let mut bits = RowSet::empty(self.cells.len());
        rows.iter().for_each(|row| bits.insert(*row));
        (bits.count() == rows.len()).then_some(bits)
    }

    /// Returns true if the rows are in the order of the stored list.
    pub fn is_ascending(&self) -> bool {
        self.rows.is_none_or(|rows| rows.is_sorted_by(|a, b| a < b))
    }

    pub fn value_counts(&self, codes: &[u8], values: &[Distinct]) -> ValueCounts {
        let mut counted = ValueCounts { counts: Box::new([0; 256]), order: Vec::with_capacity(values.len()) };
        match self.rows {
            None => {
                counted.order.extend((0..values.len()).map(|code| code as u8));
                values.iter().zip(counted.counts.iter_mut()).for_each(|(value, count)| *count = value.count);
            }
            Some(rows) => rows.iter().for_each(|row| counted.add(codes[*row as usize])),
        }
        counted
    }
}

impl ValueCounts {
    fn add(&mut self, code: u8) {
        let count = &mut self.counts[code as usize];
        *count += 1;
        if *count == 1 {
            self.order.push(code);
        }
    }
}
