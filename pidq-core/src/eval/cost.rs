//! What the calls of a run did: how often, how much fuel, and in which way.

use super::Cx;
use super::plan::{Call, Plan};
use crate::error::Result;
use crate::value::Value;

/// What a call did, for `explain` and for errors about limits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub runs: u64,
    /// Fuel spent by the call itself, without its arguments.
    pub fuel: u64,
    /// Items of all its results that are lists.
    pub rows: u64,
    pub way: Way,
}

/// How a call came to its result: what `explain` shows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Way {
    /// As it is written.
    #[default]
    Plain,
    /// An argument was worked out for the items of a list one by one.
    Scan,
    /// From the columns of its fields, for all items at once.
    Columns,
    /// Once for each value of the one field that it reads.
    Values,
    /// On the numbers of its fields, side by side.
    Numbers,
    /// By the rows of a text.
    Index,
    /// From the order of a column.
    Order,
    /// Only the first items that are wanted.
    Top,
    /// Cells of its fields, without an object for each item.
    Table,
    /// Without the list that would only be counted.
    Count,
    /// Once for several values of an object, which begin alike.
    Shared,
    /// As it is written, and there is something to tell.
    Noted,
}

impl Way {
    /// In words; nothing for the plain way.
    pub fn text(self) -> &'static str {
        match self {
            Way::Plain => "",
            Way::Scan => "scan",
            Way::Columns => "columns",
            Way::Values => "once a value of the column",
            Way::Numbers => "numbers side by side",
            Way::Index => "index",
            Way::Order => "order of the column",
            Way::Top => "top-k",
            Way::Table => "cells of the columns",
            Way::Count => "counted, no list",
            Way::Shared => "once, for a value above",
            Way::Noted => "with a warning",
        }
    }
}

/// Where the fuel stood when a call began.
pub(super) struct Entry {
    started: u64,
    outer: u64,
}

impl<'a> Cx<'a> {
    pub(crate) fn costs(&self) -> &[Cost] {
        &self.costs
    }

    #[inline]
    pub(super) fn enter(&mut self) -> Entry {
        Entry { started: self.used, outer: std::mem::replace(&mut self.inner_fuel, 0) }
    }

    #[inline]
    pub(super) fn leave(&mut self, call: &Call, entry: Entry, result: &Result<Value<'a>>) {
        let total = self.used - entry.started;
        let cost = &mut self.costs[call.id];
        cost.runs += 1;
        cost.fuel += total - self.inner_fuel;
        let way = self.way;
        if way != Way::Plain {
            cost.way = std::mem::take(&mut self.way);
        }
        if let Ok(Value::Array(array)) = result {
            cost.rows += array.len() as u64;
        }
        self.inner_fuel = entry.outer + total;
        if way == Way::Noted {
            self.settle(call, result);
        }
    }

    /// Notes what runs of a call that were worked out together have cost.
    pub(super) fn attribute(&mut self, call: &Call, runs: u64, fuel: u64) {
        let cost = &mut self.costs[call.id];
        cost.runs += runs;
        cost.fuel += fuel;
        self.inner_fuel += fuel;
    }

    /// Pays for runs of a call that were worked out together.
    pub(super) fn charge(&mut self, call: &Call, runs: u64, cost: u64) -> Result<()> {
        let total = runs.saturating_mul(cost);
        self.attribute(call, runs, total);
        self.spend(total)
    }

    /// Notes how the running call has come to its result.
    pub(crate) fn took(&mut self, way: Way) {
        self.way = way;
    }

    /// Notes how the calls of a part of a query come to their results.
    pub(crate) fn note(&mut self, plan: &Plan, way: Way) {
        if let Plan::Call(call) = plan {
            self.costs[call.id].way = way;
        }
    }
}
