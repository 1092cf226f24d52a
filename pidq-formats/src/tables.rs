//! Table formats: CSV of any list, the CSV pair of a graph, the CSV pair for Neo4j, and XLSX workbooks.
//!
//! A cell that a spreadsheet would interpret as a formula is prefixed with `'` on export; the import removes it.

use pidq_core::{Object, Value};

use crate::columns::{Columns, rows};
use crate::error::{Code, Error, Result};
use crate::import::{Diagnostic, Finding};
use crate::json::Fields;
use crate::model::{ENDS, Model, text};
use crate::other_fields::{OTHER_FIELDS, unread_fields};

mod headings;
mod neo4j;
mod read;
#[cfg(feature = "xlsx")]
mod xlsx;

pub use neo4j::{read_pair as read_neo4j, write_pair as write_neo4j};
pub use read::{read_pair, table_delimiter};
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

/// Returns the text of a value in a table: a string without quotes, nothing for null, other values as JSON. A string that
/// a spreadsheet would interpret as a formula is prefixed with `'`.
pub fn table_cell(value: Value<'_>) -> String {
    let text = text(value);
    match value {
        Value::String(_) if is_formula(&text) => format!("{FORMULA_GUARD}{text}"),
        _ => text,
    }
}

/// Returns the text of a value in a table as it is, also if a spreadsheet would take it for a formula.
pub fn plain_table_cell(value: Value<'_>) -> String {
    text(value)
}

/// Returns the original text of a cell written by [`table_cell`].
fn unescape_table_cell(text: &str) -> &str {
    text.strip_prefix(FORMULA_GUARD).filter(|rest| is_formula(rest)).unwrap_or(text)
}

/// Lists the metadata of a drawing, which two tables of nodes and edges do not hold.
pub fn losses(value: Value<'_>) -> Result<Vec<Diagnostic>> {
    /// Metadata that an import adds again.
    const ADDED: [&str; 4] = ["schema_version", "change_version", "diagnostics", "job_id"];
    let model = Model::from_value(value)?;
    let names = model.metadata.into_iter().flat_map(|metadata| metadata.iter().map(|(key, _)| key.to_owned()));
    let names: Vec<String> = names.filter(|key| !ADDED.contains(&key.as_str())).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut message = format!("the metadata is not in the tables: {}", names.join(", "));
    if names.iter().any(|key| key == "topology") {
        message += "; the names and roles that `topology` configures do not apply to what is imported from them";
    }
    let finding = Finding::MetadataOmitted;
    Ok(vec![Diagnostic { finding, message, ids: Vec::new(), count: 1 }])
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
            list.iter().try_for_each(|item| row(&mut csv, [table_cell(item)]))?;
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
    Ok(vec![write_node_table(&model)?, write_edge_table(&model)?])
}

fn write_node_table(model: &Model<'_>) -> Result<Vec<u8>> {
    let columns = Columns::from_rows(model.nodes.iter().map(|node| node.fields))?;
    let keys: Vec<&str> = columns.list.iter().map(|column| column.key).collect();
    let id = Some("id").filter(|id| !keys.contains(id) && model.nodes.iter().any(|node| node.id().is_some()));
    let leading = |at: usize| id.map(|_| model.nodes[at].name.clone()).into_iter().collect();
    let rows: Vec<Object<'_>> = model.nodes.iter().map(|node| node.fields).collect();
    Table::new(&rows, id.as_slice(), keys, &leading).write(&rows, &read::node_rows)
}

/// Writes the edges. Their ends come first, under the names that all edges have, or else this format's names.
fn write_edge_table(model: &Model<'_>) -> Result<Vec<u8>> {
    let rows: Vec<Object<'_>> = model.edges.iter().map(|edge| edge.fields).collect();
    let columns = Columns::from_rows(rows.iter().copied())?;
    let pair_of = |edge: &Object<'_>| ENDS.iter().find(|pair| pair.iter().all(|key| edge.get(key).is_some()));
    let first = rows.first().and_then(pair_of).filter(|first| rows.iter().all(|edge| pair_of(edge) == Some(first)));
    let ends = first.unwrap_or(&["from", "to"]);
    let is_end = |key: &str| ends.contains(&key) || model.config.endpoints().iter().flatten().any(|end| end == key);
    let keys = columns.list.iter().map(|column| column.key).filter(|key| !is_end(key)).collect();
    let leading = |at: usize| [&model.edges[at].from, &model.edges[at].to].map(|end| end.name.clone()).into();
    Table::new(&rows, ends, keys, &leading).write(&rows, &read::edge_rows)
}

