//! Scalar functions with one value per drawing: `pidq`, `pidq_text`, `pidq_number`, `pidq_bool`, `pidq_error`.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanBuilder, Float64Builder, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::datatypes::{Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, plan_datafusion_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use pidq_core::{Query, Value};

use crate::drawing_column::{DrawingColumn, drawing_type, text_type};
use crate::query_context::QueryContext;
use crate::run::{self, Outcome};
use crate::settings::{OnError, Settings};
use crate::text_column::TextColumn;

/// A function, by its result.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Kind {
    Json,
    Text,
    Number,
    Bool,
    Error,
}

impl Kind {
    pub(crate) const ALL: &[Kind] = &[Kind::Json, Kind::Text, Kind::Number, Kind::Bool, Kind::Error];

    fn name(self) -> &'static str {
        match self {
            Kind::Json => "pidq",
            Kind::Text => "pidq_text",
            Kind::Number => "pidq_number",
            Kind::Bool => "pidq_bool",
            Kind::Error => "pidq_error",
        }
    }

    fn result_type(self) -> DataType {
        match self {
            Kind::Json | Kind::Text | Kind::Error => DataType::Utf8,
            Kind::Number => DataType::Float64,
            Kind::Bool => DataType::Boolean,
        }
    }

    /// Returns the function whose errors `pidq_error` reports, by the name of its type.
    fn of_type(name: &str) -> Result<Kind> {
        match name {
            "json" => Ok(Kind::Json),
            "text" => Ok(Kind::Text),
            "number" => Ok(Kind::Number),
            "bool" => Ok(Kind::Bool),
            _ => plan_err!("the type is `json`, `text`, `number` or `bool`, not `{name}`"),
        }
    }
}

/// A function with one value per drawing.
#[derive(Debug)]
pub(crate) struct ScalarFunction {
    kind: Kind,
    context: QueryContext,
    signature: Signature,
}

impl ScalarFunction {
    pub(crate) fn new(kind: Kind, context: QueryContext) -> ScalarFunction {
        ScalarFunction { kind, context, signature: signature() }
    }
}

impl PartialEq for ScalarFunction {
    fn eq(&self, other: &ScalarFunction) -> bool {
        self.kind == other.kind
    }
}

impl Eq for ScalarFunction {}

impl Hash for ScalarFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

impl ScalarUDFImpl for ScalarFunction {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        coerce_types(self.name(), given, if self.kind == Kind::Error { 4 } else { 3 })
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.kind.result_type())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        check_literals(&self.context, args.scalar_arguments, 2)?;
        if let Some(name) = literal(args.scalar_arguments, 3) {
            Kind::of_type(name)?;
        }
        Ok(Arc::new(Field::new(self.name(), self.kind.result_type(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let settings = Settings::of_session(&args.config_options, self.context.ceiling.as_deref());
        let is_constant = args.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let calls = Calls::new(&self.context, &args.args, rows, settings, 2)?;
        let result = match self.kind {
            Kind::Json => calls.texts(|value, settings| run::json(value, settings).map(Some))?,
            Kind::Text => calls.texts(run::text)?,
            Kind::Number => calls.numbers()?,
            Kind::Bool => calls.booleans()?,
            Kind::Error => calls.errors()?,
        };
        match is_constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)),
            false => Ok(ColumnarValue::Array(result)),
        }
    }
}

/// Returns the signature of a function whose arguments [`coerce_types`] checks.
pub(crate) fn signature() -> Signature {
    Signature::new(TypeSignature::UserDefined, Volatility::Immutable)
}

/// Returns the types to which the arguments are cast: a drawing, a query, and at most `max` in all.
pub(crate) fn coerce_types(function: &str, given: &[DataType], max: usize) -> Result<Vec<DataType>> {
    let [drawing, texts @ ..] = given else { return plan_err!("`{function}` needs a drawing and a query") };
    if texts.is_empty() || given.len() > max {
        return plan_err!("`{function}` has 2 to {max} arguments, not {}", given.len());
    }
    let texts = texts.iter().enumerate().map(|(at, given)| text_type(function, at + 2, given));
    std::iter::once(drawing_type(drawing)).chain(texts).collect()
}

/// Returns an argument that is a literal text.
pub(crate) fn literal<'a>(arguments: &[Option<&'a ScalarValue>], at: usize) -> Option<&'a str> {
    arguments.get(at).copied().flatten()?.try_as_str().flatten()
}

/// Compiles the query while the statement is planned, if it and its parameters are literals.
pub(crate) fn check_literals(
    context: &QueryContext,
    arguments: &[Option<&ScalarValue>],
    params: usize,
) -> Result<Option<Arc<Query>>> {
    let has_params = arguments.get(params).is_some();
    match (literal(arguments, 1), literal(arguments, params)) {
        (Some(text), literal) if literal.is_some() || !has_params => compile(context, text, literal).map(Some),
        _ => Ok(None),
    }
}

fn compile(context: &QueryContext, text: &str, params: Option<&str>) -> Result<Arc<Query>> {
    let error = |error: pidq_core::Error| plan_datafusion_err!("pidq: {}", error.render(text).trim_end());
    context.plans.query(text, params).map_err(error)
}

/// The calls of a function for the rows of a batch.
pub(crate) struct Calls<'a> {
    context: &'a QueryContext,
    drawings: ArrayRef,
    queries: StringArray,
    params: Option<StringArray>,
    types: Option<StringArray>,
    pub(crate) settings: Settings,
    /// The query, if it is the same for all rows.
    shared: Option<Arc<Query>>,
}

