//! Common subexpression elimination for the values of an object, as in `{a: nodes(.x) | size(), b: nodes(.x) |
//! map(.tag)}`: a common prefix is evaluated once.
//!
//! The other values are still charged for it, and their calls are recorded as if they had run: neither fuel nor
//! `explain` differ.

use std::ops::Range;

use hashbrown::HashMap;

use super::function::Body;
use super::{Fields, Plan, Stage};
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::call_stats::{CallStats, Strategy};
use crate::syntax::{Expr, Node, json};
use crate::value::Value;

/// Prefix that a value of an object shares with another one.
#[derive(Clone, Debug)]
pub(crate) struct CommonPrefix {
    /// Number of stages of a pipe; 0 if it is the whole value.
    stages: usize,
    /// Index of the first value with this prefix.
    first: usize,
    /// The calls and the path keys in it: the same ones in the same order.
    calls: Range<usize>,
    properties: Range<usize>,
}

/// Common prefix by value of an object.
pub(crate) type CommonPrefixes = Vec<Option<CommonPrefix>>;

/// Finds the common prefixes of the values of an object; `None` if no two share one.
pub(in crate::eval) fn common_prefixes(exprs: &[&Expr], plans: &[Plan]) -> Option<Box<CommonPrefixes>> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut prefixes: CommonPrefixes = vec![None; plans.len()];
    for (at, (expr, plan)) in exprs.iter().zip(plans).enumerate() {
        let Some(stages) = shareable_stages(plan) else { continue };
        let first = *known.entry(prefix_json(expr, stages)).or_insert(at);
        let is_new = first == at;
        if !is_new && is_same(exprs[first], shareable_stages(&plans[first]), expr, stages) {
            let prefix = |at: usize, stages| CommonPrefix::new(&plans[at], stages, first);
            prefixes[first].get_or_insert_with(|| prefix(first, shareable_stages(&plans[first]).unwrap_or(0)));
            prefixes[at] = Some(prefix(at, stages));
        }
    }
    prefixes.iter().any(Option::is_some).then(|| Box::new(prefixes))
}

/// Returns the number of stages of a value that are worth sharing: up to the first call that loops; 0 for a value that
/// is such a call itself. Fused stages are not split.
fn shareable_stages(plan: &Plan) -> Option<usize> {
    let loops = |plan: &Plan| match plan {
        Plan::Call(call) => {
            call.is_deterministic
                && matches!(call.function.row().body, Body::Piped(_) | Body::Folded(..) | Body::Counted(..))
        }
        _ => false,
    };
    match plan {
        Plan::Pipe(stages) => {
            let at = stages.iter().position(|stage| !matches!(stage.plan, Plan::Get(_)))?;
            (loops(&stages[at].plan) && stages[at].fusion.is_none()).then_some(at + 1)
        }
        plan => loops(plan).then_some(0),
    }
}

impl CommonPrefix {
    fn new(plan: &Plan, stages: usize, first: usize) -> CommonPrefix {
        let mut prefix = CommonPrefix { stages, first, calls: 0..0, properties: 0..0 };
        match plan {
            Plan::Pipe(all) => all[..stages].iter().for_each(|stage| prefix.add(&stage.plan)),
            plan => prefix.add(plan),
        }
        prefix
    }

    /// Adds the calls and the path keys of a plan. Both are numbered in the order of the text.
    fn add(&mut self, plan: &Plan) {
        match plan {
            Plan::Get(path) => extend(&mut self.properties, path.first..path.first + path.keys.len()),
            Plan::Call(call) => extend(&mut self.calls, call.id..call.id + 1),
            _ => {}
        }
        plan.for_each_child(|part| self.add(part));
    }
}

fn extend(range: &mut Range<usize>, more: Range<usize>) {
    let is_first = range.start == range.end;
    if more.start < more.end {
        *range = if is_first { more } else { range.start.min(more.start)..range.end.max(more.end) };
    }
}

/// Returns the parts of the syntax tree that form the prefix.
fn prefix(expr: &Expr, stages: usize) -> &[Expr] {
    match &expr.node {
        Node::Array(items) if stages > 0 => items.get(1..=stages).unwrap_or_default(),
        _ => std::slice::from_ref(expr),
    }
}

fn prefix_json(expr: &Expr, stages: usize) -> String {
    let mut text = String::new();
    prefix(expr, stages).iter().for_each(|part| json::to_json(part, &mut text));
    text
}

/// Equal JSON is not enough: -0 is written as 0, and NaN as null.
fn is_same(a: &Expr, a_stages: Option<usize>, b: &Expr, b_stages: usize) -> bool {
    let (a, b) = (prefix(a, a_stages.unwrap_or(0)), prefix(b, b_stages));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
}

