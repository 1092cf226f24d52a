//! Entry points of the engine: `Dialect` defines a language, `Query` is a compiled query, `RunResult` the result of a
//! run.

mod bound_query;
mod dialect_json;
mod projected_document;
mod projection;
mod query_plan;
mod run_profile;

use std::cell::OnceCell;
use std::fmt;
use std::sync::{Arc, OnceLock};

use hashbrown::HashSet;
use serde::de::{Deserialize, DeserializeOwned};

use crate::arena::projection::Projection;
use crate::arena::{Arena, load};
use crate::check::{self, Findings};
use crate::error::{Code, Error, Result, Span, Warning};
use crate::eval::compile::{Compiled, Environment, compile};
use crate::eval::plan::FunctionRef;
use crate::eval::plan::function::Function;
use crate::eval::{EvalContext, Parameters, Scratch, planned_strategies};
use crate::functions;
use crate::graph::Graph;
use crate::limits::{Limits, MAX_GRAPH_PARAMS, MAX_PARAMS, MAX_PARAMS_SIZE};
use crate::suggest::{self, BoundedSearch};
use crate::syntax::operators::{Operator, Operators};
use crate::syntax::print::PrintOptions;
use crate::syntax::text::{self, hints};
use crate::syntax::{Expr, Profile, format, json, print};
use crate::value::{Array, OutputChunk, OwnedValue, Value, write};

pub use bound_query::BoundQuery;
pub use projected_document::ProjectedDocument;
pub use query_plan::{PlanStep, QueryPlan};
pub use run_profile::{ProfileStep, RunProfile};

/// A language: functions and operators.
#[derive(Clone, Debug)]
pub struct Dialect {
    profile: Profile,
    operators: Arc<Operators>,
    custom: Vec<Arc<Function>>,
}

impl Dialect {
    /// pidq: JSON Query 5.1.1 with `$name`, `let`, comments and more functions.
    pub fn standard() -> Dialect {
        Dialect { profile: Profile::Pidq, operators: Operators::standard().clone(), custom: Vec::new() }
    }

    /// JSON Query 5.1.1 and nothing else.
    pub fn json_query() -> Dialect {
        Dialect { profile: Profile::JsonQuery, ..Dialect::standard() }
    }

    /// Returns the dialect with one more function, which replaces a function of the same name.
    pub fn with_function(mut self, function: Function) -> Dialect {
        self.custom.retain(|known| known.name() != function.name());
        self.custom.insert(0, Arc::new(function));
        self
    }

    /// Returns the dialect with more operators, each for the function of its name; an operator of the same function at
    /// the same level is replaced. Operators may refer to each other and to existing ones.
    ///
    /// # Errors
    /// `PQ1009` if an anchor is not an operator.
    pub fn with_operators(mut self, operators: &[Operator]) -> Result<Dialect> {
        self.operators = Arc::new(self.operators.with(operators)?);
        Ok(self)
    }

