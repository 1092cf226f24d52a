//! Columns of `pidq_rows`: declared as `tag text, size number`, or those of the objects that a query builds.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanBuilder, Float64Builder, Int64Builder};
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::{Result, plan_datafusion_err, plan_err};
use pidq_core::{Graph, Query, Value};

use crate::run::{self, Outcome};
use crate::settings::Settings;
use crate::text_column::TextColumn;

/// The column that says why a drawing has no rows.
pub(crate) const ERROR: &str = "pidq_error";

/// Type of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ColumnType {
    Text,
    Number,
    Integer,
    Bool,
    Json,
}

const TYPES: &[(&str, ColumnType)] = &[
    ("text", ColumnType::Text),
    ("number", ColumnType::Number),
    ("integer", ColumnType::Integer),
    ("bool", ColumnType::Bool),
    ("json", ColumnType::Json),
];

impl ColumnType {
    fn data_type(self) -> DataType {
        match self {
            ColumnType::Text | ColumnType::Json => DataType::Utf8,
            ColumnType::Number => DataType::Float64,
            ColumnType::Integer => DataType::Int64,
            ColumnType::Bool => DataType::Boolean,
        }
    }
}

/// Columns of the rows of a query, without [`ERROR`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Columns(Vec<(String, ColumnType)>);

impl Columns {
    /// Parses a declaration such as `tag text, "nominal size" number`.
    pub(crate) fn parse(declaration: &str) -> Result<Columns> {
        let mut columns = Vec::new();
        let mut rest = declaration.trim();
        while !rest.is_empty() {
            let (name, after) = split_name(rest)?;
            let end = after.find(',').unwrap_or(after.len());
            let (type_name, remaining) = (after[..end].trim().to_ascii_lowercase(), &after[end..]);
            let Some((_, column_type)) = TYPES.iter().find(|(name, _)| *name == type_name) else {
                let types = type_names();
                return plan_err!("pidq_rows: the type of column `{name}` is one of {types}, not `{type_name}`");
            };
            columns.push((name, *column_type));
            rest = match remaining.strip_prefix(',').map(str::trim) {
                Some("") => return plan_err!("pidq_rows: a column is missing after the last comma"),
                Some(more) => more,
                None => "",
            };
        }
        Columns::checked(columns)
    }

    /// Returns the columns of the objects that a query builds at its end, as JSON.
    pub(crate) fn of_query(query: &Query) -> Result<Columns> {
        let unreadable = |error| plan_datafusion_err!("pidq_rows: {error}");
        let tree = Graph::from_json(query.tree()).map_err(unreadable)?;
        match object_keys(tree.root()) {
            Some(keys) => Columns::checked(keys.into_iter().map(|key| (key, ColumnType::Json)).collect()),
            None => plan_err!(
                "pidq_rows: the query does not end with an object such as `map({{tag: .tag}})`; declare the columns: \
                 pidq_rows(…, 'tag text, size number')"
            ),
        }
    }

    fn checked(columns: Vec<(String, ColumnType)>) -> Result<Columns> {
        if columns.is_empty() {
            return plan_err!("pidq_rows: no columns");
        }
        for (at, (name, _)) in columns.iter().enumerate() {
            if name == ERROR || columns[..at].iter().any(|(other, _)| other == name) {
                return plan_err!("pidq_rows: there are two columns `{name}`");
            }
        }
        Ok(Columns(columns))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str()).chain([ERROR])
    }

    /// Returns the fields of a row.
    pub(crate) fn fields(&self) -> Fields {
        let own = self.0.iter().map(|(name, column_type)| Field::new(name, column_type.data_type(), true));
        own.chain([Field::new(ERROR, DataType::Utf8, true)]).collect()
    }

    /// Returns the cells of the rows of a result, row by row: an array has one row per item, an object is a row. With
    /// one column, items that are no objects are its values.
    pub(crate) fn cells(&self, result: Value<'_>, settings: &Settings) -> Outcome<Vec<Cell>> {
        let mut cells = Vec::new();
        match result {
            Value::Undefined | Value::Null => {}
            Value::Array(rows) if rows.len() > settings.rows => {
                return Err(format!(
                    "the result has {} rows, more than {}; raise `pidq.rows`",
                    rows.len(),
                    settings.rows
                ));
            }
            Value::Array(rows) => {
                for row in rows.iter() {
                    self.append_row(row, settings, &mut cells)?;
                }
            }
            row => self.append_row(row, settings, &mut cells)?,
        }
        Ok(cells)
    }

    fn append_row(&self, row: Value<'_>, settings: &Settings, cells: &mut Vec<Cell>) -> Outcome<()> {
        for (name, column_type) in &self.0 {
            let value = match row.as_object() {
                Some(object) => object.get(name).unwrap_or(Value::Null),
                None if self.0.len() == 1 => row,
                None => return Err(format!("a row is an object, not of type {}", row.type_name())),
            };
            let cell = cell(value, *column_type, settings).map_err(|error| format!("column `{name}`: {error}"))?;
            cells.push(cell);
        }
        Ok(())
    }
}

