//! CSV import: reads a pair of tables as a graph. A column of numbers is numeric, unless its name is one of an
//! identifier.

use std::collections::{BTreeMap, HashSet};

use pidq_core::TopologyConfig;
use pidq_core::vocabulary::{NODE_IDS, TAGS};

use crate::encoding::decode_plain;
use crate::error::{Code, Error, Result};
use crate::import::{Finding, Import, ImportBuilder};
use crate::json::{Fields, Json, is_number};
use crate::model::ENDS;
use crate::other_fields::{self, OTHER_FIELDS};
use crate::snake_case::snake_case;

use super::headings::{FIELDS, field_of, is_read};
use super::unescape_table_cell;

/// Maximum number of columns of a table.
const MAX_COLUMNS: usize = 4096;

/// Columns with identifiers, even if these look like numbers.
const NAME_COLUMNS: &[&str] = &["id", "tag", "name", "label", "line", "segment", "revision"];

/// Suffixes of the names of such columns.
const NAME_SUFFIXES: &[&str] = &["_id", "_tag", "_name", "_number", "_class", "_code", "_version"];

/// Name of a table and its columns: the required ones, and those by which its headings are recognized.
struct Table {
    name: &'static str,
    keys: fn() -> Vec<&'static str>,
    marks: fn() -> Vec<&'static str>,
    is_of_nodes: bool,
}

const NODES: Table = Table {
    name: "nodes",
    keys: || NODE_IDS.into(),
    marks: || NODE_IDS.iter().chain(TAGS).copied().collect(),
    is_of_nodes: true,
};

const EDGES: Table = Table {
    name: "edges",
    keys: || ENDS.iter().flatten().copied().collect(),
    marks: || ENDS.iter().flatten().copied().collect(),
    is_of_nodes: false,
};

/// Rows of a table with its headings as written.
#[derive(Default)]
struct Rows {
    fields: Vec<Fields>,
    headings: Vec<String>,
    keys: Vec<String>,
}

/// Reads the nodes and the edges of a graph.
pub fn read_pair(nodes: &[u8], edges: &[u8]) -> Result<Import> {
    let mut builder = ImportBuilder::default();
    let mut nodes = table(nodes, &NODES, &mut builder)?;
    let mut edges = table(edges, &EDGES, &mut builder).map_err(|error| error.in_file(1))?;
    [&mut nodes, &mut edges].into_iter().flat_map(|rows| &mut rows.fields).for_each(other_fields::restore);
    add_ids(&mut nodes, &mut builder)?;
    let has_ends = |edge: &Fields| ENDS.iter().any(|pair| pair.iter().all(|key| edge.get(key).is_some()));
    if !edges.fields.is_empty() && !edges.fields.iter().any(has_ends) {
        let message = format!("the table of edges has no columns `from` and `to`; {}", edges.advice("from` and `to"));
        return Err(Error::new(Code::NotGraph, message).in_file(1));
    }
    report_columns(&nodes, &edges, &mut builder);
    let advice = class_advice(&nodes);
    (builder.nodes, builder.edges, builder.class_advice) = (nodes.fields, edges.fields, advice);
    builder.report_dangling_edges();
    Ok(builder.finish())
}

impl Rows {
    /// Says what to do about a column that is not there.
    fn advice(&self, name: &str) -> String {
        format!("rename the columns that are `{name}`; found: {}", list(self.headings.iter().map(String::as_str)))
    }
}

/// Returns names for a message, the first ones of many.
fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const SHOWN: usize = 30;
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "none".into(),
        count if count > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
        _ => names.join(", "),
    }
}

/// Adds ids to the rows of a table that has none: its tags, if each item has one of its own.
fn add_ids(nodes: &mut Rows, builder: &mut ImportBuilder) -> Result<()> {
    let has_id = |node: &Fields| NODE_IDS.iter().any(|key| node.get(key).is_some());
    if nodes.fields.is_empty() || nodes.fields.iter().any(has_id) {
        return Ok(());
    }
    let tag = |node: &Fields| TAGS.iter().find_map(|key| node.get(key)).map(Json::to_text);
    let tags: Vec<Option<String>> = nodes.fields.iter().map(tag).collect();
    let mut seen = HashSet::new();
    let repeated = tags.iter().flatten().find(|tag| !seen.insert(tag.as_str()));
    if let Some(repeated) = repeated {
        let repeated = repeated.trim_matches('"');
        let message = format!(
            "the table of nodes has no column `id`, and the tag `{repeated}` is there twice; {}",
            nodes.advice("id")
        );
        return Err(Error::new(Code::NotGraph, message));
    }
    if tags.iter().any(Option::is_none) {
        let message =
            format!("the table of nodes has no column `id`, and not every row has a tag; {}", nodes.advice("id"));
        return Err(Error::new(Code::NotGraph, message));
    }
    for node in &mut nodes.fields {
        if let Some(id) = TAGS.iter().find_map(|key| node.get(key)).cloned() {
            node.insert_first("id", id);
        }
    }
    builder.report(Finding::TagsAsIds, Finding::TagsAsIds.summary(), &[]);
    Ok(())
}

