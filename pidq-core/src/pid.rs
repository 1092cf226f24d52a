//! Analyses of piping and instrumentation diagrams.
//!
//! Every result is read off a drawing and is a candidate: nothing here states that something is safe. The modules work
//! on a drawing and its network; their results are [`Datum`]s, which a run or a program turns into values.

pub(crate) mod checks;
pub(crate) mod data_quality;
pub(crate) mod dead_ends;
pub(crate) mod diff;
pub(crate) mod extract;
pub(crate) mod geometry;
pub(crate) mod graph_info;
pub(crate) mod instrument_class;
pub(crate) mod isolate;
pub(crate) mod join;
pub(crate) mod joints;
pub(crate) mod json_results;
pub(crate) mod lists;
pub(crate) mod loop_parts;
pub(crate) mod loops;
pub(crate) mod pipe_lines;
pub(crate) mod quantity;
pub(crate) mod relief;
pub(crate) mod reports;
pub(crate) mod sections;
pub(crate) mod segments;
pub(crate) mod set_points;
pub(crate) mod stated_values;
pub(crate) mod tag;
pub(crate) mod valve_state;

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::value::Value;

pub(crate) use crate::graph::ChargeFn;

/// Fuel and memory budget, for analyses whose results may be much larger than their input.
pub(crate) trait Budget {
    fn charge(&mut self, units: u64) -> Result<()>;
    /// Reserves memory until the result has become a value.
    fn reserve(&mut self, bytes: usize) -> Result<()>;
}

/// Memory overhead of a row: spare capacity of the arrays that contain it, and allocator overhead.
const ROW_OVERHEAD: usize = 2 * size_of::<Vec<Datum<'_>>>() + 4 * 16;

/// Adds a row after reserving its memory.
pub(crate) fn push_row<'a>(rows: &mut Vec<Vec<Datum<'a>>>, row: Vec<Datum<'a>>, budget: &mut dyn Budget) -> Result<()> {
    budget.charge(1)?;
    budget.reserve(ROW_OVERHEAD + row.iter().map(Datum::size).sum::<usize>())?;
    rows.push(row);
    Ok(())
}

/// A result: values of the document, and arrays and records of them. Its depth is fixed by the code that builds it.
#[derive(Clone, Debug)]
pub(crate) enum Datum<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Word(&'static str),
    String(String),
    Value(Value<'a>),
    /// A node, an edge, several of them: the objects of the document.
    Node(NodeId),
    Nodes(Vec<NodeId>),
    Edge(EdgeId),
    Edges(Vec<EdgeId>),
    Array(Vec<Datum<'a>>),
    Record(&'static [&'static str], Vec<Datum<'a>>),
    /// Records of the same keys.
    Table(&'static [&'static str], Vec<Vec<Datum<'a>>>),
    /// A record with keys from the document.
    Map(Vec<(String, Datum<'a>)>),
}

impl<'a> Datum<'a> {
    /// Approximate size in bytes, including owned memory.
    pub fn size(&self) -> usize {
        let owned = match self {
            Datum::String(text) => text.len(),
            Datum::Nodes(numbers) | Datum::Edges(numbers) => size_of_val(&**numbers),
            Datum::Array(items) | Datum::Record(_, items) => items.iter().map(Datum::size).sum(),
            Datum::Table(_, rows) => rows.iter().flatten().map(Datum::size).sum(),
            Datum::Map(entries) => {
                entries.iter().map(|(key, value)| size_of::<String>() + key.len() + value.size()).sum()
            }
            _ => 0,
        };
        size_of::<Datum<'_>>() + owned
    }

    /// Returns a value of the document, null if there is none.
    pub fn value(value: Option<Value<'a>>) -> Datum<'a> {
        value.map_or(Datum::Null, Datum::Value)
    }

    pub fn string(text: Option<impl Into<String>>) -> Datum<'a> {
        text.map_or(Datum::Null, |text| Datum::String(text.into()))
    }

    pub fn node(node: Option<NodeId>) -> Datum<'a> {
        node.map_or(Datum::Null, Datum::Node)
    }

    pub fn count(count: usize) -> Datum<'a> {
        Datum::Number(count as f64)
    }

    /// Returns the value of a key of a record.
    pub fn field(self, key: &str) -> Option<Datum<'a>> {
        let Datum::Record(keys, values) = self else { return None };
        keys.iter().zip(values).find(|(name, _)| **name == key).map(|(_, value)| value)
    }

    pub fn strings(texts: impl IntoIterator<Item = String>) -> Datum<'a> {
        Datum::Array(texts.into_iter().map(Datum::String).collect())
    }
}
