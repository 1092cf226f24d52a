//! CSV import: reads a pair of tables as a graph. A column of numbers is numeric, unless its name is one of an
//! identifier.

use std::collections::HashSet;
use std::sync::LazyLock;

use pidq_core::TopologyConfig;
use pidq_core::vocabulary::{NODE_IDS, TAGS};

use crate::encoding::decode_plain;
use crate::error::{Code, Error, Result};
use crate::import::{Finding, Import, ImportBuilder};
use crate::json::{Fields, Json, is_number};
use crate::model::ENDS;
use crate::other_fields::{self, OTHER_FIELDS};
use crate::snake_case::snake_case;

use super::unescape_table_cell;

/// Maximum number of columns of a table.
const MAX_COLUMNS: usize = 4096;

/// Columns with identifiers, even if these look like numbers.
const NAME_COLUMNS: &[&str] = &["id", "tag", "name", "label", "line", "segment", "revision"];

/// Suffixes of the names of such columns.
const NAME_SUFFIXES: &[&str] = &["_id", "_tag", "_name", "_number", "_class", "_code", "_version"];

/// Name of a table and its required columns.
struct Table {
    name: &'static str,
    keys: fn() -> Vec<&'static str>,
}

const NODES: Table = Table { name: "nodes", keys: || NODE_IDS.into() };

const EDGES: Table = Table { name: "edges", keys: || ENDS.iter().flatten().copied().collect() };

/// Reads the nodes and the edges of a graph.
pub fn read_pair(nodes: &[u8], edges: &[u8]) -> Result<Import> {
    let mut builder = ImportBuilder::default();
    builder.nodes = table(nodes, &NODES, &mut builder)?;
    builder.edges = table(edges, &EDGES, &mut builder)?;
    builder.nodes.iter_mut().chain(&mut builder.edges).for_each(other_fields::restore);
    let has_id = |node: &Fields| NODE_IDS.iter().any(|key| node.get(key).is_some());
    let has_ends = |edge: &Fields| ENDS.iter().any(|pair| pair.iter().all(|key| edge.get(key).is_some()));
    if !builder.nodes.is_empty() && !builder.nodes.iter().any(has_id) {
        return Err(Error::new(Code::NotGraph, "the table of nodes has no column `id`"));
    }
    if !builder.edges.is_empty() && !builder.edges.iter().any(has_ends) {
        return Err(Error::new(Code::NotGraph, "the table of edges has no columns `from` and `to`"));
    }
    builder.report_dangling_edges();
    Ok(builder.finish())
}

/// Reads the rows of a table of nodes, without restoring their other fields.
pub fn node_rows(bytes: &[u8]) -> Result<Vec<Fields>> {
    table(bytes, &NODES, &mut ImportBuilder::default())
}

/// Reads the rows of a table of edges, without restoring their other fields.
pub fn edge_rows(bytes: &[u8]) -> Result<Vec<Fields>> {
    table(bytes, &EDGES, &mut ImportBuilder::default())
}

/// Returns true if the import recognizes this header and names its columns as it does.
pub fn is_header_exact(header: &[String]) -> bool {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let line = csv.write_record(header).ok().and_then(|()| csv.into_inner().ok()).unwrap_or_default();
    let text = String::from_utf8_lossy(&line);
    let record = csv::StringRecord::from(header.to_vec());
    let is_named_alike = |table: &Table| {
        let keys = keys(&record, table, &mut ImportBuilder::default());
        header.iter().map(|cell| unescape_table_cell(cell)).eq(keys.iter())
    };
    let is_delimiter_found = declared_delimiter(&text).0.is_none() && delimiter(&text) == b',';
    is_delimiter_found && is_named_alike(&NODES) && is_named_alike(&EDGES)
}

/// Returns true for a name that is a column name in any header.
pub fn is_plain_name(name: &str) -> bool {
    let is_renamed = |table: &Table| spelled_otherwise(name, table).is_some();
    let is_text = !name.is_empty() && name.trim() == name && !name.contains([',', ';', '\t', '\r', '\n', '"', '=']);
    is_text && name != OTHER_FIELDS && !is_renamed(&NODES) && !is_renamed(&EDGES)
}