/// Reports that no column is a tag, and the columns that nothing reads.
fn report_columns(nodes: &Rows, edges: &Rows, builder: &mut ImportBuilder) {
    let is_tag = |key: &String| TAGS.contains(&key.as_str());
    let has_tag = || nodes.fields.iter().any(|node| TAGS.iter().any(|key| node.get(key).is_some()));
    if !nodes.fields.is_empty() && !nodes.keys.iter().any(is_tag) && !has_tag() {
        let message = format!(
            "no column of the nodes is a tag, so that items are found by their id only; name it `tag`; found: {}",
            list(nodes.headings.iter().map(String::as_str))
        );
        builder.report(Finding::NoTag, message, &[]);
    }
    for (rows, table) in [(nodes, &NODES), (edges, &EDGES)] {
        let required = (table.keys)();
        let is_unread = |(_, key): &(&String, &String)| {
            !required.contains(&key.as_str()) && !is_read(key) && key.as_str() != OTHER_FIELDS
        };
        let unread = rows.headings.iter().zip(&rows.keys).filter(is_unread).map(|(heading, _)| heading.as_str());
        let unread: Vec<&str> = unread.filter(|heading| !heading.is_empty()).collect();
        if !unread.is_empty() {
            let message =
                format!("no function reads these columns of the {}: {}", table.name, list(unread.into_iter()));
            builder.report(Finding::UnreadColumns, message, &[]);
        }
    }
}

/// Names the column whose values look like classes, for a table without known classes.
fn class_advice(nodes: &Rows) -> Option<String> {
    const CHECKED: usize = 2000;
    const COLUMNS: usize = 64;
    let config = TopologyConfig::default();
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    let counts = nodes.keys.iter().take(COLUMNS).map(|key| {
        let values = nodes.fields.iter().take(CHECKED).filter_map(|node| match node.get(key) {
            Some(Json::String(text)) => Some(text.as_str()),
            _ => None,
        });
        let (mut count, mut all) = (0, 0);
        for value in values {
            all += 1;
            count += usize::from(*known.entry(value).or_insert_with(|| config.knows_class(value)));
        }
        (count, all)
    });
    let counts: Vec<(usize, usize)> = counts.collect();
    let best = counts.iter().enumerate().filter(|(_, (count, all))| *count > 0 && 2 * count >= *all);
    let best = best.max_by_key(|(_, (count, _))| *count).map(|(at, _)| at);
    Some(match best.and_then(|at| nodes.headings.get(at)) {
        Some(heading) => {
            format!("the values of the column `{heading}` look like classes: rename it to `component_class`")
        }
        None => format!(
            "name the column with classes `component_class`; found: {}",
            list(nodes.headings.iter().map(String::as_str))
        ),
    })
}

/// Reads the rows of a table of nodes, without restoring their other fields.
pub fn node_rows(bytes: &[u8]) -> Result<Vec<Fields>> {
    Ok(table(bytes, &NODES, &mut ImportBuilder::default())?.fields)
}

/// Reads the rows of a table of edges, without restoring their other fields.
pub fn edge_rows(bytes: &[u8]) -> Result<Vec<Fields>> {
    Ok(table(bytes, &EDGES, &mut ImportBuilder::default())?.fields)
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
            && !keys.iter().any(|key| is_position_heading(key))
    };
    let is_delimiter_found = declared_delimiter(&text).0.is_none() && delimiter(&text) == b',';
    is_delimiter_found && is_named_alike(&NODES) && is_named_alike(&EDGES)
}

