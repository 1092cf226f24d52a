//! Role client: runs SQL, or a trace across drawings, on a cluster or in this process.

use std::io::{Read, Write};

use ballista::prelude::SessionContextExt;
use clap::{Args, ValueEnum};
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{DataFrame, SessionContext};
use datafusion::sql::parser::DFParser;
use futures::StreamExt;
use pidq_datafusion::{Functions, TraceRequest};

use crate::{Result, session};

/// Options for the place where statements run, and for their tables.
#[derive(Args)]
struct Connection {
    /// Address of the scheduler, such as `df://127.0.0.1:50050`; without it, statements run in this process
    #[arg(long)]
    scheduler: Option<String>,
    /// A table, `NAME=PATH`: a Parquet or NDJSON file, or a directory of Parquet files. Executors read the same path
    #[arg(long = "table", value_name = "NAME=PATH", value_parser = parse_table)]
    tables: Vec<(String, String)>,
    /// A setting, `NAME=VALUE`, such as `pidq.on_error=fail`
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    settings: Vec<(String, String)>,
}

/// Options of `client`.
#[derive(Args)]
pub(crate) struct SqlOptions {
    #[command(flatten)]
    connection: Connection,
    /// Format of the rows
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// The statement; without it, statements are read from standard input, separated by `;`
    sql: Option<String>,
}

/// Options of `trace`.
#[derive(Args)]
pub(crate) struct TraceOptions {
    #[command(flatten)]
    connection: Connection,
    /// The table of the drawings
    #[arg(long, default_value = "drawings")]
    from: String,
    /// Its column with the names of the drawings
    #[arg(long, default_value = "drawing")]
    key_column: String,
    /// Its column with the drawings
    #[arg(long, default_value = "graph")]
    drawing_column: String,
    /// A table with the stored result of `pidq_boundary`
    #[arg(long)]
    boundary: Option<String>,
    /// The drawing with the item
    drawing: String,
    /// Id or tag of the item
    item: String,
}

/// Format of rows.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A table; all rows are kept in memory
    Table,
    /// One JSON object per row
    Json,
}

fn parse_table(text: &str) -> std::result::Result<(String, String), String> {
    split(text).ok_or_else(|| format!("`{text}` is not NAME=PATH"))
}

fn parse_setting(text: &str) -> std::result::Result<(String, String), String> {
    split(text).ok_or_else(|| format!("`{text}` is not NAME=VALUE"))
}

fn split(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((name.to_owned(), value.to_owned()))
}

impl Connection {
    async fn open(&self) -> Result<SessionContext> {
        let mut config = session::config();
        for (name, value) in &self.settings {
            config.options_mut().set(name, value)?;
        }
        let functions = Functions::default();
        let state = session::state(config, &functions)?;
        let ctx = match &self.scheduler {
            Some(url) => SessionContext::remote_with_state(url, state).await?,
            None => SessionContext::new_with_state(state),
        };
        // A remote session has only the functions of Ballista.
        functions.register(&ctx);
        for (name, path) in &self.tables {
            let quoted = path.replace('\'', "''");
            let is_json = [".json", ".ndjson", ".jsonl"].iter().any(|end| path.ends_with(end));
            let format = if is_json { "JSON" } else { "PARQUET" };
            ctx.sql(&format!("CREATE EXTERNAL TABLE {name} STORED AS {format} LOCATION '{quoted}'")).await?;
        }
        Ok(ctx)
    }
}

/// Runs statements and prints their rows.
pub(crate) async fn sql(options: SqlOptions) -> Result<()> {
    let ctx = options.connection.open().await?;
    let text = match options.sql {
        Some(text) => text,
        None => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            text
        }
    };
    let statements = DFParser::parse_sql(&text)?;
    for statement in statements {
        let plan = ctx.state().statement_to_plan(statement).await?;
        print(ctx.execute_logical_plan(plan).await?, options.format).await?;
    }
    Ok(())
}

async fn print(rows: DataFrame, format: Format) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match format {
        Format::Table => {
            let batches = rows.collect().await?;
            if batches.iter().any(|batch| batch.num_columns() > 0) {
                writeln!(out, "{}", pretty_format_batches(&batches)?)?;
            }
        }
        Format::Json => {
            let mut writer = LineDelimitedWriter::new(&mut out);
            let mut stream = rows.execute_stream().await?;
            while let Some(batch) = stream.next().await {
                writer.write(&batch?)?;
            }
            writer.finish()?;
        }
    }
    Ok(())
}

/// Follows the flow from an item, and prints one reached item per line.
pub(crate) async fn trace(options: TraceOptions) -> Result<()> {
    let ctx = options.connection.open().await?;
    let request = TraceRequest {
        key_column: options.key_column,
        drawing_column: options.drawing_column,
        boundary_table: options.boundary,
        ..TraceRequest::new(&options.from, &options.drawing, &options.item)
    };
    let trace = pidq_datafusion::downstream(&ctx, &request).await?;
    let mut out = std::io::stdout().lock();
    for item in &trace.items {
        writeln!(out, "{}\t{}", item.drawing, item.id)?;
    }
    eprintln!("{} items on {} drawings", trace.items.len(), trace.drawings);
    for end in &trace.open_ends {
        eprintln!("open end: connector {} of drawing {} has no partner", end.id, end.drawing);
    }
    for (drawing, error) in &trace.unread {
        eprintln!("unread: drawing {drawing}: {error}");
    }
    Ok(())
}
