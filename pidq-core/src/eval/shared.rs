//! Values of an object that begin alike, as in `{a: nodes(.x) | size(), b: nodes(.x) | map(.tag)}`: what they begin with
//! is worked out once.
//!
//! The others still pay for it, and their calls are noted as if they had run: neither fuel nor `explain` show it.

use std::ops::Range;

use hashbrown::HashMap;

use super::Cx;
use super::cost::{Cost, Way};
use super::function::Body;
use super::plan::{Fields, Plan, Stage};
use crate::error::Result;
use crate::syntax::{Expr, Node, json};
use crate::value::Value;

/// How a value of an object begins, where another one begins so too.
#[derive(Clone, Debug)]
pub(crate) struct Lead {
    /// So many stages of a pipe; none where it is the whole value.
    stages: usize,
    /// Which value began so first.
    first: usize,
    /// The calls and the keys of paths in it: the same ones in the same order.
    calls: Range<usize>,
    properties: Range<usize>,
}

/// By value of an object.
pub(crate) type Leads = Vec<Option<Lead>>;

/// What the values of an object begin with; nothing where no two begin alike.
pub(super) fn leads(exprs: &[&Expr], plans: &[Plan]) -> Option<Box<Leads>> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut leads: Leads = vec![None; plans.len()];
    for (at, (expr, plan)) in exprs.iter().zip(plans).enumerate() {
        let Some(stages) = worth_it(plan) else { continue };
        let first = *known.entry(text(expr, stages)).or_insert(at);
        let is_new = first == at;
        if !is_new && is_same(exprs[first], worth_it(&plans[first]), expr, stages) {
            let lead = |at: usize, stages| Lead::of(&plans[at], stages, first);
            leads[first].get_or_insert_with(|| lead(first, worth_it(&plans[first]).unwrap_or(0)));
            leads[at] = Some(lead(at, stages));
        }
    }
    leads.iter().any(Option::is_some).then(|| Box::new(leads))
}

