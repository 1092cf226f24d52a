//! Neighbours of a pipe that are one step together.
//!
//! Found when a query is compiled. Each is a pair of calls whose result is known without the list between them, or
//! of which the second wants the first few items only.

use super::Cx;
use super::cost::Way;
use super::plan::{Call, Constant, Path, Plan, Stage};
use crate::error::Result;
use crate::value::{Value, prototype};

/// What a stage and the next one are together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fusion {
    /// `filter(condition) | size()`: no list.
    Count,
    /// `groupBy(key) | mapValues(size())`: no lists.
    CountGroups,
    /// `filter(condition) | limit(3)`, `sort(key) | limit(3)`, `filter(condition) | .0`: the first so many.
    First(u32),
}

/// So many items are looked at one by one before all others together, if the first few that match are wanted.
pub(crate) const PROBE: usize = 256;

impl Fusion {
    /// What two neighbours are together.
    pub fn of(stage: &Plan, next: &Plan) -> Option<Fusion> {
        let (name, args) = standard(stage)?;
        match (name, args, wanted(next)) {
            ("filter", [_], Some(count)) => Some(Fusion::First(count)),
            ("sort", _, Some(count)) => Some(Fusion::First(count)),
            ("filter", [_], None) if is_size(next) => Some(Fusion::Count),
            ("groupBy", [_], None) => match standard(next)? {
                ("mapValues", [inner]) if is_size(inner) => Some(Fusion::CountGroups),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A call of a function of ours.
fn standard(plan: &Plan) -> Option<(&'static str, &[Plan])> {
    let Plan::Call(call) = plan else { return None };
    Some((call.function.standard_name()?, &call.args))
}

pub(super) fn is_size(plan: &Plan) -> bool {
    matches!(standard(plan), Some(("size", [])))
}

/// How many of the first items a stage wants.
fn wanted(plan: &Plan) -> Option<u32> {
    match plan {
        Plan::Get(Path { keys, .. }) => keys.first()?.index?.checked_add(1),
        _ => match standard(plan)? {
            ("limit", [Plan::Constant(Constant::Number(count))]) if *count >= 0.0 && *count <= 1e6 => {
                Some(*count as u32)
            }
            ("first", []) => Some(1),
            _ => None,
        },
    }
}

impl<'a> Cx<'a> {
    /// Runs two stages as one. Nothing where they have to run one after the other.
    pub(super) fn fused(&mut self, fusion: Fusion, stages: &'a [Stage], input: Value<'a>) -> Option<Value<'a>> {
        let [Stage { plan: Plan::Call(call), .. }, Stage { plan: next, .. }, ..] = stages else { return None };
        let result = match fusion {
            Fusion::Count => self.together(|cx| cx.count_matching(call, next, input)),
            Fusion::CountGroups => self.together(|cx| cx.count_groups(call, next, input)),
            Fusion::First(_) => None,
        };
        // Both calls have their way; the one around them has none yet.
        self.took(Way::Plain);
        result
    }

    fn count_matching(&mut self, filter: &'a Call, size: &'a Plan, input: Value<'a>) -> Result<Option<Value<'a>>> {
        let (Some(view), [condition]) = (input.as_array().and_then(|array| self.view(array)), &*filter.args) else {
            return Ok(None);
        };
        let Some(rows) = self.matching_rows(view, condition)? else { return Ok(None) };
        let count = rows.count() as u64;
        self.ran(filter, view.len() as u64 + 1, count);
        self.ran_plan(size, 1);
        self.spend(2)?;
        Ok(Some(Value::number(count as f64)))
    }

    fn count_groups(&mut self, group_by: &'a Call, map: &'a Plan, input: Value<'a>) -> Result<Option<Value<'a>>> {
        let (Some(view), [key]) = (input.as_array().and_then(|array| self.view(array)), &*group_by.args) else {
            return Ok(None);
        };
        let Some(groups) = self.counts_together(view, key)? else { return Ok(None) };
        let (names, counts) = groups.into_order(self);
        self.ran(group_by, view.len() as u64 + 1, counts.len() as u64);
        self.ran_plan(map, 1 + 2 * counts.len() as u64);
        self.spend(2 + 2 * counts.len() as u64)?;
        let base = self.mark();
        for count in counts {
            self.push(Value::number(f64::from(count)))?;
        }
        let keys = self.keys(&names)?;
        self.record(keys, base).map(Some)
    }

    /// Notes what a call would have spent and given.
    fn ran(&mut self, call: &Call, fuel: u64, rows: u64) {
        self.attribute(call, 1, fuel);
        let cost = &mut self.costs[call.id];
        cost.rows += rows;
        cost.way = Way::Count;
    }

    fn ran_plan(&mut self, plan: &Plan, fuel: u64) {
        if let Plan::Call(call) = plan {
            self.ran(call, fuel, 0);
        }
    }

    /// How many items the next stage wants of the running one, said once.
    pub(crate) fn take_wanted(&mut self) -> Option<usize> {
        self.wanted.take().map(|count| count as usize)
    }

    /// Notes that items of a list were left out: what they have nobody knows.
    pub(crate) fn leave_early(&mut self) {
        self.left_early = true;
    }

    /// Whether the items of some list were not all looked at.
    pub(crate) fn has_left_early(&self) -> bool {
        self.left_early
    }
}

/// Whether a part of a query gives a value whatever its input is, if fuel lasts: then it may be left out.
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
        Plan::Constant(_) | Plan::Variable(_) | Plan::Parameter(_) | Plan::Root | Plan::Pattern(_) => true,
    }
}
