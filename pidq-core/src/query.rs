//! The doors of the engine: `Dialect` knows a language, `Query` is a compiled text, `Outcome` what a run gives.

mod explanation;
mod listing;
mod outline;
mod parts;
mod reading;

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::arena::{Arena, load};
use crate::check::{self, Findings};
use crate::error::{Code, Error, Result, Span, Warning};
use crate::eval::compile::{Compiled, Names, compile};
use crate::eval::function::Function;
use crate::eval::plan::FunctionRef;
use crate::eval::{Cx, Scratch, outline as outlined};
use crate::functions;
use crate::graph::Graph;
use crate::limits::{Limits, MAX_PARAMS, MAX_PARAMS_SIZE};
use crate::suggest::{self, Search};
use crate::syntax::operators::{Operator, Operators};
use crate::syntax::print::PrintOptions;
use crate::syntax::{Expr, Profile, advice, format, json, print, text};
use crate::value::{Value, Written, write};

pub use explanation::{Explanation, Step};
pub use outline::{Outline, Planned};
pub use reading::Reading;

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
        Dialect { profile: Profile::Pidq, operators: Arc::new(Operators::standard().clone()), custom: Vec::new() }
    }

    /// JSON Query 5.1.1 and nothing else.
    pub fn json_query() -> Dialect {
        Dialect { profile: Profile::JsonQuery, ..Dialect::standard() }
    }

    /// The language with one more function, which replaces one of the same name.
    pub fn with_function(mut self, function: Function) -> Dialect {
        self.custom.insert(0, Arc::new(function));
        self
    }

    /// The language with more operators, each for the function of its name; an operator of the same function at the same
    /// level is replaced. They may refer to each other, and to those that were given before.
    ///
    /// # Errors
    /// `PQ1009` where an anchor is not an operator.
    pub fn with_operators(mut self, operators: &[Operator]) -> Result<Dialect> {
        self.operators = Arc::new(self.operators.with(operators)?);
        Ok(self)
    }

    /// The functions, in the groups of the manual.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        let standard = functions::groups(self.profile == Profile::Pidq).flat_map(|(_, rows)| rows);
        self.custom.iter().map(|function| &**function).chain(standard)
    }

    /// The groups of the manual and the functions of the language in each, without those of the embedding program.
    pub fn groups(&self) -> impl Iterator<Item = (&'static str, &'static [Function])> {
        functions::groups(self.profile == Profile::Pidq)
    }

    /// The operators in levels, the tightest first: how each is written, and the function that it calls.
    pub fn operators(&self) -> impl Iterator<Item = Vec<(&str, &str)>> {
        (0..self.operators.levels()).map(|level| self.operators.level(level).collect())
    }

    /// Compiles a text.
    ///
    /// # Errors
    /// `PQ0xxx` syntax, `PQ1xxx` names and arguments.
    pub fn parse(&self, text: &str) -> Result<Query> {
        self.parse_with(text, "{}")
    }

    /// Compiles a text with parameters, a JSON object: `$name` is its member `name`.
    ///
    /// # Errors
    /// As [`Dialect::parse`], and `PQ5xxx` for the parameters.
    pub fn parse_with(&self, text: &str, params: &str) -> Result<Query> {
        let read = text::parse_with_comments(text, &self.operators, self.profile);
        let (expr, comments) = read.map_err(|error| self.with_calls_there_are(error))?;
        let mut query = self.compile(Origin::text(expr, text), params)?;
        query.compiled.warnings.extend(advice::swallowed(text, &comments, &self.operators));
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
        self.compile(Origin::json(json::from_json(json_query)?, json_query), params)
    }

    /// A text in JSON format. Functions are not looked up.
    ///
    /// # Errors
    /// `PQ0xxx`.
    pub fn tree(&self, text: &str) -> Result<String> {
        let expr = text::parse(text, &self.operators, self.profile).map_err(|error| error.locate(text))?;
        let mut tree = String::new();
        json::to_json(&expr, &mut tree);
        Ok(tree)
    }

    /// A query in JSON format as text, exactly as the reference implementation prints it.
    ///
    /// # Errors
    /// `PQ0xxx` and `PQ1002` where it is not a query.
    pub fn stringify(&self, json_query: &str, options: &PrintOptions) -> Result<String> {
        print::stringify(&json::from_json(json_query)?, options, &self.operators)
    }

    /// A text in our layout. Comments are kept; the query stays the same.
    ///
    /// # Errors
    /// `PQ0xxx`.
    pub fn format(&self, text: &str) -> Result<String> {
        format::format(text, &self.operators, self.profile).map_err(|error| error.locate(text))
    }

    /// A word alone may be meant as a property or as a call, but not of a function that there is none.
    fn with_calls_there_are(&self, error: Error) -> Error {
        /// Shorter words are near to too many functions.
        const SHORTEST: usize = 4;
        let [property, call] = error.suggestions() else { return error };
        let Some(name) = call.text.strip_suffix("()").filter(|name| self.find(name).is_none()) else { return error };
        let known = self.functions().map(|function| function.name).filter(|_| name.len() >= SHORTEST);
        let near = suggest::nearest(name, known).first().map(|near| format!("{near}()"));
        let texts: Vec<String> = std::iter::once(property.text.to_string()).chain(near).collect();
        error.with_help(format!("did you mean `{}`?", texts.join("` or `"))).with_suggestions(texts)
    }

    fn compile(&self, origin: Origin, params: &str) -> Result<Query> {
        let params = read_params(params)?;
        let find = |name: &str| self.find(name);
        let all = || self.functions().map(|function| function.name).collect();
        let is_extended = self.profile == Profile::Pidq;
        let names = Names { find: &find, all: &all, params: &params, is_extended };
        let compiled = compile(&origin.expr, &names).map_err(|error| origin.place(error))?;
        let findings = check::check(&compiled.plan);
        Ok(Query { compiled, findings, origin, params, operators: self.operators.clone(), shortcuts: true })
    }

    fn find(&self, name: &str) -> Option<FunctionRef> {
        if let Some(custom) = self.custom.iter().find(|function| function.name == name) {
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
    let arena = load::load(params.into(), crate::limits::MAX_NESTING)?;
    match Value::stored(&arena, arena.root()).as_object().map(crate::value::Object::len) {
        Some(count) if count <= MAX_PARAMS => Ok(arena),
        Some(_) => Err(Error::new(Code::InputTooLarge, format!("More than {MAX_PARAMS} parameters"))),
        None => Err(Error::new(Code::NotJson, "The parameters are not a JSON object")),
    }
}

/// What a query was compiled from.
#[derive(Debug)]
struct Origin {
    expr: Expr,
    source: Box<str>,
    /// Whether the source is in JSON format.
    is_json: bool,
}

impl Origin {
    fn text(expr: Expr, source: &str) -> Origin {
        Origin { expr, source: source.into(), is_json: false }
    }

    fn json(expr: Expr, source: &str) -> Origin {
        Origin { expr, source: source.into(), is_json: true }
    }

    /// Line and column of the place of an error, and for the JSON format its pointers.
    fn place(&self, error: Error) -> Error {
        let error = error.locate(&self.source);
        if self.is_json { error.point(|span| json::pointer(&self.expr, span)) } else { error }
    }

    fn place_warning(&self, warning: Warning) -> Warning {
        if self.is_json { warning.point(|span| json::pointer(&self.expr, span)) } else { warning }
    }
}

/// A compiled query: immutable, shared between threads freely, run as often as you like.
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
    /// What a check finds without a document.
    findings: Findings,
    origin: Origin,
    params: Arena,
    operators: Arc<Operators>,
    shortcuts: bool,
}

