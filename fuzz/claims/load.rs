//! Any bytes as a document: they load or not, and what loads comes back byte by byte.

use pidq_core::{Graph, Limits, Query};

const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// Panics where the claim does not hold.
pub fn check(bytes: &[u8]) {
    let Ok(graph) = Graph::from_json(bytes) else { return };
    assert_eq!(graph.source().as_bytes(), bytes, "the source");
    let same = copy(&graph);
    match graph.root().as_str() {
        // A text alone is printed, not copied: its escapes may change, the text does not.
        Some(text) => {
            let again = Graph::from_json(same).expect("what was printed loads");
            assert_eq!(again.root().as_str(), Some(text));
        }
        None => assert_eq!(same, graph.source().trim_matches(BLANK)),
    }
}

fn copy(graph: &Graph) -> String {
    let query = Query::parse("get()").expect("it compiles");
    query.to_json(graph, Limits::default()).expect("get() cannot fail")
}
