//! The functions of the language: all tables together.

mod array;
mod ask;
mod graph;
mod helpers;
mod logic;
mod number;
mod object;
mod pid;
mod regex;
mod seen;
mod sorting;
mod string;

use crate::eval::function::Function;
use crate::eval::plan::FunctionRef;

/// The tables of JSON Query 5.1.1, as the manual groups them.
const JSON_QUERY: &[(&str, &[Function])] = &[
    ("structure", object::FUNCTIONS),
    ("lists", array::FUNCTIONS),
    ("logic", logic::FUNCTIONS),
    ("numbers", number::FUNCTIONS),
    ("texts", string::FUNCTIONS),
    ("patterns", regex::FUNCTIONS),
];

/// The tables of pidq's own functions.
const PIDQ: &[(&str, &[Function])] = &[
    ("bindings", object::BINDINGS),
    ("helpers", helpers::FUNCTIONS),
    ("graph", graph::FUNCTIONS),
    ("pid", pid::FUNCTIONS),
];

/// The functions of a profile, in groups.
pub(crate) fn groups(with_extensions: bool) -> impl Iterator<Item = (&'static str, &'static [Function])> {
    let extensions = if with_extensions { PIDQ } else { &[] };
    JSON_QUERY.iter().chain(extensions).copied()
}

/// The function of a name.
pub(crate) fn find(name: &str, with_extensions: bool) -> Option<FunctionRef> {
    let extensions = if with_extensions { PIDQ } else { &[] };
    let standard = row(JSON_QUERY, name).map(FunctionRef::Standard);
    standard.or_else(|| row(extensions, name).map(FunctionRef::Extension))
}

/// Whether the function of a name asks the graph of a document, and so any part of it.
pub(crate) fn asks_graph(name: &str) -> bool {
    graph::FUNCTIONS.iter().chain(pid::FUNCTIONS).any(|function| function.name == name)
}

fn row(groups: &[(&str, &'static [Function])], name: &str) -> Option<&'static Function> {
    groups.iter().flat_map(|(_, rows)| *rows).find(|row| row.name == name)
}
