//! Table formats: CSV of any list, the CSV pair of a graph, the CSV pair for Neo4j, and XLSX workbooks.
//!
//! A cell that a spreadsheet would interpret as a formula is prefixed with `'` on export; the import removes it.

use pidq_core::{Object, Value};

use crate::columns::{ColumnType, Columns, rows};
use crate::error::{Code, Error, Result};
use crate::model::{Model, Node, text};

mod read;
#[cfg(feature = "xlsx")]
mod xlsx;

pub use read::read_pair;
#[cfg(feature = "xlsx")]
pub use xlsx::write_workbook;

/// Characters that begin a formula.
const FORMULA_PREFIXES: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Prefix of a string that looks like a formula.
const FORMULA_GUARD: char = '\'';

/// Returns true if a string looks like a formula, or like a guarded one.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches(FORMULA_GUARD).starts_with(FORMULA_PREFIXES)
}

/// Returns the text of a cell, guarded against formulas.
fn escape_cell(value: Value<'_>) -> String {
    let text = text(value);
    match value {
        Value::String(_) if is_formula(&text) => format!("{FORMULA_GUARD}{text}"),
        _ => text,
    }
}

/// Returns the original text of a cell written by [`escape_cell`].
fn unescape_cell(text: &str) -> &str {
    text.strip_prefix(FORMULA_GUARD).filter(|rest| is_formula(rest)).unwrap_or(text)
}

/// Writes a list of objects, one object, or any list as one table; for a drawing, its nodes.
pub fn write_table(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    if let Some(model) = value.as_object().and_then(|_| Model::from_value(value).ok()) {
        let columns = Columns::from_rows(model.nodes.iter().map(|node| node.fields))?;
        write_nodes(&mut csv, &model, &columns)?;
        return Ok(vec![finish(csv)?]);
    }
    match value {
        Value::Object(object) => {
            write_rows(&mut csv, &Columns::from_rows([object].into_iter())?, [object].into_iter())?
        }
        Value::Array(list) if list.iter().all(|item| matches!(item, Value::Object(_))) => {
            write_rows(&mut csv, &Columns::from_rows(rows(list))?, rows(list))?;
        }
        Value::Array(list) => {
            row(&mut csv, ["value".to_owned()])?;
            list.iter().try_for_each(|item| row(&mut csv, [escape_cell(item)]))?;
        }
        other => {
            return Err(Error::new(Code::NotTable, format!("a {} is not a table: pass an array", other.type_name())));
        }
    }
    Ok(vec![finish(csv)?])
}

/// Writes the nodes and the edges of a graph.
pub fn write_pair(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let mut nodes = csv::Writer::from_writer(Vec::new());
    let columns = Columns::from_rows(model.nodes.iter().map(|node| node.fields))?;
    write_nodes(&mut nodes, &model, &columns)?;
    let mut edges = csv::Writer::from_writer(Vec::new());
    let columns = Columns::from_rows(model.edges.iter().map(|edge| edge.fields))?;
    // The ends come first, under this format's column names.
    let other_keys: Vec<&str> =
        columns.list.iter().map(|column| column.key).filter(|key| !is_end(&model, key)).collect();
    row(&mut edges, ["from", "to"].into_iter().chain(other_keys.iter().copied()))?;
    for edge in &model.edges {
        let ends = [&edge.from, &edge.to].map(|end| escape_cell(Value::String(&end.name)));
        let rest = other_keys.iter().map(|key| edge.fields.get(key).map(escape_cell).unwrap_or_default());
        row(&mut edges, ends.into_iter().chain(rest))?;
    }
    Ok(vec![finish(nodes)?, finish(edges)?])
}

