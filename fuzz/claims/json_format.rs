//! Fuzz property of `json_format`: any text as a query in JSON format compiles or not, and its trees and texts read
//! back unchanged.

use pidq_core::{Dialect, PrintOptions};

/// Panics if the property is violated.
pub fn check(json: &str) {
    let dialect = Dialect::standard();
    let compiled = dialect.compile_json(json);
    let stringified = dialect.stringify(json, &PrintOptions::default());
    let Ok(query) = compiled else { return };
    assert!(stringified.is_ok(), "compiles, but does not print: {stringified:?}");

    let tree = query.tree();
    let again = dialect.compile_json(&tree).map(|query| query.tree()).map_err(|error| error.code());
    assert_eq!(again.as_ref(), Ok(&tree), "read back from JSON");

    // Some trees have no text form and are printed in JSON format; the others read back unchanged.
    let printed = query.to_string();
    if printed != tree {
        let again = dialect.parse(&printed).map(|query| query.tree()).map_err(|error| error.code());
        assert_eq!(again.as_ref(), Ok(&tree), "printed: {printed}");
    }
}