fn type_names() -> String {
    TYPES.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Splits a declaration after the name of its first column.
fn split_name(text: &str) -> Result<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        return match quoted.split_once('"') {
            Some((name, rest)) if !name.is_empty() => Ok((name.to_owned(), rest)),
            _ => plan_err!("pidq_rows: a column has a quote without an end, or no name: {text}"),
        };
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    match &text[..end] {
        "" => plan_err!("pidq_rows: the name of a column is expected at `{text}`"),
        name => Ok((name.to_owned(), &text[end..])),
    }
}

/// Steps that return some of their rows, or all in another order.
const ROW_STEPS: &[&str] =
    &["filter", "limit", "maxBy", "minBy", "reverse", "skip", "slice", "sort", "sortBy", "top", "uniq", "uniqBy"];

/// Returns the keys of the objects that a query in JSON format builds at its end.
fn object_keys(query: Value<'_>) -> Option<Vec<String>> {
    let call = query.as_array()?;
    let mut arguments = call.iter().skip(1);
    match call.get(0)?.as_str()? {
        "pipe" => {
            let steps: Vec<Value<'_>> = arguments.collect();
            object_keys(steps.into_iter().rev().find(|step| !returns_rows(*step))?)
        }
        "map" => object_keys(arguments.next()?),
        "object" => Some(arguments.next()?.as_object()?.iter().map(|(key, _)| key.to_owned()).collect()),
        "pick" => arguments.map(|path| path.as_array()?.iter().last()?.as_str().map(String::from)).collect(),
        _ => None,
    }
}

/// Returns whether a step returns some of its rows.
fn returns_rows(step: Value<'_>) -> bool {
    let name = step.as_array().and_then(|call| call.get(0)).and_then(Value::as_str);
    name.is_some_and(|name| ROW_STEPS.contains(&name))
}

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Text(String),
    Number(f64),
    Integer(i64),
    Bool(bool),
}

fn cell(value: Value<'_>, column_type: ColumnType, settings: &Settings) -> Outcome<Cell> {
    Ok(match column_type {
        ColumnType::Text => run::text(value, settings)?.map_or(Cell::Null, Cell::Text),
        ColumnType::Number => run::number(value)?.map_or(Cell::Null, Cell::Number),
        ColumnType::Integer => run::integer(value)?.map_or(Cell::Null, Cell::Integer),
        ColumnType::Bool => run::boolean(value)?.map_or(Cell::Null, Cell::Bool),
        ColumnType::Json if value.is_null() => Cell::Null,
        ColumnType::Json => Cell::Text(run::json(value, settings)?),
    })
}

/// Arrays of the columns, built row by row.
pub(crate) struct ColumnBuilders {
    columns: Vec<ColumnBuilder>,
    errors: TextColumn,
    rows: usize,
}

enum ColumnBuilder {
    Text(TextColumn),
    Number(Float64Builder),
    Integer(Int64Builder),
    Bool(BooleanBuilder),
}

