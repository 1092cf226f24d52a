//! What the engine knows of piping and instrumentation diagrams.
//!
//! Every answer is read off a drawing and is a candidate: nothing here says that something is safe. The rooms below work
//! on a drawing and its network; what they find are [`Datum`]s, which a run or a program turns into values.

pub(crate) mod checks;
pub(crate) mod diff;
pub(crate) mod doubts;
pub(crate) mod ends;
pub(crate) mod extract;
pub(crate) mod flow;
pub(crate) mod info;
pub(crate) mod isolate;
pub(crate) mod join;
pub(crate) mod lists;
pub(crate) mod loops;
pub(crate) mod places;
pub(crate) mod report;
pub(crate) mod sections;
pub(crate) mod segments;
pub(crate) mod tag;

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::value::Value;

/// Pays for what is looked at.
pub(crate) type Pay<'p> = &'p mut dyn FnMut(u64) -> Result<()>;

/// Pays for what is looked at, and counts the memory of what is found where that can be far more than there is to look at.
pub(crate) trait Purse {
    fn pay(&mut self, units: u64) -> Result<()>;
    /// Memory until the answer stands.
    fn hold(&mut self, bytes: usize) -> Result<()>;
}

/// An answer: values of the document, and lists and records of them. Nested as deep as the code that makes it.
#[derive(Clone, Debug)]
pub(crate) enum Datum<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Word(&'static str),
    Text(String),
    Value(Value<'a>),
    /// A node, an edge, some of them: the objects of the document.
    Node(NodeId),
    Nodes(Vec<NodeId>),
    Edge(EdgeId),
    Edges(Vec<EdgeId>),
    List(Vec<Datum<'a>>),
    Record(&'static [&'static str], Vec<Datum<'a>>),
    /// Records of the same keys.
    Table(&'static [&'static str], Vec<Vec<Datum<'a>>>),
    /// A record whose keys come from the document.
    Map(Vec<(String, Datum<'a>)>),
}

impl<'a> Datum<'a> {
    /// Bytes of one among others, nearly, with what it owns itself.
    pub fn size(&self) -> usize {
        let owned = match self {
            Datum::Text(text) => text.len(),
            Datum::Nodes(numbers) | Datum::Edges(numbers) => size_of_val(&**numbers),
            Datum::List(items) | Datum::Record(_, items) => items.iter().map(Datum::size).sum(),
            _ => 0,
        };
        size_of::<Datum<'_>>() + owned
    }

    /// A value of the document, null where there is none.
    pub fn value(value: Option<Value<'a>>) -> Datum<'a> {
        value.map_or(Datum::Null, Datum::Value)
    }

    pub fn text(text: Option<impl Into<String>>) -> Datum<'a> {
        text.map_or(Datum::Null, |text| Datum::Text(text.into()))
    }

    pub fn node(node: Option<NodeId>) -> Datum<'a> {
        node.map_or(Datum::Null, Datum::Node)
    }

    pub fn count(count: usize) -> Datum<'a> {
        Datum::Number(count as f64)
    }

    /// The value of a key of a record.
    pub fn field(self, key: &str) -> Option<Datum<'a>> {
        let Datum::Record(keys, values) = self else { return None };
        keys.iter().zip(values).find(|(name, _)| **name == key).map(|(_, value)| value)
    }

    pub fn texts(texts: impl IntoIterator<Item = String>) -> Datum<'a> {
        Datum::List(texts.into_iter().map(Datum::Text).collect())
    }
}
