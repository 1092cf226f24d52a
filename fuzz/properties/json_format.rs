//! Fuzz property of `json_format`: the tree and the printed text of a query in JSON format parse to the same tree.

use pidq_core::{Dialect, PrintOptions};

/// Panics if the property is violated.
pub fn check(json: &str) {
    let dialect = Dialect::standard();
    let compiled = dialect.compile_json(json);
    let stringified = dialect.stringify(json, &PrintOptions::default());
    let Ok(query) = compiled else { return };
    assert!(stringified.is_ok(), "compiles, but does not print: {stringified:?}");

    let tree = query.tree();
    let reparsed = dialect.compile_json(&tree).map(|query| query.tree()).map_err(|error| error.code());
    assert_eq!(reparsed.as_ref(), Ok(&tree), "parsed from the tree");

    // Some trees have no text form and are printed in JSON format; the others parse to the same tree.
    let printed = query.to_string();
    if printed != tree {
        let reparsed = dialect.parse(&printed).map(|query| query.tree()).map_err(|error| error.code());
        assert_eq!(reparsed.as_ref(), Ok(&tree), "printed: {printed}");
    }
}