impl Query {
    /// Compiles a text in the standard dialect.
    ///
    /// # Errors
    /// `PQ0xxx` syntax, `PQ1xxx` names and arguments.
    pub fn parse(text: &str) -> Result<Query> {
        Dialect::standard().parse(text)
    }

    /// Compiles a text with parameters, a JSON object.
    ///
    /// # Errors
    /// As [`Dialect::parse_with`].
    pub fn with_params(text: &str, params: &str) -> Result<Query> {
        Dialect::standard().parse_with(text, params)
    }

    /// Compiles a query in JSON format.
    ///
    /// # Errors
    /// As [`Query::parse`].
    pub fn from_json(json_query: &str) -> Result<Query> {
        Dialect::standard().compile_json(json_query)
    }

    /// Runs the query on a document. What it builds lives in `scratch`.
    ///
    /// # Errors
    /// `PQ2xxx` evaluation, `PQ4xxx` limits.
    pub fn run<'a>(&'a self, graph: &'a Graph, scratch: &'a Scratch, limits: Limits<'a>) -> Result<Outcome<'a>> {
        let mut cx = self.start(graph, scratch, limits);
        let result = cx.eval(&self.compiled.plan, graph.root());
        let value = result.map_err(|error| self.explain_error(error, &cx))?;
        let spent_most = self.spent_most(&cx);
        Ok(Outcome {
            value,
            warnings: self.warnings(graph, &cx),
            asked_graph: cx.has_plant(),
            fuel: cx.fuel_used(),
            output: limits.output,
            spent_most,
        })
    }

