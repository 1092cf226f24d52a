//! Answers about several drawings as JSON text, for programs that ask without a query, within the limits of a run.

use std::borrow::Borrow;

use super::diff::{self, DiffOptions};
use super::doubts::{self, Doubt};
use super::join::{self, JoinBy};
use super::{Datum, Purse};
use crate::error::{Code, Error, Result};
use crate::graph::Graph;
use crate::graph::adjacency::NONE;
use crate::graph::plant::Plant;
use crate::limits::Limits;
use crate::value::{Value, convert, write};

/// What changed between two revisions of a drawing, as a JSON object: nodes `added` and `removed`; fields `changed`;
/// nodes `moved`, `renamed` (their id), `retagged` and `rewired`; `edges_added`, `edges_removed` and `edges_changed`; and
/// whether all is `equal`.
///
/// # Errors
/// `PQ3006` where one of the documents has no graph, `PQ1012` for an identity that does not exist, `PQ4xxx` for a limit:
/// fuel, memory, output and cancel count here.
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
        return Err(Error::new(Code::BadOption, format!("no identity is called `{identity}`")));
    }
    let (old, new) = (plant(old, &limits)?, plant(new, &limits)?);
    let mut purse = Account { limits, spent: 0, held: 0 };
    let changes = diff::diff(&old, &new, options, &mut |units| purse.pay(units))?;
    purse.print(&new, &changes)
}

/// Several sheets as one drawing, joined at their off-page connectors: a document to load again. Its
/// `metadata.joined` lists pairs, and connectors without a partner or with several.
///
/// # Errors
/// `PQ3006` where one of the documents has no graph, `PQ4xxx` for a limit: fuel, memory, output and cancel count here.
pub fn join_sheets(sheets: &[&Graph], by: JoinBy, limits: Limits<'_>) -> Result<String> {
    let plants = sheets.iter().map(|sheet| plant(sheet, &limits)).collect::<Result<Vec<Plant<'_>>>>()?;
    let Some(first) = plants.first() else { return Err(Error::new(Code::NoGraph, "there are no sheets to join")) };
    let mut purse = Account { limits, spent: 0, held: 0 };
    let joined = join::join(&plants, by, &mut purse)?;
    Ok(format!("{{\"pid_graph\":{}}}", purse.print(first, &joined)?))
}

/// Doubts about a drawing by rule, counted, with the first case of each: nodes without an id (`G010`), nodes or edges of
/// the same id (`G011`, `G012`), ids that are numbers beside texts (`G013`), edges that name no node (`G020`) or lack an
/// end (`G021`), nodes that contain each other (`G030`). Linear in the drawing; `validate` lists them all. None where
/// there is no graph.
///
/// # Errors
/// `PQ4xxx` for a limit: fuel, memory and cancel count here.
///
/// ```
/// use pidq_core::{Graph, Limits, Spot, doubts};
///
/// let graph = Graph::from_json(r#"{"nodes": [{"id": 1}], "edges": [{"id": "a", "source": 1, "target": 1}, {"id": "a"}]}"#)?;
/// let found = doubts(&graph, Limits::default())?;
/// assert_eq!((found[0].code, found[0].count, found[0].place), ("G012", 1, Spot::Edge(1)));
/// assert_eq!((found[1].code, found[1].count), ("G021", 1));
/// # Ok::<(), pidq_core::Error>(())
/// ```
pub fn doubts(graph: &Graph, limits: Limits<'_>) -> Result<Vec<Doubt>> {
    let Some(plant) = graph.plant(&limits)? else { return Ok(Vec::new()) };
    let mut purse = Account { limits, spent: 0, held: 0 };
    doubts::doubts(&plant, &mut |units| purse.pay(units))
}

/// What an answer may cost: the fuel, the memory, the output and the flag of a run, which there is none of here.
struct Account<'l> {
    limits: Limits<'l>,
    spent: u64,
    held: usize,
}

