//! Function table entry: everything that parser, help, documentation and tests need to know about a function.

use std::fmt;

use super::Plan;
use super::custom_function::{Arguments, CustomBody, CustomFunction, CustomParam};
use crate::arena::{Arena, Cell};
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::column_view::ColumnView;
use crate::eval::option_spec::OptionSpec;
use crate::regex::Regex;
use crate::value::Value;

/// A function of the language.
pub struct Function {
    /// The name that queries use; empty for a custom function, which owns its name.
    pub(crate) name: &'static str,
    /// The parameters, in order.
    pub(crate) params: &'static [Param],
    /// One sentence that describes the result.
    pub(crate) summary: &'static str,
    /// `query => result`: printed in the docs, run as a test.
    pub(crate) example: &'static str,
    pub(crate) body: Body,
}

/// Implementation of a function.
pub(crate) enum Body {
    /// The arguments are evaluated first: `eq`, `add`, `round`.
    Strict(StrictBody),
    /// As `Strict`, and many values of the first argument can be computed in one loop: `number`, `string`, `substring`.
    Batched(StrictBody, BatchBody),
    /// The function takes the piped value and evaluates its arguments itself: `filter`, `map`, `sort`.
    Piped(PipedBody),
    /// As `Piped`, and the result for many stored numbers can be computed in one loop: `sum`, `max`.
    Folded(PipedBody, FoldBody),
    /// As `Piped`, and the number of result items per row can be computed without building the lists: `expand`.
    Counted(PipedBody, CountBody),
    /// The function evaluates its arguments itself on the piped value, which it does not read otherwise: `and`, `if`.
    Lazy(PipedBody),
    /// The searched string is evaluated first; the pattern is compiled: `regex`, `match`.
    Search(SearchBody),
    /// Provided by the embedding program.
    Custom(Box<CustomFunction>),
    /// Handled by the compiler: `get`, `pipe`, `object`, `array`, `let`.
    SpecialForm,
}

/// A function of its evaluated arguments.
pub(crate) type StrictBody = for<'a> fn(&mut EvalContext<'a>, &[Value<'a>]) -> Result<Value<'a>>;

/// Replaces values of the first argument by the results, for given other arguments, as long as a result costs no fuel.
/// Returns the number of replaced values.
pub(crate) type BatchBody = for<'a> fn(&mut EvalContext<'a>, &mut [Value<'a>], &[Value<'a>]) -> usize;

/// A function of the piped value and of arguments that it evaluates itself.
pub(crate) type PipedBody = for<'a> fn(&mut EvalContext<'a>, Value<'a>, &'a [Plan]) -> Result<Value<'a>>;

/// Returns the result for the cells of a stored list, a number or null, and its cost; `None` if a cell is not a number.
pub(crate) type FoldBody = fn(&Arena, &[Cell]) -> Option<(Cell, u64)>;

