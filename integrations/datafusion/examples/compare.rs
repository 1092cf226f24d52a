//! Time per drawing of the same questions: the functions of pidq, the JSON functions of DataFusion, and Python.
//!
//!     cargo run --example compare -- [DRAWINGS] [NODES]
//!
//! One partition, so one core. The least CPU time of five runs, in microseconds per drawing, from Parquet to the answer;
//! Python reads a file with one drawing per line. Linux only.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{ArrayRef, AsArray, LargeStringArray, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use tempfile::TempDir;

#[path = "../../../benches/synthetic_plant.rs"]
mod synthetic_plant;

const RUNS: usize = 5;

/// A question, and the statement for each of the engines that can answer it.
struct Question {
    name: &'static str,
    pidq: &'static str,
    json_functions: Option<&'static str>,
    python: Option<&'static str>,
}

const QUESTIONS: &[Question] = &[
    Question {
        name: "read the bytes",
        pidq: "SELECT sum(octet_length(graph)) FROM drawings",
        json_functions: None,
        python: None,
    },
    Question {
        name: "count nodes",
        pidq: "SELECT sum(pidq_number(graph, '.pid_graph.nodes | size()')) FROM drawings",
        json_functions: Some("SELECT sum(json_length(graph, 'pid_graph', 'nodes')) FROM drawings"),
        python: Some("len(json.loads(line)['pid_graph']['nodes'])"),
    },
    Question {
        name: "count gate valves",
        pidq: "SELECT sum(pidq_number(graph, '.pid_graph.nodes | filter(.class == \"GateValve\") | size()')) FROM drawings",
        json_functions: Some(
            "SELECT count(*) FROM (SELECT unnest(json_get_array(graph, 'pid_graph', 'nodes')) AS node FROM drawings)
             WHERE json_get_str(node, 'class') = 'GateValve'",
        ),
        python: Some("sum(node.get('class') == 'GateValve' for node in json.loads(line)['pid_graph']['nodes'])"),
    },
    Question {
        name: "rows of gate valves",
        pidq: "SELECT count(tag) FROM pidq_rows('drawings', '.pid_graph.nodes | filter(.class == \"GateValve\")', 'id text, tag text')",
        json_functions: Some(
            "SELECT count(tag) FROM (
               SELECT json_get_str(node, 'id') AS id, json_get_str(node, 'tag') AS tag
               FROM (SELECT unnest(json_get_array(graph, 'pid_graph', 'nodes')) AS node FROM drawings)
               WHERE json_get_str(node, 'class') = 'GateValve')",
        ),
        python: Some(
            "len([(node['id'], node['tag']) for node in json.loads(line)['pid_graph']['nodes'] if node.get('class') == 'GateValve'])",
        ),
    },
    Question {
        name: "dead ends of the piping",
        pidq: "SELECT sum(pidq_number(graph, 'deadEnds() | size()')) FROM drawings",
        json_functions: None,
        python: None,
    },
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let count = arguments.next().transpose()?.unwrap_or(400);
    let nodes = arguments.next().transpose()?.unwrap_or(240);
    let directory = TempDir::new()?;
    let size = write_drawings(directory.path(), count, nodes)?;
    println!("{count} drawings with {nodes} nodes, {:.1} MB of JSON", size as f64 / 1e6);

    let config = SessionConfig::new().with_target_partitions(1).with_batch_size(64);
    let mut ctx = SessionContext::new_with_config(config);
    pidq_datafusion::register(&ctx);
    datafusion_functions_json::register_all(&mut ctx)?;
    let file = directory.path().join("drawings.parquet");
    ctx.register_parquet("drawings", file.to_str().ok_or("a path")?, ParquetReadOptions::default()).await?;
    println!("{:<26}{:>10}{:>16}{:>10}   µs of CPU per drawing", "question", "pidq", "json functions", "python");
    for question in QUESTIONS {
        let (answer, pidq) = sql(&ctx, question.pidq).await?;
        let mut cells = vec![pidq.as_micros() as usize / count];
        let mut texts = vec![cells[0].to_string()];
        if let Some(statement) = question.json_functions {
            let (other, time) = sql(&ctx, statement).await?;
            assert_eq!(other, answer, "{}", question.name);
            cells.push(time.as_micros() as usize / count);
        }
        texts.push(cells.get(1).map_or_else(|| "-".into(), usize::to_string));
        match question.python {
            Some(expression) => {
                let (other, time) = python(directory.path(), expression)?;
                assert_eq!(other, answer, "{}", question.name);
                texts.push((time.as_micros() as usize / count).to_string());
            }
            None => texts.push("-".into()),
        }
        println!("{:<26}{:>10}{:>16}{:>10}", question.name, texts[0], texts[1], texts[2]);
    }
    Ok(())
}

/// Writes the drawings as Parquet, and one per line for Python.
fn write_drawings(directory: &Path, count: usize, nodes: usize) -> Result<usize, Box<dyn Error>> {
    let mut names = Vec::new();
    let mut graphs = Vec::new();
    let mut lines = std::fs::File::create(directory.join("drawings.ndjson"))?;
    for seed in 0..count {
        let graph = String::from_utf8(synthetic_plant::generate_plant(nodes, seed as u64 + 1))?;
        writeln!(lines, "{}", graph.trim_end())?;
        names.push(format!("drawing-{seed}"));
        graphs.push(graph);
    }
    let size = graphs.iter().map(String::len).sum();
    let columns: [(&str, ArrayRef); 2] =
        [("drawing", Arc::new(StringArray::from(names))), ("graph", Arc::new(LargeStringArray::from(graphs)))];
    let batch = RecordBatch::try_from_iter(columns)?;
    let mut writer =
        ArrowWriter::try_new(std::fs::File::create(directory.join("drawings.parquet"))?, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(size)
}

/// Returns the answer of a statement, and its shortest time.
async fn sql(ctx: &SessionContext, statement: &str) -> Result<(f64, Duration), Box<dyn Error>> {
    let mut shortest = Duration::MAX;
    let mut answer = 0.0;
    for _ in 0..RUNS {
        let start = cpu_time()?;
        let batches = ctx.sql(statement).await?.collect().await?;
        shortest = shortest.min(cpu_time()? - start);
        let column = cast(batches.first().ok_or("no rows")?.column(0), &DataType::Float64)?;
        answer = column.as_primitive::<datafusion::arrow::datatypes::Float64Type>().value(0);
    }
    Ok((answer, shortest))
}

/// Returns the CPU time of all threads of this process.
fn cpu_time() -> Result<Duration, Box<dyn Error>> {
    let mut total = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let statistics = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        total += statistics.split(' ').next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(Duration::from_nanos(total))
}

/// Returns the sum of an expression over all drawings, and the shortest time without the start of Python.
fn python(directory: &Path, expression: &str) -> Result<(f64, Duration), Box<dyn Error>> {
    let program = format!(
        "import json, time\nbest = 1e9\nfor _ in range({RUNS}):\n start = time.process_time()\n total = 0\n for line in open('drawings.ndjson', encoding='utf-8'):\n  total += {expression}\n best = min(best, time.process_time() - start)\nprint(total, best)"
    );
    let output = Command::new("python3").args(["-c", &program]).current_dir(directory).output()?;
    let text = String::from_utf8(output.stdout)?;
    let (total, seconds) = text.trim().split_once(' ').ok_or("python3 has no output")?;
    Ok((total.parse()?, Duration::from_secs_f64(seconds.parse()?)))
}
