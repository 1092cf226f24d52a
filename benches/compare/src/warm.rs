//! Warm runs: queries on a loaded drawing, and the cost of loading it.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

use crate::Result;
use crate::baseline::Columns;
use crate::digest::Digest;
use crate::measure::{Contestant, contest, in_process, timed};
use crate::memory::Memory;
use crate::options::Options;
use crate::pidq::{self, Plan};
use crate::processes::{Worker, WorkerTask};
use crate::queries::{Drawing, FUNCTIONS, TASKS};
use crate::reader::Reader;
use crate::result::{Measurement, PIDQ, ReportData, TaskResult};
use crate::rust_peers::{self, Documents};

/// Number of nodes up to which all peers hold the drawing at the same time.
const MAX_NODES: usize = 200_000;

pub fn load(drawing: &Drawing, options: &Options) -> Result<ReportData> {
    let text = drawing.text.as_slice();
    let mut measurements = Vec::new();
    let mut contestants: Vec<Box<dyn Contestant + '_>> = Vec::new();
    let pidq_contestant = Reader::new(PIDQ, move || text.to_vec(), pidq::load);
    for reader in std::iter::once(pidq_contestant).chain(rust_peers::readers(text)) {
        measurements.extend(memory(&reader, drawing)?);
        contestants.push(Box::new(reader));
    }
    for worker in workers(drawing, &["jsonquery JS", "jsonquerylang Python"]) {
        let retained = worker.borrow_mut().load()?.bytes.unwrap_or_default();
        measurements.push(measurement(worker.borrow().name(), drawing, "retained B/node", per_node(retained, drawing)));
        contestants.push(Box::new(WorkerTask::load(worker)));
    }
    let scores = contest(contestants, options.rounds, options.sample);
    measurements.extend(scores.iter().filter_map(|score| {
        let speed = text.len() as f64 / score.median()? / 1e6;
        Some(measurement(&score.name, drawing, "MB/s", speed))
    }));
    let result = TaskResult { group: "load", nodes: drawing.nodes, task: "load".to_string(), scores };
    Ok(ReportData { results: vec![result], measurements })
}

/// Returns the allocations of a reader, without the text itself.
fn memory(reader: &Reader<'_>, drawing: &Drawing) -> Result<[Measurement; 3]> {
    let Memory { retained, peak, allocations } = reader.memory()?;
    let rows = [("retained B/node", retained), ("peak B/node", peak), ("allocations/node", allocations)];
    Ok(rows.map(|(quantity, value)| measurement(reader.name, drawing, quantity, per_node(value, drawing))))
}

fn measurement(name: &str, drawing: &Drawing, quantity: &'static str, value: f64) -> Measurement {
    Measurement::new("load: speed, and memory without the text", drawing.nodes, name, quantity, value)
}

fn per_node(value: i64, drawing: &Drawing) -> f64 {
    value as f64 / drawing.nodes as f64
}

pub fn tasks(drawing: &Drawing, options: &Options) -> Result<ReportData> {
    let graph = pidq::load(drawing.text.clone())?;
    let columns = Columns::new(drawing)?;
    let fits = drawing.nodes <= MAX_NODES;
    let documents = if fits { Some(Documents::new(drawing)?) } else { None };
    let peers = ["jsonquery JS", "polars", "duckdb", "jsonquerylang Python"];
    let workers = workers(drawing, if fits { &peers } else { &peers[..3] });
    let mut data = ReportData::default();
    for task in &TASKS {
        let mut plan = Plan::new(&graph, task.query)?;
        let pidq_contestant = in_process(PIDQ, move |out| if task.json { plan.json(out) } else { plan.rows() });
        let mut contestants = vec![pidq_contestant, columns.contestant(task)];
        if let Some(documents) = &documents {
            contestants.extend(documents.contestants(task)?);
        }
        contestants.extend(workers.iter().map(|worker| WorkerTask::task(Rc::clone(worker), task)));
        let scores = contest(contestants, options.rounds, options.sample);
        data.results.push(TaskResult { group: "warm", nodes: drawing.nodes, task: task.name.to_string(), scores });
    }
    Ok(data)
}

/// Runs every function of the language, without writing the result.
pub fn functions(drawing: &Drawing, options: &Options) -> Result<ReportData> {
    let graph = pidq::load(drawing.text.clone())?;
    let workers = workers(drawing, &["jsonquery JS"]);
    let mut data = ReportData::default();
    for (name, query) in FUNCTIONS {
        let query = format!(".pid_graph.nodes | {query}");
        let mut contestants: Vec<Box<dyn Contestant + '_>> = vec![Box::new(Evaluation::new(&graph, &query)?)];
        contestants.extend(workers.iter().map(|worker| WorkerTask::evaluation(Rc::clone(worker), &query)));
        let scores = contest(contestants, options.rounds, options.sample);
        data.results.push(TaskResult { group: "functions", nodes: drawing.nodes, task: name.to_string(), scores });
    }
    Ok(data)
}

/// Evaluation of a query by pidq: results in JSON, measured without writing.
struct Evaluation<'g>(Plan<'g>);

impl<'g> Evaluation<'g> {
    fn new(graph: &'g pidq::Graph, query: &str) -> Result<Self> {
        Ok(Self(Plan::new(graph, query)?))
    }
}

impl Contestant for Evaluation<'_> {
    fn name(&self) -> &str {
        PIDQ
    }

    fn digest(&mut self) -> Result<Digest> {
        let mut json = Vec::new();
        self.0.json(&mut json)?;
        Digest::of(&json)
    }

    fn run(&mut self, times: u32) -> Result<f64> {
        let (result, seconds) = timed(|| (0..times).try_for_each(|_| self.0.rows().map(drop)));
        result.map(|()| seconds)
    }
}

/// Compiles query text to a plan.
pub fn compile(options: &Options) -> Result<ReportData> {
    let drawing = Drawing::new(1_000)?;
    let workers = workers(&drawing, &["jsonquery JS", "jsonquerylang Python"]);
    let mut data = ReportData::default();
    for task in TASKS.iter().filter(|task| task.json) {
        let mut contestants = vec![
            in_process(PIDQ, |_| pidq::compile(black_box(task.query)).map(|_| 1)),
            rust_peers::jaq_compiler("jaq library", task.jq),
        ];
        contestants.extend(workers.iter().map(|worker| WorkerTask::compile(Rc::clone(worker), task.query)));
        let scores = contest(contestants, options.rounds, options.sample);
        data.results.push(TaskResult { group: "compile", nodes: 0, task: task.key.to_string(), scores });
    }
    Ok(data)
}

/// Starts the workers; reports those that fail.
fn workers(drawing: &Drawing, names: &[&'static str]) -> Vec<Rc<RefCell<Worker>>> {
    let mut started = Vec::new();
    for name in names {
        match Worker::start(name, &drawing.path) {
            Ok(worker) => started.push(Rc::new(RefCell::new(worker))),
            Err(error) => eprintln!("SKIPPED: {name} ({error})"),
        }
    }
    started
}
