//! Vectorized evaluation of `size`, `limit` and aggregates of numbers on a field that holds an array in each item, and of
//! `keys` and `values` on one that holds an object.
//!
//! As in `vectorized`, the fuel equals the cost of evaluation item by item, and if an item holds something else the
//! caller evaluates item by item instead.

use super::EvalContext;
use super::column_view::ColumnView;
use super::plan::function::{Body, FoldBody};
use super::plan::{Call, Plan};
use crate::arena::{Cell, ContainerId};
use crate::error::Result;
use crate::graph::column::{Column, MIN_ROWS};
use crate::value::{Array, CellList, Items, Value};

/// Function of an array or an object.
#[derive(Clone, Copy)]
pub(super) enum ContainerFunction {
    Size,
    /// The first items, and their number.
    Limit(u32),
    Keys,
    Values,
    Aggregate(FoldBody),
}

impl ContainerFunction {
    /// Returns `None` for other functions, and for a number of items that is not constant.
    pub fn new(call: &Call) -> Option<ContainerFunction> {
        if let (Body::Folded(_, fold), []) = (&call.function.row().body, &*call.args) {
            return Some(ContainerFunction::Aggregate(*fold));
        }
        match (call.function.standard_name(), &*call.args) {
            (Some("size"), []) => Some(ContainerFunction::Size),
            (Some("keys"), []) => Some(ContainerFunction::Keys),
            (Some("values"), []) => Some(ContainerFunction::Values),
            (Some("limit"), [Plan::Constant(count)]) => {
                count.value().as_f64().map(|count| ContainerFunction::Limit(count.max(0.0) as u32))
            }
            _ => None,
        }
    }
}

impl<'a> EvalContext<'a> {
    /// Runs a function on the field of each item. Returns the results and the number of items in them.
    pub(super) fn map_containers(
        &mut self,
        view: ColumnView<'a>,
        column: &'a Column,
        function: ContainerFunction,
    ) -> Result<Option<(Value<'a>, u64)>> {
        match function {
            ContainerFunction::Size => self.map_sizes(view, column),
            ContainerFunction::Limit(count) => self.map_limited(view, column, count),
            ContainerFunction::Keys => self.map_keys(view, column),
            ContainerFunction::Values => self.map_values(view, column),
            ContainerFunction::Aggregate(fold) => self.map_aggregates(view, column, fold),
        }
    }

    fn map_sizes(&mut self, view: ColumnView<'a>, column: &'a Column) -> Result<Option<(Value<'a>, u64)>> {
        let mut are_arrays = true;
        let size = |at: usize| match column.cell(view.row(at)).array_id() {
            Some(id) => Cell::number(f64::from(self.document.container(id).extent)),
            None => {
                are_arrays = false;
                Cell::NULL
            }
        };
        let sizes = self.scratch.alloc_slice_from_fn(view.len(), size).ok_or_else(|| self.out_of_memory())?;
        if are_arrays { Ok(Some((self.cell_list(sizes)?, 0))) } else { Ok(None) }
    }

    fn map_limited(
        &mut self,
        view: ColumnView<'a>,
        column: &'a Column,
        count: u32,
    ) -> Result<Option<(Value<'a>, u64)>> {
        let (mut are_short, mut total) = (true, 0);
        let part = |at: usize| {
            let part = column.cell(view.row(at)).array_id().and_then(|id| self.short_part(id, count));
            are_short &= part.is_some();
            let (array, len) = part.unwrap_or((Array::EMPTY, 0));
            total += u64::from(len);
            Value::Array(array)
        };
        let parts = self.scratch.alloc_slice_from_fn(view.len(), part).ok_or_else(|| self.out_of_memory())?;
        if !are_short {
            return Ok(None);
        }
        // The evaluation of the constant.
        self.charge(view.len() as u64)?;
        Ok(Some((self.list_from_slice(parts)?, total)))
    }

    /// The keys of all objects with the same shape are one list.
    fn map_keys(&mut self, view: ColumnView<'a>, column: &'a Column) -> Result<Option<(Value<'a>, u64)>> {
        let lists =
            self.scratch.alloc_slice_filled(view.len(), Value::Undefined).ok_or_else(|| self.out_of_memory())?;
        let (mut known, mut total) = (None, 0);
        for (at, list) in lists.iter_mut().enumerate() {
            let Some(id) = column.cell(view.row(at)).object_id() else { return Ok(None) };
            let shape = self.document.shape(id);
            let names = match known {
                Some((known_shape, names)) if known_shape == shape => names,
                _ => self.shape_keys(self.document, id)?.names,
            };
            known = Some((shape, names));
            total += names.len() as u64;
            *list = Value::Array(Array(Items::Built(names)));
        }
        self.charge(total)?;
        Ok(Some((self.list_from_slice(lists)?, total)))
    }

    fn map_values(&mut self, view: ColumnView<'a>, column: &'a Column) -> Result<Option<(Value<'a>, u64)>> {
        let (mut are_objects, mut total) = (true, 0);
        let list = |at: usize| {
            let id = column.cell(view.row(at)).object_id();
            are_objects &= id.is_some();
            let cells = id.map_or(&[][..], |id| self.document.fields(id));
            total += cells.len() as u64;
            CellList { arena: self.document, cells }
        };
        let lists = self.scratch.alloc_slice_from_fn(view.len(), list).ok_or_else(|| self.out_of_memory())?;
        if !are_objects {
            return Ok(None);
        }
        self.charge(total)?;
        let values = self.list_from_fn(lists.len(), |at| Value::Array(Array(Items::Cells(&lists[at]))))?;
        Ok(Some((values, total)))
    }

    fn map_aggregates(
        &mut self,
        view: ColumnView<'a>,
        column: &'a Column,
        fold: FoldBody,
    ) -> Result<Option<(Value<'a>, u64)>> {
        let results = self.cell_buffer(view.len())?;
        let mut total_cost = 0;
        for (at, result) in results.iter_mut().enumerate() {
            let Some(id) = column.cell(view.row(at)).array_id() else { return Ok(None) };
            let Some((value, cost)) = fold(self.document, self.document.items(id)) else { return Ok(None) };
            *result = value;
            total_cost += cost;
        }
        self.charge(total_cost)?;
        Ok(Some((self.cell_list(results)?, 0)))
    }

    /// Returns the first items of a stored array and their number; `None` for a long part, which becomes rows.
    #[inline]
    fn short_part(&self, id: ContainerId, count: u32) -> Option<(Array<'a>, u32)> {
        let len = self.document.container(id).extent;
        if len <= count {
            return Some((Array(Items::Stored(self.document, id)), len));
        }
        let part = Items::Slice { arena: self.document, base: id, first: 0, len: count };
        ((count as usize) < MIN_ROWS).then_some((Array(part), count))
    }
}