    /// Returns the functions, in the groups of the manual.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        let standard = functions::groups(self.profile == Profile::Pidq).flat_map(|(_, rows)| rows);
        self.custom.iter().map(|function| &**function).chain(standard)
    }

    /// Returns the groups of the manual and the standard functions in each, without custom functions.
    pub fn groups(&self) -> impl Iterator<Item = (&'static str, &'static [Function])> {
        functions::groups(self.profile == Profile::Pidq)
    }

    /// Returns the operators by level, the tightest first: text and function of each.
    pub fn operators(&self) -> impl Iterator<Item = Vec<(&str, &str)>> {
        (0..self.operators.levels()).map(|level| self.operators.level(level).collect())
    }

    /// Compiles a query in text format.
    ///
    /// # Errors
    /// `PQ0xxx` syntax, `PQ1xxx` names and arguments.
    pub fn parse(&self, text: &str) -> Result<Query> {
        self.parse_with(text, "{}")
    }

    /// Compiles a query with parameters, a JSON object: `$name` is its field `name`.
    ///
    /// # Errors
    /// As [`Dialect::parse`], and `PQ5xxx` for the parameters.
    pub fn parse_with(&self, text: &str, params: &str) -> Result<Query> {
        self.parse_with_graphs(text, params, &[])
    }

    /// Compiles a query for many runs with different parameters: every `$name` that the query itself does not bind is a
    /// parameter, which [`Query::bind`] sets.
    ///
    /// # Errors
    /// As [`Dialect::parse`], and `PQ5002` for more than 64 names.
    pub fn prepare(&self, text: &str) -> Result<Query> {
        self.compile_text(text, None, &[])
    }

    /// Compiles a query in JSON format for many runs with different parameters, as [`Dialect::prepare`].
    ///
    /// # Errors
    /// As [`Dialect::prepare`].
    pub fn prepare_json(&self, json_query: &str) -> Result<Query> {
        self.compile(QuerySource::json(json::from_json(json_query)?, json_query), None, &[])
    }

    /// Compiles a query with parameters that are graphs, in addition to values: `$name` is the whole document of the
    /// graph. Each run gets the graphs, in the order of the names.
    ///
    /// # Errors
    /// As [`Dialect::parse_with`]; `PQ1005` if a name is also a value, `PQ5002` for too many names.
    pub fn parse_with_graphs(&self, text: &str, params: &str, graph_params: &[&str]) -> Result<Query> {
        self.compile_text(text, Some(params), graph_params)
    }

    fn compile_text(&self, text: &str, params: Option<&str>, graph_params: &[&str]) -> Result<Query> {
        let result = text::parse_with_trivia(text, &self.operators, self.profile);
        let (expr, trivia) = result.map_err(|error| self.with_known_calls(error))?;
        let mut query = self.compile(QuerySource::text(expr, text), params, graph_params)?;
        query.compiled.warnings.extend(hints::commented_values(text, &trivia.comments, &self.operators));
        if self.profile == Profile::Pidq {
            query.compiled.warnings.extend(trivia.detached_dots.iter().map(hints::detached_path));
            let rounded = trivia.rounded_integers.iter().map(|span| hints::rounded_integer(text, span));
            query.compiled.warnings.extend(rounded);
        }
        Ok(query)
    }

    /// Compiles a query in JSON format: `["size"]`.
    ///
    /// # Errors
    /// As [`Dialect::parse`].
    pub fn compile_json(&self, json_query: &str) -> Result<Query> {
        self.compile_json_with(json_query, "{}")
    }

    /// Compiles a query in JSON format with parameters.
    ///
    /// # Errors
    /// As [`Dialect::parse_with`].
    pub fn compile_json_with(&self, json_query: &str, params: &str) -> Result<Query> {
        self.compile(QuerySource::json(json::from_json(json_query)?, json_query), Some(params), &[])
    }

    /// Converts a query from text format to JSON format. Function names are not resolved.
    ///
    /// # Errors
    /// `PQ0xxx`.
    pub fn tree(&self, text: &str) -> Result<String> {
        let expr = text::parse(text, &self.operators, self.profile).map_err(|error| error.locate(text))?;
        let mut tree = String::new();
        json::to_json(&expr, &mut tree);
        Ok(tree)
    }

    /// Converts a query from JSON format to text, exactly as the reference implementation prints it.
    ///
    /// # Errors
    /// `PQ0xxx`, and `PQ1002` if the JSON is not a query.
    pub fn stringify(&self, json_query: &str, options: &PrintOptions) -> Result<String> {
        print::stringify(&json::from_json(json_query)?, options, &self.operators)
    }

    /// Formats a query in pidq's layout. Comments are kept; the query stays the same.
    ///
    /// # Errors
    /// `PQ0xxx`.
    pub fn format(&self, text: &str) -> Result<String> {
        format::format(text, &self.operators, self.profile).map_err(|error| error.locate(text))
    }

    /// Removes a suggested call of a function that does not exist, or replaces it with a similar function.
    fn with_known_calls(&self, error: Error) -> Error {
        /// Shorter names are similar to too many functions.
        const MIN_LEN: usize = 4;
        let [property, call] = error.suggestions() else { return error };
        let Some(name) = call.text.strip_suffix("()").filter(|name| self.find(name).is_none()) else { return error };
        let known = self.functions().map(Function::name).filter(|_| name.len() >= MIN_LEN);
        let similar = suggest::nearest(name, known).first().map(|similar| format!("{similar}()"));
        let texts: Vec<String> = std::iter::once(property.text.to_string()).chain(similar).collect();
        error.with_help(format!("did you mean `{}`?", texts.join("` or `"))).with_suggestions(texts)
    }

    /// Compiles a query with parameters; without them, for runs with different ones.
    fn compile(&self, source: QuerySource, params: Option<&str>, graph_params: &[&str]) -> Result<Query> {
        // Hot: most queries have no parameters.
        let stored = params.filter(|params| *params != "{}").map(read_params).transpose()?;
        if graph_params.len() > MAX_GRAPH_PARAMS {
            let message = format!("There are more than {MAX_GRAPH_PARAMS} graph parameters");
            return Err(Error::new(Code::InputTooLarge, message));
        }
        let graph_params: Box<[Box<str>]> = graph_params.iter().map(|name| (*name).into()).collect();
        let fields = stored.as_ref().and_then(|stored| Value::stored(stored, stored.root()).as_object());
        let values: Vec<_> = fields.iter().flat_map(|fields| fields.iter()).collect();
        let compiled = self.compile_tree(&source, &values, &graph_params, params.is_none())?;
        Ok(Query { params: stored, ..self.query(compiled, Arc::new(source), &graph_params) })
    }

    fn compile_tree(
        &self,
        source: &QuerySource,
        params: &[(&str, Value<'_>)],
        graph_params: &[Box<str>],
        is_prepared: bool,
    ) -> Result<Compiled> {
        let find = |name: &str| self.find(name);
        let function_names = || self.functions().map(Function::name).collect();
        let graph_params: Vec<&str> = graph_params.iter().map(|name| &**name).collect();
        let environment = Environment {
            find: &find,
            function_names: &function_names,
            params,
            is_prepared,
            graph_params: &graph_params,
            is_extended: self.profile == Profile::Pidq,
        };
        compile(&source.expr, &environment).map_err(|error| source.locate(error))
    }

    /// Returns a compiled query without stored parameters.
    fn query(&self, compiled: Compiled, source: Arc<QuerySource>, graph_params: &[Box<str>]) -> Query {
        // A placeholder has nothing to check.
        let is_plan = !compiled.prepared.are_in_plan;
        let findings = if is_plan { check::check(&compiled.plan) } else { Findings::default() };
        Query {
            compiled,
            findings,
            source,
            params: None,
            graph_params: graph_params.into(),
            dialect: self.clone(),
            is_optimized: true,
            projection: OnceLock::new(),
        }
    }

    fn find(&self, name: &str) -> Option<FunctionRef> {
        if let Some(custom) = self.custom.iter().find(|function| function.name() == name) {
            return Some(FunctionRef::Custom(custom.clone()));
        }
        functions::find(name, self.profile == Profile::Pidq)
    }
}

impl Default for Dialect {
    fn default() -> Self {
        Dialect::standard()
    }
}

fn read_params(params: &str) -> Result<Arena> {
    if params.len() > MAX_PARAMS_SIZE {
        let message = format!("The parameters are larger than {MAX_PARAMS_SIZE} bytes");
        return Err(Error::new(Code::InputTooLarge, message));
    }
    let arena = load::load(params.into(), crate::limits::MAX_QUERY_DEPTH)?;
    match Value::stored(&arena, arena.root()).as_object().map(crate::value::Object::len) {
        Some(count) if count <= MAX_PARAMS => Ok(arena),
        Some(_) => Err(Error::new(Code::InputTooLarge, format!("There are more than {MAX_PARAMS} parameters"))),
        None => Err(Error::new(Code::NotJson, "The parameters are not a JSON object")),
    }
}

/// Source of a compiled query.
#[derive(Debug)]
struct QuerySource {
    expr: Expr,
    source: Box<str>,
    /// True if the source is in JSON format.
    is_json: bool,
}

impl QuerySource {
    fn text(expr: Expr, source: &str) -> QuerySource {
        QuerySource { expr, source: source.into(), is_json: false }
    }

    fn json(expr: Expr, source: &str) -> QuerySource {
        QuerySource { expr, source: source.into(), is_json: true }
    }

    /// Adds line and column to an error, and for the JSON format its JSON Pointers.
    fn locate(&self, error: Error) -> Error {
        let error = error.locate(&self.source);
        if self.is_json { error.with_pointers(|span| json::pointer(&self.expr, span)) } else { error }
    }

    fn locate_warning(&self, warning: Warning) -> Warning {
        if self.is_json { warning.with_pointer(|span| json::pointer(&self.expr, span)) } else { warning }
    }
}

/// A compiled query: immutable, shareable between threads, and runnable any number of times.
///
/// ```
/// use pidq_core::{Graph, Limits, Query};
///
/// let graph = Graph::from_json(r#"[{"tag": "P-101"}, {"tag": "V-7"}]"#)?;
/// let query = Query::parse(r#"filter(.tag == "V-7") | size()"#)?;
/// assert_eq!(query.to_json(&graph, Limits::default())?, "1");
/// # Ok::<(), pidq_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Query {
    compiled: Compiled,
    /// Findings of the check without a document.
    findings: Findings,
    source: Arc<QuerySource>,
    /// Parameters that the query is compiled with, if there are any.
    params: Option<Arena>,
    /// Names of the parameters that are graphs.
    graph_params: Box<[Box<str>]>,
    dialect: Dialect,
    is_optimized: bool,
    /// The values that the query reads, once a document is loaded for it.
    projection: OnceLock<Projection>,
}

