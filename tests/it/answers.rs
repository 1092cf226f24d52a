//! Answers of queries about drawings, for tests of the functions for plants.

use std::fmt::Display;

use pidq::Graph;
use serde_json::Value;

use crate::drawing_notation::drawing;
use crate::graph::evaluate;

/// Returns the answer about a plant in the notation of the tests.
pub fn answer(plant: &str, query: &str) -> Value {
    let graph = Graph::from_json(drawing(plant)).expect("a drawing is JSON");
    evaluate(&graph, query, "{}").unwrap_or_else(|error| panic!("{query} on {plant}: {error}"))
}

/// Returns the answer about a document: its text, or its JSON.
pub fn answer_of(document: &(impl Display + ?Sized), query: &str) -> Value {
    let graph = Graph::from_json(document.to_string()).expect("a drawing is JSON");
    evaluate(&graph, query, "{}").unwrap_or_else(|error| panic!("{query} on {document}: {error}"))
}
