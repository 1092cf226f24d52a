//! Benchmark queries and drawings.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Result, synthetic_plant};

/// A synthetic drawing, in memory and as a file.
pub struct Drawing {
    pub nodes: usize,
    pub text: Vec<u8>,
    pub path: PathBuf,
}

impl Drawing {
    pub fn new(nodes: usize) -> Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("plant_{nodes}.json"));
        let text = synthetic_plant::generate_plant(nodes, 1);
        fs::write(&path, &text)?;
        Ok(Self { nodes, text, path })
    }
}

/// Task: a query in JSON Query and in jq, and the form of its result.
pub struct Task {
    pub name: &'static str,
    /// Name of the task in the workers.
    pub key: &'static str,
    pub query: &'static str,
    pub jq: &'static str,
    /// True if the result is written as JSON; otherwise its rows are counted.
    pub json: bool,
}

const Q1: &str = r#".pid_graph.nodes | filter(.node_type == "pid_component")"#;
const Q2: &str = r#".pid_graph.nodes | filter(.node_type == "pid_component") | sort(.tag) | pick(.id, .tag, .class)"#;
const Q3: &str = ".pid_graph.nodes | groupBy(.class) | mapValues(size())";
const Q4: &str = r#".pid_graph.nodes | filter(.class == "GateValve" and .attributes.design_pressure > 40) | size()"#;

const JQ1: &str = r#"[.pid_graph.nodes[] | select(.node_type == "pid_component")]"#;
const JQ2: &str =
    r#"[.pid_graph.nodes[] | select(.node_type == "pid_component")] | sort_by(.tag) | map({id, tag, class})"#;
const JQ3: &str = "reduce .pid_graph.nodes[] as $node ({}; .[$node.class] += 1)";
const JQ4: &str =
    r#"[.pid_graph.nodes[] | select(.class == "GateValve" and .attributes.design_pressure > 40)] | length"#;

pub const TASKS: [Task; 5] = [
    Task { name: "q1 → ids", key: "q1 ids", query: Q1, jq: JQ1, json: false },
    Task { name: "q1 → JSON", key: "q1", query: Q1, jq: JQ1, json: true },
    Task { name: "q2 → JSON", key: "q2", query: Q2, jq: JQ2, json: true },
    Task { name: "q3", key: "q3", query: Q3, jq: JQ3, json: true },
    Task { name: "q4", key: "q4", query: Q4, jq: JQ4, json: true },
];

/// One query over all nodes for each function of the language.
pub const FUNCTIONS: &[(&str, &str)] = &[
    ("pipe", "map(.position | .x)"),
    ("object", "map({tag: .tag, class: .class})"),
    ("array", "map([.tag, .class])"),
    ("get", "map(.position.x)"),
    ("map", "map(.tag)"),
    ("filter", "filter(.position.x > 500)"),
    ("mapObject", "map(.position | mapObject({key: .key, value: .value}))"),
    ("mapKeys", r##"map(.position | mapKeys("#" + get()))"##),
    ("mapValues", "map(.position | mapValues(string(get())))"),
    ("sort", "sort(.position.x)"),
    ("reverse", "reverse()"),
    ("pick", "pick(.id, .position.x)"),
    ("groupBy", "groupBy(.class)"),
    ("keyBy", "keyBy(.tag)"),
    ("uniqBy", "uniqBy(.class)"),
    ("uniq", "map(.class) | uniq()"),
    ("flatten", "map(.bbox) | flatten()"),
    ("limit", "map(.bbox | limit(2))"),
    ("size", "map(.bbox | size())"),
    ("keys", "map(.attributes | keys())"),
    ("values", "map(.attributes | values())"),
    ("sum", "map(.bbox | sum())"),
    ("prod", "map(.bbox | prod())"),
    ("min", "map(.bbox | min())"),
    ("max", "map(.bbox | max())"),
    ("average", "map(.bbox | average())"),
    ("and", "filter(.position.x > 200 and .position.y > 200)"),
    ("or", "filter(.position.x > 800 or .position.y > 600)"),
    ("not", "filter(not(.position.x > 200))"),
    ("exists", "filter(exists(.attributes.vendor))"),
    ("if", r#"map(if(.position.x > 500, "east", "west"))"#),
    ("in", r#"filter(.class in ["GateValve", "Tank", "Column"])"#),
    ("not in", r#"filter(.class not in ["GateValve", "Tank", "Column"])"#),
    ("eq", r#"map(.class == "GateValve")"#),
    ("ne", r#"map(.class != "GateValve")"#),
    ("gt", "map(.position.x > 500)"),
    ("gte", "map(.position.x >= 500)"),
    ("lt", "map(.position.x < 500)"),
    ("lte", "map(.position.x <= 500)"),
    ("add", "map(.position.x + .position.y)"),
    ("subtract", "map(.position.x - .position.y)"),
    ("multiply", "map(.position.x * .position.y)"),
    ("divide", "map(.position.x / 25.4)"),
    ("mod", "map(.position.x % 10)"),
    ("pow", "map(.position.x ^ 2)"),
    ("abs", "map(abs(.position.x - 500))"),
    ("round", "map(round(.position.x))"),
    ("number", "map(number(substring(.id, 1)))"),
    ("string", "map(string(.position.x))"),
    ("split", r#"map(split(.tag, "-"))"#),
    ("substring", "map(substring(.tag, 0, 2))"),
    ("join", r#"map(.tag) | join(", ")"#),
    ("regex", r#"filter(regex(.tag, "^GV-1[0-9]+A$"))"#),
    ("match", r#"map(match(.tag, "([A-Z]+)-([0-9]+)"))"#),
    ("matchAll", r#"map(matchAll(.tag, "[0-9]"))"#),
];
