//! Graphviz DOT export: shape by symbol, one cluster per line or piece of equipment, labels escaped.

use std::collections::BTreeMap;
use std::fmt::Write;

use pidq_core::Value;

use crate::error::Result;
use crate::model::{Edge, EdgeRole, Model};
use crate::symbols;
use crate::visibility::{Visibility, cluster_of};

/// Writes a graph.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let visibility = Visibility::new(&model);
    let mut out = String::from(
        "digraph pid {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=8];\n",
    );
    let mut clusters: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for index in visibility.visible_nodes(&model) {
        clusters.entry(cluster_of(&model, &visibility, index)).or_default().push(index);
    }
    for (number, (name, members)) in clusters.iter().enumerate() {
        write_cluster(&mut out, &model, number, name, members);
    }
    for missing_node in &model.missing_nodes {
        let _ = writeln!(out, "  {} [style=dashed];", quote(missing_node));
    }
    for edge in model.edges.iter().filter(|edge| visibility.is_edge_visible(edge)) {
        write_edge(&mut out, edge);
    }
    out.push_str("}\n");
    Ok(vec![out.into_bytes()])
}

/// Writes a cluster. Items without a cluster have the empty name and are written at the top level.
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
    let style = match edge.role() {
        EdgeRole::Flow => "",
        EdgeRole::Part => " [arrowhead=none, color=gray50]",
        EdgeRole::Signal => " [style=dashed, arrowhead=open]",
        EdgeRole::Member | EdgeRole::Other => " [style=dotted, arrowhead=open, constraint=false]",
    };
    let _ = writeln!(out, "  {} -> {}{style};", quote(&edge.from.name), quote(&edge.to.name));
}

/// Returns a quoted string. DOT has escape sequences in labels, so backslashes are doubled.
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
