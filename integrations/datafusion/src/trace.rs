//! Trace of the flow across the drawings of a table.
//!
//! Three steps, of which only the second one happens here: *map* runs `pidq_boundary` on every drawing; *stitch* joins
//! the off-page connectors of all drawings, and finds those that the flow reaches; *expand* walks again on the drawings
//! that the flow enters. The drawings themselves never leave the workers.

mod stitch;

use std::collections::{BTreeMap, BTreeSet};

use datafusion::arrow::array::{Array, AsArray, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, TableReference, exec_datafusion_err, exec_err};
use datafusion::prelude::SessionContext;
use pidq_core::{Graph, Limits, Value};

use stitch::{Boundary, Connectors};

/// Request for a trace.
#[derive(Clone, Debug)]
pub struct TraceRequest {
    /// The table of the drawings.
    pub table: String,
    /// Its column with the names of the drawings, each once.
    pub key_column: String,
    /// Its column with the drawings.
    pub drawing_column: String,
    /// A table with the stored result of `pidq_boundary`. If `None`, it is computed.
    pub boundary_table: Option<String>,
    /// The drawing with the item where the trace begins.
    pub drawing: String,
    /// Id or tag of the item.
    pub item: String,
    /// Limits for joining the connectors of all drawings.
    pub limits: Limits<'static>,
}

impl TraceRequest {
    /// Returns a request for a table with the columns `drawing` and `graph`.
    pub fn new(table: &str, drawing: &str, item: &str) -> TraceRequest {
        let limits =
            Limits { fuel: 100_000_000_000, memory: 4 << 30, output: 4 << 30, rows: 100_000_000, ..Limits::default() };
        TraceRequest {
            table: table.into(),
            key_column: "drawing".into(),
            drawing_column: "graph".into(),
            boundary_table: None,
            drawing: drawing.into(),
            item: item.into(),
            limits,
        }
    }
}

/// An item of a drawing.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Item {
    /// The drawing.
    pub drawing: String,
    /// The id of the item; a number as JSON.
    pub id: String,
}

/// A reached off-page connector at which the trace ends, because no drawing of the table has its partner.
pub type OpenEnd = Item;

/// Result of a trace.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The items that the flow reaches, by drawing and id, without the first one.
    pub items: Vec<Item>,
    /// Connectors at which the flow leaves the drawings of the table.
    pub open_ends: Vec<OpenEnd>,
    /// Drawings that could not be read, and why. The flow may continue there.
    pub unread: Vec<(String, String)>,
    /// Drawings that the flow reaches.
    pub drawings: usize,
}

impl Trace {
    /// Returns whether the flow was followed to its ends: no drawing was unread, and no connector without a partner.
    pub fn is_complete(&self) -> bool {
        self.open_ends.is_empty() && self.unread.is_empty()
    }
}

/// The first walk: the item, the items that the flow reaches on its drawing, and the connectors among them.
const START: &str = r#"let({
  start: node($item).id,
  reached: downstream($item, {pass: "zone"}) | map(.id),
  connectors: offPageList() | map(.id)
}, {start: $start, reached: $reached, exits: [[$start], $reached] | flatten() | filter(in(get(), $connectors))})"#;

/// The walk on a drawing that the flow enters.
const EXPAND: &str = r#"downstream($from, {pass: "zone"}) | map(.id)"#;

/// Drawings of one statement of the last step.
const EXPAND_BATCH: usize = 200;

/// Follows the flow from an item to all items that it reaches, through equipment and across drawings.
///
/// The result equals `downstream(item, {pass: "zone"})` on all drawings joined by `joinSheets`, which is only possible
/// as long as they fit into one process.
///
/// # Errors
/// If the drawing, the item or a column does not exist, or a limit is exceeded.
pub async fn downstream(ctx: &SessionContext, request: &TraceRequest) -> Result<Trace> {
    let start = start(ctx, request).await?;
    let (boundaries, mut unread) = boundaries(ctx, request).await?;
    let connectors = Connectors::stitch(&boundaries, &request.limits)?;
    let reached = connectors.reached(&request.drawing, &start.exits);

    let mut items: BTreeSet<(String, String)> =
        start.reached.into_iter().map(|id| (request.drawing.clone(), id)).collect();
    items.extend(reached.entries.iter().flat_map(|(drawing, ids)| ids.iter().map(|id| (drawing.clone(), id.clone()))));
    let entries: Vec<(&String, &BTreeSet<String>)> = reached.entries.iter().collect();
    for batch in entries.chunks(EXPAND_BATCH) {
        expand(ctx, request, batch, &mut items, &mut unread).await?;
    }
    items.remove(&(request.drawing.clone(), start.id));

    let drawings = items.iter().map(|(drawing, _)| drawing).collect::<BTreeSet<_>>().len();
    let item = |(drawing, id): (String, String)| Item { drawing, id: plain(&id) };
    Ok(Trace {
        items: items.into_iter().map(item).collect(),
        open_ends: reached.open_ends.into_iter().map(item).collect(),
        unread: unread.into_iter().collect(),
        drawings,
    })
}

/// Ids as JSON.
struct Start {
    id: String,
    reached: Vec<String>,
    exits: Vec<String>,
}