    /// Runs the query and prints the result as JSON.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn to_json(&self, graph: &Graph, limits: Limits<'_>) -> Result<String> {
        let scratch = Scratch::new();
        let mut text = Vec::new();
        self.run(graph, &scratch, limits)?.write_json(&mut text)?;
        String::from_utf8(text).map_err(|_| Error::new(Code::Panic, "A result that is not UTF-8"))
    }

    /// Runs the query and shows its calls with the rows they gave, the fuel they took and how they went about it, and the
    /// warnings of the run.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn explain(&self, graph: &Graph, limits: Limits<'_>) -> Result<Explanation> {
        let scratch = Scratch::new();
        let mut cx = self.start(graph, &scratch, limits);
        let result = cx.eval(&self.compiled.plan, graph.root());
        let value = result.map_err(|error| self.explain_error(error, &cx))?;
        let rows = value.as_array().map(|rows| rows.len() as u64);
        let (steps, warnings) = (self.steps(&cx), self.warnings(graph, &cx));
        Ok(Explanation { steps, fuel: cx.fuel_used(), rows, warnings, asked_graph: cx.has_plant() })
    }

    /// The calls of the query without a run, and what is known of how they will come to their results: what runs as one
    /// step, and what is worked out once.
    ///
    /// ```
    /// use pidq_core::Query;
    ///
    /// let outline = Query::parse("nodes() | filter(.kw > 5) | size()")?.outline();
    /// let ways: Vec<_> = outline.steps.iter().map(|step| (step.text.as_str(), step.way)).collect();
    /// assert_eq!(ways[1], ("filter(.kw > 5)", "counted, no list"));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn outline(&self) -> Outline {
        let ways = outlined::ways(&self.compiled.plan, self.compiled.calls.len());
        let steps = self.compiled.calls.iter().zip(ways).map(|((name, span), way)| Planned {
            text: self.shown(name, *span),
            depth: self.depth(*span),
            way: way.text(),
        });
        Outline { steps: steps.collect() }
    }

    /// The same query, run step by step as it is written. Results are the same; it is there to show that.
    pub fn without_shortcuts(self) -> Query {
        Query { shortcuts: false, ..self }
    }

    /// The query in JSON format.
    pub fn tree(&self) -> String {
        let mut tree = String::new();
        json::to_json(&self.origin.expr, &mut tree);
        tree
    }

    /// The text that it was compiled from.
    pub fn source(&self) -> &str {
        &self.origin.source
    }

    /// Tells what is wrong with the query whatever the document is: what looks like a mistake, and as an error a call
    /// that always fails.
    ///
    /// # Errors
    /// `PQ2xxx`.
    pub fn check(&self) -> Result<Vec<Warning>> {
        match &self.findings.error {
            Some(error) => Err(self.origin.place(error.clone())),
            None => Ok(self.notes().map(|warning| self.origin.place_warning(warning.clone())).collect()),
        }
    }

    /// Tells what else looks like a mistake on this document, from the kinds of values that it has. The query is not
    /// run: what a run finds, and what [`Query::check`] tells, comes with its outcome.
    ///
    /// None where looking through the document takes more fuel or time than the limits allow.
    pub fn check_against(&self, graph: &Graph, limits: Limits<'_>) -> Vec<Warning> {
        let findings = check::check_against(&self.compiled.plan, graph, &limits);
        let warnings = findings.map(|findings| findings.warnings).unwrap_or_default();
        let is_new =
            |new: &Warning| !self.notes().any(|old| old.span == new.span && (old.code == new.code || is_key(old)));
        warnings.into_iter().filter(is_new).map(|warning| self.origin.place_warning(warning)).collect()
    }

    /// What looks like a mistake without a document.
    fn notes(&self) -> impl Iterator<Item = &Warning> {
        self.compiled.warnings.iter().chain(&self.findings.warnings)
    }

    fn start<'a>(&'a self, graph: &'a Graph, scratch: &'a Scratch, limits: Limits<'a>) -> Cx<'a> {
        let cx = Cx::new(graph, &self.params, scratch, limits, self.compiled.sizes);
        if self.shortcuts { cx } else { cx.without_shortcuts() }
    }

    fn steps(&self, cx: &Cx<'_>) -> Vec<Step> {
        let calls = &self.compiled.calls;
        let steps = calls.iter().zip(cx.costs()).map(|((name, span), cost)| Step {
            text: self.shown(name, *span),
            depth: self.depth(*span),
            runs: cost.runs,
            rows: cost.rows,
            fuel: cost.fuel,
            way: cost.way.text(),
        });
        steps.collect()
    }

    /// How many calls a call stands in.
    fn depth(&self, span: Span) -> usize {
        self.compiled.calls.iter().filter(|(_, outer)| is_inside(span, *outer)).count()
    }

    /// A call on one line, shortened; its name where the query is in JSON format.
    fn shown(&self, name: &str, span: Span) -> String {
        let text = self.source()[span.range(self.source())].split_whitespace().collect::<Vec<_>>().join(" ");
        match text.chars().count() {
            0 => name.to_owned(),
            1..=60 => text,
            _ => text.chars().take(59).chain(['…']).collect(),
        }
    }

    /// Line and column of the place, and for a limit the call that spent most.
    fn explain_error(&self, error: Error, cx: &Cx<'_>) -> Error {
        let is_limit = error.code().stage() == crate::error::Stage::Limit;
        let error = match self.most(&error, cx).filter(|_| is_limit) {
            Some(most) => error.with_spent_most(most),
            None => error,
        };
        self.origin.place(self.explain_surplus(error))
    }

    /// The call that took the most steps. Before the first step it is the one that failed: it wanted room for its result.
    fn most(&self, error: &Error, cx: &Cx<'_>) -> Option<String> {
        let failed = || self.compiled.calls.iter().find(|(_, span)| Some(*span) == error.span());
        self.spent_most(cx)
            .filter(|(_, fuel)| *fuel > 0)
            .map(most_text)
            .or_else(|| failed().map(|(name, _)| format!("`{name}`")))
    }

    /// The call that took the most steps, and how many. Of several it is the last.
    fn spent_most(&self, cx: &Cx<'_>) -> Option<(&str, u64)> {
        let calls = cx.costs().iter().zip(&self.compiled.calls).map(|(cost, (name, _))| (name.as_str(), cost.fuel));
        calls.max_by_key(|(_, fuel)| *fuel)
    }

    /// A call that was given the list as an argument works on something else: then that is what to tell.
    fn explain_surplus(&self, error: Error) -> Error {
        let is_of_input = matches!(error.code(), Code::ArrayExpected | Code::ObjectExpected);
        let Some(call) = error.span().filter(|_| is_of_input) else { return error };
        let within = |warning: &Warning| warning.span.is_some_and(|span| is_inside(span, call));
        let is_surplus = self.notes().any(|warning| warning.code == "PQW03" && within(warning));
        match self.compiled.calls.iter().find(|(_, span)| *span == call) {
            Some((name, _)) if is_surplus => {
                error.with_help(format!("what it works on comes through the pipe: `.a | {name}(…)`"))
            }
            _ => error,
        }
    }

    /// What looks like a mistake: fields that no object had, arguments that nothing reads, keys given twice.
    fn warnings(&self, graph: &Graph, cx: &Cx<'_>) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = Vec::new();
        let mut keys = DocumentKeys { graph, all: OnceCell::new(), search: Search::new() };
        for (at, (name, span)) in self.compiled.properties.iter().enumerate() {
            let is_told = warnings.iter().any(|warning| warning.is_about(name))
                || self.notes().any(|note| (is_key(note) || note.is_about(name)) && note.span == Some(*span));
            // An item that nobody looked at may have it.
            let may_be_left = || cx.has_left_early() && keys.has(name);
            if cx.never_found(at) && !is_told && !may_be_left() {
                warnings.push(keys.unknown_field(name, *span));
            }
            let is_known = || self.notes().any(|note| note.code == "PQW07" && note.span == Some(*span));
            if cx.asked_of_lists(at) && !is_told && !is_known() {
                warnings.push(check::field_of_list(name).with_span(*span));
            }
        }
        warnings.extend(self.notes().cloned());
        warnings.extend(self.told(cx));
        warnings.extend(graph.keys_twice());
        warnings.into_iter().map(|warning| self.origin.place_warning(warning)).collect()
    }

    /// What calls noted while they ran.
    fn told(&self, cx: &Cx<'_>) -> Vec<Warning> {
        let calls = self.compiled.calls.iter().enumerate().filter(|_| cx.has_notes());
        calls.flat_map(|(at, (_, span))| cx.noted(at).into_iter().map(|note| note.with_span(*span))).collect()
    }
}