impl Fields {
    /// Returns the calls of all values that share a prefix with an earlier one.
    pub fn repeated_calls(&self) -> impl Iterator<Item = usize> {
        let prefixes = self.common_prefixes.iter().flat_map(|prefixes| prefixes.iter().enumerate());
        let repeated = prefixes.filter_map(|(at, prefix)| prefix.clone().filter(|prefix| prefix.first != at));
        repeated.flat_map(|prefix| prefix.calls)
    }
}

/// Value of a common prefix, and the cost of computing it.
struct MemoizedPrefix<'a> {
    value: Value<'a>,
    fuel: u64,
    inner_fuel: u64,
    /// By call: the statistics of its runs.
    costs: Vec<CallStats>,
}

impl<'a> EvalContext<'a> {
    /// Collects the values of an object of which some share a prefix.
    #[inline(never)]
    pub(in crate::eval) fn collect_shared_fields(
        &mut self,
        fields: &'a Fields,
        prefixes: &'a CommonPrefixes,
        input: Value<'a>,
    ) -> Result<()> {
        let mut memo: HashMap<usize, MemoizedPrefix<'a>> = HashMap::new();
        for (plan, prefix) in fields.values.iter().zip(prefixes) {
            let value = match prefix.as_ref().filter(|_| self.is_optimized) {
                Some(prefix) => self.eval_shared(plan, prefix, prefixes, &mut memo, input)?,
                None => self.eval(plan, input)?,
            };
            self.push(value)?;
        }
        Ok(())
    }

    fn eval_shared(
        &mut self,
        plan: &'a Plan,
        prefix: &CommonPrefix,
        prefixes: &[Option<CommonPrefix>],
        memo: &mut HashMap<usize, MemoizedPrefix<'a>>,
        input: Value<'a>,
    ) -> Result<Value<'a>> {
        let (start, rest): (&'a [Stage], &'a [Stage]) = match plan {
            Plan::Pipe(stages) => {
                self.charge(1)?;
                stages.split_at(prefix.stages)
            }
            _ => (&[], &[]),
        };
        // If the fuel runs out, it does so at the same call as without sharing.
        let memoized = memo.get(&prefix.first).filter(|memoized| self.fuel_used + memoized.fuel < self.limits.fuel);
        let value = match (memoized, &prefixes[prefix.first]) {
            (Some(memoized), Some(first)) => self.replay(memoized, first, prefix)?,
            _ => {
                let evaluate = |cx: &mut Self| {
                    if start.is_empty() { cx.eval(plan, input) } else { cx.pipe(start, input) }
                };
                let (value, new_entry) = self.eval_measured(prefix, evaluate)?;
                new_entry.map(|new_entry| memo.insert(prefix.first, new_entry));
                value
            }
        };
        self.pipe(rest, value)
    }

    /// Evaluates a prefix and measures its cost. A prefix with warnings is not shared, since each call reports its own.
    fn eval_measured(
        &mut self,
        prefix: &CommonPrefix,
        evaluate: impl FnOnce(&mut Self) -> Result<Value<'a>>,
    ) -> Result<(Value<'a>, Option<MemoizedPrefix<'a>>)> {
        let (used, inner_fuel, warning_count) = (self.fuel_used, self.inner_fuel, self.run_warnings.len());
        let before: Vec<CallStats> = self.call_stats[prefix.calls.clone()].to_vec();
        let value = evaluate(self)?;
        let costs =
            self.call_stats[prefix.calls.clone()].iter().zip(&before).map(|(after, before)| after.since(before));
        let (fuel, inner_fuel) = (self.fuel_used - used, self.inner_fuel - inner_fuel);
        let memoized = (warning_count == self.run_warnings.len()).then(|| MemoizedPrefix {
            value,
            fuel,
            inner_fuel,
            costs: costs.collect(),
        });
        Ok((value, memoized))
    }

    /// Charges for a known prefix again, and records it for the calls and keys of another value.
    fn replay(
        &mut self,
        memoized: &MemoizedPrefix<'a>,
        first: &CommonPrefix,
        prefix: &CommonPrefix,
    ) -> Result<Value<'a>> {
        for (call, more) in prefix.calls.clone().zip(&memoized.costs) {
            self.call_stats[call].add(more);
        }
        for (from, to) in first.properties.clone().zip(prefix.properties.clone()) {
            let lookups = self.caches[from];
            self.caches[to].record_all(&lookups);
        }
        self.inner_fuel += memoized.inner_fuel;
        self.charge(memoized.fuel)?;
        Ok(memoized.value)
    }
}

impl CallStats {
    /// Returns the difference to an earlier state.
    fn since(&self, before: &CallStats) -> CallStats {
        let [runs, fuel, rows] = [self.runs - before.runs, self.fuel - before.fuel, self.rows - before.rows];
        CallStats { runs, fuel, rows, strategy: Strategy::Shared }
    }

    fn add(&mut self, more: &CallStats) {
        self.runs += more.runs;
        self.fuel += more.fuel;
        self.rows += more.rows;
        self.strategy = more.strategy;
    }
}
