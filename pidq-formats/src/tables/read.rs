//! A CSV pair → a graph. A column whose every value is a number holds numbers, unless its name says that it holds names.

use pidq_core::vocabulary::{NODE_IDS, TAGS};

use crate::error::{Code, Error, Result};
use crate::import::{Draft, Finding, Imported};
use crate::json::{Fields, Json, is_number};
use crate::model::ENDS;
use crate::text::decode_plain;

use super::uncell;

/// Columns of a table.
const MAX_COLUMNS: usize = 4096;

/// Columns that hold names, even where these look like numbers.
const NAMES: &[&str] = &["id", "tag", "name", "label", "line", "segment", "revision"];

/// How the names of such columns end.
const NAME_ENDS: &[&str] = &["_id", "_tag", "_name", "_number", "_class", "_code", "_version"];

/// What a table is called, and the columns that it has to have.
struct Table {
    name: &'static str,
    keys: fn() -> Vec<&'static str>,
}

const NODES: Table = Table { name: "nodes", keys: || NODE_IDS.into() };

const EDGES: Table = Table { name: "edges", keys: || ENDS.iter().flatten().copied().collect() };

/// Reads the nodes and the edges of a graph.
pub fn read_pair(nodes: &[u8], edges: &[u8]) -> Result<Imported> {
    let mut draft = Draft::default();
    draft.nodes = table(nodes, &NODES, &mut draft)?;
    draft.edges = table(edges, &EDGES, &mut draft)?;
    let has_id = |node: &Fields| NODE_IDS.iter().any(|key| node.get(key).is_some());
    let has_ends = |edge: &Fields| ENDS.iter().any(|pair| pair.iter().all(|key| edge.get(key).is_some()));
    if !draft.nodes.is_empty() && !draft.nodes.iter().any(has_id) {
        return Err(Error::new(Code::NotGraph, "the table of nodes has no column `id`"));
    }
    if !draft.edges.is_empty() && !draft.edges.iter().any(has_ends) {
        return Err(Error::new(Code::NotGraph, "the table of edges has no columns `from` and `to`"));
    }
    Ok(draft.finish())
}

fn table(bytes: &[u8], table: &Table, draft: &mut Draft) -> Result<Vec<Fields>> {
    let text = decode_plain(bytes)?;
    let (mark, text) = said_delimiter(&text);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(mark.unwrap_or_else(|| delimiter(text)))
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut records = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| Error::new(Code::NotTable, error.to_string()))?;
        records.push(record);
    }
    let mut records = records.into_iter();
    let Some(header) = records.next() else { return Ok(Vec::new()) };
    if header.len() > MAX_COLUMNS {
        return Err(Error::new(Code::TooLarge, format!("a table has at most {MAX_COLUMNS} columns")));
    }
    let keys = keys(&header, table, draft);
    let records: Vec<csv::StringRecord> = records.collect();
    let columns: Vec<Column> = keys.iter().enumerate().map(|(index, key)| Column::of(key, index, &records)).collect();
    let lost = records.iter().filter(|record| record.len() > keys.len()).count();
    if lost > 0 {
        draft.find_counts(Finding::CellWithoutColumn, &[(table.name.to_owned(), lost)].into());
    }
    Ok(records.iter().map(|record| fields(&keys, &columns, record)).collect())
}

/// The delimiter that a first line `sep=;` says, as spreadsheets write it, and the text behind it.
fn said_delimiter(text: &str) -> (Option<u8>, &str) {
    let first = text.lines().next().unwrap_or_default();
    match first.strip_prefix("sep=").map(str::as_bytes) {
        Some([mark]) => (Some(*mark), text[first.len()..].trim_start_matches(['\r', '\n'])),
        _ => (None, text),
    }
}

/// What stands most often in the first line: tables of some countries have semicolons.
fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let count = |mark: &u8| first.bytes().filter(|byte| byte == mark).count();
    *b",;\t".iter().rev().max_by_key(|mark| count(mark)).unwrap_or(&b',')
}

/// The names of the columns. One that has none, or one that another has, gets one.
fn keys(header: &csv::StringRecord, table: &Table, draft: &mut Draft) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (index, cell) in header.iter().enumerate() {
        let written = uncell(cell).trim();
        let wanted = match written {
            "" => format!("column_{}", index + 1),
            name => as_known(name, table, header).to_owned(),
        };
        if !written.is_empty() && wanted != written {
            let message = format!("the column `{written}` of the {} is `{wanted}` here", table.name);
            draft.find(Finding::KeyRenamed, message, &[]);
        }
        let key = match keys.contains(&wanted) {
            true => format!("{wanted}_{}", index + 1),
            false => wanted.clone(),
        };
        if key != wanted {
            draft.find(
                Finding::KeyRenamed,
                format!("a second column `{wanted}` of the {} is `{key}` here", table.name),
                &[],
            );
        }
        keys.push(key);
    }
    keys
}

/// A column that a table has to have, in its usual letters: other tools write `Id` and `Source`.
fn as_known<'n>(name: &'n str, table: &Table, header: &csv::StringRecord) -> &'n str {
    let is_there = |key: &str| header.iter().any(|cell| uncell(cell).trim() == key);
    let known = (table.keys)().into_iter().find(|key| key.eq_ignore_ascii_case(name));
    known.filter(|key| !is_there(key)).unwrap_or(name)
}

/// What the values of a column are.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    Text,
    Number,
    Bool,
    Any,
}

impl Column {
    fn of(key: &str, index: usize, records: &[csv::StringRecord]) -> Column {
        let values = || records.iter().filter_map(|record| record.get(index)).filter(|value| !value.is_empty());
        let is_name = [NAMES, NODE_IDS, TAGS].iter().any(|names| names.contains(&key))
            || NAME_ENDS.iter().any(|end| key.ends_with(end))
            || ENDS.iter().any(|pair| pair.contains(&key));
        match () {
            () if is_name => Column::Text,
            () if values().next().is_none() => Column::Any,
            () if values().all(is_number) => Column::Number,
            () if values().all(|value| matches!(value, "true" | "false")) => Column::Bool,
            () => Column::Any,
        }
    }
}

/// A row. An empty cell is no value.
fn fields(keys: &[String], columns: &[Column], record: &csv::StringRecord) -> Fields {
    let mut fields = Fields::default();
    for ((key, column), cell) in keys.iter().zip(columns).zip(record.iter()).filter(|(_, cell)| !cell.is_empty()) {
        let value = match column {
            Column::Number => Json::Number(cell.into()),
            Column::Bool => Json::Bool(cell == "true"),
            Column::Any if cell.starts_with(['{', '[']) => Json::raw(cell).unwrap_or_else(|| Json::text(cell)),
            Column::Any | Column::Text => Json::text(uncell(cell)),
        };
        fields.add(key, value);
    }
    fields
}
