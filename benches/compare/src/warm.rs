//! Warm runs: queries on a loaded drawing, and the cost of loading it.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

use crate::digest::Digest;
use crate::limits::Columns;
use crate::measure::{Contestant, contest, in_process, timed};
use crate::memory::{Memory, metered};
use crate::options::Options;
use crate::ours::{self, Plan};
use crate::processes::{Remote, Worker};
use crate::queries::{Drawing, FUNCTIONS, TASKS};
use crate::rust_peers::{self, Documents};
use crate::table::{Event, Fact, Findings};
use crate::{Result, goals};

/// Number of nodes up to which all peers hold the drawing at the same time.
const MAX_NODES: usize = 200_000;

/// Way to read a drawing. Its input is prepared beforehand; freeing is not measured.
pub struct Reader<'a> {
    name: &'static str,
    clock: Box<dyn Fn() -> Result<f64> + 'a>,
    weigh: Box<dyn Fn() -> Result<Memory> + 'a>,
}

impl<'a> Reader<'a> {
    pub fn new<I, T>(
        name: &'static str,
        prepare: impl Fn() -> I + Copy + 'a,
        read: impl Fn(I) -> Result<T> + Copy + 'a,
    ) -> Self {
        let clock = move || {
            let input = prepare();
            let (value, seconds) = timed(|| read(input));
            value.map(|_| seconds)
        };
        let weigh = move || {
            let input = prepare();
            let (value, memory) = metered(|| read(input));
            value.map(|_| memory)
        };
        Self { name, clock: Box::new(clock), weigh: Box::new(weigh) }
    }
}

impl Contestant for Reader<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn answer(&mut self) -> Result<Digest> {
        Digest::of(b"1")
    }

    fn run(&mut self, times: u32) -> Result<f64> {
        (0..times).map(|_| (self.clock)()).sum()
    }
}

pub fn load(drawing: &Drawing, options: &Options) -> Result<Findings> {
    let text = drawing.text.as_slice();
    let mut facts = Vec::new();
    let mut contestants: Vec<Box<dyn Contestant + '_>> = Vec::new();
    let ours = Reader::new(goals::OURS, move || text.to_vec(), ours::load);
    for reader in std::iter::once(ours).chain(rust_peers::readers(text)) {
        facts.extend(memory(&reader, drawing)?);
        contestants.push(Box::new(reader));
    }
    for worker in workers(drawing, &["jsonquery JS", "jsonquerylang Python"]) {
        let kept = worker.borrow_mut().load()?.bytes.unwrap_or_default();
        facts.push(measurement(worker.borrow().name(), drawing, "kept B/node", per_node(kept, drawing)));
        contestants.push(Box::new(Remote::load(worker)));
    }
    let scores = contest(contestants, options.rounds, options.sample);
    facts.extend(scores.iter().filter_map(|score| {
        let speed = text.len() as f64 / score.median()? / 1e6;
        Some(measurement(&score.name, drawing, "MB/s", speed))
    }));
    let event = Event { group: "load", nodes: drawing.nodes, task: "load".to_string(), scores };
    Ok(Findings { events: vec![event], facts })
}

/// Returns the allocations of a reader, without the text itself.
fn memory(reader: &Reader<'_>, drawing: &Drawing) -> Result<[Fact; 3]> {
    let Memory { kept, peak, allocations } = (reader.weigh)()?;
    let rows = [("kept B/node", kept), ("peak B/node", peak), ("allocations/node", allocations)];
    Ok(rows.map(|(what, value)| measurement(reader.name, drawing, what, per_node(value, drawing))))
}

fn measurement(name: &str, drawing: &Drawing, what: &'static str, value: f64) -> Fact {
    Fact::new("load: speed, and memory without the text", drawing.nodes, name, what, value)
}

fn per_node(value: i64, drawing: &Drawing) -> f64 {
    value as f64 / drawing.nodes as f64
}

pub fn tasks(drawing: &Drawing, options: &Options) -> Result<Findings> {
    let graph = ours::load(drawing.text.clone())?;
    let columns = Columns::new(drawing)?;
    let fits = drawing.nodes <= MAX_NODES;
    let documents = if fits { Some(Documents::new(drawing)?) } else { None };
    let peers = ["jsonquery JS", "polars", "duckdb", "jsonquerylang Python"];
    let workers = workers(drawing, if fits { &peers } else { &peers[..3] });
    let mut findings = Findings::default();
    for task in &TASKS {
        let mut plan = Plan::new(&graph, task.query)?;
        let ours = in_process(goals::OURS, move |out| if task.json { plan.json(out) } else { plan.rows() });
        let mut contestants = vec![ours, columns.contestant(task)];
        if let Some(documents) = &documents {
            contestants.extend(documents.contestants(task)?);
        }
        contestants.extend(workers.iter().map(|worker| Remote::task(Rc::clone(worker), task)));
        let scores = contest(contestants, options.rounds, options.sample);
        findings.events.push(Event { group: "warm", nodes: drawing.nodes, task: task.name.to_string(), scores });
    }
    Ok(findings)
}

/// Runs every function of the language, without writing the result.
pub fn functions(drawing: &Drawing, options: &Options) -> Result<Findings> {
    let graph = ours::load(drawing.text.clone())?;
    let workers = workers(drawing, &["jsonquery JS"]);
    let mut findings = Findings::default();
    for (name, query) in FUNCTIONS {
        let query = format!(".pid_graph.nodes | {query}");
        let mut contestants: Vec<Box<dyn Contestant + '_>> = vec![Box::new(Evaluation::new(&graph, &query)?)];
        contestants.extend(workers.iter().map(|worker| Remote::evaluation(Rc::clone(worker), &query)));
        let scores = contest(contestants, options.rounds, options.sample);
        findings.events.push(Event { group: "functions", nodes: drawing.nodes, task: name.to_string(), scores });
    }
    Ok(findings)
}

/// Evaluation of a query by pidq: results in JSON, measured without writing.
struct Evaluation<'g>(Plan<'g>);

impl<'g> Evaluation<'g> {
    fn new(graph: &'g ours::Graph, query: &str) -> Result<Self> {
        Ok(Self(Plan::new(graph, query)?))
    }
}

impl Contestant for Evaluation<'_> {
    fn name(&self) -> &str {
        goals::OURS
    }

    fn answer(&mut self) -> Result<Digest> {
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
pub fn compile(options: &Options) -> Result<Findings> {
    let drawing = Drawing::new(1_000)?;
    let workers = workers(&drawing, &["jsonquery JS", "jsonquerylang Python"]);
    let mut findings = Findings::default();
    for task in TASKS.iter().filter(|task| task.json) {
        let mut contestants = vec![
            in_process(goals::OURS, |_| ours::compile(black_box(task.query)).map(|_| 1)),
            rust_peers::jaq_compiler("jaq library", task.jq),
        ];
        contestants.extend(workers.iter().map(|worker| Remote::compile(Rc::clone(worker), task.query)));
        let scores = contest(contestants, options.rounds, options.sample);
        findings.events.push(Event { group: "compile", nodes: 0, task: task.key.to_string(), scores });
    }
    Ok(findings)
}

/// Starts the workers; reports those that fail.
fn workers(drawing: &Drawing, names: &[&'static str]) -> Vec<Rc<RefCell<Worker>>> {
    let mut started = Vec::new();
    for name in names {
        match Worker::start(name, &drawing.path) {
            Ok(worker) => started.push(Rc::new(RefCell::new(worker))),
            Err(error) => eprintln!("left out: {name} ({error})"),
        }
    }
    started
}
