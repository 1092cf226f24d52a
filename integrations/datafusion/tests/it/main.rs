//! The functions in a session of one process, compared with plain pidq.

mod functions;
mod plant;
mod rows;
mod trace;

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use datafusion::prelude::SessionContext;

/// Drawings with different faults.
const DRAWINGS: &[(&str, Option<&str>)] = &[
    ("good", Some(r#"{"nodes": [{"tag": "P-1", "kw": 15, "on": true}, {"tag": "P-2", "kw": 7.5}]}"#)),
    ("empty", Some(r#"{"nodes": []}"#)),
    ("broken", Some(r#"{"nodes": ["#)),
    ("null", None),
];

/// Returns a session with a table of drawings in a given layout.
fn session(drawings: &[(&str, Option<&str>)], layout: &DataType) -> Result<SessionContext> {
    let ctx = SessionContext::new();
    pidq_datafusion::register(&ctx);
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(drawings.iter().map(|(name, _)| name)));
    let graphs: ArrayRef = Arc::new(StringArray::from_iter(drawings.iter().map(|(_, graph)| *graph)));
    let columns = [("drawing", names), ("graph", cast(&graphs, layout)?)];
    ctx.register_batch("drawings", RecordBatch::try_from_iter(columns)?)?;
    Ok(ctx)
}

/// Returns the rows of a statement as text: cells separated by ` | `, NULL as `-`.
async fn rows(ctx: &SessionContext, sql: &str) -> Result<Vec<String>> {
    let mut rows = Vec::new();
    for batch in ctx.sql(sql).await?.collect().await? {
        let columns: Vec<ArrayRef> =
            batch.columns().iter().map(|column| cast(column, &DataType::Utf8)).collect::<Result<_, _>>()?;
        let cell = |column: &ArrayRef, row| match column.is_valid(row) {
            true => column.as_string::<i32>().value(row).to_owned(),
            false => "-".into(),
        };
        rows.extend(
            (0..batch.num_rows())
                .map(|row| columns.iter().map(|column| cell(column, row)).collect::<Vec<_>>().join(" | ")),
        );
    }
    Ok(rows)
}

/// Returns the message of a statement that fails.
async fn failure(ctx: &SessionContext, sql: &str) -> String {
    match rows(ctx, sql).await {
        Ok(rows) => format!("no failure: {rows:?}"),
        Err(error) => error.strip_backtrace(),
    }
}
