//! Key renaming for all items of a stored list: `mapKeys`, and `mapObject` if the new key depends on the old one alone.
//! The keys are computed once per shape.

use super::EvalContext;
use super::plan::dependencies::{Dependency, dependency, is_deterministic};
use super::plan::function::PipedBody;
use super::plan::{Call, Plan};
use crate::arena::{Cell, ContainerId};
use crate::error::Result;
use crate::value::{Fields, Keys, Object, Record, Table, Value};

/// Renaming of the objects of a shape.
#[derive(Clone, Copy)]
pub(super) struct RenamedShape<'a> {
    shape: u32,
    keys: &'a Keys<'a>,
    /// By new key: the index of its value among the old ones; `None` if the order does not change.
    old_indices: Option<&'a [u32]>,
    /// Fuel of the call for such an object, and the share of nested calls.
    fuel: u64,
    inner_fuel: u64,
}

/// Entries of the cache of a call.
const CACHE_SIZE: usize = 64;

/// Renamings by shape, indexed by the last bits of the shape number.
pub(super) struct RenameCache<'a>([Option<RenamedShape<'a>>; CACHE_SIZE]);

impl<'a> RenameCache<'a> {
    /// Returns `None` if the new keys depend on more than the old ones.
    pub fn new(call: &'a Call) -> Option<RenameCache<'a>> {
        let renames = match (call.function.standard_name(), &*call.args) {
            (Some("mapKeys"), [key]) => is_deterministic(key),
            (Some("mapObject"), [Plan::Object(fields)]) => match (&*fields.names, &*fields.values) {
                ([first, second], [key, Plan::Get(value)]) if (&**first, &**second) == ("key", "value") => {
                    value.names().eq(["value"]) && reads_only_key(key) && is_deterministic(key)
                }
                _ => false,
            },
            _ => false,
        };
        renames.then_some(RenameCache([None; CACHE_SIZE]))
    }
}

impl<'a> EvalContext<'a> {
    /// Runs `mapKeys` or `mapObject` on an object of the document.
    pub(super) fn rename_object_keys(
        &mut self,
        cache: &mut RenameCache<'a>,
        id: ContainerId,
        call: &'a Call,
        body: PipedBody,
    ) -> Result<Value<'a>> {
        let shape = self.document.shape(id).0;
        let entry = &mut cache.0[shape as usize % CACHE_SIZE];
        let renamed = match entry {
            Some(renamed) if renamed.shape == shape => *renamed,
            _ => *entry.insert(self.compute_rename(id, call, body)?),
        };
        self.charge(renamed.fuel)?;
        self.inner_fuel += renamed.inner_fuel;
        let fields = self.document.fields(id);
        let cells = match renamed.old_indices {
            None => Some(fields),
            Some(old_indices) => {
                self.scratch.alloc_slice_from_fn(old_indices.len(), |at| fields[old_indices[at] as usize])
            }
        };
        self.table_row(renamed.keys, cells)
    }

    fn table_row(&self, keys: &'a Keys<'a>, cells: Option<&'a [Cell]>) -> Result<Value<'a>> {
        let table = |cells| Table { arena: self.document, keys, cells, len: 1, origin: None };
        let table = cells.and_then(|cells| self.scratch.alloc(table(cells)));
        let table = table.ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Object(Object(Fields::Row(table, 0))))
    }

    /// Runs the call on a probe object with the same keys whose values are their indexes, so that the result shows the
    /// new order. Refunds the fuel, since each object is charged on its own.
    #[cold]
    fn compute_rename(&mut self, id: ContainerId, call: &'a Call, body: PipedBody) -> Result<RenamedShape<'a>> {
        let stored = Object(Fields::Stored(self.document, id));
        let keys = self.object_keys(stored)?;
        let indices = self.scratch.alloc_slice_from_fn(keys.names.len(), |at| Value::number(at as f64));
        let probe = indices.and_then(|values| self.scratch.alloc(Record { keys, values }));
        let probe = probe.ok_or_else(|| self.out_of_memory())?.row(0);
        let (used, inner_fuel) = (self.fuel_used, self.inner_fuel);
        let result = body(self, probe, &call.args)?;
        let cost = (self.fuel_used - used, self.inner_fuel - inner_fuel);
        self.refund(used, inner_fuel);
        let result = result.as_object().unwrap_or(stored);
        let old_index = |at: usize| result.value(at).as_f64().unwrap_or_default() as u32;
        let is_same_order =
            result.len() == keys.names.len() && (0..result.len()).all(|at| old_index(at) as usize == at);
        let indices = self.scratch.alloc_slice_from_fn(result.len(), old_index).ok_or_else(|| self.out_of_memory())?;
        Ok(RenamedShape {
            shape: self.document.shape(id).0,
            keys: self.object_keys(result)?,
            old_indices: (!is_same_order).then_some(indices),
            fuel: cost.0,
            inner_fuel: cost.1,
        })
    }
}

/// Returns true if a plan on `{key, value}` reads nothing but the key.
fn reads_only_key(plan: &Plan) -> bool {
    match dependency(plan) {
        Dependency::Nothing => true,
        Dependency::Field(path) => path.names().eq(["key"]),
        Dependency::More => false,
    }
}
