//! Fuzz property of `load`: any bytes load as a document or not, and a loaded document is written back byte by byte.

use pidq_core::{Error, Graph, Limits, Query};

const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// Panics if the property is violated.
pub fn check(bytes: &[u8]) {
    let loaded = Graph::from_json(bytes);
    check_parts(bytes, loaded.as_ref().err());
    let Ok(graph) = loaded else { return };
    assert_eq!(graph.source().as_bytes(), bytes, "the source");
    let same = copy(&graph);
    match graph.root().as_str() {
        // A single string is printed, not copied: its escapes may change, its value does not.
        Some(text) => {
            let again = Graph::from_json(same).expect("what was printed loads");
            assert_eq!(again.root().as_str(), Some(text));
        }
        None => assert_eq!(same, graph.source().trim_matches(BLANK)),
    }
}

/// Checks that unused parts of a document are validated too, with the same error.
fn check_parts(bytes: &[u8], refused: Option<&Error>) {
    for query in ["size()", ".a | size()"] {
        let query = Query::parse(query).expect("valid query");
        let error = query.load(bytes).err();
        assert_eq!(error.map(|error| error.to_string()), refused.map(Error::to_string));
    }
}

fn copy(graph: &Graph) -> String {
    let query = Query::parse("get()").expect("valid query");
    query.to_json(graph, Limits::default()).expect("get() cannot fail")
}
