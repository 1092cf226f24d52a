//! Any bytes as a document: they load or not, and what loads comes back byte by byte.

use pidq_core::{Error, Graph, Limits, Query};

const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// Panics where the claim does not hold.
pub fn check(bytes: &[u8]) {
    let loaded = Graph::from_json(bytes);
    check_parts(bytes, loaded.as_ref().err());
    let Ok(graph) = loaded else { return };
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

/// What nobody wants of a document is as correct as the rest: else it is refused, with the same words.
fn check_parts(bytes: &[u8], refused: Option<&Error>) {
    for query in ["size()", ".a | size()"] {
        let query = Query::parse(query).expect("it compiles");
        let error = query.read(bytes).err();
        assert_eq!(error.map(|error| error.to_string()), refused.map(Error::to_string));
    }
}

fn copy(graph: &Graph) -> String {
    let query = Query::parse("get()").expect("it compiles");
    query.to_json(graph, Limits::default()).expect("get() cannot fail")
}