/// Reads the records of a table, with any usual delimiter: the header, then the rows.
pub fn records(bytes: &[u8]) -> Result<Vec<csv::StringRecord>> {
    let text = decode_plain(bytes)?;
    let (declared, text) = declared_delimiter(&text);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(declared.unwrap_or_else(|| delimiter(text)))
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut records = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| Error::new(Code::NotTable, error.to_string()))?;
        records.push(record);
    }
    if records.first().is_some_and(|header| header.len() > MAX_COLUMNS) {
        return Err(Error::new(Code::TooLarge, format!("the table has more than {MAX_COLUMNS} columns")));
    }
    Ok(records)
}

fn table(bytes: &[u8], table: &Table, builder: &mut ImportBuilder) -> Result<Vec<Fields>> {
    let mut records = records(bytes)?.into_iter();
    let Some(header) = records.next() else { return Ok(Vec::new()) };
    let keys = keys(&header, table, builder);
    let records: Vec<csv::StringRecord> = records.collect();
    let columns: Vec<ColumnType> =
        keys.iter().enumerate().map(|(index, key)| ColumnType::infer(key, index, &records)).collect();
    report_extra_cells(table.name, keys.len(), &records, builder);
    Ok(records.iter().map(|record| fields(&keys, &columns, record)).collect())
}

/// Reports the rows of a table that have more cells than it has columns.
pub fn report_extra_cells(table: &str, columns: usize, records: &[csv::StringRecord], builder: &mut ImportBuilder) {
    let rows_with_extra_cells = records.iter().filter(|record| record.len() > columns).count();
    if rows_with_extra_cells > 0 {
        builder.report_counts(Finding::CellWithoutColumn, &[(table.to_owned(), rows_with_extra_cells)].into());
    }
}

/// Returns the delimiter declared by a first line such as `sep=;`, as spreadsheets write it, and the rest of the text.
fn declared_delimiter(text: &str) -> (Option<u8>, &str) {
    let first_line = text.lines().next().unwrap_or_default();
    match first_line.strip_prefix("sep=").map(str::as_bytes) {
        Some([delimiter]) => (Some(*delimiter), text[first_line.len()..].trim_start_matches(['\r', '\n'])),
        _ => (None, text),
    }
}

/// Returns the delimiter of a table by its first line, and true if this line only declares it, as `sep=;` does.
pub fn table_delimiter(first_line: &str) -> (u8, bool) {
    match declared_delimiter(first_line).0 {
        Some(declared) => (declared, true),
        None => (delimiter(first_line), false),
    }
}

/// Returns the most frequent delimiter of the first line: tables of some locales use semicolons.
fn delimiter(text: &str) -> u8 {
    let first_line = text.lines().next().unwrap_or_default();
    let count = |candidate: &u8| first_line.bytes().filter(|byte| byte == candidate).count();
    *b",;\t".iter().rev().max_by_key(|candidate| count(candidate)).unwrap_or(&b',')
}

/// Returns the column names. Empty and duplicate names are replaced.
fn keys(header: &csv::StringRecord, table: &Table, builder: &mut ImportBuilder) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    let mut used: HashSet<String> = HashSet::new();
    for (index, cell) in header.iter().enumerate() {
        let original = unescape_table_cell(cell).trim();
        let key_base = match original {
            "" => format!("column_{}", index + 1),
            name => canonical_key(name, table, header),
        };
        if !original.is_empty() && key_base != original {
            let message = format!("the column `{original}` of the {} was renamed to `{key_base}`", table.name);
            builder.report(Finding::KeyRenamed, message, &[]);
        }
        let numbered = (index + 1..).map(|number| format!("{key_base}_{number}"));
        let mut candidates = std::iter::once(key_base.clone()).chain(numbered);
        let Some(key) = candidates.find(|key| used.insert(key.clone())) else { continue };
        if key != key_base {
            builder.report(
                Finding::KeyRenamed,
                format!("duplicate column `{key_base}` of the {}; it was renamed to `{key}`", table.name),
                &[],
            );
        }
        keys.push(key);
    }
    keys
}

/// Returns a column name in its canonical spelling: other tools write `Id` and `Source`, and lists have headings such as
/// `Component Class`.
fn canonical_key(name: &str, table: &Table, header: &csv::StringRecord) -> String {
    let has_column = |key: &String| header.iter().any(|cell| unescape_table_cell(cell).trim() == key);
    spelled_otherwise(name, table).filter(|key| !has_column(key)).unwrap_or_else(|| name.to_owned())
}