impl Query {
    /// Compiles a query in the standard dialect.
    ///
    /// # Errors
    /// `PQ0xxx` syntax, `PQ1xxx` names and arguments.
    pub fn parse(text: &str) -> Result<Query> {
        Dialect::standard().parse(text)
    }

    /// Compiles a query with parameters, a JSON object.
    ///
    /// # Errors
    /// As [`Dialect::parse_with`].
    pub fn with_params(text: &str, params: &str) -> Result<Query> {
        Dialect::standard().parse_with(text, params)
    }

    /// Compiles a query for many runs with different parameters: every `$name` that the query itself does not bind is a
    /// parameter, which [`Query::bind`] sets.
    ///
    /// ```
    /// use pidq_core::{Graph, Limits, Query};
    ///
    /// let graph = Graph::from_json(r#"[{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}]"#)?;
    /// let power = Query::prepare("filter(.tag == $tag) | map(.kw)")?;
    /// for (tag, kw) in [("P-101", 15.0), ("P-102", 7.5)] {
    ///     let result: Vec<f64> = power.bind([("tag", tag)])?.run_as(&graph, Limits::default())?;
    ///     assert_eq!(result, [kw]);
    /// }
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Query::parse`].
    pub fn prepare(text: &str) -> Result<Query> {
        Dialect::standard().prepare(text)
    }

    /// Compiles a query with parameters that are graphs.
    ///
    /// ```
    /// use pidq_core::{Graph, Limits, Query, Scratch};
    ///
    /// let [old, new] = ["3", "4"].map(|kw| format!(r#"{{"nodes": [{{"id": "P-1", "kw": {kw}}}], "edges": []}}"#));
    /// let (old, new) = (Graph::from_json(old)?, Graph::from_json(new)?);
    /// let query = Query::with_graphs("diff($old, get()).changed | map([.before, .after])", "{}", &["old"])?;
    /// let (graphs, scratch) = ([&old], Scratch::new());
    /// let result = query.run_with_graphs(&new, &graphs, &scratch, Limits::default())?;
    /// let mut json = Vec::new();
    /// result.write_json(&mut json)?;
    /// assert_eq!(json, b"[[3,4]]");
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Dialect::parse_with_graphs`].
    pub fn with_graphs(text: &str, params: &str, graph_params: &[&str]) -> Result<Query> {
        Dialect::standard().parse_with_graphs(text, params, graph_params)
    }

    /// Compiles a query in JSON format.
    ///
    /// # Errors
    /// As [`Query::parse`].
    pub fn from_json(json_query: &str) -> Result<Query> {
        Dialect::standard().compile_json(json_query)
    }

    /// Runs the query on a document. Values that it builds live in `scratch`.
    ///
    /// # Errors
    /// `PQ2xxx` evaluation, `PQ4xxx` limits.
    pub fn run<'a>(&'a self, graph: &'a Graph, scratch: &'a Scratch, limits: Limits<'a>) -> Result<RunResult<'a>> {
        self.run_with_graphs(graph, &[], scratch, limits)
    }

    /// Runs the query on a document, with the graphs of its graph parameters in the order of their names.
    ///
    /// # Errors
    /// As [`Query::run`], and `PQ1005` if a graph is missing.
    pub fn run_with_graphs<'a>(
        &'a self,
        graph: &'a Graph,
        graph_params: &'a [&'a Graph],
        scratch: &'a Scratch,
        limits: Limits<'a>,
    ) -> Result<RunResult<'a>> {
        self.run_with_parameters(graph, graph_params, self.stored_parameters()?, scratch, limits)
    }

    /// Returns the parameters that the query was compiled with.
    fn stored_parameters(&self) -> Result<Parameters<'_>> {
        match &self.params {
            _ if !self.compiled.prepared.names.is_empty() => Err(self.missing_parameters(|_| true)),
            Some(params) => Ok(Parameters::Stored(params)),
            None => Ok(Parameters::Bound(&[])),
        }
    }

    fn run_with_parameters<'a>(
        &'a self,
        graph: &'a Graph,
        graph_params: &'a [&'a Graph],
        params: Parameters<'a>,
        scratch: &'a Scratch,
        limits: Limits<'a>,
    ) -> Result<RunResult<'a>> {
        let mut cx = self.context(graph, graph_params, params, scratch, limits)?;
        let result = cx.eval(&self.compiled.plan, graph.root());
        let value = result.map_err(|error| self.explain_error(error, &cx))?;
        let spent_most = self.spent_most(&cx);
        Ok(RunResult {
            value,
            warnings: self.all_warnings(graph, &cx),
            uses_graph: cx.has_drawing(),
            fuel: cx.fuel_used(),
            output_limit: limits.output,
            spent_most,
        })
    }

    /// Runs the query and prints the result as JSON.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn to_json(&self, graph: &Graph, limits: Limits<'_>) -> Result<String> {
        let scratch = Scratch::new();
        self.run(graph, &scratch, limits)?.to_json()
    }

    /// Runs the query and converts its result to a type with serde's `Deserialize`, without JSON text in between.
    ///
    /// Integers are never rounded: see [`Value::deserialize`]. For a type that borrows its strings, use [`Query::run`] and
    /// [`RunResult::deserialize`].
    ///
    /// ```
    /// use pidq_core::{Graph, Limits, Query};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Pump {
    ///     tag: String,
    ///     kw: f64,
    /// }
    ///
    /// let graph = Graph::from_json(r#"[{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": "7.5"}]"#)?;
    /// let large: Vec<Pump> = Query::parse("filter(.kw == 15)")?.run_as(&graph, Limits::default())?;
    /// assert_eq!((large[0].tag.as_str(), large[0].kw), ("P-101", 15.0));
    ///
    /// let error = Query::parse("get()")?.run_as::<Vec<Pump>>(&graph, Limits::default()).err();
    /// let text = error.map(|error| error.to_string());
    /// assert_eq!(text.as_deref(), Some("PQ2009: expected f64, found a string at [1].kw"));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Query::run`], and `PQ2009` if the result does not fit the type.
    pub fn run_as<T: DeserializeOwned>(&self, graph: &Graph, limits: Limits<'_>) -> Result<T> {
        let scratch = Scratch::new();
        self.run(graph, &scratch, limits)?.deserialize()
    }

