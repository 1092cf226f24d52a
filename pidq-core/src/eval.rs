//! Evaluation of query plans.

pub(crate) mod arithmetic;
mod budget;
pub(crate) mod build;
mod call_accounting;
pub(crate) mod call_stats;
pub(crate) mod column_view;
mod comparison;
pub(crate) mod compile;
mod custom_values;
pub(crate) mod option_spec;
pub(crate) mod plan;
pub(crate) mod planned_strategies;
mod property;
mod regex_cache;
pub(crate) mod regex_captures;
mod rename_keys;
mod row_set;
pub(crate) mod run_warnings;
mod scratch;
pub(crate) mod text_template;
pub(crate) mod vectorized;
mod vectorized_containers;
mod vectorized_filter;
mod vectorized_if;
mod vectorized_pipe;

use std::sync::Arc;

use crate::arena::{Arena, Kind};
use crate::error::{Code, Error, Result};
use crate::graph::Graph;
use crate::graph::config::TopologyConfig;
use crate::graph::drawing::Drawing;
use crate::graph::scratch_pool::{PooledScratch, TraversalScratch};
use crate::graph::walk::NodeQueue;
use crate::limits::Limits;
use crate::pid::tag::TagScheme;
use crate::value::{Keys, Value};

use budget::CHECK_INTERVAL;
use call_stats::{CallStats, Strategy};
use plan::custom_function::{Arguments, CustomBody, CustomFunction};
use plan::function::{Body, SearchBody, StrictBody};
use plan::fusion::Fusion;
use plan::{Call, Plan, Stage};
use property::KeyCache;
use regex_cache::RegexCache;
use run_warnings::RunWarnings;

pub use scratch::Scratch;

/// Number of per-run slots that a plan needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlanSizes {
    pub calls: usize,
    pub properties: usize,
    pub records: usize,
}

/// Values of the parameters of a run, in the order of their names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parameters<'a> {
    /// Fields of an object.
    Stored(&'a Arena),
    Bound(&'a [BoundValue<'a>]),
}

/// Value of a bound parameter.
#[derive(Debug)]
pub(crate) enum BoundValue<'a> {
    Borrowed(Value<'a>),
    /// The only field of an object: a copy of a list or an object that is in no document.
    Copied(Box<Arena>),
}

impl<'a> Parameters<'a> {
    fn value(self, slot: usize) -> Value<'a> {
        match self {
            Parameters::Bound(values) => values.get(slot).map_or(Value::Undefined, BoundValue::value),
            Parameters::Stored(arena) => stored_field(arena, slot),
        }
    }
}

impl BoundValue<'_> {
    pub fn value(&self) -> Value<'_> {
        match self {
            BoundValue::Borrowed(value) => *value,
            BoundValue::Copied(arena) => stored_field(arena, 0),
        }
    }
}

fn stored_field(arena: &Arena, slot: usize) -> Value<'_> {
    let Kind::Object(id) = arena.root().kind() else { return Value::Undefined };
    arena.fields(id).get(slot).map_or(Value::Undefined, |cell| Value::stored(arena, *cell))
}

