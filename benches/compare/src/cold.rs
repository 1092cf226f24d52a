//! Cold runs: from a file to the result on standard output, as whole processes.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::io::{BufWriter, Write, stdout};
use std::process::Command;
use std::rc::Rc;

use serde_json::{Value, json};
use sonic_rs::{JsonValueTrait, LazyValue, pointer};

use crate::measure::{Contestant, contest};
use crate::options::Options;
use crate::processes::{Tool, bench_path};
use crate::queries::{Drawing, TASKS, Task};
use crate::result::{Measurement, PIDQ, ReportData, TaskResult};
use crate::{Result, pidq};

type CommandLine = fn(&Task, &str) -> Vec<String>;

/// Commands by name, with their arguments for a task on a file.
const TOOLS: &[(&str, CommandLine)] = &[
    (PIDQ, |task, file| words(&[&pidq::command().to_string_lossy(), "query", "-c", task.query, file])),
    ("baseline (sonic-rs, lazy)", |task, file| words(&[&this_program(), "lazy", task.key, file])),
    ("jq", |task, file| words(&["jq", "-c", task.jq, file])),
    ("jaq", |task, file| words(&[&peer_path(".peers/cargo/bin/jaq"), "-c", task.jq, file])),
    ("jsonquery npm", |task, file| {
        let script = peer_path(".peers/npm/node_modules/@jsonquerylang/jsonquery/bin/cli.js");
        words(&["node", &script, "--input", file, "--indentation", "", task.query])
    }),
];

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

fn peer_path(path: &str) -> String {
    bench_path(path).to_string_lossy().into_owned()
}

fn this_program() -> String {
    std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned()
}

pub fn tools(drawing: &Drawing, options: &Options) -> Result<ReportData> {
    let file = drawing.path.to_string_lossy();
    let peaks: Vec<Rc<Cell<u64>>> = TOOLS.iter().map(|_| Rc::default()).collect();
    let mut data = ReportData::default();
    for task in TASKS.iter().filter(|task| task.json) {
        let tools = TOOLS.iter().zip(&peaks).filter(|((_, line), _)| is_installed(&line(task, &file)[0]));
        let contestants = tools.map(|((name, line), peak)| {
            Box::new(Tool::new(name, line(task, &file), Rc::clone(peak))) as Box<dyn Contestant>
        });
        let scores = contest(contestants.collect(), options.rounds, 0.0);
        data.results.push(TaskResult { group: "cold", nodes: drawing.nodes, task: task.key.to_string(), scores });
    }
    for ((name, _), peak) in TOOLS.iter().zip(&peaks).filter(|(_, peak)| peak.get() > 0) {
        data.measurements.push(Measurement::new(
            "cold memory",
            drawing.nodes,
            name,
            "peak MB",
            peak.get() as f64 / 1024.0,
        ));
    }
    Ok(data)
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Baseline of cold runs: reads only what the task needs, without validation.
pub fn lazy(arguments: &[String]) -> Result<()> {
    let [task, path] = arguments else { return Err("usage: lazy TASK FILE".into()) };
    let text = fs::read(path)?;
    // SAFETY: the comparison wrote the file itself, as valid JSON in UTF-8.
    let nodes = unsafe { sonic_rs::get_from_slice_unchecked(&text, &pointer!["pid_graph", "nodes"])? };
    // SAFETY: as above.
    let nodes = unsafe { sonic_rs::to_array_iter_unchecked(nodes.as_raw_str()) }.filter_map(Result::ok);
    let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
    match task.as_str() {
        "q1" => write_rows(&mut out, nodes.filter(is_component).map(|node| node.as_raw_str().to_string()))?,
        "q2" => write_rows(&mut out, picked_by_tag(nodes.filter(is_component)))?,
        "q3" => write!(out, "{}", count_classes(nodes))?,
        _ => write!(out, "{}", nodes.filter(is_high_pressure_gate_valve).count())?,
    }
    Ok(out.flush()?)
}

fn write_rows(out: &mut impl Write, rows: impl Iterator<Item = String>) -> Result<()> {
    out.write_all(b"[")?;
    for (number, row) in rows.enumerate() {
        out.write_all(if number > 0 { b"," } else { b"" })?;
        out.write_all(row.as_bytes())?;
    }
    Ok(out.write_all(b"]")?)
}

fn is_component(node: &LazyValue) -> bool {
    node.get("node_type").as_str() == Some("pid_component")
}

fn picked_by_tag<'a>(nodes: impl Iterator<Item = LazyValue<'a>>) -> impl Iterator<Item = String> {
    let raw = |node: &LazyValue, field: &str| node.get(field).map_or_else(String::new, |text| text.as_raw_str().into());
    let mut rows: Vec<_> = nodes.map(|node| ["tag", "id", "class"].map(|field| raw(&node, field))).collect();
    rows.sort();
    rows.into_iter().map(|[tag, id, class]| format!(r#"{{"id":{id},"tag":{tag},"class":{class}}}"#))
}

fn count_classes<'a>(nodes: impl Iterator<Item = LazyValue<'a>>) -> Value {
    let mut counts = HashMap::<String, u64>::new();
    for node in nodes {
        let class = node.get("class");
        let name = class.as_str().unwrap_or_default();
        match counts.get_mut(name) {
            Some(count) => *count += 1,
            None => _ = counts.insert(name.to_string(), 1),
        }
    }
    json!(counts)
}

fn is_high_pressure_gate_valve(node: &LazyValue) -> bool {
    let pressure = || node.pointer(pointer!["attributes", "design_pressure"]).as_f64();
    node.get("class").as_str() == Some("GateValve") && pressure().is_some_and(|pressure| pressure > 40.0)
}