    /// Runs the query and returns its profile: rows, fuel and strategy of each call, and the warnings of the run.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn explain(&self, graph: &Graph, limits: Limits<'_>) -> Result<RunProfile> {
        self.explain_with_graphs(graph, &[], limits)
    }

    /// Runs the query with its graph parameters, and returns its profile.
    ///
    /// # Errors
    /// As [`Query::run_with_graphs`].
    pub fn explain_with_graphs(
        &self,
        graph: &Graph,
        graph_params: &[&Graph],
        limits: Limits<'_>,
    ) -> Result<RunProfile> {
        self.explain_with_parameters(graph, graph_params, self.stored_parameters()?, limits)
    }

    fn explain_with_parameters(
        &self,
        graph: &Graph,
        graph_params: &[&Graph],
        params: Parameters<'_>,
        limits: Limits<'_>,
    ) -> Result<RunProfile> {
        let scratch = Scratch::new();
        let mut cx = self.context(graph, graph_params, params, &scratch, limits)?;
        let result = cx.eval(&self.compiled.plan, graph.root());
        let value = result.map_err(|error| self.explain_error(error, &cx))?;
        let rows = value.as_array().map(|rows| rows.len() as u64);
        let (steps, warnings) = (self.steps(&cx), self.all_warnings(graph, &cx));
        Ok(RunProfile { steps, fuel: cx.fuel_used(), rows, warnings, uses_graph: cx.has_drawing() })
    }

    /// Returns the plan of the query without a run: its calls, and the strategy of each as far as it is known (steps
    /// that run as one, and values computed once).
    ///
    /// ```
    /// use pidq_core::Query;
    ///
    /// let plan = Query::parse("nodes() | filter(.kw > 5) | size()")?.plan();
    /// let strategies: Vec<_> = plan.steps.iter().map(|step| (step.text.as_str(), step.strategy)).collect();
    /// assert_eq!(strategies[1], ("filter(.kw > 5)", "count only"));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn plan(&self) -> QueryPlan {
        let strategies = planned_strategies::static_strategies(&self.compiled.plan, self.compiled.calls.len());
        let steps = self.compiled.calls.iter().zip(strategies).map(|((name, span), strategy)| PlanStep {
            text: self.call_text(name, *span),
            depth: self.depth(*span),
            strategy: strategy.text(),
        });
        QueryPlan { steps: steps.collect() }
    }

    /// Returns the query with optimizations disabled: it runs step by step as written. The results are the same; use it
    /// to verify that.
    pub fn without_optimizations(self) -> Query {
        Query { is_optimized: false, ..self }
    }

    /// Returns the query in JSON format.
    pub fn tree(&self) -> String {
        let mut tree = String::new();
        json::to_json(&self.source.expr, &mut tree);
        tree
    }

    /// Returns the source text.
    pub fn source(&self) -> &str {
        &self.source.source
    }

    /// Checks the query without a document: returns likely mistakes as warnings, and a call that always fails as an
    /// error.
    ///
    /// # Errors
    /// `PQ2xxx`.
    pub fn check(&self) -> Result<Vec<Warning>> {
        match &self.findings.error {
            Some(error) => Err(self.source.locate(error.clone())),
            None => Ok(self.static_warnings().map(|warning| self.source.locate_warning(warning.clone())).collect()),
        }
    }

    /// Checks the query against a document, by the types of its values, and returns further warnings. The query is not
    /// run; warnings of a run and of [`Query::check`] are not repeated.
    ///
    /// Returns nothing if examining the document takes more fuel or time than the limits allow.
    pub fn check_against(&self, graph: &Graph, limits: Limits<'_>) -> Vec<Warning> {
        let findings = check::check_against(&self.compiled.plan, graph, &limits);
        let warnings = findings.map(|findings| findings.warnings).unwrap_or_default();
        let is_new = |new: &Warning| {
            !self.static_warnings().any(|old| old.span == new.span && (old.code == new.code || is_key(old)))
        };
        // A field that the query expects to be missing, and that looks like no typing mistake.
        let is_expected = |new: &Warning| {
            let mut optional = self.compiled.optional_properties.iter().map(|at| Some(self.compiled.properties[*at].1));
            new.code == "PQW01" && new.help.is_none() && optional.any(|span| span == new.span)
        };
        let found = warnings.into_iter().filter(|new| is_new(new) && !is_expected(new));
        found.map(|warning| self.source.locate_warning(warning)).collect()
    }

    /// Returns the warnings that need no document.
    fn static_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.compiled.warnings.iter().chain(&self.findings.warnings)
    }

    fn context<'a>(
        &'a self,
        graph: &'a Graph,
        graph_params: &'a [&'a Graph],
        params: Parameters<'a>,
        scratch: &'a Scratch,
        limits: Limits<'a>,
    ) -> Result<EvalContext<'a>> {
        if let Some(name) = self.graph_params.get(graph_params.len()) {
            return Err(Error::new(Code::UnknownVariable, format!("The graph of the parameter '${name}' is missing")));
        }
        let cx = EvalContext::new(graph, params, scratch, limits, self.compiled.sizes);
        let cx = cx.with_graph_params(graph_params);
        Ok(if self.is_optimized { cx } else { cx.without_optimizations() })
    }

    fn steps(&self, cx: &EvalContext<'_>) -> Vec<ProfileStep> {
        let calls = &self.compiled.calls;
        let steps = calls.iter().zip(cx.call_stats()).map(|((name, span), cost)| ProfileStep {
            text: self.call_text(name, *span),
            depth: self.depth(*span),
            runs: cost.runs,
            rows: cost.rows,
            fuel: cost.fuel,
            strategy: cost.strategy.text(),
        });
        steps.collect()
    }

    /// Returns the number of calls around a call.
    fn depth(&self, span: Span) -> usize {
        self.compiled.calls.iter().filter(|(_, outer)| is_inside(span, *outer)).count()
    }

    /// Returns a call on one line, shortened; only its name if the query is in JSON format.
    fn call_text(&self, name: &str, span: Span) -> String {
        let text = self.source()[span.range(self.source())].split_whitespace().collect::<Vec<_>>().join(" ");
        match text.chars().count() {
            0 => name.to_owned(),
            1..=60 => text,
            _ => text.chars().take(59).chain(['…']).collect(),
        }
    }

    /// Adds line and column, and for a limit the call that used most of it.
    fn explain_error(&self, error: Error, cx: &EvalContext<'_>) -> Error {
        let is_limit = error.code().stage() == crate::error::Stage::Limit;
        let error = match self.most_expensive_call(&error, cx).filter(|_| is_limit) {
            Some(call) => error.with_spent_most(call),
            None => error,
        };
        self.source.locate(self.explain_extra_argument(error))
    }

    /// Returns the call that used the most fuel. If none was used yet, it is the failed call: its result needed too
    /// much memory.
    fn most_expensive_call(&self, error: &Error, cx: &EvalContext<'_>) -> Option<String> {
        let failed = || self.compiled.calls.iter().find(|(_, span)| Some(*span) == error.span());
        self.spent_most(cx)
            .filter(|(_, fuel)| *fuel > 0)
            .map(call_cost_text)
            .or_else(|| failed().map(|(name, _)| format!("`{name}`")))
    }

    /// Returns the call that used the most fuel, and its fuel. Of several it is the last.
    fn spent_most(&self, cx: &EvalContext<'_>) -> Option<(&str, u64)> {
        let calls =
            cx.call_stats().iter().zip(&self.compiled.calls).map(|(cost, (name, _))| (name.as_str(), cost.fuel));
        calls.max_by_key(|(_, fuel)| *fuel)
    }

    /// Replaces the help if a call got the array as an argument: it works on the piped value.
    fn explain_extra_argument(&self, error: Error) -> Error {
        let is_input_error = matches!(error.code(), Code::ArrayExpected | Code::ObjectExpected);
        let Some(call) = error.span().filter(|_| is_input_error) else { return error };
        let within = |warning: &Warning| warning.span.is_some_and(|span| is_inside(span, call));
        let is_call = self.compiled.calls.iter().any(|(_, span)| *span == call);
        let surplus = self.static_warnings().find(|warning| warning.code == "PQW03" && within(warning));
        match surplus.and_then(|warning| warning.help.clone()) {
            Some(help) if is_call => error.with_help(help),
            _ => error,
        }
    }

    /// Returns the warnings of a run: fields that no object had, arguments that were not read, duplicate keys.
    fn all_warnings(&self, graph: &Graph, cx: &EvalContext<'_>) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = Vec::new();
        let mut keys = DocumentKeys { graph, all: OnceCell::new(), search: BoundedSearch::new() };
        let is_suspect =
            |at: &usize| cx.never_found(*at) || cx.read_only_on_lists(*at) || cx.index_only_of_numbers(*at);
        let suspects = self.compiled.properties.iter().enumerate().filter(|(at, _)| is_suspect(at));
        for (at, (name, span)) in suspects {
            let is_reported = warnings.iter().any(|warning| warning.names_field(name))
                || self
                    .static_warnings()
                    .any(|warning| (is_key(warning) || warning.names_field(name)) && warning.span == Some(*span));
            // Items that the run skipped may have the field.
            let may_be_in_skipped_items = || cx.has_skipped_items() && keys.has(name);
            if cx.never_found(at) && !is_reported && !may_be_in_skipped_items() {
                let warning = keys.unknown_field(name, *span);
                // A field that the query expects to be missing is reported only if it looks like a typing mistake.
                let is_expected = self.compiled.optional_properties.contains(&at) && warning.help.is_none();
                warnings.extend(Some(warning).filter(|_| !is_expected));
            }
            let is_around = |outer: Span| outer.start <= span.start && span.end <= outer.end;
            let is_known =
                || self.static_warnings().any(|warning| warning.code == "PQW07" && warning.span.is_some_and(is_around));
            if cx.read_only_on_lists(at) && !is_reported && !is_known() {
                warnings.push(check::field_of_array(name).with_span(*span));
            }
            if cx.index_only_of_numbers(at) && !is_known() {
                let warning = Warning::new("PQW07", format!("a number has no item `{name}`: the result is null"));
                warnings.push(warning.with_span(*span).with_help(check::decimal_help(name)));
            }
        }
        warnings.extend(self.static_warnings().cloned());
        warnings.extend(self.run_warnings(cx));
        warnings.extend(graph.duplicate_key_warning());
        warnings.into_iter().map(|warning| self.source.locate_warning(warning)).collect()
    }

    /// Returns the warnings that calls recorded during the run.
    fn run_warnings(&self, cx: &EvalContext<'_>) -> Vec<Warning> {
        let calls = self.compiled.calls.iter().enumerate().filter(|_| cx.has_run_warnings());
        let is_known = |new: &Warning| self.static_warnings().any(|old| old.code == new.code && old.span == new.span);
        calls
            .flat_map(|(at, (name, span))| {
                cx.warnings_of_call(at, name).into_iter().map(|warning| warning.with_span(*span))
            })
            .filter(|warning| !is_known(warning))
            .collect()
    }
}