impl ColumnBuilders {
    pub(crate) fn new(columns: &Columns) -> ColumnBuilders {
        let builder = |column_type: &ColumnType| match column_type {
            ColumnType::Text | ColumnType::Json => ColumnBuilder::Text(TextColumn::default()),
            ColumnType::Number => ColumnBuilder::Number(Float64Builder::new()),
            ColumnType::Integer => ColumnBuilder::Integer(Int64Builder::new()),
            ColumnType::Bool => ColumnBuilder::Bool(BooleanBuilder::new()),
        };
        let columns = columns.0.iter().map(|(_, column_type)| builder(column_type)).collect();
        ColumnBuilders { columns, errors: TextColumn::default(), rows: 0 }
    }

    /// Adds the rows of a drawing, or one row with its error.
    pub(crate) fn push(&mut self, outcome: Outcome<Vec<Cell>>) -> Result<()> {
        match outcome {
            Ok(cells) => {
                for row in cells.chunks(self.columns.len()) {
                    self.push_row(row, None)?;
                }
                Ok(())
            }
            Err(error) => self.push_row(&vec![Cell::Null; self.columns.len()], Some(&error)),
        }
    }

    fn push_row(&mut self, cells: &[Cell], error: Option<&str>) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (column, cell) {
                (ColumnBuilder::Text(column), Cell::Text(text)) => column.push(Some(text))?,
                (ColumnBuilder::Text(column), _) => column.push(None)?,
                (ColumnBuilder::Number(column), Cell::Number(number)) => column.append_value(*number),
                (ColumnBuilder::Number(column), _) => column.append_null(),
                (ColumnBuilder::Integer(column), Cell::Integer(number)) => column.append_value(*number),
                (ColumnBuilder::Integer(column), _) => column.append_null(),
                (ColumnBuilder::Bool(column), Cell::Bool(value)) => column.append_value(*value),
                (ColumnBuilder::Bool(column), _) => column.append_null(),
            }
        }
        self.rows += 1;
        self.errors.push(error)
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn finish(self) -> Vec<ArrayRef> {
        let finish = |column| match column {
            ColumnBuilder::Text(column) => column.finish(),
            ColumnBuilder::Number(mut column) => Arc::new(column.finish()) as ArrayRef,
            ColumnBuilder::Integer(mut column) => Arc::new(column.finish()),
            ColumnBuilder::Bool(mut column) => Arc::new(column.finish()),
        };
        self.columns.into_iter().map(finish).chain([self.errors.finish()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(declaration: &str, expected: &str) {
        let found = match Columns::parse(declaration) {
            Ok(Columns(columns)) => columns
                .iter()
                .map(|(name, column_type)| format!("{name}:{column_type:?}"))
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.strip_backtrace(),
        };
        assert!(found.contains(expected), "{declaration}: {found}");
    }

    #[test]
    fn columns_are_declared_by_name_and_type() {
        check("tag text, n NUMBER ,ok bool,i integer, raw json", "tag:Text n:Number ok:Bool i:Integer raw:Json");
        check("\"nominal size\" number", "nominal size:Number");
        check("", "no columns");
        check("tag", "the type of column `tag` is one of `text`, `number`");
        check("tag text,", "missing after the last comma");
        check("tag string", "not `string`");
        check("a text, a number", "two columns `a`");
        check("pidq_error text", "two columns `pidq_error`");
        check("\"a text", "quote without an end");
        check(", a text", "expected at");
    }

    #[test]
    fn columns_are_those_of_the_objects_that_the_query_builds() -> Result<()> {
        let names = |text: &str| -> Result<Vec<String>> {
            let query = Query::parse(text).map_err(|error| plan_datafusion_err!("{error}"))?;
            Ok(Columns::of_query(&query)?.0.into_iter().map(|(name, _)| name).collect())
        };
        for text in [
            "nodes() | map({tag: .tag, n: 1})",
            "nodes() | map({tag: .tag, n: 1}) | filter(.n > 0) | sort(.tag) | limit(3)",
            "{tag: 1, n: 2}",
            "nodes() | pick(.tag, .a.n)",
        ] {
            assert_eq!(names(text)?, ["tag", "n"], "{text}");
        }
        for text in ["nodes()", "nodes() | map(.tag)", "nodes() | map({a: 1}) | map(.a)", "nodes() | size()"] {
            assert!(names(text).is_err(), "{text}");
        }
        Ok(())
    }
}
