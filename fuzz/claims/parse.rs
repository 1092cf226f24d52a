//! Fuzz property of `parse`: a text that compiles as a query prints, formats and reads back as the same tree.

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
        let again = dialect.parse(&printed).map(|query| query.tree()).map_err(|error| error.code());
        assert_eq!(again.as_ref(), Ok(&tree), "printed: {printed}");
    }
}

/// Checks that formatting keeps the tree and is idempotent.
fn check_format(dialect: &Dialect, text: &str, tree: &str) {
    let formatted = dialect.format(text).expect("what has a tree formats");
    let again = dialect.tree(&formatted).expect("what was formatted has a tree");
    assert_eq!(again, tree, "formatted: {formatted}");
    let twice = dialect.format(&formatted).expect("what was formatted formats");
    assert_eq!(twice, formatted, "formatted twice");
}