/// Context of one run: everything that a function may use.
pub struct EvalContext<'a> {
    graph: &'a Graph,
    document: &'a Arena,
    /// The drawing that graph functions run on; set by the first call of one.
    drawing: Option<Drawing<'a>>,
    /// Pooled scratch memory of graph traversals, between two of them.
    walk_scratch: Option<Box<PooledScratch<'a>>>,
    params: Parameters<'a>,
    graph_params: &'a [&'a Graph],
    root: Value<'a>,
    scratch: &'a Scratch,
    limits: Limits<'a>,
    fuel_used: u64,
    next_check: u64,
    is_optimized: bool,
    /// Nesting depth of vectorized evaluation.
    vectorized_depth: u32,
    /// Number of leading items that the next stage needs from the stage that is about to run.
    item_limit: Option<u32>,
    /// True if the evaluation of some list stopped before its end.
    has_skipped_items: bool,
    /// Strategy of the running call.
    strategy: Strategy,
    /// Warnings recorded by calls during the run.
    run_warnings: RunWarnings<'a>,
    /// Bytes outside of `scratch` that count toward the memory limit of the run.
    reserved: usize,
    /// Values being collected. Invariant: every function leaves it at the length it found.
    stack: Vec<Value<'a>>,
    variables: Vec<Value<'a>>,
    caches: Vec<KeyCache>,
    records: Vec<Option<&'a Keys<'a>>>,
    /// The most recently created keys.
    last_keys: Option<&'a Keys<'a>>,
    /// Cached keys of stored objects, indexed by the last bits of their shape number.
    shapes: Vec<Option<(u32, build::ShapeKeys<'a>)>>,
    /// The most recently compiled tag scheme; a run usually has only one.
    scheme: Option<(&'a str, TagScheme)>,
    regex_cache: RegexCache,
    /// Buffer for strings whose length is not known in advance.
    text_buffer: String,
    call_stats: Vec<CallStats>,
    /// Fuel used by the calls nested in the running one.
    inner_fuel: u64,
}

impl<'a> EvalContext<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        params: Parameters<'a>,
        scratch: &'a Scratch,
        limits: Limits<'a>,
        sizes: PlanSizes,
    ) -> EvalContext<'a> {
        scratch.limit(limits.memory);
        let document = graph.arena();
        EvalContext {
            graph,
            document,
            drawing: None,
            walk_scratch: None,
            params,
            graph_params: &[],
            root: Value::stored(document, document.root()),
            scratch,
            limits,
            fuel_used: 0,
            next_check: CHECK_INTERVAL.min(limits.fuel.saturating_add(1)),
            is_optimized: true,
            vectorized_depth: 0,
            item_limit: None,
            has_skipped_items: false,
            strategy: Strategy::Plain,
            run_warnings: RunWarnings::default(),
            reserved: 0,
            stack: Vec::new(),
            variables: Vec::new(),
            caches: vec![KeyCache::default(); sizes.properties],
            records: vec![None; sizes.records],
            last_keys: None,
            shapes: Vec::new(),
            scheme: None,
            regex_cache: RegexCache::default(),
            text_buffer: String::new(),
            call_stats: vec![CallStats::default(); sizes.calls],
            inner_fuel: 0,
        }
    }

    /// Disables all optimizations: the oracle that optimized evaluation is tested against.
    pub(crate) fn without_optimizations(self) -> EvalContext<'a> {
        EvalContext { is_optimized: false, ..self }
    }

    /// Binds the graph parameters, in the order of their names.
    pub(crate) fn with_graph_params(self, graph_params: &'a [&'a Graph]) -> EvalContext<'a> {
        EvalContext { graph_params, ..self }
    }

    /// Returns true if optimizations are enabled.
    pub(crate) fn is_optimized(&self) -> bool {
        self.is_optimized
    }

    /// The document that the query runs on, with its nodes and edges as read for the whole query. `withTopology` and
    /// `withGraph` switch the graph functions to another graph, but not this one.
    ///
    /// Reading it costs no fuel; a function charges its own loops with [`EvalContext::charge`].
    ///
    /// ```
    /// use pidq_core::{Dialect, Function, Graph, Limits, Value};
    ///
    /// // Number of edges that leave the piped node.
    /// let fan = Function::new("fan", |cx, node, _| {
    ///     let count = cx.graph().node_of(node).map_or(0, |node| cx.graph().outgoing(node).len());
    ///     cx.charge(1)?;
    ///     Ok(Value::from(count as f64))
    /// });
    /// let graph = Graph::from_json(r#"{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"from": 1, "to": 2}]}"#)?;
    /// let query = Dialect::standard().with_function(fan).parse("nodes() | map(fan())")?;
    /// assert_eq!(query.to_json(&graph, Limits::default())?, "[1,0]");
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// The input of the whole query.
    pub fn root(&self) -> Value<'a> {
        self.root
    }

    /// Returns the drawing that graph functions run on.
    pub(crate) fn drawing(&mut self) -> Result<Drawing<'a>> {
        if self.drawing.is_none() {
            self.drawing = self.graph.drawing(&self.limits)?;
        }
        let none = || Error::new(Code::NoGraph, "no graph in the document");
        let help = "a graph has an array `nodes`, at the top level or in `pid_graph`; `metadata.topology` configures other names";
        self.drawing.clone().ok_or_else(|| none().with_help(help))
    }

    /// Returns true once a function has used the drawing of the document.
    pub(crate) fn has_drawing(&self) -> bool {
        self.drawing.is_some()
    }

    /// Runs `walk` with pooled scratch memory. A nested traversal, as in a condition, gets scratch memory of its own.
    pub(crate) fn with_walk_scratch<T>(&mut self, walk: impl FnOnce(&mut Self, &mut TraversalScratch) -> T) -> T {
        let mut scratch = self.walk_scratch.take().unwrap_or_else(|| Box::new(self.graph.scratch_pool().acquire()));
        let result = walk(self, &mut scratch);
        self.walk_scratch = Some(scratch);
        result
    }

    /// Parses a tag with a scheme.
    pub(crate) fn with_scheme<T>(&mut self, pattern: &'a str, read: impl FnOnce(&TagScheme) -> T) -> Result<T> {
        /// Fuel for compiling a scheme, which takes some milliseconds for the largest.
        const COMPILED: u64 = 10_000;
        if let Some((_, scheme)) = self.scheme.as_ref().filter(|(known, _)| *known == pattern) {
            return Ok(read(scheme));
        }
        self.charge(COMPILED)?;
        let (_, scheme) = self.scheme.insert((pattern, TagScheme::new(pattern)?));
        Ok(read(scheme))
    }

    /// Returns the result buffer of a traversal to the scratch memory for reuse.
    pub(crate) fn recycle_nodes(&mut self, nodes: NodeQueue) {
        if let Some(scratch) = &mut self.walk_scratch {
            scratch.walk.recycle(nodes);
        }
    }

    /// Evaluates a part of the query on another drawing.
    pub(crate) fn eval_on_drawing(
        &mut self,
        drawing: Drawing<'a>,
        plan: &'a Plan,
        input: Value<'a>,
    ) -> Result<Value<'a>> {
        let outer = self.drawing.replace(drawing);
        let result = self.eval(plan, input);
        self.drawing = outer;
        result
    }

    /// The default topology configuration, used for drawings that do not bring their own.
    pub(crate) fn topology_config(&self) -> &'a Arc<TopologyConfig> {
        self.graph.config()
    }

    /// Evaluates a part of the query on a value.
    ///
    /// Hot: most parts are constants and paths, for which a function call would cost more than the work. Not inlined in
    /// debug builds, where all copies would be on the stack at once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn eval(&mut self, plan: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        self.charge(1)?;
        self.eval_charged(plan, input)
    }

    /// [`EvalContext::eval`] for a part whose step is already charged.
    #[inline(always)]
    pub(crate) fn eval_charged(&mut self, plan: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        match plan {
            Plan::Constant(constant) => Ok(constant.value()),
            Plan::Get(path) => self.get(path, input),
            Plan::Call(call) => self.call(call, input),
            Plan::Pipe(stages) => self.pipe(stages, input),
            rest => self.eval_uncommon(rest, input),
        }
    }

    #[inline(never)]
    fn eval_uncommon(&mut self, plan: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        match plan {
            Plan::Constant(constant) => Ok(constant.value()),
            Plan::Get(path) => self.get(path, input),
            Plan::Call(call) => self.call(call, input),
            Plan::Pipe(stages) => self.pipe(stages, input),
            Plan::Array(items) => self.array(items, input),
            Plan::Object(fields) => self.object(fields, input),
            Plan::Let(values, body) => self.bind(values, body, input),
            Plan::Variable(index) => Ok(self.variables[*index]),
            Plan::Parameter(parameter) => Ok(self.params.value(parameter.slot)),
            Plan::GraphParameter(index) => {
                Ok(self.graph_params.get(*index).map_or(Value::Undefined, |graph| graph.root()))
            }
            Plan::Root => Ok(self.root),
            Plan::Pattern(_) => Ok(Value::Undefined),
        }
    }

    #[inline(never)]
    fn pipe(&mut self, stages: &'a [Stage], input: Value<'a>) -> Result<Value<'a>> {
        let mut value = input;
        let mut at = 0;
        while let Some(stage) = stages.get(at) {
            if let Some(result) = self.try_fused(stage, &stages[at..], value) {
                value = result;
                at += 2;
                continue;
            }
            value = self.eval(&stage.plan, value)?;
            at += 1;
        }
        Ok(value)
    }

    /// Runs a stage and the next one as one, if they can be fused. Otherwise sets the number of items that the next
    /// stage needs.
    fn try_fused(&mut self, stage: &'a Stage, rest: &'a [Stage], value: Value<'a>) -> Option<Value<'a>> {
        let fusion = stage.fusion.filter(|_| self.is_optimized)?;
        if let Some(result) = self.run_fused(fusion, rest, value) {
            return Some(result);
        }
        self.item_limit = if let Fusion::First(count) = fusion { Some(count) } else { None };
        None
    }

    fn array(&mut self, items: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        let base = self.mark();
        for item in items {
            let value = self.eval(item, input)?;
            self.push(value)?;
        }
        self.collect_list(base)
    }

    fn object(&mut self, fields: &'a plan::Fields, input: Value<'a>) -> Result<Value<'a>> {
        let base = self.mark();
        self.collect_fields(fields, input)?;
        let keys = self.shared_keys(fields.record, fields.names.iter().map(|name| &**name))?;
        self.collect_object(keys, base)
    }

    fn bind(&mut self, values: &'a [Plan], body: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        let base = self.variables.len();
        for value in values {
            let value = self.eval(value, input)?;
            self.variables.push(value);
        }
        let result = self.eval(body, input);
        self.variables.truncate(base);
        result
    }

    /// Runs a call and records its cost. Calls nest as deep as the query, so everything except the recursion is in
    /// functions of its own: 128 levels fit on a small stack.
    #[inline(never)]
    fn call(&mut self, call: &'a Call, input: Value<'a>) -> Result<Value<'a>> {
        let entry = self.enter();
        let result = match &call.function.row().body {
            Body::Strict(body) | Body::Batched(body, _) => self.strict(*body, &call.args, input),
            Body::Piped(body) | Body::Folded(body, _) | Body::Counted(body, _) | Body::Lazy(body) => {
                body(self, input, &call.args)
            }
            rest => self.call_rest(rest, &call.args, input),
        };
        self.leave(call, entry, &result);
        result.map_err(|error| with_location(error, call, input))
    }

    fn call_rest(&mut self, body: &'a Body, plans: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        match body {
            Body::Search(body) => self.call_search(*body, plans, input),
            Body::Custom(function) => self.call_custom(function, plans, input),
            _ => Ok(Value::Undefined),
        }
    }

    /// Evaluates the arguments, then the function. No built-in function reads more than four; surplus arguments are
    /// evaluated and dropped.
    #[inline]
    fn strict(&mut self, body: StrictBody, plans: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        match plans {
            [only] => {
                let args = [self.eval(only, input)?];
                body(self, &args)
            }
            [left, right] => self.strict_n(body, [left, right], input),
            [first, second, third] => self.strict_n(body, [first, second, third], input),
            _ => self.strict_many(body, plans, input),
        }
    }

    #[inline]
    fn strict_n<const N: usize>(
        &mut self,
        body: StrictBody,
        plans: [&'a Plan; N],
        input: Value<'a>,
    ) -> Result<Value<'a>> {
        let mut args = [Value::Undefined; N];
        for (arg, plan) in args.iter_mut().zip(plans) {
            *arg = self.eval(plan, input)?;
        }
        body(self, &args)
    }

    fn strict_many(&mut self, body: StrictBody, plans: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        const MAX_ARGS: usize = 4;
        let mut args = [Value::Undefined; MAX_ARGS];
        for (at, plan) in plans.iter().enumerate() {
            let value = self.eval(plan, input)?;
            args[at.min(MAX_ARGS - 1)] = value;
        }
        body(self, &args[..plans.len().min(MAX_ARGS)])
    }

    /// Evaluates the searched string. The flags are part of the pattern.
    fn call_search(&mut self, body: SearchBody, plans: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        let [text, pattern, rest @ ..] = plans else {
            let error = Error::new(Code::ArgumentCount, "A string and a pattern expected");
            return Err(error.with_help("write the pattern as a string: `regex(.tag, \"^P-\")`"));
        };
        let text = self.eval(text, input)?;
        match pattern {
            Plan::Pattern(pattern) => body(self, text, pattern),
            pattern => {
                let pattern = self.eval(pattern, input)?;
                self.search_computed(body, text, pattern, rest)
            }
        }
    }

    /// Searches for a computed pattern, with the flags that the compiler has added.
    #[inline(never)]
    fn search_computed(
        &mut self,
        body: SearchBody,
        text: Value<'a>,
        pattern: Value<'a>,
        flags: &'a [Plan],
    ) -> Result<Value<'a>> {
        let regex = self.regex_from(pattern, flags.first())?;
        body(self, text, &regex)
    }

    fn call_custom(&mut self, function: &'a CustomFunction, plans: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        let arguments = Arguments { function, plans };
        match &function.body {
            CustomBody::Lazy(body) => body(self, input, arguments),
            CustomBody::Strict(body) => {
                let count = plans.len().max(arguments.function.listed_params());
                let mut args = Vec::with_capacity(count);
                for at in 0..count {
                    args.push(self.eval_argument(arguments, at, input)?);
                }
                body(self, input, &args)
            }
        }
    }

    /// Evaluates an argument of a lazy function on a value, and checks the declared type of the result. The argument of
    /// an index that the query does not give is `undefined`.
    ///
    /// # Errors
    /// As [`Query::run`](crate::Query::run).
    pub fn eval_argument(&mut self, arguments: Arguments<'a>, index: usize, input: Value<'a>) -> Result<Value<'a>> {
        let Some(plan) = arguments.plans.get(index) else { return Ok(Value::Undefined) };
        let value = self.eval(plan, input)?;
        arguments.function.check(index, value)?;
        Ok(value)
    }

    /// Returns the position on the value stack at which collecting begins.
    pub(crate) fn mark(&self) -> usize {
        self.stack.len()
    }

    /// Collects a value.
    #[inline]
    pub(crate) fn push(&mut self, value: Value<'a>) -> Result<()> {
        if self.stack.len() == self.stack.capacity() {
            self.grow()?;
        }
        self.stack.push(value);
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        let (capacity, more) = (self.stack.capacity(), self.stack.capacity().max(64));
        // The values are copied: until then, the old and the new stack are both in memory.
        let copied = capacity * size_of::<Value<'_>>();
        self.reserve(copied + more * size_of::<Value<'_>>())?;
        self.stack.reserve_exact(more);
        self.release(copied);
        Ok(())
    }

    /// The values collected since a mark.
    pub(crate) fn collected(&mut self, base: usize) -> &mut [Value<'a>] {
        &mut self.stack[base..]
    }

    /// Drops the values collected since a mark.
    pub(crate) fn discard_collected(&mut self, base: usize) {
        self.stack.truncate(base);
    }
}

/// Adds the location of an error: the call, and the path of its input in the document.
#[cold]
fn with_location(error: Error, call: &Call, input: Value<'_>) -> Error {
    let is_first = error.span().is_none();
    let error = error.with_span(call.span).push_trace(call.span);
    // The input of a failed node lookup does not explain the failure.
    let is_about_data = !error.code().as_str().starts_with("PQ3");
    match input.container().filter(|_| is_about_data) {
        Some((arena, id)) if is_first || error.data_path().is_none() => error.with_data_path(arena.path_of(id)),
        _ => error,
    }
}
