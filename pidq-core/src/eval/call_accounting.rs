//! Accounting of calls during a run: fuel, rows and strategy of each call.

use super::EvalContext;
use super::call_stats::{CallStats, Strategy};
use super::plan::{Call, Plan};
use crate::error::Result;
use crate::value::Value;

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