/// Returns the number of result items for each row of a list, and the total; `None` if the rows must be evaluated one
/// by one.
pub(crate) type CountBody =
    for<'a> fn(&mut EvalContext<'a>, ColumnView<'a>, &'a [Plan]) -> Result<Option<(Value<'a>, u64)>>;

/// A function of an evaluated string and a pattern, which may be dropped before the result.
pub(crate) type SearchBody = for<'a, 'r> fn(&mut EvalContext<'a>, Value<'a>, &'r Regex) -> Result<Value<'a>>;

impl Function {
    /// Creates a function of the embedding program. It gets the piped value and its evaluated arguments, as many as the
    /// query gives. It should charge its loops with [`EvalContext::charge`], so that limits hold, and builds its result
    /// in the memory of the run.
    ///
    /// ```
    /// use pidq_core::error::{Code, Error};
    /// use pidq_core::{Dialect, Function, Graph, Limits, Value};
    ///
    /// let kelvin = Function::new("kelvin", |_, _, args| match args {
    ///     [Value::Number(celsius)] => Ok(Value::from(celsius.value() + 273.15)),
    ///     _ => Err(Error::new(Code::NumberExpected, "kelvin() takes one number")),
    /// });
    /// let label = Function::new("label", |cx, item, _| {
    ///     let tag = item.as_object().and_then(|item| item.get("tag")).unwrap_or(Value::Null);
    ///     let text = cx.make_string(&format!("<{}>", tag.as_str().unwrap_or("?")))?;
    ///     cx.make_object([("tag", tag), ("label", text)])
    /// });
    /// let dialect = Dialect::standard().with_function(kelvin).with_function(label);
    ///
    /// let graph = Graph::from_json(r#"[{"tag": "TI-1", "t": 20}, {"t": "hot"}]"#)?;
    /// let run = |text: &str| dialect.parse(text)?.to_json(&graph, Limits::default());
    /// assert_eq!(run(".0 | kelvin(.t)")?, "293.15");
    /// assert_eq!(run(".0 | label()")?, r#"{"tag":"TI-1","label":"<TI-1>"}"#);
    /// assert_eq!(run("map(kelvin(.t))").unwrap_err().data_path(), Some("[1]"));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// Errors that it returns get the location of the call in the query. `tryOr` catches them, except errors of a
    /// limit. [`Function::with_params`] declares the arguments, so that the compiler checks them.
    pub fn new(
        name: impl Into<String>,
        body: impl for<'a> Fn(&mut EvalContext<'a>, Value<'a>, &[Value<'a>]) -> Result<Value<'a>> + Send + Sync + 'static,
    ) -> Function {
        Function::custom(name.into(), CustomBody::Strict(Box::new(body)))
    }

    /// Creates a function of the embedding program that evaluates its arguments itself: on items, some of them, or not
    /// at all.
    ///
    /// ```
    /// use pidq_core::{CustomParam, Dialect, Function, Graph, Limits, Value};
    ///
    /// let first_where = Function::lazy("firstWhere", |cx, list, args| {
    ///     for item in list.items() {
    ///         if cx.eval_argument(args, 0, item)?.is_truthy() {
    ///             return Ok(item);
    ///         }
    ///     }
    ///     Ok(Value::Null)
    /// });
    /// let first_where = first_where.with_params([CustomParam::any("condition")]);
    /// let dialect = Dialect::standard().with_function(first_where);
    ///
    /// let graph = Graph::from_json(r#"[{"tag": "P-1"}, {"tag": "V-1"}, {"tag": "V-2"}]"#)?;
    /// let query = dialect.parse(r#"firstWhere(startsWith(.tag, "V")).tag"#)?;
    /// assert_eq!(query.to_json(&graph, Limits::default())?, r#""V-1""#);
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn lazy(
        name: impl Into<String>,
        body: impl for<'a> Fn(&mut EvalContext<'a>, Value<'a>, Arguments<'a>) -> Result<Value<'a>> + Send + Sync + 'static,
    ) -> Function {
        Function::custom(name.into(), CustomBody::Lazy(Box::new(body)))
    }

    fn custom(name: String, body: CustomBody) -> Function {
        const ARGUMENTS: &[Param] = &[Param::query("argument").many()];
        let function = CustomFunction { name: name.into(), summary: String::new(), params: None, body };
        Function { name: "", params: ARGUMENTS, summary: "", example: "", body: Body::Custom(Box::new(function)) }
    }

    /// Declares the parameters of a custom function. A query with another number of arguments, or with a constant of
    /// another type, does not compile; an argument that has another type in a run is an error of the run. A built-in
    /// function stays as it is.
    ///
    /// ```
    /// use pidq_core::{CustomParam, Dialect, Function, Graph, Limits, Value};
    ///
    /// let kelvin = Function::new(String::from("kelvin"), |_, _, args| {
    ///     let [celsius] = args else { return Ok(Value::Null) };
    ///     Ok(Value::from(celsius.as_f64().map(|celsius| celsius + 273.15)))
    /// });
    /// let dialect = Dialect::standard().with_function(kelvin.with_params([CustomParam::number("celsius")]));
    ///
    /// let code = |query: &str| dialect.parse(query).err().map(|error| error.code().as_str());
    /// assert_eq!((code("kelvin()"), code("kelvin(\"hot\")")), (Some("PQ1003"), Some("PQ1004")));
    /// let graph = Graph::from_json(r#"[{"t": 20}, {"t": "hot"}]"#)?;
    /// let error = dialect.parse("map(kelvin(.t))")?.to_json(&graph, Limits::default()).unwrap_err();
    /// assert_eq!((error.code().as_str(), error.data_path()), ("PQ2007", Some("[1]")));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn with_params(mut self, params: impl IntoIterator<Item = CustomParam>) -> Function {
        if let Body::Custom(function) = &mut self.body {
            function.params = Some(params.into_iter().collect());
        }
        self
    }

    /// Sets the summary of a custom function, for help and completion.
    pub fn with_summary(mut self, summary: impl Into<String>) -> Function {
        if let Body::Custom(function) = &mut self.body {
            function.summary = summary.into();
        }
        self
    }

    /// The name that queries use.
    pub fn name(&self) -> &str {
        match &self.body {
            Body::Custom(function) => &function.name,
            _ => self.name,
        }
    }

    /// The parameters of a built-in function, in order. Those of a custom function are
    /// [`Function::custom_params`].
    pub fn params(&self) -> &'static [Param] {
        self.params
    }

    /// The declared parameters of a custom function; `None` if it has none or is built in.
    pub fn custom_params(&self) -> Option<&[CustomParam]> {
        match &self.body {
            Body::Custom(function) => function.params.as_deref(),
            _ => None,
        }
    }

    /// One sentence that describes the result.
    pub fn summary(&self) -> &str {
        match &self.body {
            Body::Custom(function) => &function.summary,
            _ => self.summary,
        }
    }

    /// `query => result`: printed in the docs, run as a test. Empty for a custom function.
    pub fn example(&self) -> &'static str {
        self.example
    }

    /// `name(a, b?)`.
    pub fn signature(&self) -> String {
        if let Body::Custom(function) = &self.body {
            return function.signature();
        }
        let params: Vec<String> = self.params.iter().map(Param::to_string).collect();
        format!("{}({})", self.name, params.join(", "))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.signature())
    }
}

