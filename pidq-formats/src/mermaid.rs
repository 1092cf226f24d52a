//! Mermaid flowchart: for README files and issues, where pictures are drawn from text.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use pidq_core::Value;

use crate::error::Result;
use crate::model::{End, Model, Purpose};
use crate::outline::{Outline, cluster_of};
use crate::symbols;

/// Writes a graph. Nodes are numbered: ids of drawings may hold anything, names in Mermaid may not.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::of(value)?;
    let outline = Outline::of(&model);
    let mut out = String::from("flowchart LR\n");
    let mut clusters: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for index in outline.shown(&model) {
        clusters.entry(cluster_of(&model, &outline, index)).or_default().push(index);
    }
    for (number, (name, members)) in clusters.iter().enumerate() {
        write_cluster(&mut out, &model, number, name, members);
    }
    let ghosts: HashMap<&str, usize> = model.ghosts.iter().enumerate().map(|(n, ghost)| (ghost.as_str(), n)).collect();
    for edge in model.edges.iter().filter(|edge| outline.shows(edge)) {
        let arrow = match edge.purpose() {
            Purpose::Flow => "-->",
            Purpose::Part => "---",
            Purpose::Signal | Purpose::Member | Purpose::Other => "-.->",
        };
        let _ = writeln!(out, "  {} {arrow} {}", name(&ghosts, &edge.from), name(&ghosts, &edge.to));
    }
    Ok(vec![out.into_bytes()])
}

fn write_cluster(out: &mut String, model: &Model<'_>, number: usize, name: &str, members: &[usize]) {
    if !name.is_empty() {
        let _ = writeln!(out, "  subgraph c{number} [\"{}\"]", escape(name));
    }
    for index in members {
        let node = &model.nodes[*index];
        let (open, close) = symbols::find(&node.class()).shape.mermaid();
        let _ = writeln!(out, "    n{index}{open}\"{}\"{close}", escape(&node.title()));
    }
    if !name.is_empty() {
        out.push_str("  end\n");
    }
}

/// The number of a node, or a box for an end that names none.
fn name(ghosts: &HashMap<&str, usize>, end: &End) -> String {
    match end.node {
        Some(index) => format!("n{index}"),
        None => {
            let number = ghosts.get(end.name.as_str()).copied().unwrap_or(ghosts.len());
            format!("g{number}[\"{}\"]", escape(&end.name))
        }
    }
}

/// Mermaid writes characters by number between `#` and `;`. Markup characters would start markdown or HTML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' | '[' | ']' | '{' | '}' | '(' | ')' | ';' | '|' => {
                let _ = write!(out, "#{};", c as u32);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
