//! Runs plans.

pub(crate) mod batch;
mod bits;
mod budget;
pub(crate) mod build;
pub(crate) mod compile;
mod condition;
pub(crate) mod cost;
pub(crate) mod function;
pub(crate) mod fuse;
mod made;
pub(crate) mod matches;
mod notes;
pub(crate) mod numbers;
pub(crate) mod outline;
mod piped;
pub(crate) mod plan;
mod property;
mod reads;
mod renamed;
mod scratch;
pub(crate) mod setting;
mod shared;
pub(crate) mod view;

use std::sync::Arc;

use crate::arena::Arena;
use crate::error::{Code, Error, Result};
use crate::graph::Graph;
use crate::graph::config::TopologyConfig;
use crate::graph::plant::Plant;
use crate::graph::spare::{Borrowed, Tools};
use crate::graph::walk::Queue;
use crate::limits::Limits;
use crate::pid::tag::Scheme;
use crate::value::{Keys, Value};

use budget::LOOK_EVERY;
use cost::{Cost, Way};
use function::{Body, CustomBody, SearchBody, StrictBody};
use fuse::Fusion;
use notes::Notes;
use plan::{Call, Plan, Stage};
use property::Cache;

pub use scratch::Scratch;

/// How many parts of a plan keep something while it runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    pub calls: usize,
    pub properties: usize,
    pub records: usize,
}