/// Table that is read back exactly: what its cells cannot hold is JSON text in one more column.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Reader of the rows of a table, without their other fields.
type RowReader<'f> = &'f dyn Fn(&[u8]) -> Result<Vec<Fields>>;

impl Table {
    /// Creates a table with some leading columns and a column for each key.
    fn new(
        rows: &[Object<'_>],
        leading: &[&str],
        keys: Vec<&str>,
        leading_cells: &dyn Fn(usize) -> Vec<String>,
    ) -> Table {
        let mut keys = keys;
        keys.retain(|key| *key != OTHER_FIELDS);
        let header = |keys: &[&str]| -> Vec<String> {
            leading.iter().chain(keys).map(|key| table_cell(Value::String(key))).collect()
        };
        if !read::is_header_exact(&header(&keys)) {
            keys.retain(|key| read::is_plain_name(key));
        }
        let cells = |(at, fields): (usize, &Object<'_>)| {
            let leading_cells = leading_cells(at).into_iter().map(|cell| table_cell(Value::String(&cell)));
            let cells = keys.iter().map(|key| fields.get(key).map(table_cell).unwrap_or_default());
            leading_cells.chain(cells).collect()
        };
        Table { header: header(&keys), rows: rows.iter().enumerate().map(cells).collect() }
    }

    /// Writes the table, reads it, and adds a column for the fields that were not read back unchanged.
    fn write(mut self, rows: &[Object<'_>], read: RowReader<'_>) -> Result<Vec<u8>> {
        let bytes = self.csv()?;
        let read_rows = read(&bytes)?;
        let empty = Fields::default();
        let read_rows = (0..rows.len()).map(|at| read_rows.get(at).unwrap_or(&empty));
        let other: Vec<Option<String>> =
            rows.iter().zip(read_rows).map(|(fields, read)| unread_fields(*fields, read)).collect();
        if other.iter().all(Option::is_none) {
            return Ok(bytes);
        }
        self.header.push(OTHER_FIELDS.into());
        // Rows after those of the objects have no fields.
        let other = other.into_iter().chain(std::iter::repeat(None));
        for (cells, other) in self.rows.iter_mut().zip(other) {
            cells.push(other.unwrap_or_default());
        }
        self.csv()
    }

    fn csv(&self) -> Result<Vec<u8>> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        if !self.header.is_empty() {
            row(&mut csv, &self.header)?;
            self.rows.iter().try_for_each(|cells| row(&mut csv, cells))?;
        }
        finish(csv)
    }
}

/// Writes the nodes. The id column has this format's name, even if the drawing uses another.
fn write_nodes(csv: &mut csv::Writer<Vec<u8>>, model: &Model<'_>, columns: &Columns<'_>) -> Result<()> {
    let has_id = columns.list.iter().any(|column| column.key == "id");
    if has_id || model.nodes.iter().all(|node| node.id().is_none()) {
        return write_rows(csv, columns, model.nodes.iter().map(|node| node.fields));
    }
    let header = columns.list.iter().map(|column| table_cell(Value::String(column.key)));
    row(csv, std::iter::once("id".to_owned()).chain(header))?;
    for node in &model.nodes {
        let rest = columns.list.iter().map(|column| node.fields.get(column.key).map(table_cell).unwrap_or_default());
        row(csv, std::iter::once(table_cell(Value::String(&node.name))).chain(rest))?;
    }
    Ok(())
}

fn write_rows<'a>(
    csv: &mut csv::Writer<Vec<u8>>,
    columns: &Columns<'a>,
    rows: impl Iterator<Item = Object<'a>>,
) -> Result<()> {
    if columns.list.is_empty() {
        return Ok(());
    }
    row(csv, columns.list.iter().map(|column| table_cell(Value::String(column.key))))?;
    for fields in rows {
        row(csv, columns.list.iter().map(|column| fields.get(column.key).map(table_cell).unwrap_or_default()))?;
    }
    Ok(())
}

fn row(csv: &mut csv::Writer<Vec<u8>>, cells: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<()> {
    csv.write_record(cells).map_err(|error| Error::new(Code::NotTable, error.to_string()))
}

fn finish(csv: csv::Writer<Vec<u8>>) -> Result<Vec<u8>> {
    csv.into_inner().map_err(|error| Error::new(Code::NotTable, error.to_string()))
}
