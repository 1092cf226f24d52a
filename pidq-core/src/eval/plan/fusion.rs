//! Operator fusion: adjacent stages of a pipe that run as one.
//!
//! Found at compile time. Each is a pair of calls whose result can be computed without the intermediate list, or whose
//! second call needs only the leading items.

use super::{Call, Constant, Path, Plan, Stage};
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::call_stats::Strategy;
use crate::value::{Value, prototype};

/// Fused operation of a stage and the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fusion {
    /// `filter(condition) | size()`: no list.
    Count,
    /// `groupBy(key) | mapValues(size())`: no lists.
    CountGroups,
    /// `filter(condition) | limit(3)`, `sort(key) | limit(3)`, `filter(condition) | .0`: the leading items.
    First(u32),
}

/// Number of items evaluated one by one before the rest is vectorized, if only the first matches are needed.
pub(crate) const PROBE_SIZE: usize = 256;

impl Fusion {
    /// Returns the fused operation of two adjacent stages.
    pub fn detect(stage: &Plan, next: &Plan) -> Option<Fusion> {
        let (name, args) = builtin_call(stage)?;
        match (name, args, first_items_needed(next)) {
            ("filter", [_], Some(count)) => Some(Fusion::First(count)),
            ("sort", _, Some(count)) => Some(Fusion::First(count)),
            ("filter", [_], None) if is_size(next) => Some(Fusion::Count),
            ("groupBy", [_], None) => match builtin_call(next)? {
                ("mapValues", [inner]) if is_size(inner) => Some(Fusion::CountGroups),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns name and arguments of a call of a built-in function.
fn builtin_call(plan: &Plan) -> Option<(&'static str, &[Plan])> {
    let Plan::Call(call) = plan else { return None };
    Some((call.function.standard_name()?, &call.args))
}

pub(in crate::eval) fn is_size(plan: &Plan) -> bool {
    matches!(builtin_call(plan), Some(("size", [])))
}

/// Returns the number of leading items that a stage needs.
fn first_items_needed(plan: &Plan) -> Option<u32> {
    match plan {
        Plan::Get(Path { keys, .. }) => keys.first()?.index?.checked_add(1),
        _ => match builtin_call(plan)? {
            ("limit", [Plan::Constant(Constant::Number(count))]) if *count >= 0.0 && *count <= 1e6 => {
                Some(*count as u32)
            }
            ("first", []) => Some(1),
            _ => None,
        },
    }
}

impl<'a> EvalContext<'a> {
    /// Runs two stages as one; `None` if they must run one after the other.
    pub(in crate::eval) fn run_fused(
        &mut self,
        fusion: Fusion,
        stages: &'a [Stage],
        input: Value<'a>,
    ) -> Option<Value<'a>> {
        let [Stage { plan: Plan::Call(call), .. }, Stage { plan: next, .. }, ..] = stages else { return None };
        let result = match fusion {
            Fusion::Count => self.try_vectorized(|cx| cx.count_matching(call, next, input)),
            Fusion::CountGroups => self.try_vectorized(|cx| cx.count_groups(call, next, input)),
            Fusion::First(_) => None,
        };
        // Both calls have their strategy; the enclosing call has none yet.
        self.set_strategy(Strategy::Plain);
        result
    }

    fn count_matching(&mut self, filter: &'a Call, size: &'a Plan, input: Value<'a>) -> Result<Option<Value<'a>>> {
        let (Some(view), [condition]) = (input.as_array().and_then(|array| self.view(array)), &*filter.args) else {
            return Ok(None);
        };
        let Some(rows) = self.matching_rows(view, condition)? else { return Ok(None) };
        let count = rows.count() as u64;
        self.record_run(filter, view.len() as u64 + 1, count);
        self.record_plan_run(size, 1);
        self.charge(2)?;
        Ok(Some(Value::number(count as f64)))
    }

    fn count_groups(&mut self, group_by: &'a Call, map: &'a Plan, input: Value<'a>) -> Result<Option<Value<'a>>> {
        let (Some(view), [key]) = (input.as_array().and_then(|array| self.view(array)), &*group_by.args) else {
            return Ok(None);
        };
        let Some(groups) = self.count_vectorized(view, key)? else { return Ok(None) };
        let (names, counts) = groups.into_js_order(self);
        self.record_run(group_by, view.len() as u64 + 1, counts.len() as u64);
        self.record_plan_run(map, 1 + 2 * counts.len() as u64);
        self.charge(2 + 2 * counts.len() as u64)?;
        let base = self.mark();
        for count in counts {
            self.push(Value::number(f64::from(count)))?;
        }
        let keys = self.intern_keys(&names)?;
        self.collect_object(keys, base).map(Some)
    }

    /// Records the fuel and rows that a call would have had.
    fn record_run(&mut self, call: &Call, fuel: u64, rows: u64) {
        self.record_calls(call, 1, fuel);
        let cost = &mut self.call_stats[call.id];
        cost.rows += rows;
        cost.strategy = Strategy::Count;
    }

    fn record_plan_run(&mut self, plan: &Plan, fuel: u64) {
        if let Plan::Call(call) = plan {
            self.record_run(call, fuel, 0);
        }
    }

    /// Takes the number of leading items that the next stage needs.
    pub(crate) fn take_item_limit(&mut self) -> Option<usize> {
        self.item_limit.take().map(|count| count as usize)
    }

    /// Records that items of a list were skipped, so that their fields are unknown.
    pub(crate) fn mark_items_skipped(&mut self) {
        self.has_skipped_items = true;
    }

    /// Returns true if items of some list were skipped.
    pub(crate) fn has_skipped_items(&self) -> bool {
        self.has_skipped_items
    }
}

/// Returns true if a plan cannot fail on any input, except for limits; then it may be skipped.
pub(crate) fn cannot_fail(plan: &Plan) -> bool {
    match plan {
        Plan::Get(path) => path.keys.iter().all(|key| key.index.is_none() && !prototype::is_reserved(&key.name)),
        Plan::Pipe(stages) => stages.iter().all(|stage| cannot_fail(&stage.plan)),
        Plan::Array(items) => items.iter().all(cannot_fail),
        Plan::Object(fields) => fields.values.iter().all(cannot_fail),
        Plan::Let(values, body) => values.iter().all(cannot_fail) && cannot_fail(body),
        Plan::Call(call) => {
            const SAFE: &[&str] = &["and", "eq", "exists", "gt", "gte", "if", "lt", "lte", "ne", "not", "or"];
            let is_safe = call.function.standard_name().is_some_and(|name| SAFE.contains(&name));
            is_safe && call.args.iter().all(cannot_fail)
        }
        Plan::Constant(_) | Plan::Variable(_) | Plan::Parameter(_) | Plan::GraphParameter(_) => true,
        Plan::Root | Plan::Pattern(_) => true,
    }
}
