//! Graphviz DOT: shape by symbol, one cluster a line or a piece of equipment, labels escaped.

use std::collections::BTreeMap;
use std::fmt::Write;

use pidq_core::Value;

use crate::error::Result;
use crate::model::{Edge, Model, Purpose};
use crate::outline::{Outline, cluster_of};
use crate::symbols;

/// Writes a graph.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::of(value)?;
    let outline = Outline::of(&model);
    let mut out = String::from(
        "digraph pid {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=8];\n",
    );
    let mut clusters: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for index in outline.shown(&model) {
        clusters.entry(cluster_of(&model, &outline, index)).or_default().push(index);
    }
    for (number, (name, members)) in clusters.iter().enumerate() {
        write_cluster(&mut out, &model, number, name, members);
    }
    for ghost in &model.ghosts {
        let _ = writeln!(out, "  {} [style=dashed];", quote(ghost));
    }
    for edge in model.edges.iter().filter(|edge| outline.shows(edge)) {
        write_edge(&mut out, edge);
    }
    out.push_str("}\n");
    Ok(vec![out.into_bytes()])
}

/// The items without a cluster have the empty name, and stand outside.
fn write_cluster(out: &mut String, model: &Model<'_>, number: usize, name: &str, members: &[usize]) {
    if !name.is_empty() {
        let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label={}; color=gray70;", quote(name));
    }
    for index in members {
        let node = &model.nodes[*index];
        let shape = symbols::find(&node.class()).shape.dot();
        let _ = writeln!(out, "    {} [label={}, shape={shape}];", quote(&node.name), quote(&node.title()));
    }
    if !name.is_empty() {
        out.push_str("  }\n");
    }
}

fn write_edge(out: &mut String, edge: &Edge<'_>) {
    let style = match edge.purpose() {
        Purpose::Flow => "",
        Purpose::Part => " [arrowhead=none, color=gray50]",
        Purpose::Signal => " [style=dashed, arrowhead=open]",
        Purpose::Member | Purpose::Other => " [style=dotted, arrowhead=open, constraint=false]",
    };
    let _ = writeln!(out, "  {} -> {}{style};", quote(&edge.from.name), quote(&edge.to.name));
}

/// A text in quotes. DOT knows escapes in labels, so that a backslash stands for itself only when it is doubled.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