/// A run: everything that a function may use.
pub struct Cx<'a> {
    graph: &'a Graph,
    document: &'a Arena,
    /// The drawing that functions of the graph ask, once one of them was called.
    plant: Option<Plant<'a>>,
    /// What walks need, between them.
    tools: Option<Box<Borrowed<'a>>>,
    params: &'a Arena,
    root: Value<'a>,
    scratch: &'a Scratch,
    limits: Limits<'a>,
    used: u64,
    look_at: u64,
    /// Whether faster ways to the same result may be taken.
    shortcuts: bool,
    /// How many lists are worked on together, one in the other.
    together: u32,
    /// How many items the next stage wants of the one that begins to run.
    wanted: Option<u32>,
    /// Whether the items of some list were not all looked at.
    left_early: bool,
    /// How the running call comes to its result.
    way: Way,
    /// What calls noted beside their results.
    notes: Notes<'a>,
    /// Bytes outside of `scratch` that count as memory of the run.
    held: usize,
    /// Values that are being collected. Every function leaves it as long as it found it.
    stack: Vec<Value<'a>>,
    variables: Vec<Value<'a>>,
    caches: Vec<Cache>,
    records: Vec<Option<&'a Keys<'a>>>,
    /// The keys that were made last.
    last_keys: Option<&'a Keys<'a>>,
    /// The keys of stored objects, by the last bits of the number of their shape.
    shapes: Vec<Option<(u32, build::Shape<'a>)>>,
    /// The scheme of tags that was compiled last: as a rule it is the same for all.
    scheme: Option<(&'a str, Scheme)>,
    /// Where texts are written before their length is known.
    text: String,
    costs: Vec<Cost>,
    /// Fuel of the calls inside the running one.
    inner_fuel: u64,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        params: &'a Arena,
        scratch: &'a Scratch,
        limits: Limits<'a>,
        sizes: Sizes,
    ) -> Cx<'a> {
        scratch.limit(limits.memory);
        let document = graph.arena();
        Cx {
            graph,
            document,
            plant: None,
            tools: None,
            params,
            root: Value::stored(document, document.root()),
            scratch,
            limits,
            used: 0,
            look_at: LOOK_EVERY.min(limits.fuel.saturating_add(1)),
            shortcuts: true,
            together: 0,
            wanted: None,
            left_early: false,
            way: Way::Plain,
            notes: Notes::default(),
            held: 0,
            stack: Vec::new(),
            variables: Vec::new(),
            caches: vec![Cache::default(); sizes.properties],
            records: vec![None; sizes.records],
            last_keys: None,
            shapes: Vec::new(),
            scheme: None,
            text: String::new(),
            costs: vec![Cost::default(); sizes.calls],
            inner_fuel: 0,
        }
    }

    /// Takes the plain way everywhere: the oracle that shortcuts are tested against.
    pub(crate) fn without_shortcuts(self) -> Cx<'a> {
        Cx { shortcuts: false, ..self }
    }

    /// Whether faster ways to the same result may be taken.
    pub(crate) fn takes_shortcuts(&self) -> bool {
        self.shortcuts
    }

    /// The document that the query runs on, with its nodes and edges as they are read for the whole query: in
    /// `withTopology` and `withGraph` functions of the language ask another graph, and this one stays.
    ///
    /// To read it takes no fuel: a function pays for its own loops with [`Cx::spend`].
    ///
    /// ```
    /// use pidq_core::{Dialect, Function, Graph, Limits, Value};
    ///
    /// // How many edges leave the piped node.
    /// let fan = Function::new("fan", |cx, node, _| {
    ///     let count = cx.graph().node_of(node).map_or(0, |node| cx.graph().outgoing(node).len());
    ///     cx.spend(1)?;
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

    /// The drawing that functions of the graph ask.
    pub(crate) fn plant(&mut self) -> Result<Plant<'a>> {
        if self.plant.is_none() {
            self.plant = self.graph.plant(&self.limits)?;
        }
        let none = || Error::new(Code::NoGraph, "no graph in the document");
        let help = "a graph has a list `nodes`, at the top or in `pid_graph`; other names stand in `metadata.topology`";
        self.plant.clone().ok_or_else(|| none().with_help(help))
    }

    /// Whether a function has asked for the drawing of the document.
    pub(crate) fn has_plant(&self) -> bool {
        self.plant.is_some()
    }

    /// Does something with what walks need. A walk inside of it, for a condition, gets tools of its own.
    pub(crate) fn with_tools<T>(&mut self, walk: impl FnOnce(&mut Self, &mut Tools) -> T) -> T {
        let mut tools = self.tools.take().unwrap_or_else(|| Box::new(self.graph.spare().borrow()));
        let result = walk(self, &mut tools);
        self.tools = Some(tools);
        result
    }

    /// Reads a tag by a scheme.
    pub(crate) fn with_scheme<T>(&mut self, pattern: &'a str, read: impl FnOnce(&Scheme) -> T) -> Result<T> {
        /// What compiling costs: some milliseconds for the largest.
        const COMPILED: u64 = 10_000;
        if let Some((_, scheme)) = self.scheme.as_ref().filter(|(known, _)| *known == pattern) {
            return Ok(read(scheme));
        }
        self.spend(COMPILED)?;
        let (_, scheme) = self.scheme.insert((pattern, Scheme::new(pattern)?));
        Ok(read(scheme))
    }

    /// Takes back the nodes that a walk has found, for the room that they take.
    pub(crate) fn keep_nodes(&mut self, nodes: Queue) {
        if let Some(tools) = &mut self.tools {
            tools.space.keep(nodes);
        }
    }

    /// Evaluates a part of the query on another drawing.
    pub(crate) fn eval_in(&mut self, plant: Plant<'a>, plan: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        let outer = self.plant.replace(plant);
        let result = self.eval(plan, input);
        self.plant = outer;
        result
    }

    /// The names and words that drawings are read with unless they say otherwise.
    pub(crate) fn topology_config(&self) -> &'a Arc<TopologyConfig> {
        self.graph.config()
    }

    /// Evaluates a part of the query on a value.
    ///
    /// Hot: most parts are constants and paths, which are not worth a step down. A debug build would have all copies on
    /// its stack at once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn eval(&mut self, plan: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        self.spend(1)?;
        self.eval_paid(plan, input)
    }

    /// The same where the step for it is paid.
    #[inline(always)]
    pub(crate) fn eval_paid(&mut self, plan: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        match plan {
            Plan::Constant(constant) => Ok(constant.value()),
            Plan::Get(path) => self.get(path, input),
            Plan::Call(call) => self.call(call, input),
            Plan::Pipe(stages) => self.pipe(stages, input),
            rest => self.eval_rest(rest, input),
        }
    }

    #[inline(never)]
    fn eval_rest(&mut self, plan: &'a Plan, input: Value<'a>) -> Result<Value<'a>> {
        match plan {
            Plan::Constant(constant) => Ok(constant.value()),
            Plan::Get(path) => self.get(path, input),
            Plan::Call(call) => self.call(call, input),
            Plan::Pipe(stages) => self.pipe(stages, input),
            Plan::Array(items) => self.array(items, input),
            Plan::Object(fields) => self.object(fields, input),
            Plan::Let(values, body) => self.bind(values, body, input),
            Plan::Variable(index) => Ok(self.variables[*index]),
            Plan::Parameter(cell) => Ok(Value::stored(self.params, *cell)),
            Plan::Root => Ok(self.root),
            Plan::Pattern(_) => Ok(Value::Undefined),
        }
    }

    #[inline(never)]
    fn pipe(&mut self, stages: &'a [Stage], input: Value<'a>) -> Result<Value<'a>> {
        let mut value = input;
        let mut at = 0;
        while let Some(stage) = stages.get(at) {
            if let Some(result) = self.with_next(stage, &stages[at..], value) {
                value = result;
                at += 2;
                continue;
            }
            value = self.eval(&stage.plan, value)?;
            at += 1;
        }
        Ok(value)
    }

    /// The result of a stage and the next one, if they can run as one. Otherwise says how many items are wanted.
    fn with_next(&mut self, stage: &'a Stage, rest: &'a [Stage], value: Value<'a>) -> Option<Value<'a>> {
        let fusion = stage.fusion.filter(|_| self.shortcuts)?;
        if let Some(result) = self.fused(fusion, rest, value) {
            return Some(result);
        }
        self.wanted = if let Fusion::First(count) = fusion { Some(count) } else { None };
        None
    }

    fn array(&mut self, items: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        let base = self.mark();
        for item in items {
            let value = self.eval(item, input)?;
            self.push(value)?;
        }
        self.list(base)
    }

    fn object(&mut self, fields: &'a plan::Fields, input: Value<'a>) -> Result<Value<'a>> {
        let base = self.mark();
        self.fields(fields, input)?;
        let keys = self.shared_keys(fields.record, fields.names.iter().map(|name| &**name))?;
        self.record(keys, base)
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

    /// Runs a call and notes what it cost. Calls are nested as deep as the query: everything but the way down is in
    /// functions of its own, so that 128 levels fit on a small stack.
    #[inline(never)]
    fn call(&mut self, call: &'a Call, input: Value<'a>) -> Result<Value<'a>> {
        let entry = self.enter();
        let result = match &call.function.row().body {
            Body::Strict(body) => self.strict(*body, &call.args, input),
            Body::Piped(body) | Body::Counted(body, _) | Body::Lazy(body) => body(self, input, &call.args),
            rest => self.call_rest(rest, &call.args, input),
        };
        self.leave(call, entry, &result);
        result.map_err(|error| place(error, call, input))
    }

    fn call_rest(&mut self, body: &'a Body, plans: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        match body {
            Body::Search(body) => self.search(*body, plans, input),
            Body::Custom(body) => self.custom(&**body, plans, input),
            _ => Ok(Value::Undefined),
        }
    }

    /// Evaluates the arguments, then the function. No function of ours reads more than four; the rest is for nothing.
    #[inline]
    fn strict(&mut self, body: StrictBody, plans: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        match plans {
            [only] => {
                let args = [self.eval(only, input)?];
                body(self, &args)
            }
            [left, right] => self.strict_of(body, [left, right], input),
            [first, second, third] => self.strict_of(body, [first, second, third], input),
            _ => self.strict_many(body, plans, input),
        }
    }

    #[inline]
    fn strict_of<const N: usize>(
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
        const MOST: usize = 4;
        let mut args = [Value::Undefined; MOST];
        for (at, plan) in plans.iter().enumerate() {
            let value = self.eval(plan, input)?;
            args[at.min(MOST - 1)] = value;
        }
        body(self, &args[..plans.len().min(MOST)])
    }

    /// Evaluates the text. The flags are a part of the pattern.
    fn search(&mut self, body: SearchBody, plans: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        let [text, Plan::Pattern(pattern), ..] = plans else {
            let error = Error::new(Code::ArgumentCount, "A text and a pattern expected");
            return Err(error.with_help("write the pattern as a text: `regex(.tag, \"^P-\")`"));
        };
        let text = self.eval(text, input)?;
        body(self, text, pattern)
    }

    fn custom(&mut self, body: &'a CustomBody, plans: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
        let mut args = Vec::with_capacity(plans.len());
        for plan in plans {
            args.push(self.eval(plan, input)?);
        }
        body(self, input, &args)
    }

    /// Where the collecting of values begins.
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
        let more = self.stack.capacity().max(64);
        self.hold(more * size_of::<Value<'_>>())?;
        self.stack.reserve_exact(more);
        Ok(())
    }

    /// The values collected since a mark.
    pub(crate) fn collected(&mut self, base: usize) -> &mut [Value<'a>] {
        &mut self.stack[base..]
    }

    /// Takes off the values collected since a mark.
    pub(crate) fn forget(&mut self, base: usize) {
        self.stack.truncate(base);
    }
}

/// Adds what is known of the place of an error: the call, and the value that it was given.
#[cold]
fn place(error: Error, call: &Call, input: Value<'_>) -> Error {
    let is_first = error.span().is_none();
    let error = error.with_span(call.span).push_trace(call.span);
    // Where a node was looked up says nothing about why there is none.
    let is_about_data = !error.code().as_str().starts_with("PQ3");
    match input.container().filter(|_| is_about_data) {
        Some((arena, id)) if is_first || error.data_path().is_none() => error.with_data_path(arena.path_of(id)),
        _ => error,
    }
}
