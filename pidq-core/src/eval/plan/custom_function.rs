//! Functions of the embedding program: name, declared parameters and body.

use std::fmt;

use super::Plan;
use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::value::Value;

/// A function of the embedding program.
pub(crate) struct CustomFunction {
    pub name: Box<str>,
    pub summary: String,
    /// The declared parameters; `None` if the function takes any number of any values.
    pub params: Option<Vec<CustomParam>>,
    pub body: CustomBody,
}

/// Implementation of a function of the embedding program.
pub(crate) enum CustomBody {
    /// Gets the piped value and the evaluated arguments.
    Strict(Box<StrictBody>),
    /// Gets the piped value and evaluates its arguments itself.
    Lazy(Box<LazyBody>),
}

pub(crate) type StrictBody =
    dyn for<'a> Fn(&mut EvalContext<'a>, Value<'a>, &[Value<'a>]) -> Result<Value<'a>> + Send + Sync;

pub(crate) type LazyBody =
    dyn for<'a> Fn(&mut EvalContext<'a>, Value<'a>, Arguments<'a>) -> Result<Value<'a>> + Send + Sync;

impl CustomFunction {
    /// `name(a, b?)`.
    pub fn signature(&self) -> String {
        match &self.params {
            None => format!("{}(argument...)", self.name),
            Some(params) => {
                let params: Vec<String> = params.iter().map(CustomParam::to_string).collect();
                format!("{}({})", self.name, params.join(", "))
            }
        }
    }

    /// Returns the smallest and the largest number of arguments.
    pub fn argument_counts(&self) -> (usize, usize) {
        let Some(params) = &self.params else { return (0, usize::MAX) };
        let required = params.iter().rposition(|param| !param.is_optional).map_or(0, |last| last + 1);
        let is_open = params.last().is_some_and(|param| param.is_many);
        (required, if is_open { usize::MAX } else { params.len() })
    }

    /// Returns the number of declared parameters, without one that takes any number of arguments.
    pub fn listed_params(&self) -> usize {
        self.params.iter().flatten().filter(|param| !param.is_many).count()
    }

    /// Checks the type of an argument.
    pub fn check(&self, at: usize, value: Value<'_>) -> Result<()> {
        let params = self.params.as_deref().unwrap_or_default();
        match params.get(at).or(params.last()).filter(|param| !param.takes(value.type_name())) {
            None => Ok(()),
            Some(param) => Err(self.wrong_type(param, value.type_name(), param.kind.code())),
        }
    }

    /// Checks the type of an argument that is a constant of the query.
    pub fn check_constant(&self, at: usize, type_name: &str) -> Result<()> {
        let params = self.params.as_deref().unwrap_or_default();
        match params.get(at).or(params.last()).filter(|param| !param.takes(type_name)) {
            None => Ok(()),
            Some(param) => Err(self.wrong_type(param, type_name, Code::ArgumentKind)),
        }
    }

    #[cold]
    fn wrong_type(&self, param: &CustomParam, found: &str, code: Code) -> Error {
        let expected = param.kind.name();
        let message = format!("Type {expected} expected for `{}` in `{}`, not {found}", param.name, self.signature());
        Error::new(code, message)
    }
}

/// A parameter of a custom function: name, type, and whether it may be left out.
#[derive(Clone, Debug)]
pub struct CustomParam {
    name: Box<str>,
    kind: ValueKind,
    is_optional: bool,
    is_many: bool,
}

/// Type that a parameter takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ValueKind {
    Any,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl ValueKind {
    /// Returns the name of the type, as [`Value::type_name`].
    fn name(self) -> &'static str {
        match self {
            ValueKind::Any => "any",
            ValueKind::Boolean => "boolean",
            ValueKind::Number => "number",
            ValueKind::String => "string",
            ValueKind::Array => "array",
            ValueKind::Object => "object",
        }
    }

    /// Returns the code for a value of another type.
    fn code(self) -> Code {
        match self {
            ValueKind::Any | ValueKind::Boolean => Code::ArgumentKind,
            ValueKind::Number => Code::NumberExpected,
            ValueKind::String => Code::StringExpected,
            ValueKind::Array => Code::ArrayExpected,
            ValueKind::Object => Code::ObjectExpected,
        }
    }
}

impl CustomParam {
    fn new(name: impl Into<String>, kind: ValueKind) -> CustomParam {
        CustomParam { name: name.into().into(), kind, is_optional: false, is_many: false }
    }

    /// A parameter for values of any type.
    pub fn any(name: impl Into<String>) -> CustomParam {
        CustomParam::new(name, ValueKind::Any)
    }

    /// A parameter for `true` and `false`.
    pub fn boolean(name: impl Into<String>) -> CustomParam {
        CustomParam::new(name, ValueKind::Boolean)
    }

    /// A parameter for numbers.
    pub fn number(name: impl Into<String>) -> CustomParam {
        CustomParam::new(name, ValueKind::Number)
    }

    /// A parameter for strings.
    pub fn string(name: impl Into<String>) -> CustomParam {
        CustomParam::new(name, ValueKind::String)
    }

    /// A parameter for arrays.
    pub fn array(name: impl Into<String>) -> CustomParam {
        CustomParam::new(name, ValueKind::Array)
    }

    /// A parameter for objects.
    pub fn object(name: impl Into<String>) -> CustomParam {
        CustomParam::new(name, ValueKind::Object)
    }

    /// Returns the parameter as one that may be left out, and takes null. The function gets `undefined` for it if the query
    /// does not give it.
    pub fn optional(self) -> CustomParam {
        CustomParam { is_optional: true, ..self }
    }

    /// Returns the parameter as one that takes any number of arguments, for the last one.
    pub fn repeated(self) -> CustomParam {
        CustomParam { is_many: true, is_optional: true, ..self }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the type: `any`, `boolean`, `number`, `string`, `array` or `object`.
    pub fn type_name(&self) -> &'static str {
        self.kind.name()
    }

    pub(crate) fn is_optional(&self) -> bool {
        self.is_optional
    }

    pub(crate) fn is_many(&self) -> bool {
        self.is_many
    }

    fn takes(&self, type_name: &str) -> bool {
        self.kind == ValueKind::Any || self.kind.name() == type_name || (self.is_optional && type_name == "null")
    }
}

impl fmt::Display for CustomParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match (self.is_many, self.is_optional) {
            (true, _) => "...",
            (false, true) => "?",
            _ => "",
        };
        write!(f, "{}{mark}", self.name)
    }
}

/// The arguments of a lazy function, which it evaluates with [`EvalContext::eval_argument`].
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    pub(in crate::eval) function: &'a CustomFunction,
    pub(in crate::eval) plans: &'a [Plan],
}

impl Arguments<'_> {
    /// Returns the number of arguments that the query gives.
    pub fn len(&self) -> usize {
        self.plans.len()
    }

    /// Returns true if the query gives no arguments.
    pub fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }
}

impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({} of {})", self.plans.len(), self.function.signature())
    }
}
