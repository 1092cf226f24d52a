//! Fuzz property of `parse`: the printed and the formatted text of a query parse to the same tree.

use pidq_core::Dialect;

/// Panics if the property is violated.
pub fn check(text: &str) {
    let dialect = Dialect::standard();
    let compiled = dialect.parse(text);
    let Ok(tree) = dialect.tree(text) else {
        assert!(compiled.is_err(), "compiles, but has no tree");
        return;
    };
    check_format(&dialect, text, &tree);
    if let Ok(query) = compiled {
        assert_eq!(query.tree(), tree, "the compiled tree");
        let printed = query.to_string();
        let reparsed = dialect.parse(&printed).map(|query| query.tree()).map_err(|error| error.code());
        assert_eq!(reparsed.as_ref(), Ok(&tree), "printed: {printed}");
    }
}

/// Checks that formatting keeps the tree and is idempotent.
fn check_format(dialect: &Dialect, text: &str, tree: &str) {
    let formatted = dialect.format(text).expect("a valid query can be formatted");
    let reparsed = dialect.tree(&formatted).expect("a formatted query is valid");
    assert_eq!(reparsed, tree, "formatted: {formatted}");
    let twice = dialect.format(&formatted).expect("a formatted query can be formatted");
    assert_eq!(twice, formatted, "formatted twice");
}