impl<'a> Calls<'a> {
    /// Reads the arguments; the parameters are at `params`.
    pub(crate) fn new(
        context: &'a QueryContext,
        arguments: &[ColumnarValue],
        rows: usize,
        settings: Settings,
        params: usize,
    ) -> Result<Calls<'a>> {
        let array = |at: usize| arguments.get(at).map(|argument| argument.to_array(rows)).transpose();
        let texts =
            |at: usize| Ok::<_, datafusion::error::DataFusionError>(array(at)?.map(|array| array.as_string().clone()));
        let scalars: Vec<Option<&ScalarValue>> = arguments
            .iter()
            .map(|argument| match argument {
                ColumnarValue::Scalar(value) => Some(value),
                ColumnarValue::Array(_) => None,
            })
            .collect();
        Ok(Calls {
            context,
            drawings: array(0)?.ok_or_else(|| exec_datafusion_err!("the drawing is missing"))?,
            queries: texts(1)?.ok_or_else(|| exec_datafusion_err!("the query is missing"))?,
            params: texts(params)?,
            types: texts(3)?,
            settings,
            shared: check_literals(context, &scalars, params)?,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.drawings.len()
    }

    fn texts(&self, read: impl Fn(Value<'_>, &Settings) -> Outcome<Option<String>>) -> Result<ArrayRef> {
        let mut column = TextColumn::default();
        self.each(|value| read(value, &self.settings), |text| column.push(text.as_deref()))?;
        Ok(column.finish())
    }

    fn numbers(&self) -> Result<ArrayRef> {
        let mut column = Float64Builder::with_capacity(self.len());
        self.each(run::number, |number| {
            column.append_option(number);
            Ok(())
        })?;
        Ok(Arc::new(column.finish()))
    }

    fn booleans(&self) -> Result<ArrayRef> {
        let mut column = BooleanBuilder::with_capacity(self.len());
        self.each(run::boolean, |value| {
            column.append_option(value);
            Ok(())
        })?;
        Ok(Arc::new(column.finish()))
    }

    /// Returns for each row why the function of its type has no result.
    fn errors(&self) -> Result<ArrayRef> {
        let mut column = TextColumn::default();
        let drawings = DrawingColumn::new(&self.drawings)?;
        for row in 0..self.len() {
            let kind = match &self.types {
                Some(types) if types.is_valid(row) => Kind::of_type(types.value(row))?,
                _ => Kind::Json,
            };
            let read = |value: Value<'_>| match kind {
                Kind::Json | Kind::Error => run::json(value, &self.settings).map(drop),
                Kind::Text => run::text(value, &self.settings).map(drop),
                Kind::Number => run::number(value).map(drop),
                Kind::Bool => run::boolean(value).map(drop),
            };
            let outcome = self.outcome(&drawings, row, read)?;
            column.push(outcome.err().as_deref())?;
        }
        Ok(column.finish())
    }

    /// Reads the result of each row, NULL if it has none.
    fn each<T>(
        &self,
        read: impl Fn(Value<'_>) -> Outcome<Option<T>>,
        mut push: impl FnMut(Option<T>) -> Result<()>,
    ) -> Result<()> {
        let drawings = DrawingColumn::new(&self.drawings)?;
        for row in 0..self.len() {
            match self.outcome(&drawings, row, &read)? {
                Ok(value) => push(value)?,
                Err(error) => {
                    self.report(&drawings, row, &error)?;
                    push(None)?;
                }
            }
        }
        Ok(())
    }

    /// Runs the query of each row, and passes on its result or why there is none.
    pub(crate) fn for_each_outcome<T>(
        &self,
        read: impl Fn(Value<'_>) -> Outcome<T>,
        mut push: impl FnMut(Outcome<T>) -> Result<()>,
    ) -> Result<()> {
        let drawings = DrawingColumn::new(&self.drawings)?;
        for row in 0..self.len() {
            let outcome = self.outcome(&drawings, row, &read)?;
            if let Err(error) = &outcome {
                self.report(&drawings, row, error)?;
            }
            push(outcome)?;
        }
        Ok(())
    }

    /// Returns the result of a row, or why there is none. A query that does not compile fails the statement.
    fn outcome<T>(
        &self,
        drawings: &DrawingColumn<'_>,
        row: usize,
        read: impl FnOnce(Value<'_>) -> Outcome<T>,
    ) -> Result<Outcome<T>> {
        let Some(drawing) = drawings.value(row) else { return Ok(Err("the drawing is NULL".into())) };
        let query = match &self.shared {
            Some(query) => Arc::clone(query),
            None if self.queries.is_null(row) => return Ok(Err("the query is NULL".into())),
            None => {
                let params = self.params.as_ref().filter(|params| params.is_valid(row)).map(|params| params.value(row));
                compile(self.context, self.queries.value(row), params)?
            }
        };
        Ok(run::run(&query, drawing, &self.settings, read))
    }

    /// Fails if the session asks for it. A drawing that is NULL has no result, but is no error.
    fn report(&self, drawings: &DrawingColumn<'_>, row: usize, error: &str) -> Result<()> {
        match self.settings.on_error {
            OnError::Fail if drawings.value(row).is_some() => {
                Err(exec_datafusion_err!("pidq: {error} (`pidq.on_error` is `fail`)"))
            }
            _ => Ok(()),
        }
    }
}
