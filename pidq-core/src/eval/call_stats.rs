//! Call statistics of a run: number of runs, fuel, rows and strategy.

use super::EvalContext;
use super::plan::{Call, Plan};
use crate::error::Result;
use crate::value::Value;

/// Statistics of a call, for `explain` and for errors about limits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallStats {
    pub runs: u64,
    /// Fuel spent by the call itself, without its arguments.
    pub fuel: u64,
    /// Items of all its results that are lists.
    pub rows: u64,
    pub strategy: Strategy,
}

/// Strategy by which a call got its result, as `explain` shows it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Strategy {
    /// Evaluated as written.
    #[default]
    Plain,
    /// An argument was evaluated for the items of a list one by one.
    Scan,
    /// Vectorized on the columns of its fields.
    Columns,
    /// Once per distinct value of the single field that it reads.
    DistinctValues,
    /// Vectorized on the numbers of its fields.
    Numbers,
    /// By an index lookup.
    Index,
    /// From the sorted order of a column.
    Order,
    /// Only the leading items that are needed.
    Top,
    /// Cells of its fields, without one object per item.
    Table,
    /// Counted without building the list.
    Count,
    /// Once for several values of an object with a common subexpression.
    Shared,
    /// Evaluated as written, with a run warning.
    Warned,
}

impl Strategy {
    /// Returns the name that `explain` shows; empty for plain evaluation.
    pub fn text(self) -> &'static str {
        match self {
            Strategy::Plain => "",
            Strategy::Scan => "scan",
            Strategy::Columns => "columns",
            Strategy::DistinctValues => "once per distinct value",
            Strategy::Numbers => "vectorized numbers",
            Strategy::Index => "index",
            Strategy::Order => "column order",
            Strategy::Top => "top-k",
            Strategy::Table => "column cells",
            Strategy::Count => "count only",
            Strategy::Shared => "common subexpression",
            Strategy::Warned => "with a warning",
        }
    }
}

/// Fuel at the start of a call.
pub(super) struct CallEntry {
    started: u64,
    outer: u64,
}

impl<'a> EvalContext<'a> {
    pub(crate) fn call_stats(&self) -> &[CallStats] {
        &self.call_stats
    }

    #[inline]
    pub(super) fn enter(&mut self) -> CallEntry {
        CallEntry { started: self.fuel_used, outer: std::mem::replace(&mut self.inner_fuel, 0) }
    }

    #[inline]
    pub(super) fn leave(&mut self, call: &Call, entry: CallEntry, result: &Result<Value<'a>>) {
        let total = self.fuel_used - entry.started;
        let cost = &mut self.call_stats[call.id];
        cost.runs += 1;
        cost.fuel += total - self.inner_fuel;
        let strategy = self.strategy;
        if strategy != Strategy::Plain {
            cost.strategy = std::mem::take(&mut self.strategy);
        }
        if let Ok(Value::Array(array)) = result {
            cost.rows += array.len() as u64;
        }
        self.inner_fuel = entry.outer + total;
        if strategy == Strategy::Warned {
            self.attach_warnings(call, result);
        }
    }

    /// Records the cost of runs of a call that were evaluated together.
    pub(super) fn record_calls(&mut self, call: &Call, runs: u64, fuel: u64) {
        let cost = &mut self.call_stats[call.id];
        cost.runs += runs;
        cost.fuel += fuel;
        self.inner_fuel += fuel;
    }

    /// Charges for runs of a call that were evaluated together.
    pub(super) fn charge_calls(&mut self, call: &Call, runs: u64, cost: u64) -> Result<()> {
        let total = runs.saturating_mul(cost);
        self.record_calls(call, runs, total);
        self.charge(total)
    }

    /// Sets the strategy of the running call.
    pub(crate) fn set_strategy(&mut self, strategy: Strategy) {
        self.strategy = strategy;
    }

    /// Sets the strategy of a plan that is a call.
    pub(crate) fn set_plan_strategy(&mut self, plan: &Plan, strategy: Strategy) {
        if let Plan::Call(call) = plan {
            self.call_stats[call.id].strategy = strategy;
        }
    }
}