/// How many stages of a value are worth to be kept for others: up to the first call that loops; none of a value that is
/// such a call itself. Two stages that run as one are not taken apart.
fn worth_it(plan: &Plan) -> Option<usize> {
    let loops = |plan: &Plan| match plan {
        Plan::Call(call) => call.is_pure && matches!(call.function.row().body, Body::Piped(_) | Body::Counted(..)),
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

impl Lead {
    fn of(plan: &Plan, stages: usize, first: usize) -> Lead {
        let mut lead = Lead { stages, first, calls: 0..0, properties: 0..0 };
        match plan {
            Plan::Pipe(all) => all[..stages].iter().for_each(|stage| lead.add(&stage.plan)),
            plan => lead.add(plan),
        }
        lead
    }

    /// Adds the calls and the keys of paths in a part of a query. Both are numbered in the order of the text.
    fn add(&mut self, plan: &Plan) {
        match plan {
            Plan::Get(path) => extend(&mut self.properties, path.first..path.first + path.keys.len()),
            Plan::Call(call) => extend(&mut self.calls, call.id..call.id + 1),
            _ => {}
        }
        plan.each_part(|part| self.add(part));
    }
}

fn extend(range: &mut Range<usize>, more: Range<usize>) {
    let is_first = range.start == range.end;
    if more.start < more.end {
        *range = if is_first { more } else { range.start.min(more.start)..range.end.max(more.end) };
    }
}

/// The parts of the tree that a value begins with.
fn beginning(expr: &Expr, stages: usize) -> &[Expr] {
    match &expr.node {
        Node::Array(items) if stages > 0 => items.get(1..=stages).unwrap_or_default(),
        _ => std::slice::from_ref(expr),
    }
}

fn text(expr: &Expr, stages: usize) -> String {
    let mut text = String::new();
    beginning(expr, stages).iter().for_each(|part| json::to_json(part, &mut text));
    text
}

/// Equal texts are not enough: -0 is written as 0, and what is no number as null.
fn is_same(a: &Expr, a_stages: Option<usize>, b: &Expr, b_stages: usize) -> bool {
    let (a, b) = (beginning(a, a_stages.unwrap_or(0)), beginning(b, b_stages));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
}

impl Fields {
    /// The calls of all values that begin as one before them.
    pub fn repeated(&self) -> impl Iterator<Item = usize> {
        let leads = self.leads.iter().flat_map(|leads| leads.iter().enumerate());
        let again = leads.filter_map(|(at, lead)| lead.clone().filter(|lead| lead.first != at));
        again.flat_map(|lead| lead.calls)
    }
}

/// What a value began with, and what that took.
struct Begun<'a> {
    value: Value<'a>,
    fuel: u64,
    inner_fuel: u64,
    /// By call: what its runs have cost.
    costs: Vec<Cost>,
}

impl<'a> Cx<'a> {
    /// Collects the values of an object of which some begin alike.
    #[inline(never)]
    pub(super) fn shared_fields(&mut self, fields: &'a Fields, leads: &'a Leads, input: Value<'a>) -> Result<()> {
        let mut begun: HashMap<usize, Begun<'a>> = HashMap::new();
        for (plan, lead) in fields.values.iter().zip(leads) {
            let value = match lead.as_ref().filter(|_| self.shortcuts) {
                Some(lead) => self.led(plan, lead, leads, &mut begun, input)?,
                None => self.eval(plan, input)?,
            };
            self.push(value)?;
        }
        Ok(())
    }

    fn led(
        &mut self,
        plan: &'a Plan,
        lead: &Lead,
        leads: &[Option<Lead>],
        begun: &mut HashMap<usize, Begun<'a>>,
        input: Value<'a>,
    ) -> Result<Value<'a>> {
        let (start, rest): (&'a [Stage], &'a [Stage]) = match plan {
            Plan::Pipe(stages) => {
                self.spend(1)?;
                stages.split_at(lead.stages)
            }
            _ => (&[], &[]),
        };
        // Where the fuel ends, it ends at the call that it would have ended at.
        let known = begun.get(&lead.first).filter(|known| self.used + known.fuel < self.limits.fuel);
        let value = match (known, &leads[lead.first]) {
            (Some(known), Some(first)) => self.repeat(known, first, lead)?,
            _ => {
                let evaluate = |cx: &mut Self| {
                    if start.is_empty() { cx.eval(plan, input) } else { cx.pipe(start, input) }
                };
                let (value, kept) = self.measured(lead, evaluate)?;
                kept.map(|kept| begun.insert(lead.first, kept));
                value
            }
        };
        self.pipe(rest, value)
    }

    /// Evaluates what a value begins with, and measures it. Nothing is kept of what has something to tell: each call tells
    /// it for itself.
    fn measured(
        &mut self,
        lead: &Lead,
        evaluate: impl FnOnce(&mut Self) -> Result<Value<'a>>,
    ) -> Result<(Value<'a>, Option<Begun<'a>>)> {
        let (used, inner_fuel, notes) = (self.used, self.inner_fuel, self.notes.len());
        let before: Vec<Cost> = self.costs[lead.calls.clone()].to_vec();
        let value = evaluate(self)?;
        let spent = self.costs[lead.calls.clone()].iter().zip(&before).map(|(after, before)| after.since(before));
        let (fuel, inner_fuel) = (self.used - used, self.inner_fuel - inner_fuel);
        let kept = (notes == self.notes.len()).then(|| Begun { value, fuel, inner_fuel, costs: spent.collect() });
        Ok((value, kept))
    }

    /// Pays once more for what is known, and notes it for the calls and keys of another value.
    fn repeat(&mut self, known: &Begun<'a>, first: &Lead, lead: &Lead) -> Result<Value<'a>> {
        for (call, more) in lead.calls.clone().zip(&known.costs) {
            self.costs[call].add(more);
        }
        for (from, to) in first.properties.clone().zip(lead.properties.clone()) {
            let seen = self.caches[from];
            self.caches[to].note_all(&seen);
        }
        self.inner_fuel += known.inner_fuel;
        self.spend(known.fuel)?;
        Ok(known.value)
    }
}

impl Cost {
    /// What was spent since.
    fn since(&self, before: &Cost) -> Cost {
        let [runs, fuel, rows] = [self.runs - before.runs, self.fuel - before.fuel, self.rows - before.rows];
        Cost { runs, fuel, rows, way: Way::Shared }
    }

    fn add(&mut self, more: &Cost) {
        self.runs += more.runs;
        self.fuel += more.fuel;
        self.rows += more.rows;
        self.way = more.way;
    }
}
