//! Mermaid flowchart export, for README files and issues.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use pidq_core::Value;

use crate::error::Result;
use crate::model::{EdgeRole, Endpoint, Model};
use crate::symbols;
use crate::visibility::{Visibility, cluster_of};

/// Writes a graph. Nodes are numbered, since ids may contain characters that Mermaid names may not.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let visibility = Visibility::new(&model);
    let mut out = String::from("flowchart LR\n");
    let mut clusters: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for index in visibility.visible_nodes(&model) {
        clusters.entry(cluster_of(&model, &visibility, index)).or_default().push(index);
    }
    for (number, (name, members)) in clusters.iter().enumerate() {
        write_cluster(&mut out, &model, number, name, members);
    }
    let missing_nodes: HashMap<&str, usize> =
        model.missing_nodes.iter().enumerate().map(|(n, missing_node)| (missing_node.as_str(), n)).collect();
    for edge in model.edges.iter().filter(|edge| visibility.is_edge_visible(edge)) {
        let arrow = match edge.role() {
            EdgeRole::Flow => "-->",
            EdgeRole::Part => "---",
            EdgeRole::Signal | EdgeRole::Member | EdgeRole::Other => "-.->",
        };
        let _ = writeln!(out, "  {} {arrow} {}", name(&missing_nodes, &edge.from), name(&missing_nodes, &edge.to));
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

/// Returns the number of a node, or a box for an end without a node.
fn name(missing_nodes: &HashMap<&str, usize>, end: &Endpoint) -> String {
    match end.node {
        Some(index) => format!("n{index}"),
        None => {
            let number = missing_nodes.get(end.name.as_str()).copied().unwrap_or(missing_nodes.len());
            format!("g{number}[\"{}\"]", escape(&end.name))
        }
    }
}

/// Escapes text with Mermaid's `#…;` codes. Markup characters would start Markdown or HTML.
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