impl Purse for Account<'_> {
    fn pay(&mut self, units: u64) -> Result<()> {
        const LOOK_EVERY: u64 = 1024;
        let before = self.spent;
        self.spent = self.spent.saturating_add(units);
        if self.spent > self.limits.fuel {
            let message = format!("The comparison took more than {} steps", self.limits.fuel);
            let error = Error::new(Code::OutOfFuel, message).with_limit("steps", self.limits.fuel);
            return Err(error.with_help("raise the fuel limit"));
        }
        let looks = before / LOOK_EVERY != self.spent / LOOK_EVERY;
        match self.limits.cancel.filter(|cancel| looks && cancel.is_cancelled()) {
            Some(cancel) if cancel.is_late() => Err(Error::new(Code::OutOfTime, "It took longer than allowed")),
            Some(_) => Err(Error::new(Code::Cancelled, "It was cancelled")),
            None => Ok(()),
        }
    }

    fn hold(&mut self, bytes: usize) -> Result<()> {
        self.held = self.held.saturating_add(bytes);
        if self.held <= self.limits.memory {
            return Ok(());
        }
        let message = format!("It needs more than {} bytes of memory", self.limits.memory);
        let error = Error::new(Code::OutOfMemory, message).with_limit("memory", self.limits.memory as u64);
        Err(error.with_help("raise the memory limit"))
    }
}

impl Account<'_> {
    fn print(&mut self, plant: &Plant<'_>, datum: &Datum<'_>) -> Result<String> {
        let mut out = String::new();
        self.write(plant, datum, &mut out)?;
        Ok(out)
    }

    /// An answer as JSON. As deep as answers are made.
    fn write(&mut self, plant: &Plant<'_>, datum: &Datum<'_>, out: &mut String) -> Result<()> {
        let before = out.len();
        match datum {
            Datum::Null | Datum::Node(NONE) | Datum::Edge(NONE) => out.push_str("null"),
            Datum::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Datum::Number(value) => out.push_str(&convert::number_text(*value).to_string()),
            Datum::Word(word) => out.push_str(&write::to_string(Value::String(word))),
            Datum::Text(text) => out.push_str(&write::to_string(Value::String(text))),
            Datum::Value(value) => out.push_str(&write::to_string(*value)),
            Datum::Node(node) => out.push_str(&write::to_string(plant.node(*node))),
            Datum::Edge(edge) => out.push_str(&write::to_string(plant.edge(*edge))),
            Datum::Nodes(nodes) => return self.list(plant, nodes.iter().map(|node| Datum::Node(*node)), out),
            Datum::Edges(edges) => return self.list(plant, edges.iter().map(|edge| Datum::Edge(*edge)), out),
            Datum::List(items) => return self.list(plant, items.iter(), out),
            Datum::Record(keys, values) => return self.record(plant, keys.iter().copied().zip(values), out),
            Datum::Table(keys, rows) => {
                return between(rows, ['[', ']'], out, |row, out| {
                    self.record(plant, keys.iter().copied().zip(row), out)
                });
            }
            Datum::Map(entries) => {
                return self.record(plant, entries.iter().map(|(key, value)| (key.as_str(), value)), out);
            }
        }
        self.pay(1 + (out.len() - before) as u64 / 64)?;
        if out.len() > self.limits.output {
            let message = format!("The result is larger than {} bytes", self.limits.output);
            return Err(Error::new(Code::OutputTooLarge, message).with_limit("result", self.limits.output as u64));
        }
        Ok(())
    }

    fn list<'d, D: Borrow<Datum<'d>>>(
        &mut self,
        plant: &Plant<'_>,
        items: impl Iterator<Item = D>,
        out: &mut String,
    ) -> Result<()> {
        between(items, ['[', ']'], out, |item, out| self.write(plant, item.borrow(), out))
    }

    fn record<'d, 'a: 'd>(
        &mut self,
        plant: &Plant<'_>,
        fields: impl Iterator<Item = (&'d str, &'d Datum<'a>)>,
        out: &mut String,
    ) -> Result<()> {
        between(fields, ['{', '}'], out, |(key, value), out| {
            out.push_str(&write::to_string(Value::String(key)));
            out.push(':');
            self.write(plant, value, out)
        })
    }
}

/// Writes items with commas between them.
fn between<T>(
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

fn plant<'g>(graph: &'g Graph, limits: &Limits<'_>) -> Result<Plant<'g>> {
    graph.plant(limits)?.ok_or_else(|| Error::new(Code::NoGraph, "no graph in the document"))
}