/// Returns true for a name that is a column name in any header.
pub fn is_plain_name(name: &str) -> bool {
    let is_renamed = |table: &Table| spelled_otherwise(name, table).is_some();
    // Names that are read by what is beside or below them.
    let is_renamed_at_times = name == "Label" || is_position_heading(name);
    let is_text = !is_renamed_at_times
        && !name.is_empty()
        && name.trim() == name
        && !name.contains([',', ';', '\t', '\r', '\n', '"', '=']);
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

fn table(bytes: &[u8], table: &Table, builder: &mut ImportBuilder) -> Result<Rows> {
    let mut records = records(bytes)?;
    let skipped = rows_before_headings(&records, table);
    if skipped > 0 {
        records.drain(..skipped);
        builder.report_counts(Finding::RowsBeforeHeadings, &[(table.name.to_owned(), skipped)].into());
    }
    let mut records = records.into_iter();
    let Some(header) = records.next() else { return Ok(Rows::default()) };
    let records: Vec<csv::StringRecord> = records.collect();
    let mut keys = keys(&header, table, builder);
    rename_positions(&header, &records, table, &mut keys, builder);
    let columns: Vec<ColumnType> =
        keys.iter().enumerate().map(|(index, key)| ColumnType::infer(key, index, &records)).collect();
    report_extra_cells(table.name, keys.len(), &records, builder);
    let fields = records.iter().map(|record| fields(&keys, &columns, record)).collect();
    let headings = header.iter().map(|cell| unescape_table_cell(cell).trim().to_owned()).collect();
    Ok(Rows { fields, headings, keys })
}

/// Returns the number of rows before the headings: lists begin with a title. 0 if no row has the headings of the table.
fn rows_before_headings(records: &[csv::StringRecord], table: &Table) -> usize {
    const MAX_ROWS: usize = 20;
    let marks = (table.marks)();
    let is_mark = |cell: &str| {
        let name = unescape_table_cell(cell).trim();
        marks.contains(&name) || spelled_otherwise(name, table).is_some_and(|key| marks.contains(&key.as_str()))
    };
    let has_marks = |record: &csv::StringRecord| {
        let count = record.iter().filter(|cell| is_mark(cell)).count();
        count >= if table.is_of_nodes { 1 } else { 2 }
    };
    let is_title = |record: &csv::StringRecord| record.iter().filter(|cell| !cell.trim().is_empty()).count() <= 2;
    let found = records.iter().take(MAX_ROWS).position(has_marks).unwrap_or_default();
    if records.iter().take(found).all(is_title) { found } else { 0 }
}

/// Renames a column `Position` that has the positions of valves: in other tables, it is where an item is.
fn rename_positions(
    header: &csv::StringRecord,
    records: &[csv::StringRecord],
    table: &Table,
    keys: &mut [String],
    builder: &mut ImportBuilder,
) {
    const FIELD: &str = "normal_position";
    const LISTS: [&str; 4] = ["open_values", "closed_values", "locked_open_values", "locked_closed_values"];
    let config = TopologyConfig::default();
    let found = keys.iter().position(|key| is_position_heading(key)).filter(|_| table.is_of_nodes);
    let Some(at) = found.filter(|_| !keys.iter().any(|key| snake_case(key) == FIELD)) else { return };
    let mut values =
        records.iter().filter_map(|record| record.get(at)).map(str::trim).filter(|value| !value.is_empty());
    let is_position = |value: &str| LISTS.iter().any(|list| config.contains_word(list, value));
    if values.clone().next().is_some() && values.all(is_position) {
        report_renamed(header.get(at).unwrap_or_default().trim(), FIELD, table, builder);
        keys[at] = FIELD.to_owned();
    }
}

/// Returns whether a name is a heading for positions of any kind, and not the field of pidq.
fn is_position_heading(name: &str) -> bool {
    name != "position" && name.eq_ignore_ascii_case("position")
}

fn report_renamed(original: &str, key: &str, table: &Table, builder: &mut ImportBuilder) {
    let message = format!("the column `{original}` of the {} was renamed to `{key}`", table.name);
    builder.report(Finding::KeyRenamed, message, &[]);
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
            // A second heading for the same field keeps its name.
            name => {
                Some(canonical_key(name, table, header)).filter(|key| !used.contains(key)).unwrap_or(name.to_owned())
            }
        };
        if !original.is_empty() && key_base != original {
            report_renamed(original, &key_base, table, builder);
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
/// `Component Class`. Gephi writes the names of nodes as `Label`.
fn canonical_key(name: &str, table: &Table, header: &csv::StringRecord) -> String {
    let has_column = |key: &String| header.iter().any(|cell| unescape_table_cell(cell).trim() == key);
    if name == "Label" && table.is_of_nodes {
        let key = |cell: &str| spelled_otherwise(cell, table).unwrap_or_else(|| cell.to_owned());
        let is_tag = |cell: &str| TAGS.contains(&key(unescape_table_cell(cell).trim()).as_str());
        return if header.iter().any(is_tag) { name } else { "tag" }.to_owned();
    }
    spelled_otherwise(name, table).filter(|key| !has_column(key)).unwrap_or_else(|| name.to_owned())
}

/// Returns the name of a required column, or of a field that is read by its exact name, for another spelling of it.
fn spelled_otherwise(name: &str, table: &Table) -> Option<String> {
    let required = (table.keys)();
    if required.contains(&name) || FIELDS.contains(name) {
        return None;
    }
    let known = required.into_iter().find(|key| key.eq_ignore_ascii_case(name)).map(str::to_owned);
    let spelled = || Some(snake_case(name)).filter(|key| FIELDS.contains(key));
    known.or_else(spelled).or_else(|| field_of(name, table.is_of_nodes)).filter(|key| key != name)
}

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
