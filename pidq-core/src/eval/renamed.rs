//! Objects that keep their values and get other keys, for all items of a stored list: `mapKeys`, and `mapObject` where
//! the new key depends on the old one alone. The keys are worked out once a shape.

use super::Cx;
use super::function::PipedBody;
use super::plan::{Call, Plan};
use super::reads::{Source, is_pure, source};
use crate::arena::{Cell, ContainerId};
use crate::error::Result;
use crate::value::{Fields, Keys, Object, Record, Table, Value};

/// What becomes of the objects of a shape.
#[derive(Clone, Copy)]
pub(super) struct Renamed<'a> {
    shape: u32,
    keys: &'a Keys<'a>,
    /// By new key: the place of its value among the old ones; nothing where all stay where they are.
    places: Option<&'a [u32]>,
    /// What the call costs for such an object, and how much of that is for the calls inside.
    fuel: u64,
    inner_fuel: u64,
}

/// How many shapes a call remembers.
const SHAPES: usize = 64;

/// The shapes that a call has met, by the last bits of their numbers.
pub(super) struct Shapes<'a>([Option<Renamed<'a>>; SHAPES]);

impl<'a> Shapes<'a> {
    /// Nothing where the new keys depend on more than the old ones.
    pub fn of(call: &'a Call) -> Option<Shapes<'a>> {
        let renames = match (call.function.standard_name(), &*call.args) {
            (Some("mapKeys"), [key]) => is_pure(key),
            (Some("mapObject"), [Plan::Object(fields)]) => match (&*fields.names, &*fields.values) {
                ([first, second], [key, Plan::Get(value)]) if (&**first, &**second) == ("key", "value") => {
                    value.names().eq(["value"]) && is_of_key(key) && is_pure(key)
                }
                _ => false,
            },
            _ => false,
        };
        renames.then_some(Shapes([None; SHAPES]))
    }
}

impl<'a> Cx<'a> {
    /// What `mapKeys` or `mapObject` makes of an object of the document.
    pub(super) fn renamed(
        &mut self,
        shapes: &mut Shapes<'a>,
        id: ContainerId,
        call: &'a Call,
        body: PipedBody,
    ) -> Result<Value<'a>> {
        let shape = self.document.shape(id).0;
        let known = &mut shapes.0[shape as usize % SHAPES];
        let renamed = match known {
            Some(renamed) if renamed.shape == shape => *renamed,
            _ => *known.insert(self.rename(id, call, body)?),
        };
        self.spend(renamed.fuel)?;
        self.inner_fuel += renamed.inner_fuel;
        let fields = self.document.fields(id);
        let cells = match renamed.places {
            None => Some(fields),
            Some(places) => self.scratch.slice_by(places.len(), |at| fields[places[at] as usize]),
        };
        self.table_row(renamed.keys, cells)
    }

    fn table_row(&self, keys: &'a Keys<'a>, cells: Option<&'a [Cell]>) -> Result<Value<'a>> {
        let table = |cells| Table { arena: self.document, keys, cells, len: 1, origin: None };
        let table = cells.and_then(|cells| self.scratch.one(table(cells)));
        let table = table.ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Object(Object(Fields::Row(table, 0))))
    }

    /// Runs the call on an object with the same keys whose values are their places: what it gives tells where the
    /// values go. The fuel is given back: each object pays for itself.
    #[cold]
    fn rename(&mut self, id: ContainerId, call: &'a Call, body: PipedBody) -> Result<Renamed<'a>> {
        let stored = Object(Fields::Stored(self.document, id));
        let keys = self.keys_of(stored)?;
        let places = self.scratch.slice_by(keys.names.len(), |at| Value::number(at as f64));
        let probe = places.and_then(|values| self.scratch.one(Record { keys, values }));
        let probe = probe.ok_or_else(|| self.out_of_memory())?.row(0);
        let (used, inner_fuel) = (self.used, self.inner_fuel);
        let made = body(self, probe, &call.args)?;
        let cost = (self.used - used, self.inner_fuel - inner_fuel);
        self.refund(used, inner_fuel);
        let made = made.as_object().unwrap_or(stored);
        let place = |at: usize| made.value(at).as_f64().unwrap_or_default() as u32;
        let is_in_place = made.len() == keys.names.len() && (0..made.len()).all(|at| place(at) as usize == at);
        let places = self.scratch.slice_by(made.len(), place).ok_or_else(|| self.out_of_memory())?;
        Ok(Renamed {
            shape: self.document.shape(id).0,
            keys: self.keys_of(made)?,
            places: (!is_in_place).then_some(places),
            fuel: cost.0,
            inner_fuel: cost.1,
        })
    }
}

/// Whether a part of a query on `{key, value}` reads nothing but the key.
fn is_of_key(plan: &Plan) -> bool {
    match source(plan) {
        Source::Nothing => true,
        Source::Field(path) => path.names().eq(["key"]),
        Source::More => false,
    }
}