/// Returns the name of a required column, or of a field that is read by its exact name, for another spelling of it.
fn spelled_otherwise(name: &str, table: &Table) -> Option<String> {
    let required = (table.keys)();
    if required.contains(&name) || FIELDS.contains(name) {
        return None;
    }
    let known = required.into_iter().find(|key| key.eq_ignore_ascii_case(name)).map(str::to_owned);
    known.or_else(|| Some(snake_case(name)).filter(|key| FIELDS.contains(key)))
}

/// Names of fields that are read as they are spelled. Those of attributes are read in any spelling.
static FIELDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    const LISTS: [&str; 15] = [
        "tag",
        "qualified_tag",
        "node_type",
        "parent",
        "zone",
        "class_fields",
        "edge_kind",
        "edge_class",
        "direction_field",
        "line",
        "segment",
        "size",
        "piping_class",
        "fluid",
        "service",
    ];
    let config = TopologyConfig::default();
    // Gephi writes the names of nodes as `Label`.
    LISTS.iter().flat_map(|list| config.list(list)).filter(|name| *name != "label").cloned().collect()
});

/// Type of the values of a column.
#[derive(Clone, Copy, PartialEq)]
enum ColumnType {
    Text,
    Number,
    Bool,
    Any,
}

impl ColumnType {
    fn infer(key: &str, index: usize, records: &[csv::StringRecord]) -> ColumnType {
        let values = || records.iter().filter_map(|record| record.get(index)).filter(|value| !value.is_empty());
        let is_name = [NAME_COLUMNS, NODE_IDS, TAGS].iter().any(|names| names.contains(&key))
            || NAME_SUFFIXES.iter().any(|end| key.ends_with(end))
            || ENDS.iter().any(|pair| pair.contains(&key));
        match () {
            () if is_name => ColumnType::Text,
            () if values().next().is_none() => ColumnType::Any,
            () if values().all(is_number) => ColumnType::Number,
            () if values().all(|value| matches!(value, "true" | "false")) => ColumnType::Bool,
            () => ColumnType::Any,
        }
    }
}

/// Reads a row. An empty cell has no value.
fn fields(keys: &[String], columns: &[ColumnType], record: &csv::StringRecord) -> Fields {
    let mut fields = Fields::default();
    for ((key, column), cell) in keys.iter().zip(columns).zip(record.iter()).filter(|(_, cell)| !cell.is_empty()) {
        let value = match column {
            ColumnType::Number => Json::Number(cell.into()),
            ColumnType::Bool => Json::Bool(cell == "true"),
            ColumnType::Any if cell.starts_with(['{', '[']) => Json::raw(cell).unwrap_or_else(|| Json::text(cell)),
            ColumnType::Any | ColumnType::Text => Json::text(unescape_table_cell(cell)),
        };
        fields.add(key, value);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::{is_plain_name, read_pair};

    #[test]
    fn headings_of_lists_are_read_in_any_spelling() {
        let nodes = "ID,Tag,Component Class,Line Number,NPS,Remarks\n1,HV-1,GateValve,L-1,80,LO\n";
        let edges = "From,To,Type,fluid code\n1,1,piping,P\n";
        let import = read_pair(nodes.as_bytes(), edges.as_bytes()).expect("two tables");
        for part in [
            r#""id":"1","tag":"HV-1","component_class":"GateValve","line_number":"L-1","nps":80,"Remarks":"LO""#,
            r#""from":"1","to":"1","type":"piping","fluid_code":"P""#,
        ] {
            assert!(import.json.contains(part), "{part} in {}", import.json);
        }
    }

    #[test]
    fn a_column_beside_the_one_of_its_known_name_keeps_its_name() {
        let nodes = "id,tag,Tag,class\n1,HV-1,other,valve\n";
        let import = read_pair(nodes.as_bytes(), b"from,to\n").expect("two tables");
        assert!(import.json.contains(r#""tag":"HV-1","Tag":"other","class":"valve""#), "{}", import.json);
        assert_eq!(["tag", "Tag", "Remarks", "Component Class"].map(is_plain_name), [true, false, true, false]);
    }
}
