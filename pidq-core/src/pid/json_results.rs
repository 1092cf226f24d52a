//! Results about several drawings as JSON, for programs without a query, within the limits of a run.

use std::borrow::Borrow;

use super::data_quality::{self, GraphWarning};
use super::diff::{self, DiffOptions};
use super::join::{self, JoinBy};
use super::{Budget, Datum};
use crate::error::{Code, Error, Result};
use crate::graph::Graph;
use crate::graph::adjacency::NONE;
use crate::graph::drawing::Drawing;
use crate::limits::Limits;
use crate::value::{Value, js_number_format, write};

/// Compares two revisions of a drawing and returns a JSON object: nodes `added` and `removed`; fields `changed`; nodes
/// `moved`, `renamed` (changed id), `retagged` and `rewired`; `edges_added`, `edges_removed` and `edges_changed`; and
/// `equal`.
///
/// # Errors
/// `PQ3006` if one of the documents has no graph, `PQ1012` for an unknown identity, `PQ4xxx` for a limit: fuel, memory,
/// output and cancel apply.
///
/// ```
/// use pidq_core::{DiffOptions, Graph, Limits, diff};
///
/// let old = Graph::from_json(r#"{"nodes": [{"id": 1, "size": 50}], "edges": []}"#)?;
/// let new = Graph::from_json(r#"{"nodes": [{"id": 1, "size": 80}], "edges": []}"#)?;
/// let changes = diff(&old, &new, &DiffOptions::default(), Limits::default())?;
/// assert!(changes.contains(r#""changed":[{"id":1,"tag":null,"field":"size","before":50,"after":80}]"#));
/// # Ok::<(), pidq_core::Error>(())
/// ```
pub fn diff(old: &Graph, new: &Graph, options: &DiffOptions, limits: Limits<'_>) -> Result<String> {
    if let Some(identity) = options.identity.as_deref().filter(|identity| !diff::is_identity(identity)) {
        return Err(Error::new(Code::BadOption, format!("unknown identity `{identity}`")));
    }
    let (old, new) = (require_drawing(old, &limits)?, require_drawing(new, &limits)?);
    let mut budget = LimitBudget { limits, fuel_used: 0, reserved: 0 };
    let changes = diff::diff(&old, &new, options, &mut |units| budget.charge(units))?;
    budget.print_json(&new, &changes)
}

/// Joins several sheets at their off-page connectors and returns one drawing as a JSON document. Its `metadata.joined`
/// lists pairs, and connectors without a partner or with several.
///
/// # Errors
/// `PQ3006` if one of the documents has no graph, `PQ4xxx` for a limit: fuel, memory, output and cancel apply.
pub fn join_sheets(sheets: &[&Graph], by: JoinBy, limits: Limits<'_>) -> Result<String> {
    let drawings = sheets.iter().map(|sheet| require_drawing(sheet, &limits)).collect::<Result<Vec<Drawing<'_>>>>()?;
    let Some(first) = drawings.first() else { return Err(Error::new(Code::NoGraph, "there are no sheets to join")) };
    let mut budget = LimitBudget { limits, fuel_used: 0, reserved: 0 };
    let joined = join::join(&drawings, by, &mut budget)?;
    Ok(format!("{{\"pid_graph\":{}}}", budget.print_json(first, &joined)?))
}

/// Returns the data-quality warnings about a drawing by rule, with the count and the first occurrence of each: nodes
/// without an id (`G010`), nodes or edges with the same id (`G011`, `G012`), numeric ids among string ids (`G013`),
/// edges that name no node (`G020`) or lack an end (`G021`), nodes that contain each other (`G030`). Linear in the
/// drawing; `validate` lists all occurrences. Empty if there is no graph.
///
/// # Errors
/// `PQ4xxx` for a limit: fuel, memory and cancel apply.
///
/// ```
/// use pidq_core::{Graph, ItemRef, Limits, graph_warnings};
///
/// let graph = Graph::from_json(r#"{"nodes": [{"id": 1}], "edges": [{"id": "a", "source": 1, "target": 1}, {"id": "a"}]}"#)?;
/// let found = graph_warnings(&graph, Limits::default())?;
/// assert_eq!((found[0].code, found[0].count, found[0].item), ("G012", 1, ItemRef::Edge(1)));
/// assert_eq!((found[1].code, found[1].count), ("G021", 1));
/// # Ok::<(), pidq_core::Error>(())
/// ```
pub fn graph_warnings(graph: &Graph, limits: Limits<'_>) -> Result<Vec<GraphWarning>> {
    let Some(drawing) = graph.drawing(&limits)? else { return Ok(Vec::new()) };
    let mut budget = LimitBudget { limits, fuel_used: 0, reserved: 0 };
    data_quality::graph_warnings(&drawing, &mut |units| budget.charge(units))
}

/// Budget from the limits of a run: fuel, memory, output and the cancel flag.
struct LimitBudget<'l> {
    limits: Limits<'l>,
    fuel_used: u64,
    reserved: usize,
}

