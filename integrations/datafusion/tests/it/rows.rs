//! Rows of results as rows of tables.

use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;

use crate::{DRAWINGS, failure, rows, session};

#[tokio::test]
async fn rows_of_results_become_rows_with_the_other_columns_of_the_table() -> Result<()> {
    let ctx = session(DRAWINGS, &DataType::LargeUtf8)?;
    let sql = "SELECT drawing, tag, kw, \"on\", pidq_error IS NOT NULL
        FROM pidq_rows('drawings', '.nodes', 'tag text, kw number, on bool') ORDER BY drawing, tag";
    assert_eq!(
        rows(&ctx, sql).await?,
        [
            "broken | - | - | - | true",
            "good | P-1 | 15.0 | true | false",
            "good | P-2 | 7.5 | - | false",
            "null | - | - | - | true"
        ]
    );
    Ok(())
}

#[tokio::test]
async fn a_scalar_function_returns_the_rows_as_a_list() -> Result<()> {
    let ctx = session(&DRAWINGS[..2], &DataType::Utf8)?;
    let sql = "SELECT drawing, row['tag'], row['kw'] + 1
        FROM (SELECT drawing, unnest(pidq_rows(graph, '.nodes', 'tag text, kw number')) AS row FROM drawings)";
    assert_eq!(rows(&ctx, sql).await?, ["good | P-1 | 16.0", "good | P-2 | 8.5"]);
    let sql = "SELECT unnest(pidq_rows(graph, '.nodes | map(.tag)', 'tag text'))['tag'] FROM drawings";
    assert_eq!(rows(&ctx, sql).await?, ["P-1", "P-2"], "items that are no objects are the values of one column");
    let sql = "SELECT drawing, n FROM pidq_rows('drawings', '.nodes | size()', 'n integer') ORDER BY n";
    assert_eq!(rows(&ctx, sql).await?, ["empty | 0", "good | 2"], "so is a single value");
    Ok(())
}

#[tokio::test]
async fn columns_that_are_not_declared_are_json() -> Result<()> {
    let ctx = session(&DRAWINGS[..1], &DataType::Utf8)?;
    let sql = "SELECT tag, data FROM pidq_rows('drawings', '.nodes | map({tag: .tag, data: [.kw, .on]}) | limit(1)')";
    assert_eq!(rows(&ctx, sql).await?, [r#""P-1" | [15,true]"#]);
    let error = failure(&ctx, "SELECT * FROM pidq_rows('drawings', '.nodes')").await;
    assert!(error.contains("declare the columns"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_row_of_another_shape_is_an_error_of_its_drawing() -> Result<()> {
    let ctx = session(&DRAWINGS[..1], &DataType::Utf8)?;
    for (query, columns, error) in [
        (".nodes", "tag number", "column `tag`: the result is not a number: it is of type string"),
        (".nodes", "kw integer", "column `kw`: the result is not an integer: 7.5"),
        (".nodes | map(.tag)", "a text, b text", "a row is an object, not of type string"),
    ] {
        let sql = format!("SELECT pidq_error FROM pidq_rows('drawings', '{query}', '{columns}')");
        assert_eq!(rows(&ctx, &sql).await?, [error], "no row besides the error");
    }
    Ok(())
}

#[tokio::test]
async fn a_table_function_names_what_is_wrong_with_its_arguments() -> Result<()> {
    let ctx = session(&DRAWINGS[..1], &DataType::Utf8)?;
    for (call, error) in [
        ("pidq_rows('plans', 'size()', 'n integer')", "there is no table `plans`"),
        ("pidq_rows('drawings', 'size()', 'n integer', 'json')", "has no column `json`"),
        ("pidq_rows('drawings', 'size()', 'drawing text')", "has a column `drawing` already"),
        ("pidq_rows('drawings')", "pidq_rows('table', 'query'"),
        ("pidq_rows('drawings', 1)", "literal texts"),
        ("pidq_boundary()", "pidq_boundary('table'"),
    ] {
        let found = failure(&ctx, &format!("SELECT * FROM {call}")).await;
        assert!(found.contains(error), "{call}: {found}");
    }
    Ok(())
}