/// Writes the nodes. The id column has this format's name, even if the drawing uses another.
fn write_nodes(csv: &mut csv::Writer<Vec<u8>>, model: &Model<'_>, columns: &Columns<'_>) -> Result<()> {
    let has_id = columns.list.iter().any(|column| column.key == "id");
    if has_id || model.nodes.iter().all(|node| node.id().is_none()) {
        return write_rows(csv, columns, model.nodes.iter().map(|node| node.fields));
    }
    let header = columns.list.iter().map(|column| escape_cell(Value::String(column.key)));
    row(csv, std::iter::once("id".to_owned()).chain(header))?;
    for node in &model.nodes {
        let rest = columns.list.iter().map(|column| node.fields.get(column.key).map(escape_cell).unwrap_or_default());
        row(csv, std::iter::once(escape_cell(Value::String(&node.name))).chain(rest))?;
    }
    Ok(())
}

fn is_end(model: &Model<'_>, key: &str) -> bool {
    model.config.endpoints().iter().flatten().any(|end| end == key)
}

/// Writes the two files for `neo4j-admin database import`.
pub fn write_neo4j(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let mut nodes = csv::Writer::from_writer(Vec::new());
    let columns = Columns::from_rows(model.nodes.iter().map(|node| node.fields))?;
    row(&mut nodes, [":ID".to_owned(), ":LABEL".into()].into_iter().chain(columns.list.iter().map(property)))?;
    for node in &model.nodes {
        let fixed_cells = [node.name.clone(), labels(node)];
        row(&mut nodes, fixed_cells.into_iter().chain(values(&columns, node.fields)))?;
    }
    for missing_node in &model.missing_nodes {
        let empty_cells = columns.list.iter().map(|_| String::new());
        row(&mut nodes, [missing_node.clone(), "missing".into()].into_iter().chain(empty_cells))?;
    }
    let mut edges = csv::Writer::from_writer(Vec::new());
    let columns = Columns::from_rows(model.edges.iter().map(|edge| edge.fields))?;
    let fixed_cells = [":START_ID", ":END_ID", ":TYPE"].map(str::to_owned);
    row(&mut edges, fixed_cells.into_iter().chain(columns.list.iter().map(property)))?;
    for edge in &model.edges {
        let kind = if edge.kind().is_empty() { "connected".into() } else { edge.kind().to_uppercase() };
        let fixed_cells = [edge.from.name.clone(), edge.to.name.clone(), kind];
        row(&mut edges, fixed_cells.into_iter().chain(values(&columns, edge.fields)))?;
    }
    Ok(vec![finish(nodes)?, finish(edges)?])
}

/// Returns the header `name:type`; a colon in a name would start the type.
fn property(column: &crate::columns::Column<'_>) -> String {
    let kind = match column.kind {
        ColumnType::Bool => "boolean",
        ColumnType::Integer => "long",
        ColumnType::Number => "double",
        ColumnType::Null | ColumnType::Text | ColumnType::Json => "string",
    };
    format!("{}:{kind}", column.key.replace(':', "_"))
}

/// Returns the labels as one cell.
fn labels(node: &Node<'_>) -> String {
    node.labels().map(|text| text.replace(';', "_")).collect::<Vec<_>>().join(";")
}

/// Returns the cells of a row for a database, without formula guard.
fn values(columns: &Columns<'_>, fields: Object<'_>) -> Vec<String> {
    columns.list.iter().map(|column| fields.get(column.key).map(text).unwrap_or_default()).collect()
}

fn write_rows<'a>(
    csv: &mut csv::Writer<Vec<u8>>,
    columns: &Columns<'a>,
    rows: impl Iterator<Item = Object<'a>>,
) -> Result<()> {
    if columns.list.is_empty() {
        return Ok(());
    }
    row(csv, columns.list.iter().map(|column| escape_cell(Value::String(column.key))))?;
    for fields in rows {
        row(csv, columns.list.iter().map(|column| fields.get(column.key).map(escape_cell).unwrap_or_default()))?;
    }
    Ok(())
}

fn row(csv: &mut csv::Writer<Vec<u8>>, cells: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<()> {
    csv.write_record(cells).map_err(|error| Error::new(Code::NotTable, error.to_string()))
}

fn finish(csv: csv::Writer<Vec<u8>>) -> Result<Vec<u8>> {
    csv.into_inner().map_err(|error| Error::new(Code::NotTable, error.to_string()))
}