async fn start(ctx: &SessionContext, request: &TraceRequest) -> Result<Start> {
    let params = format!("{{\"item\":{}}}", json_text(&request.item));
    let arguments = format!("{}, {}, {}", identifier(&request.drawing_column), literal(START), literal(&params));
    let sql = format!(
        "SELECT pidq({arguments}), pidq_error({arguments}) FROM {} WHERE {} = {}",
        table(&request.table),
        identifier(&request.key_column),
        literal(&request.drawing)
    );
    let rows = rows(ctx, &sql, 2).await?;
    let [row] = rows.as_slice() else {
        return exec_err!("{} drawings have the name `{}`", rows.len(), request.drawing);
    };
    match row.as_slice() {
        [Some(result), _] => {
            let graph = load(result)?;
            let field = |name: &str| graph.root().as_object().and_then(|object| object.get(name));
            let id = field("start").map(json).ok_or_else(|| exec_datafusion_err!("the item has no id"))?;
            Ok(Start { id, reached: list(field("reached")), exits: list(field("exits")) })
        }
        [_, error] => exec_err!("{} on drawing `{}`", error.as_deref().unwrap_or("no result"), request.drawing),
        _ => exec_err!("two columns were expected"),
    }
}

/// Returns the boundaries of all drawings by name, and the drawings that could not be read.
async fn boundaries(ctx: &SessionContext, request: &TraceRequest) -> Result<(Vec<Boundary>, BTreeMap<String, String>)> {
    let source = match &request.boundary_table {
        Some(name) => table(name),
        None => format!("pidq_boundary({}, {})", literal(&request.table), literal(&request.drawing_column)),
    };
    let key = identifier(&request.key_column);
    let sql = format!("SELECT {key}, sheet, connectors, paths, pidq_error FROM {source}");
    let (mut found, mut unread) = (BTreeMap::new(), BTreeMap::new());
    for row in rows(ctx, &sql, 5).await? {
        match row.as_slice() {
            [Some(drawing), Some(sheet), Some(connectors), Some(paths), None] => {
                let boundary = Boundary::parse(drawing, sheet, connectors, paths)?;
                if found.insert(drawing.clone(), boundary).is_some() {
                    return exec_err!("two drawings have the name `{drawing}`");
                }
            }
            [drawing, _, _, _, error] => {
                let name = drawing.clone().unwrap_or_else(|| "NULL".into());
                unread.insert(name, error.clone().unwrap_or_else(|| "no boundary".into()));
            }
            _ => return exec_err!("five columns were expected"),
        }
    }
    Ok((found.into_values().collect(), unread))
}

async fn expand(
    ctx: &SessionContext,
    request: &TraceRequest,
    entries: &[(&String, &BTreeSet<String>)],
    items: &mut BTreeSet<(String, String)>,
    unread: &mut BTreeMap<String, String>,
) -> Result<()> {
    let key = identifier(&request.key_column);
    // A CASE instead of a join: a join would send the drawings from worker to worker.
    let params =
        |ids: &BTreeSet<String>| format!("{{\"from\":[{}]}}", ids.iter().cloned().collect::<Vec<_>>().join(","));
    let case = |(drawing, ids): &(&String, &BTreeSet<String>)| {
        format!("WHEN {} THEN {}", literal(drawing), literal(&params(ids)))
    };
    let cases: Vec<String> = entries.iter().map(case).collect();
    let names: Vec<String> = entries.iter().map(|(drawing, _)| literal(drawing)).collect();
    let case = format!("CASE {key} {} END", cases.join(" "));
    let arguments = format!("{}, {}, {case}", identifier(&request.drawing_column), literal(EXPAND));
    let sql = format!(
        "SELECT {key}, pidq({arguments}), pidq_error({arguments}) FROM {} WHERE {key} IN ({})",
        table(&request.table),
        names.join(", ")
    );
    for row in rows(ctx, &sql, 3).await? {
        match row.as_slice() {
            [Some(drawing), Some(ids), _] => {
                items.extend(list(Some(load(ids)?.root())).into_iter().map(|id| (drawing.clone(), id)));
            }
            [Some(drawing), None, error] => {
                unread.insert(drawing.clone(), error.clone().unwrap_or_else(|| "no result".into()));
            }
            _ => return exec_err!("a drawing has no name"),
        }
    }
    Ok(())
}

/// Runs a statement and returns its rows as texts.
async fn rows(ctx: &SessionContext, sql: &str, width: usize) -> Result<Vec<Vec<Option<String>>>> {
    let mut rows = Vec::new();
    for batch in ctx.sql(sql).await?.collect().await? {
        let columns = batch.columns().iter().take(width).map(|column| cast(column, &DataType::Utf8));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<&StringArray> = columns.iter().map(|column| column.as_string()).collect();
        let text = |column: &StringArray, row| column.is_valid(row).then(|| column.value(row).to_owned());
        rows.extend((0..batch.num_rows()).map(|row| columns.iter().map(|column| text(column, row)).collect()));
    }
    Ok(rows)
}

fn table(name: &str) -> String {
    TableReference::parse_str(name).to_quoted_string()
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn load(json: &str) -> Result<Graph> {
    Graph::from_json(json).map_err(|error| exec_datafusion_err!("pidq: {error}"))
}

/// Returns the items of an array as JSON.
fn list(value: Option<Value<'_>>) -> Vec<String> {
    value.and_then(Value::as_array).map_or_else(Vec::new, |items| items.iter().map(json).collect())
}

fn json(value: Value<'_>) -> String {
    let mut text = String::new();
    let mut append = |chunk: &str| -> pidq_core::Result<()> {
        text.push_str(chunk);
        Ok(())
    };
    // Neither the limit nor the sink fails.
    let written = value.write_json(usize::MAX, &mut append);
    debug_assert!(written.is_ok());
    text
}

fn json_text(text: &str) -> String {
    json(Value::String(text))
}

/// Returns an id as text: a string without quotes.
fn plain(json: &str) -> String {
    let graph = Graph::from_json(json).ok();
    let text = graph.as_ref().and_then(|graph| graph.root().as_str());
    text.unwrap_or(json).to_owned()
}