/// A parameter of a built-in function.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The name in the documentation.
    pub name: &'static str,
    pub(crate) kind: ParamKind,
    pub(crate) is_optional: bool,
    pub(crate) is_many: bool,
}

/// Kind of argument that a parameter takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParamKind {
    /// A query on the current data.
    Query,
    /// A query; a constant must fit the specification.
    Checked(&'static OptionSpec),
    /// As `Checked`, a template whose fields are read from the piped value.
    TextTemplate(&'static OptionSpec),
    /// A query; a constant must be a graph pattern.
    GraphPattern,
    /// A constant or a parameter; some functions restrict it to a specification.
    Static(Option<&'static OptionSpec>),
    /// A path such as `.a.b`, not evaluated.
    Path,
    /// A regular expression.
    Pattern,
    /// The flags of the regular expression, which become part of it.
    Flags,
    /// An object literal of named options, as the last argument.
    Options(&'static [OptionSpec]),
}

impl Param {
    /// The names of the options, if this parameter is an options object.
    pub fn option_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.option_specs().iter().map(|spec| spec.name)
    }

    /// The options with the values that they take and their effect, in the words of the manual: `a number of at least zero:
    /// maximum number of steps from the start`.
    pub fn option_kinds(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        self.option_specs().iter().map(|spec| (spec.name, spec.description()))
    }

    fn option_specs(&self) -> &'static [OptionSpec] {
        match self.kind {
            ParamKind::Options(known) => known,
            _ => &[],
        }
    }

    /// The expected kind of argument, in the words of the manual.
    pub fn expects(&self) -> &'static str {
        match self.kind {
            ParamKind::Query | ParamKind::Checked(_) | ParamKind::TextTemplate(_) | ParamKind::GraphPattern => "query",
            ParamKind::Static(_) | ParamKind::Flags => "constant",
            ParamKind::Path => "path",
            ParamKind::Pattern => "pattern",
            ParamKind::Options(_) => "options",
        }
    }

    pub(crate) const fn query(name: &'static str) -> Param {
        Param { name, kind: ParamKind::Query, is_optional: false, is_many: false }
    }

    pub(crate) const fn constant(name: &'static str) -> Param {
        Param { kind: ParamKind::Static(None), ..Param::query(name) }
    }

    pub(crate) const fn checked_constant(spec: &'static OptionSpec) -> Param {
        Param { kind: ParamKind::Static(Some(spec)), ..Param::query(spec.name) }
    }

    pub(crate) const fn path(name: &'static str) -> Param {
        Param { kind: ParamKind::Path, ..Param::query(name) }
    }

    pub(crate) const fn pattern(name: &'static str) -> Param {
        Param { kind: ParamKind::Pattern, ..Param::query(name) }
    }

    pub(crate) const fn flags(name: &'static str) -> Param {
        Param { kind: ParamKind::Flags, ..Param::query(name) }
    }

    pub(crate) const fn checked(spec: &'static OptionSpec) -> Param {
        Param { kind: ParamKind::Checked(spec), ..Param::query(spec.name) }
    }

    pub(crate) const fn text_template(spec: &'static OptionSpec) -> Param {
        Param { kind: ParamKind::TextTemplate(spec), ..Param::query(spec.name) }
    }

    pub(crate) const fn graph_pattern(name: &'static str) -> Param {
        Param { kind: ParamKind::GraphPattern, ..Param::query(name) }
    }

    pub(crate) const fn options(known: &'static [OptionSpec]) -> Param {
        Param { kind: ParamKind::Options(known), is_optional: true, ..Param::query("options") }
    }

    pub(crate) const fn optional(self) -> Param {
        Param { is_optional: true, ..self }
    }

    pub(crate) const fn many(self) -> Param {
        Param { is_many: true, is_optional: true, ..self }
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match (self.is_many, self.is_optional) {
            (true, _) => "...",
            (false, true) => "?",
            _ => "",
        };
        write!(f, "{}{mark}", self.name)
    }
}
