//! CSV pair of Neo4j, as `neo4j-admin database import` loads it: the type of a column is in its header.

use std::collections::HashMap;

use pidq_core::vocabulary::{CLASSES, EDGE_KINDS, NODE_TYPES};
use pidq_core::{Object, Value};

use crate::columns::{Column, ColumnType, Columns};
use crate::error::{Code, Error, Result};
use crate::import::{Import, ImportBuilder};
use crate::json::{Fields, Json, is_number};
use crate::model::{ENDS, Edge, Model, Node, text};
use crate::other_fields;

use super::{Table, read};

/// Label of a node that is only the end of an edge.
const MISSING_LABEL: &str = "missing";

/// Type of an edge without a kind.
const NO_KIND: &str = "connected";

/// Writes the nodes and the edges.
pub fn write_pair(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    Ok(vec![write_nodes(&model)?, write_edges(&model)?])
}

fn write_nodes(model: &Model<'_>) -> Result<Vec<u8>> {
    let rows: Vec<Object<'_>> = model.nodes.iter().map(|node| node.fields).collect();
    let columns = properties(&rows)?;
    let fixed_cells = model.nodes.iter().map(|node| vec![node.name.clone(), labels(node)]);
    let mut table = table(&[":ID", ":LABEL"], &columns, fixed_cells, &rows);
    for missing_node in &model.missing_nodes {
        let empty_cells = columns.iter().map(|_| String::new());
        table.rows.push([missing_node.clone(), MISSING_LABEL.into()].into_iter().chain(empty_cells).collect());
    }
    table.write(&rows, &|bytes| node_rows(bytes, &mut ImportBuilder::default()))
}

fn write_edges(model: &Model<'_>) -> Result<Vec<u8>> {
    let rows: Vec<Object<'_>> = model.edges.iter().map(|edge| edge.fields).collect();
    let columns = properties(&rows)?;
    let fixed_cells = model.edges.iter().map(|edge| vec![edge.from.name.clone(), edge.to.name.clone(), kind(edge)]);
    let table = table(&[":START_ID", ":END_ID", ":TYPE"], &columns, fixed_cells, &rows);
    table.write(&rows, &|bytes| edge_rows(bytes, &mut ImportBuilder::default()))
}

/// Returns the columns that become properties. Of several names that differ only in colons, none does.
fn properties<'a>(rows: &[Object<'a>]) -> Result<Vec<Column<'a>>> {
    let columns = Columns::from_rows(rows.iter().copied())?.list;
    let mut counts: HashMap<String, usize> = HashMap::new();
    for column in &columns {
        *counts.entry(property_name(column.key)).or_default() += 1;
    }
    let is_property = |column: &Column<'_>| {
        let name = property_name(column.key);
        counts[&name] == 1 && read::is_plain_name(&name) && column.kind != ColumnType::Null
    };
    Ok(columns.into_iter().filter(is_property).collect())
}

/// Returns the name of a property: a colon would start the type.
fn property_name(key: &str) -> String {
    key.replace(':', "_")
}