fn call_cost_text((name, fuel): (&str, u64)) -> String {
    if fuel > 0 { format!("`{name}` ({fuel} steps)") } else { format!("`{name}`") }
}

/// Returns true if a warning is about a query used as a key: then no field of that name was meant.
fn is_key(warning: &Warning) -> bool {
    warning.code == "PQW04"
}

fn is_inside(inner: Span, outer: Span) -> bool {
    inner != outer && outer.start <= inner.start && inner.end <= outer.end
}

/// The keys of a document, for warnings about fields that no object had. There may be many of both.
struct DocumentKeys<'g> {
    graph: &'g Graph,
    all: OnceCell<HashSet<&'g str>>,
    search: BoundedSearch,
}

impl DocumentKeys<'_> {
    fn has(&self, name: &str) -> bool {
        self.all.get_or_init(|| self.graph.keys().collect()).contains(name)
    }

    fn unknown_field(&mut self, name: &str, span: Span) -> Warning {
        if check::is_index(name) {
            let message = format!("no object had a field, and no list an item, `{name}`");
            return Warning::new("PQW01", message).with_span(span).with_help(check::decimal_help(name));
        }
        let warning = Warning::new("PQW01", format!("no object had a field `{name}`")).with_span(span);
        if self.search.is_exhausted() {
            return warning;
        }
        let other_keys = || self.graph.keys().filter(|key| *key != name);
        let mut similar = self.search.nearest(name, other_keys());
        similar.truncate(1);
        if similar.is_empty() {
            similar = self.search.containing(name, other_keys());
        }
        let paths: Vec<String> = similar.iter().map(|key| format!("`.{key}`")).collect();
        match paths.is_empty() {
            true => warning,
            false => warning.with_help(format!("did you mean {}?", suggest::alternatives(&paths))),
        }
    }
}