fn most_text((name, fuel): (&str, u64)) -> String {
    if fuel > 0 { format!("`{name}` ({fuel} steps)") } else { format!("`{name}`") }
}

/// Whether a warning is about a query that stands for a key: then nobody meant a field of that name.
fn is_key(warning: &Warning) -> bool {
    warning.code == "PQW04"
}

fn is_inside(inner: Span, outer: Span) -> bool {
    inner != outer && outer.start <= inner.start && inner.end <= outer.end
}

/// The keys of a document, for the fields that no object had. There may be many of both.
struct DocumentKeys<'g> {
    graph: &'g Graph,
    all: OnceCell<HashSet<&'g str>>,
    search: Search,
}

impl DocumentKeys<'_> {
    fn has(&self, name: &str) -> bool {
        self.all.get_or_init(|| self.graph.keys().collect()).contains(name)
    }

    fn unknown_field(&mut self, name: &str, span: Span) -> Warning {
        let others = self.graph.keys().filter(|key| *key != name);
        let near = if self.search.is_over() { Vec::new() } else { self.search.nearest(name, others) };
        let warning = Warning::new("PQW01", format!("no object had a field `{name}`")).with_span(span);
        match near.first() {
            Some(near) => warning.with_help(format!("did you mean `.{near}`?")),
            None => warning,
        }
    }
}