impl Budget for LimitBudget<'_> {
    fn charge(&mut self, units: u64) -> Result<()> {
        const CHECK_INTERVAL: u64 = 1024;
        let before = self.fuel_used;
        self.fuel_used = self.fuel_used.saturating_add(units);
        if self.fuel_used > self.limits.fuel {
            let message = format!("The operation used more than {} units of fuel", self.limits.fuel);
            let error = Error::new(Code::OutOfFuel, message).with_limit("steps", self.limits.fuel);
            return Err(error.with_help("raise the fuel limit"));
        }
        let is_check_due = before / CHECK_INTERVAL != self.fuel_used / CHECK_INTERVAL;
        match self.limits.cancel.filter(|cancel| is_check_due && cancel.is_cancelled()) {
            Some(cancel) if cancel.is_timed_out() => {
                Err(Error::new(Code::OutOfTime, "The operation exceeded its time limit"))
            }
            Some(_) => Err(Error::new(Code::Cancelled, "The operation was cancelled")),
            None => Ok(()),
        }
    }

    fn reserve(&mut self, bytes: usize) -> Result<()> {
        self.reserved = self.reserved.saturating_add(bytes);
        if self.reserved <= self.limits.memory {
            return Ok(());
        }
        let message = format!("The operation needs more than {} bytes of memory", self.limits.memory);
        let error = Error::new(Code::OutOfMemory, message).with_limit("memory", self.limits.memory as u64);
        Err(error.with_help("raise the memory limit"))
    }
}

impl LimitBudget<'_> {
    fn print_json(&mut self, drawing: &Drawing<'_>, datum: &Datum<'_>) -> Result<String> {
        let mut out = String::new();
        self.write(drawing, datum, &mut out)?;
        Ok(out)
    }

    /// Writes a result as JSON. Recursion is bounded by the depth of results.
    fn write(&mut self, drawing: &Drawing<'_>, datum: &Datum<'_>, out: &mut String) -> Result<()> {
        let before = out.len();
        match datum {
            Datum::Null | Datum::Node(NONE) | Datum::Edge(NONE) => out.push_str("null"),
            Datum::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Datum::Number(value) => out.push_str(&js_number_format::number_text(*value).to_string()),
            Datum::Word(word) => out.push_str(&write::to_string(Value::String(word))),
            Datum::String(text) => out.push_str(&write::to_string(Value::String(text))),
            Datum::Value(value) => out.push_str(&write::to_string(*value)),
            Datum::Node(node) => out.push_str(&write::to_string(drawing.node(*node))),
            Datum::Edge(edge) => out.push_str(&write::to_string(drawing.edge(*edge))),
            Datum::Nodes(nodes) => return self.list(drawing, nodes.iter().map(|node| Datum::Node(*node)), out),
            Datum::Edges(edges) => return self.list(drawing, edges.iter().map(|edge| Datum::Edge(*edge)), out),
            Datum::Array(items) => return self.list(drawing, items.iter(), out),
            Datum::Record(keys, values) => return self.record(drawing, keys.iter().copied().zip(values), out),
            Datum::Table(keys, rows) => {
                return write_separated(rows, ['[', ']'], out, |row, out| {
                    self.record(drawing, keys.iter().copied().zip(row), out)
                });
            }
            Datum::Map(entries) => {
                return self.record(drawing, entries.iter().map(|(key, value)| (key.as_str(), value)), out);
            }
        }
        self.charge(1 + (out.len() - before) as u64 / 64)?;
        if out.len() > self.limits.output {
            let message = format!("The result is larger than {} bytes", self.limits.output);
            return Err(Error::new(Code::OutputTooLarge, message).with_limit("result", self.limits.output as u64));
        }
        Ok(())
    }

    fn list<'d, D: Borrow<Datum<'d>>>(
        &mut self,
        drawing: &Drawing<'_>,
        items: impl Iterator<Item = D>,
        out: &mut String,
    ) -> Result<()> {
        write_separated(items, ['[', ']'], out, |item, out| self.write(drawing, item.borrow(), out))
    }

    fn record<'d, 'a: 'd>(
        &mut self,
        drawing: &Drawing<'_>,
        fields: impl Iterator<Item = (&'d str, &'d Datum<'a>)>,
        out: &mut String,
    ) -> Result<()> {
        write_separated(fields, ['{', '}'], out, |(key, value), out| {
            out.push_str(&write::to_string(Value::String(key)));
            out.push(':');
            self.write(drawing, value, out)
        })
    }
}

/// Writes items separated by commas.
fn write_separated<T>(
    items: impl IntoIterator<Item = T>,
    [open, close]: [char; 2],
    out: &mut String,
    mut write: impl FnMut(T, &mut String) -> Result<()>,
) -> Result<()> {
    out.push(open);
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out)?;
    }
    out.push(close);
    Ok(())
}

fn require_drawing<'g>(graph: &'g Graph, limits: &Limits<'_>) -> Result<Drawing<'g>> {
    graph.drawing(limits)?.ok_or_else(|| Error::new(Code::NoGraph, "no graph in the document"))
}
