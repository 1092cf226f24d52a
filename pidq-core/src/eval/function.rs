//! A function of the language: one row of a table, with everything that parser, help, docs and tests need.

use std::fmt;
use std::sync::Arc;

use super::Cx;
use super::plan::Plan;
use super::setting::Setting;
use super::view::View;
use crate::error::Result;
use crate::regex::Regex;
use crate::value::Value;

/// A function of the language.
pub struct Function {
    /// The name that queries use.
    pub name: &'static str,
    /// The parameters, in order.
    pub params: &'static [Param],
    /// One sentence that says what it gives.
    pub summary: &'static str,
    /// `query => result`: printed in the docs, run as a test.
    pub example: &'static str,
    pub(crate) body: Body,
}

/// How a function runs.
pub(crate) enum Body {
    /// The arguments are evaluated first: `eq`, `add`, `round`.
    Strict(StrictBody),
    /// The function takes the piped value and evaluates its arguments itself: `filter`, `map`, `sort`.
    Piped(PipedBody),
    /// The same, and how many items it gives for each row of a list can be told without the lists: `expand`.
    Counted(PipedBody, CountBody),
    /// The function evaluates its arguments itself on the piped value, and reads nothing else of it: `and`, `if`.
    Lazy(PipedBody),
    /// A text is evaluated first, and a pattern is ready: `regex`, `match`.
    Search(SearchBody),
    /// Given by the embedding program: piped value and evaluated arguments.
    Custom(Arc<CustomBody>),
    /// Known to the compiler: `get`, `pipe`, `object`, `array`, `let`.
    Form,
}

/// A function of its evaluated arguments.
pub(crate) type StrictBody = for<'a> fn(&mut Cx<'a>, &[Value<'a>]) -> Result<Value<'a>>;

/// A function of the piped value and of arguments that it evaluates itself.
pub(crate) type PipedBody = for<'a> fn(&mut Cx<'a>, Value<'a>, &'a [Plan]) -> Result<Value<'a>>;

/// How many items a function gives for each row of a list, and all together; nothing where the rows have to be taken one
/// by one.
pub(crate) type CountBody = for<'a> fn(&mut Cx<'a>, View<'a>, &'a [Plan]) -> Result<Option<(Value<'a>, u64)>>;

/// A function of an evaluated text and of a pattern.
pub(crate) type SearchBody = for<'a> fn(&mut Cx<'a>, Value<'a>, &'a Regex) -> Result<Value<'a>>;

/// What an embedding program may give as a function.
pub(crate) type CustomBody = dyn for<'a> Fn(&mut Cx<'a>, Value<'a>, &[Value<'a>]) -> Result<Value<'a>> + Send + Sync;

impl Function {
    /// A function of the embedding program: it gets the piped value and its evaluated arguments, as many as the query
    /// gives. It should pay for its loops with [`Cx::spend`], so that limits hold, and makes what it returns in the memory
    /// of the run.
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
    ///     let text = cx.make_text(&format!("<{}>", tag.as_str().unwrap_or("?")))?;
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
    /// Errors that it returns get the place of the call in the query, and `tryOr` catches them, unless they are of a limit.
    pub fn new(
        name: &'static str,
        body: impl for<'a> Fn(&mut Cx<'a>, Value<'a>, &[Value<'a>]) -> Result<Value<'a>> + Send + Sync + 'static,
    ) -> Function {
        const ARGUMENTS: &[Param] = &[Param::query("argument").many()];
        Function { name, params: ARGUMENTS, summary: "", example: "", body: Body::Custom(Arc::new(body)) }
    }

    /// `name(a, b?)`.
    pub fn signature(&self) -> String {
        let params: Vec<String> = self.params.iter().map(Param::to_string).collect();
        format!("{}({})", self.name, params.join(", "))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.signature())
    }
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// What it is called in the docs.
    pub name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) is_optional: bool,
    pub(crate) is_many: bool,
}

/// What an argument may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A query on the current data.
    Query,
    /// A query; where it is a constant, it is one that this takes.
    Setting(&'static Setting),
    /// A query; where it is a constant, it is a pattern of a graph.
    GraphPattern,
    /// A constant or a parameter of the request, of which some functions take only what this does.
    Static(Option<&'static Setting>),
    /// A path such as `.a.b`, taken as it stands.
    Path,
    /// A regular expression; the flags are the argument after it.
    Pattern,
    /// An object literal of named options, as the last argument.
    Options(&'static [Setting]),
}

impl Param {
    /// The names of the options, where it is an object of options.
    pub fn option_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.settings().iter().map(|setting| setting.name)
    }

    /// The options with what each of them takes, in words of the manual: `a query`, `a number of at least zero`.
    pub fn option_kinds(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        self.settings().iter().map(|setting| (setting.name, setting.expects()))
    }

    fn settings(&self) -> &'static [Setting] {
        match self.kind {
            Kind::Options(known) => known,
            _ => &[],
        }
    }

    /// What is expected, in words of the manual.
    pub fn expects(&self) -> &'static str {
        match self.kind {
            Kind::Query | Kind::Setting(_) | Kind::GraphPattern => "query",
            Kind::Static(_) => "constant",
            Kind::Path => "path",
            Kind::Pattern => "pattern",
            Kind::Options(_) => "options",
        }
    }

    pub(crate) const fn query(name: &'static str) -> Param {
        Param { name, kind: Kind::Query, is_optional: false, is_many: false }
    }

    pub(crate) const fn constant(name: &'static str) -> Param {
        Param { kind: Kind::Static(None), ..Param::query(name) }
    }

    pub(crate) const fn fixed(setting: &'static Setting) -> Param {
        Param { kind: Kind::Static(Some(setting)), ..Param::query(setting.name) }
    }

    pub(crate) const fn path(name: &'static str) -> Param {
        Param { kind: Kind::Path, ..Param::query(name) }
    }

    pub(crate) const fn pattern(name: &'static str) -> Param {
        Param { kind: Kind::Pattern, ..Param::query(name) }
    }

    pub(crate) const fn setting(setting: &'static Setting) -> Param {
        Param { kind: Kind::Setting(setting), ..Param::query(setting.name) }
    }

    pub(crate) const fn graph_pattern(name: &'static str) -> Param {
        Param { kind: Kind::GraphPattern, ..Param::query(name) }
    }

    pub(crate) const fn options(known: &'static [Setting]) -> Param {
        Param { kind: Kind::Options(known), is_optional: true, ..Param::query("options") }
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