impl fmt::Display for Query {
    /// The query as text; compiling it again gives the same query. A query that can be written in JSON format only, such
    /// as `["get", {}]`, is printed so.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format::print(&self.origin.expr, &self.operators) {
            Ok(text) => f.write_str(&text),
            Err(_) => f.write_str(&self.tree()),
        }
    }
}

/// What a run gives.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The result.
    pub value: Value<'a>,
    /// What looks like a mistake in the query. Never changes the result.
    pub warnings: Vec<Warning>,
    /// Whether functions of the language asked for nodes and edges of the document: then what is doubtful about these,
    /// [`Graph::warnings`], is about the result too.
    pub asked_graph: bool,
    /// Steps taken.
    pub fuel: u64,
    output: usize,
    spent_most: Option<(&'a str, u64)>,
}

impl Outcome<'_> {
    /// Names the call that spent most where a limit ended the writing of the result, for callers that write the value
    /// themselves.
    pub fn explain_error(&self, error: Error) -> Error {
        let is_limit = error.code().stage() == crate::error::Stage::Limit;
        match self.spent_most.filter(|_| is_limit) {
            Some(most) => error.with_spent_most(most_text(most)),
            None => error,
        }
    }

    /// Writes the result as JSON, at most `Limits::output` bytes.
    ///
    /// # Errors
    /// `PQ4003`.
    pub fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        write::append_json(self.value, self.output, out).map_err(|error| self.explain_error(error))
    }

    /// Tells the result as JSON part by part. What stands in the document is told by its place there, so that a result can
    /// be kept by places, and written later, without a copy of it. `graph` is the one that was asked.
    ///
    /// # Errors
    /// `PQ4003`.
    pub fn write_parts(&self, graph: &Graph, sink: &mut dyn FnMut(Written<'_>)) -> Result<()> {
        write::write_parts(self.value, self.output, graph.source(), sink).map_err(|error| self.explain_error(error))
    }
}
