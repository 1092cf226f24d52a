//! Scalar function `pidq_rows`: the rows of a result as a list of structs, to be unnested.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{ListArray, StructArray};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature};

use crate::columns::{ColumnBuilders, Columns};
use crate::query_context::QueryContext;
use crate::scalar::{Calls, check_literals, coerce_types, literal, signature};
use crate::settings::Settings;

pub(crate) const NAME: &str = "pidq_rows";

/// Position of the parameters among the arguments: drawing, query, columns, parameters.
const PARAMS: usize = 3;

/// The function `pidq_rows(drawing, query [, columns [, params]])`.
#[derive(Debug)]
pub(crate) struct RowsFunction {
    context: QueryContext,
    signature: Signature,
}

impl RowsFunction {
    pub(crate) fn new(context: QueryContext) -> RowsFunction {
        RowsFunction { context, signature: signature() }
    }

    /// Returns the columns: those declared, or else those of the query.
    pub(crate) fn columns(&self, arguments: &[Option<&ScalarValue>]) -> Result<Columns> {
        match (literal(arguments, 2), check_literals(&self.context, arguments, PARAMS)?) {
            (Some(declaration), _) if !declaration.trim().is_empty() => Columns::parse(declaration),
            (_, Some(query)) => Columns::of_query(&query),
            _ => plan_err!("pidq_rows: the columns have to be declared as a literal, because the query is none"),
        }
    }
}

impl PartialEq for RowsFunction {
    fn eq(&self, _: &RowsFunction) -> bool {
        true
    }
}

impl Eq for RowsFunction {}

impl Hash for RowsFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        NAME.hash(state);
    }
}

impl ScalarUDFImpl for RowsFunction {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        coerce_types(NAME, given, 4)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        plan_err!("pidq_rows: the type depends on the columns")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let columns = self.columns(args.scalar_arguments)?;
        Ok(Arc::new(Field::new(NAME, DataType::List(item(&columns)), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let settings = Settings::of_session(&args.config_options, self.context.ceiling.as_deref());
        let scalars: Vec<Option<&ScalarValue>> = args
            .args
            .iter()
            .map(|argument| match argument {
                ColumnarValue::Scalar(value) => Some(value),
                ColumnarValue::Array(_) => None,
            })
            .collect();
        let columns = self.columns(&scalars)?;
        let is_constant = scalars.iter().all(Option::is_some);
        let rows = if is_constant { 1 } else { args.number_rows };
        let calls = Calls::new(&self.context, &args.args, rows, settings, PARAMS)?;
        let list = Arc::new(list(&calls, &columns)?);
        match is_constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::List(list))),
            false => Ok(ColumnarValue::Array(list)),
        }
    }
}

/// Returns the field of the items of the list.
fn item(columns: &Columns) -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Struct(columns.fields()), true))
}

fn list(calls: &Calls<'_>, columns: &Columns) -> Result<ListArray> {
    let mut builders = ColumnBuilders::new(columns);
    let mut offsets: Vec<i32> = Vec::with_capacity(calls.len() + 1);
    offsets.push(0);
    calls.for_each_outcome(
        |value| columns.cells(value, &calls.settings),
        |outcome| {
            builders.push(outcome)?;
            let end = i32::try_from(builders.rows());
            let too_many = |_| exec_datafusion_err!("pidq_rows: a batch has too many rows; lower the batch size");
            offsets.push(end.map_err(too_many)?);
            Ok(())
        },
    )?;
    let rows = StructArray::try_new(columns.fields(), builders.finish(), None)?;
    Ok(ListArray::try_new(item(columns), OffsetBuffer::new(offsets.into()), Arc::new(rows), None)?)
}