impl fmt::Display for Query {
    /// Writes the query as text; compiling it again gives the same query. A query that can only be written in JSON
    /// format, such as `["get", {}]`, is written in that.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format::print(&self.source.expr, &self.dialect.operators) {
            Ok(text) => f.write_str(&text),
            Err(_) => f.write_str(&self.tree()),
        }
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct RunResult<'a> {
    /// The result.
    pub value: Value<'a>,
    /// Likely mistakes in the query. They never change the result.
    pub warnings: Vec<Warning>,
    /// True if the query used nodes and edges through graph functions: then data-quality warnings about them,
    /// [`Graph::warnings`], concern the result too.
    pub uses_graph: bool,
    /// Fuel used.
    pub fuel: u64,
    output_limit: usize,
    spent_most: Option<(&'a str, u64)>,
}

impl<'a> RunResult<'a> {
    /// Converts the result to a type with serde's `Deserialize`, whose strings may borrow from the result; at most
    /// `Limits::output` bytes. See [`Value::deserialize`].
    ///
    /// ```
    /// use pidq_core::{Graph, Limits, Query, Scratch};
    ///
    /// let graph = Graph::from_json(r#"[{"tag": "P-101"}, {"tag": "P-102"}]"#)?;
    /// let (query, scratch) = (Query::parse("map(.tag)")?, Scratch::new());
    /// let result = query.run(&graph, &scratch, Limits::default())?;
    /// assert_eq!(result.deserialize::<Vec<&str>>()?, ["P-101", "P-102"]);
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `PQ2009` if the result does not fit the type, `PQ4003` above the limit.
    pub fn deserialize<T: Deserialize<'a>>(&self) -> Result<T> {
        self.value.deserialize_within(self.output_limit).map_err(|error| self.explain_error(error))
    }

    /// Names the call that used the most fuel in an error of a caller that writes the value itself.
    pub fn explain_error(&self, error: Error) -> Error {
        let is_limit = error.code().stage() == crate::error::Stage::Limit;
        match self.spent_most.filter(|_| is_limit) {
            Some(call) => error.with_spent_most(call_cost_text(call)),
            None => error,
        }
    }

    /// Copies the result into a value that owns its parts, at most `Limits::output` bytes.
    ///
    /// # Errors
    /// As [`Value::into_owned`].
    pub fn into_owned(self) -> Result<OwnedValue> {
        self.value.into_owned_within(self.output_limit).map_err(|error| self.explain_error(error))
    }

    /// Iterates over the rows of the result: the items of an array, or the value itself.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Value<'a>> + Clone {
        let value = self.value;
        let len = value.as_array().map_or(1, Array::len);
        (0..len)
            .map(move |row| if let Value::Array(array) = value { array.get(row).unwrap_or(Value::Null) } else { value })
    }

    /// Returns the result as JSON, at most `Limits::output` bytes.
    ///
    /// # Errors
    /// `PQ4003`.
    pub fn to_json(&self) -> Result<String> {
        let mut text = Vec::new();
        self.write_json(&mut text)?;
        String::from_utf8(text).map_err(|_| Error::new(Code::Panic, "the result is not UTF-8"))
    }

    /// Writes the result as JSON, at most `Limits::output` bytes.
    ///
    /// # Errors
    /// `PQ4003`.
    pub fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        write::append_json(self.value, self.output_limit, out).map_err(|error| self.explain_error(error))
    }

    /// Writes the result as JSON in chunks. Text that occurs in the document is given as a range of its bytes, so that
    /// a result can be stored as ranges and written later without a copy. `graph` is the graph of the run.
    ///
    /// # Errors
    /// `PQ4003`.
    pub fn write_chunks(&self, graph: &Graph, sink: &mut dyn FnMut(OutputChunk<'_>)) -> Result<()> {
        write::write_chunks(self.value, self.output_limit, graph.source(), sink)
            .map_err(|error| self.explain_error(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = r#"{"pid_graph": {"nodes": [
        {"id": "P-1", "node_type": "pid_component", "kw": 4}, {"id": "V-1", "node_type": "pid_component"}
    ], "edges": [{"source": "P-1", "target": "V-1"}]}}"#;
    const OLD: &str = r#"{"pid_graph": {"nodes": [
        {"id": "P-1", "node_type": "pid_component", "kw": 3}, {"id": "T-1", "node_type": "pid_component", "kw": 1.50}
    ], "edges": []}}"#;

    /// Runs a query with the graph parameter `old`, optimized and not, written as a whole and in chunks.
    fn run(text: &str) -> Result<String> {
        let (old, new) = (Graph::from_json(OLD)?, Graph::from_json(NEW)?);
        let query = Query::with_graphs(text, r#"{"limit": 2}"#, &["old"])?;
        let (graphs, scratch) = ([&old], Scratch::new());
        let result = query.run_with_graphs(&new, &graphs, &scratch, Limits::default())?;
        let (mut json, mut chunks) = (Vec::new(), Vec::<u8>::new());
        result.write_json(&mut json)?;
        result.write_chunks(&new, &mut |chunk| match chunk {
            OutputChunk::Source(range) => chunks.extend(&new.source().as_bytes()[range]),
            OutputChunk::Text(text) => chunks.extend(text.as_bytes()),
        })?;
        assert_eq!(json, chunks, "{text}");
        let (query, scratch, mut plain) = (query.without_optimizations(), Scratch::new(), Vec::new());
        query.run_with_graphs(&new, &graphs, &scratch, Limits::default())?.write_json(&mut plain)?;
        assert_eq!(json, plain, "{text}");
        String::from_utf8(json).map_err(|_| Error::new(Code::NotUtf8, "the result is not UTF-8"))
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(run(text).unwrap_or_else(|error| error.to_string()), expected, "{text}");
    }

    #[test]
    fn a_graph_parameter_is_the_whole_document_of_its_graph() {
        check("$old.pid_graph.nodes | map(.id)", r#"["P-1","T-1"]"#);
        check("[$old, get()] | map(.pid_graph.nodes | size())", "[2,2]");
        check("$old.pid_graph.nodes | filter(.kw < $limit) | map(.kw)", "[1.50]");
        check("$old.pid_graph.nodes.1", r#"{"id": "T-1", "node_type": "pid_component", "kw": 1.50}"#);
        check("nodes() | filter(.id in ($old.pid_graph.nodes | map(.id))) | map(.kw)", "[4]");
    }

    #[test]
    fn functions_of_several_graphs_read_graph_parameters() {
        check("diff($old, get()) | [.added | map(.id), .removed | map(.id)]", r#"[["V-1"],["T-1"]]"#);
        check(r#"rankDiff($old, get()) | filter(.field == "kw") | map([.before, .after])"#, "[[3,4]]");
        check("joinSheets([$old, get()]).nodes | size()", "4");
        check("withGraph($old, nodes() | map(.id))", r#"["P-1","T-1"]"#);
    }

    #[test]
    fn a_run_without_the_graph_of_a_parameter_fails() {
        let query = Query::with_graphs("$old", "{}", &["old"]).expect("a query");
        let error = query.to_json(&Graph::from_json(NEW).expect("a graph"), Limits::default()).expect_err("no graph");
        assert_eq!(error.code(), Code::UnknownVariable);
        assert!(error.message().contains("$old"), "{error}");
    }

    #[test]
    fn the_names_of_graph_parameters_are_checked() {
        let code = |params: &str, names: &[&str]| Query::with_graphs("1", params, names).map_err(|error| error.code());
        assert_eq!(code(r#"{"old": 1}"#, &["old"]).err(), Some(Code::UnknownVariable));
        assert_eq!(code("{}", &["root"]).err(), Some(Code::UnknownVariable));
        assert_eq!(code("{}", &["g"; MAX_GRAPH_PARAMS + 1]).err(), Some(Code::InputTooLarge));
        assert_eq!(Query::with_graphs("$odl", "{}", &["old"]).expect_err("a typo").suggestions()[0].text, "$old");
        let warnings = Query::with_graphs("1", "{}", &["old"]).expect("a query").check().expect("no error");
        assert_eq!(warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["PQW15"]);
    }
}
