//! Fuzz property of `load`: `get()` returns the bytes of a valid document unchanged.

use pidq_core::{Error, Graph, Limits, Query};

const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// Panics if the property is violated.
pub fn check(bytes: &[u8]) {
    let loaded = Graph::from_json(bytes);
    check_projection(bytes, loaded.as_ref().err());
    let Ok(graph) = loaded else { return };
    assert_eq!(graph.source().as_bytes(), bytes, "the source");
    let same = copy(&graph);
    match graph.root().as_str() {
        // A single string is printed, not copied: its escapes may change, its value does not.
        Some(text) => {
            let reloaded = Graph::from_json(same).expect("a printed document loads");
            assert_eq!(reloaded.root().as_str(), Some(text));
        }
        None => assert_eq!(same, graph.source().trim_matches(BLANK)),
    }
}

/// Checks that values that a query does not read are validated too, with the same error.
fn check_projection(bytes: &[u8], expected: Option<&Error>) {
    for query in ["size()", ".a | size()"] {
        let query = Query::parse(query).expect("valid query");
        let error = query.load(bytes).err();
        assert_eq!(error.map(|error| error.to_string()), expected.map(Error::to_string));
    }
}

fn copy(graph: &Graph) -> String {
    let query = Query::parse("get()").expect("valid query");
    query.to_json(graph, Limits::default()).expect("get() cannot fail")
}
