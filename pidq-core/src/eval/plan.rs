//! A query whose names are bound: what runs.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::function::Function;
use super::fuse::Fusion;
use super::reads::{self, Reads};
use super::shared::Leads;
use crate::arena::Cell;
use crate::error::{Result, Span};
use crate::regex::Regex;
use crate::value::Value;

/// A part of a query, ready to run. As deep as the query was nested, so bounded.
#[derive(Debug)]
pub(crate) enum Plan {
    Constant(Constant),
    Get(Path),
    Pipe(Box<[Stage]>),
    Array(Box<[Plan]>),
    Object(Fields),
    Call(Box<Call>),
    Let(Box<[Plan]>, Box<Plan>),
    /// The place of a binding of `let`, counted from the outermost.
    Variable(usize),
    /// A value that was given with the query.
    Parameter(Cell),
    /// The input of the whole query.
    Root,
    Pattern(Pattern),
}

/// A regular expression, compiled once the whole query is bound: that takes more stack than the way down to it leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern(Arc<OnceLock<Regex>>);

impl Pattern {
    /// Compiles it. A second time changes nothing.
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
    /// What it is together with the next one.
    pub fusion: Option<Fusion>,
}

impl Plan {
    /// Looks at the parts right below this one, in the order of the text.
    pub fn each_part(&self, mut look: impl FnMut(&Plan)) {
        match self {
            Plan::Pipe(stages) => stages.iter().for_each(|stage| look(&stage.plan)),
            Plan::Array(items) => items.iter().for_each(look),
            Plan::Object(fields) => fields.values.iter().for_each(look),
            Plan::Let(values, body) => values.iter().chain([&**body]).for_each(look),
            Plan::Call(call) => call.args.iter().for_each(look),
            Plan::Constant(_) | Plan::Get(_) | Plan::Variable(_) => {}
            Plan::Parameter(_) | Plan::Root | Plan::Pattern(_) => {}
        }
    }

    /// `a | b | c`.
    pub fn pipe(plans: impl IntoIterator<Item = Plan>) -> Plan {
        let mut stages: Vec<Stage> = plans.into_iter().map(|plan| Stage { plan, fusion: None }).collect();
        for at in 1..stages.len() {
            stages[at - 1].fusion = Fusion::of(&stages[at - 1].plan, &stages[at].plan);
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

/// `.a.b`: keys, and the number of the first one among all keys of the query.
#[derive(Debug)]
pub(crate) struct Path {
    pub keys: Box<[Key]>,
    pub first: usize,
    /// There are keys, and a missing one is null: none is the name of a property that every object has in JavaScript.
    pub is_plain: bool,
}

impl Path {
    /// The keys.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.keys.iter().map(|key| &*key.name)
    }
}

/// One key of a path.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub name: Box<str>,
    /// The place in a list that the key names, if it is one.
    pub index: Option<u32>,
    pub span: Span,
}

/// `{a: ...}`: distinct keys in JavaScript's order.
#[derive(Debug)]
pub(crate) struct Fields {
    pub names: Box<[Box<str>]>,
    pub values: Box<[Plan]>,
    pub record: usize,
    /// By value: what it begins with as another one does; nothing where no two do. In one word, since plans are on the
    /// stack of deep queries.
    pub leads: Option<Box<Leads>>,
}

/// A function and its arguments.
#[derive(Debug)]
pub(crate) struct Call {
    pub function: FunctionRef,
    pub args: Box<[Plan]>,
    /// The number of the call in the query.
    pub id: usize,
    pub span: Span,
    /// What it reads of its input, and whether it always gives the same for it.
    pub reads: Reads,
    pub is_pure: bool,
}

impl Call {
    pub fn new(function: FunctionRef, args: Box<[Plan]>, id: usize, span: Span) -> Call {
        let (reads, is_pure) = (reads::of_call(&function, &args), reads::is_pure_call(&function, &args));
        Call { function, args, id, span, reads, is_pure }
    }
}

/// A row of our tables, or one that a `Dialect` was given.
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

    /// The name of a function of ours; nothing for one that merely has the same name.
    pub fn standard_name(&self) -> Option<&'static str> {
        match self {
            FunctionRef::Standard(function) | FunctionRef::Extension(function) => Some(function.name),
            FunctionRef::Custom(_) => None,
        }
    }
}
