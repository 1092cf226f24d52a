//! Cypher export: statements that create a graph in Neo4j, for `cypher-shell`.
//!
//! Labels and types cannot be parameters, so nodes with the same labels, and edges of the same type, are created
//! together, some hundred per statement.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use pidq_core::Value;

use crate::error::Result;
use crate::model::{Edge, Model, Node, json};

/// Label of all nodes. It has the uniqueness constraint, whose index finds the ends of edges.
const LABEL: &str = "PidItem";

/// Rows per statement. Larger statements take Neo4j long to plan.
const BATCH: usize = 500;

/// Writes the constraint, then the nodes, then the edges.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let key = free_key(&model);
    let mut out = format!(
        "CREATE CONSTRAINT pid_item_id IF NOT EXISTS FOR (n:{LABEL}) REQUIRE n.{} IS UNIQUE;\n",
        quoted_name(&key)
    );
    write_nodes(&model, &key, &mut out);
    write_edges(&model, &key, &mut out);
    Ok(vec![out.into_bytes()])
}

/// Returns a property name for the node name that the drawing does not use.
fn free_key(model: &Model<'_>) -> String {
    let used: HashSet<&str> = model.nodes.iter().flat_map(|node| node.fields.iter().map(|(key, _)| key)).collect();
    let mut key = String::from("pid_id");
    while used.contains(&*key) {
        key.push('_');
    }
    key
}

/// Rows grouped by their `CREATE` clause, in the order of first appearance.
#[derive(Default)]
struct Groups {
    indices: HashMap<String, usize>,
    groups: Vec<(String, Vec<String>)>,
}

impl Groups {
    fn add(&mut self, clause: String, row: String) {
        let next = self.groups.len();
        let index = *self.indices.entry(clause.clone()).or_insert(next);
        if index == next {
            self.groups.push((clause, Vec::new()));
        }
        self.groups[index].1.push(row);
    }

    /// Writes one statement for some rows of a group.
    fn write(&self, out: &mut String, end: impl Fn(&str) -> String) {
        for (clause, rows) in &self.groups {
            for rows in rows.chunks(BATCH) {
                let _ = writeln!(out, "UNWIND [\n  {}\n] AS row\n{};", rows.join(",\n  "), end(clause));
            }
        }
    }
}

fn write_nodes(model: &Model<'_>, key: &str, out: &mut String) {
    let mut groups = Groups::default();
    for node in &model.nodes {
        groups.add(labels(node), map([(key, Value::String(&node.name))].into_iter().chain(node.fields.iter())));
    }
    for missing_node in &model.missing_nodes {
        groups.add(":`missing`".into(), map([(key, Value::String(missing_node))].into_iter()));
    }
    groups.write(out, |labels| format!("CREATE (n:{LABEL}{labels}) SET n = row"));
}

fn write_edges(model: &Model<'_>, key: &str, out: &mut String) {
    let key = quoted_name(key);
    let mut groups = Groups::default();
    for edge in &model.edges {
        let [from, to] = [&edge.from, &edge.to].map(|end| quoted_text(&end.name));
        let row = format!("{{from: {from}, to: {to}, fields: {}}}", map(edge.fields.iter()));
        groups.add(kind(edge), row);
    }
    groups.write(out, |kind| {
        format!(
            "MATCH (a:{LABEL} {{{key}: row.from}}), (b:{LABEL} {{{key}: row.to}}) CREATE (a)-[r:{kind}]->(b) SET r = row.fields"
        )
    });
}

/// Returns the labels besides [`LABEL`], without duplicates.
fn labels(node: &Node<'_>) -> String {
    let mut seen = HashSet::from([LABEL]);
    let words = node.labels().filter(|word| !word.is_empty() && seen.insert(word));
    words.map(|word| format!(":{}", quoted_name(word))).collect()
}

fn kind(edge: &Edge<'_>) -> String {
    let kind = edge.kind();
    quoted_name(&if kind.is_empty() { "CONNECTED".into() } else { kind.to_uppercase() })
}

/// Writes the properties; null values are left out.
fn map<'a>(fields: impl Iterator<Item = (&'a str, Value<'a>)>) -> String {
    let mut names = HashSet::new();
    let mut out = String::from("{");
    for (key, value) in fields {
        let Some(value) = literal(value) else { continue };
        let mut name = quoted_name(key);
        while !names.insert(name.clone()) {
            name.insert(1, '_');
        }
        let _ = write!(out, "{}{name}: {value}", if out.len() > 1 { ", " } else { "" });
    }
    out.push('}');
    out
}

/// Returns a value as a property literal: arrays and objects as JSON text.
fn literal(value: Value<'_>) -> Option<String> {
    match value {
        Value::Null | Value::Undefined => None,
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(_) => number(value),
        Value::String(text) => Some(quoted_text(text)),
        list_or_object => Some(quoted_text(&json(list_or_object))),
    }
}

/// Returns a number literal: 64-bit integers, and floats with a point or an exponent without `+`.
fn number(value: Value<'_>) -> Option<String> {
    let integer = json(value).parse::<i64>().ok().map(|number| number.to_string());
    let float = || value.as_f64().filter(|number| number.is_finite()).map(|number| format!("{number:?}"));
    integer.or_else(float)
}

/// Returns a quoted string literal.
///
/// Neo4j replaces `\uXXXX` anywhere in a statement before parsing it, so a `u` right after a backslash of the string is
/// escaped by its code.
fn quoted_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    let mut previous = ' ';
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            'u' if previous == '\\' => push_number(c, &mut out),
            c if c.is_control() => push_number(c, &mut out),
            c => out.push(c),
        }
        previous = c;
    }
    out.push('\'');
    out
}

/// Returns a name in backticks. Neo4j does not allow empty names or U+0000.
fn quoted_name(name: &str) -> String {
    let mut out = String::from("`");
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '`' => out.push_str("``"),
            '\0' => out.push(char::REPLACEMENT_CHARACTER),
            '\\' if rest.peek() == Some(&'u') => push_number(c, &mut out),
            c if c.is_control() => push_number(c, &mut out),
            c => out.push(c),
        }
    }
    out.push_str(if name.is_empty() { "_`" } else { "`" });
    out
}

fn push_number(c: char, out: &mut String) {
    let _ = write!(out, "\\u{:04X}", c as u32);
}