fn table(
    fixed_columns: &[&str],
    columns: &[Column<'_>],
    fixed_cells: impl Iterator<Item = Vec<String>>,
    rows: &[Object<'_>],
) -> Table {
    let properties = columns.iter().map(|column| format!("{}:{}", property_name(column.key), type_name(column.kind)));
    // Cells of a database have no formula guard.
    let cells = |(mut cells, fields): (Vec<String>, &Object<'_>)| {
        cells.extend(columns.iter().map(|column| fields.get(column.key).map(text).unwrap_or_default()));
        cells
    };
    Table {
        header: fixed_columns.iter().map(|name| (*name).to_owned()).chain(properties).collect(),
        rows: fixed_cells.zip(rows).map(cells).collect(),
    }
}

fn type_name(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Bool => "boolean",
        ColumnType::Integer => "long",
        ColumnType::Number => "double",
        ColumnType::Null | ColumnType::Text | ColumnType::Json => "string",
    }
}

/// Returns the labels as one cell.
fn labels(node: &Node<'_>) -> String {
    node.labels().map(|text| text.replace(';', "_")).collect::<Vec<_>>().join(";")
}

fn kind(edge: &Edge<'_>) -> String {
    if edge.kind().is_empty() { NO_KIND.into() } else { edge.kind().to_uppercase() }
}

/// Reads the nodes and the edges.
///
/// # Errors
/// `PQ6003` for tables without the columns of Neo4j, and the errors of reading CSV.
pub fn read_pair(nodes: &[u8], edges: &[u8]) -> Result<Import> {
    let mut builder = ImportBuilder::default();
    builder.nodes = node_rows(nodes, &mut builder)?;
    builder.edges = edge_rows(edges, &mut builder)?;
    builder.nodes.iter_mut().chain(&mut builder.edges).for_each(restore);
    builder.report_dangling_edges();
    Ok(builder.finish())
}

/// Restores the fields that Neo4j cannot hold. A property whose name lacks the colons of one of them was that field.
fn restore(fields: &mut Fields) {
    let other = other_fields::take(fields);
    for name in other.0.iter().filter(|(key, _)| key.contains(':')).map(|(key, _)| property_name(key)) {
        fields.0.retain(|(property, _)| *property != name);
    }
    for (key, value) in other.0 {
        fields.set(&key, value);
    }
}

/// Column of a file: what its cells are.
enum Cells {
    /// The id of a node, or an end of an edge.
    Id(&'static str),
    Labels,
    Kind,
    Ignored,
    Property(PropertyType),
}

#[derive(Clone, Copy)]
enum PropertyType {
    Text,
    Number,
    Bool,
    List,
}

/// Reads the nodes. A node that is only the end of an edge is not imported.
fn node_rows(bytes: &[u8], builder: &mut ImportBuilder) -> Result<Vec<Fields>> {
    let rows = rows(bytes, "nodes", &[":ID"], builder)?;
    let nodes = rows.into_iter().filter(|row| row.labels.as_deref() != Some(MISSING_LABEL) || !row.fields.is_empty());
    Ok(nodes.map(node).collect())
}

fn node(row: Row) -> Fields {
    let mut fields = row.fields;
    // The labels of an exported drawing are its types and classes.
    let has_class = [NODE_TYPES, CLASSES].into_iter().flatten().any(|key| fields.get(key).is_some());
    if let Some(labels) = row.labels.filter(|_| !has_class) {
        fields.add("class", Json::String(labels.replace(';', ".")));
    }
    let id = row.ids.into_iter().next().map(|(_, id)| Json::String(id));
    if fields.get("id").is_none() {
        fields.0.splice(0..0, id.map(|id| ("id".to_owned(), id)));
    }
    fields
}

fn edge_rows(bytes: &[u8], builder: &mut ImportBuilder) -> Result<Vec<Fields>> {
    let rows = rows(bytes, "edges", &[":START_ID", ":END_ID"], builder)?;
    Ok(rows.into_iter().map(edge).collect())
}

fn edge(row: Row) -> Fields {
    let mut fields = row.fields;
    let has_kind = EDGE_KINDS.iter().any(|key| fields.get(key).is_some());
    if let Some(kind) = row.kind.filter(|kind| !has_kind && kind != NO_KIND) {
        fields.add("edge_type", Json::String(kind));
    }
    if !ENDS.iter().any(|pair| pair.iter().all(|key| fields.get(key).is_some())) {
        for (key, id) in row.ids {
            fields.add_if_absent(key, Json::String(id));
        }
    }
    fields
}

/// Row of a file.
#[derive(Default)]
struct Row {
    ids: Vec<(&'static str, String)>,
    labels: Option<String>,
    kind: Option<String>,
    fields: Fields,
}

fn rows(bytes: &[u8], name: &str, required: &[&str], builder: &mut ImportBuilder) -> Result<Vec<Row>> {
    let mut records = read::records(bytes)?.into_iter();
    let Some(header) = records.next() else { return Ok(Vec::new()) };
    let columns: Vec<Vec<(String, Cells)>> = header.iter().map(column).collect();
    for required in required {
        if !header.iter().any(|cell| type_of(cell).1.eq_ignore_ascii_case(&required[1..])) {
            let message = format!("the table of {name} has no column `{required}`");
            return Err(Error::new(Code::NotGraph, message));
        }
    }
    let records: Vec<csv::StringRecord> = records.collect();
    read::report_extra_cells(name, columns.len(), &records, builder);
    Ok(records.iter().map(|record| row(&columns, record)).collect())
}

/// Splits a header such as `name:string` or `:ID(Space)` into the name and the type.
fn type_of(cell: &str) -> (&str, &str) {
    let (name, kind) = cell.rsplit_once(':').unwrap_or((cell, ""));
    (name.trim(), kind.split(['(', '{']).next().unwrap_or_default().trim())
}

/// Returns what the cells of a column are. An id with a name is a property too.
fn column(cell: &str) -> Vec<(String, Cells)> {
    let (name, kind) = type_of(cell);
    let property = |kind: PropertyType| (name.to_owned(), Cells::Property(kind));
    let id = |key: &'static str| {
        let named = Some(property(PropertyType::Text)).filter(|_| !name.is_empty());
        std::iter::once((String::new(), Cells::Id(key))).chain(named).collect()
    };
    let upper_case = kind.to_ascii_uppercase();
    match upper_case.as_str() {
        "ID" => id("id"),
        "START_ID" => id("from"),
        "END_ID" => id("to"),
        "LABEL" => vec![(String::new(), Cells::Labels)],
        "TYPE" => vec![(String::new(), Cells::Kind)],
        "IGNORE" => vec![(String::new(), Cells::Ignored)],
        "INT" | "LONG" | "FLOAT" | "DOUBLE" | "BYTE" | "SHORT" => vec![property(PropertyType::Number)],
        "BOOLEAN" => vec![property(PropertyType::Bool)],
        _ if kind.ends_with("[]") => vec![property(PropertyType::List)],
        _ => vec![property(PropertyType::Text)],
    }
}

/// Reads a row. An empty cell has no value, as for Neo4j. Arrays and objects are JSON text.
fn row(columns: &[Vec<(String, Cells)>], record: &csv::StringRecord) -> Row {
    let mut row = Row::default();
    for (column, cell) in columns.iter().zip(record.iter()).filter(|(_, cell)| !cell.is_empty()) {
        for (name, cells) in column {
            match cells {
                Cells::Id(key) => row.ids.push((key, cell.to_owned())),
                Cells::Labels => row.labels = Some(cell.to_owned()),
                Cells::Kind => row.kind = Some(cell.to_owned()),
                Cells::Property(kind) => row.fields.add_if_absent(name, property_value(*kind, cell)),
                Cells::Ignored => {}
            }
        }
    }
    row
}

fn property_value(kind: PropertyType, cell: &str) -> Json {
    match kind {
        PropertyType::Number if is_number(cell) => Json::Number(cell.into()),
        PropertyType::Bool => Json::Bool(cell.eq_ignore_ascii_case("true")),
        PropertyType::List => Json::Array(cell.split(';').map(Json::text).collect()),
        PropertyType::Text if cell.starts_with(['{', '[']) => Json::raw(cell).unwrap_or_else(|| Json::text(cell)),
        PropertyType::Number | PropertyType::Text => Json::text(cell),
    }
}
