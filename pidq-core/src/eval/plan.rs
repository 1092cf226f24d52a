//! Execution plan: a query with bound names.

pub(crate) mod common_subexpr;
pub(crate) mod custom_function;
pub(crate) mod dependencies;
pub(crate) mod function;
pub(crate) mod fusion;

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use self::common_subexpr::CommonPrefixes;
use self::dependencies::DependencyKind;
use self::function::Function;
use self::fusion::Fusion;
use crate::error::{Result, Span};
use crate::regex::Regex;
use crate::value::Value;

/// Executable part of a query. Its depth is bounded by the nesting limit of queries.
#[derive(Debug)]
pub(crate) enum Plan {
    Constant(Constant),
    Get(Path),
    Pipe(Box<[Stage]>),
    Array(Box<[Plan]>),
    Object(Fields),
    Call(Box<Call>),
    Let(Box<[Plan]>, Box<Plan>),
    /// Index of a `let` binding, counted from the outermost.
    Variable(usize),
    Parameter(Parameter),
    /// Graph of a graph parameter, by the position of its name.
    GraphParameter(usize),
    /// The input of the whole query.
    Root,
    Pattern(Pattern),
}

/// Parameter whose value the run gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    /// Position among the parameters of the query.
    pub slot: usize,
    /// Type of the value, as [`Value::type_name`]; `None` for a prepared query, whose runs have values of any type.
    pub type_name: Option<&'static str>,
}

/// Regular expression, compiled after the whole query is bound: compiling it needs more stack than is left inside the
/// recursion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern(Arc<OnceLock<Regex>>);

impl Pattern {
    /// Compiles the pattern. Later calls have no effect.
    pub fn compile(&self, pattern: &str, flags: &str) -> Result<()> {
        let regex = Regex::new(pattern, flags)?;
        self.0.get_or_init(|| regex);
        Ok(())
    }
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        self.0.get().expect("a plan is handed out when its patterns are compiled")
    }
}

/// A stage of a pipe.
#[derive(Debug)]
pub(crate) struct Stage {
    pub plan: Plan,
    /// Fused operation with the next stage.
    pub fusion: Option<Fusion>,
}

impl Plan {
    /// Visits the direct children, in the order of the text.
    pub fn for_each_child(&self, mut visit: impl FnMut(&Plan)) {
        match self {
            Plan::Pipe(stages) => stages.iter().for_each(|stage| visit(&stage.plan)),
            Plan::Array(items) => items.iter().for_each(visit),
            Plan::Object(fields) => fields.values.iter().for_each(visit),
            Plan::Let(values, body) => values.iter().chain([&**body]).for_each(visit),
            Plan::Call(call) => call.args.iter().for_each(visit),
            Plan::Constant(_) | Plan::Get(_) | Plan::Variable(_) => {}
            Plan::Parameter(_) | Plan::GraphParameter(_) | Plan::Root | Plan::Pattern(_) => {}
        }
    }

    /// Builds the plan of `a | b | c`.
    pub fn pipe(plans: impl IntoIterator<Item = Plan>) -> Plan {
        let mut stages: Vec<Stage> = plans.into_iter().map(|plan| Stage { plan, fusion: None }).collect();
        for at in 1..stages.len() {
            stages[at - 1].fusion = Fusion::detect(&stages[at - 1].plan, &stages[at].plan);
        }
        Plan::Pipe(stages.into())
    }
}

/// A constant of the query text.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    Null,
    Bool(bool),
    Number(f64),
    Text(Box<str>),
}

impl Constant {
    pub fn value(&self) -> Value<'_> {
        match self {
            Constant::Null => Value::Null,
            Constant::Bool(value) => Value::Bool(*value),
            Constant::Number(value) => Value::number(*value),
            Constant::Text(text) => Value::String(text),
        }
    }
}

/// `.a.b`: keys, and the index of the first one among all keys of the query.
#[derive(Debug)]
pub(crate) struct Path {
    pub keys: Box<[Key]>,
    pub first: usize,
    /// True if there are keys and a missing one is null: none is the name of a property that every JavaScript object
    /// has.
    pub is_plain: bool,
}

impl Path {
    /// Returns the names of the keys.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.keys.iter().map(|key| &*key.name)
    }
}

/// One key of a path.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub name: Box<str>,
    /// The array index, if the key is one.
    pub index: Option<u32>,
    pub span: Span,
}

/// `{a: ...}`: distinct keys in JavaScript's order.
#[derive(Debug)]
pub(crate) struct Fields {
    pub names: Box<[Box<str>]>,
    pub values: Box<[Plan]>,
    pub record: usize,
    /// By value: the common prefix with another value; `None` if no two share one. Boxed, since plans are on the stack
    /// of deep queries.
    pub common_prefixes: Option<Box<CommonPrefixes>>,
}

/// A function and its arguments.
#[derive(Debug)]
pub(crate) struct Call {
    pub function: FunctionRef,
    pub args: Box<[Plan]>,
    /// Index of the call in the query.
    pub id: usize,
    pub span: Span,
    /// Parts of the input that the call depends on, and whether it is deterministic.
    pub dependency: DependencyKind,
    pub is_deterministic: bool,
}

impl Call {
    pub fn new(function: FunctionRef, args: Box<[Plan]>, id: usize, span: Span) -> Call {
        let (reads, is_deterministic) =
            (dependencies::call_dependency(&function, &args), dependencies::is_deterministic_call(&function, &args));
        Call { function, args, id, span, dependency: reads, is_deterministic }
    }
}

/// Entry of the built-in function tables, or a custom function of a `Dialect`.
#[derive(Clone, Debug)]
pub(crate) enum FunctionRef {
    /// A function of JSON Query.
    Standard(&'static Function),
    /// A function of pidq's own.
    Extension(&'static Function),
    Custom(Arc<Function>),
}

impl FunctionRef {
    pub fn row(&self) -> &Function {
        match self {
            FunctionRef::Standard(function) | FunctionRef::Extension(function) => function,
            FunctionRef::Custom(function) => function,
        }
    }

    /// Returns the name of a built-in function; `None` for a custom function, even if it has the same name.
    pub fn standard_name(&self) -> Option<&'static str> {
        match self {
            FunctionRef::Standard(function) | FunctionRef::Extension(function) => Some(function.name),
            FunctionRef::Custom(_) => None,
        }
    }
}
