//! Scalar functions with one value per drawing.

use datafusion::arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use pidq_datafusion::{Functions, Settings};

use crate::{DRAWINGS, failure, plant, rows, session};

#[tokio::test]
async fn each_layout_of_text_and_bytes_gives_the_same_results() -> Result<()> {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    for layout in [
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
        dictionary,
    ] {
        let ctx = session(DRAWINGS, &layout)?;
        let found = rows(&ctx, "SELECT drawing, pidq(graph, '.nodes | map(.kw)') FROM drawings").await?;
        assert_eq!(found, ["good | [15,7.5]", "empty | []", "broken | -", "null | -"], "{layout}");
    }
    let numbers = "SELECT pidq(1, 'size()')";
    assert!(failure(&session(DRAWINGS, &DataType::Utf8)?, numbers).await.contains("a drawing is text or bytes"));
    Ok(())
}

#[tokio::test]
async fn results_have_the_type_of_their_function() -> Result<()> {
    let ctx = session(&DRAWINGS[..2], &DataType::Utf8)?;
    let sql = "SELECT pidq_text(graph, '.nodes.0.tag') || '!', pidq_number(graph, '.nodes.0.kw') + 1,
        NOT pidq_bool(graph, '.nodes.0.on'), pidq_text(graph, '.nodes.0.kw') FROM drawings";
    assert_eq!(rows(&ctx, sql).await?, ["P-1! | 16.0 | false | 15", "- | - | - | -"]);
    Ok(())
}

#[tokio::test]
async fn a_result_of_another_type_is_null_and_an_error() -> Result<()> {
    let ctx = session(&DRAWINGS[..1], &DataType::Utf8)?;
    for (function, query, name, error) in [
        ("pidq_number", ".nodes.0.tag", "number", "the result is not a number: it is of type string"),
        ("pidq_bool", ".nodes.0.kw", "bool", "the result is not a boolean: it is of type number"),
        ("pidq_text", ".nodes", "text", "the result is not text: it is of type array"),
    ] {
        let sql = format!(
            "SELECT {function}(graph, '{query}'), pidq_error(graph, '{query}', '{{}}', '{name}') FROM drawings"
        );
        assert_eq!(rows(&ctx, &sql).await?, [format!("- | {error}")]);
        let sql = format!("SELECT pidq_error(graph, '{query}') FROM drawings");
        assert_eq!(rows(&ctx, &sql).await?, ["-"], "as JSON it is a result");
    }
    assert!(failure(&ctx, "SELECT pidq_error(graph, 'size()', '{}', 'int') FROM drawings").await.contains("not `int`"));
    Ok(())
}

#[tokio::test]
async fn an_error_of_a_drawing_is_null_with_a_reason_or_fails_the_statement() -> Result<()> {
    let ctx = session(DRAWINGS, &DataType::Utf8)?;
    let errors = rows(&ctx, "SELECT drawing, pidq_error(graph, '.nodes | size()') FROM drawings").await?;
    assert_eq!(errors[..2], ["good | -", "empty | -"]);
    assert!(errors[2].starts_with("broken | PQ5001"), "{errors:?}");
    assert_eq!(errors[3], "null | the drawing is NULL");
    rows(&ctx, "SET pidq.on_error = 'fail'").await?;
    let error = failure(&ctx, "SELECT pidq(graph, '.nodes | size()') FROM drawings").await;
    assert!(error.contains("PQ5001") && error.contains("pidq.on_error"), "{error}");
    let good = rows(&ctx, "SELECT pidq(graph, '.nodes | size()') FROM drawings WHERE drawing <> 'broken'").await?;
    assert_eq!(good, ["2", "0", "-"], "NULL is no error");
    assert_eq!(rows(&ctx, "SELECT count(pidq_error(graph, 'size()')) FROM drawings").await?, ["2"], "it never fails");
    Ok(())
}

#[tokio::test]
async fn a_query_that_does_not_compile_fails_when_the_statement_is_planned() -> Result<()> {
    let ctx = session(&[], &DataType::Utf8)?;
    for sql in [
        "SELECT pidq(graph, 'nodes() | fliter(.a)') FROM drawings",
        "SELECT pidq_error(graph, 'nodes() | fliter(.a)') FROM drawings",
        "SELECT pidq_rows(graph, 'nodes() | fliter(.a)', 'a text') FROM drawings",
        "SELECT * FROM pidq_rows('drawings', 'nodes() | fliter(.a)', 'a text')",
    ] {
        let planned = ctx.sql(sql).await.map(|frame| frame.into_optimized_plan());
        let error = planned.err().map_or_else(String::new, |error| error.strip_backtrace());
        assert!(error.contains("did you mean `filter`?"), "{sql}: {error}");
    }
    Ok(())
}

#[tokio::test]
async fn parameters_are_json_and_may_differ_by_row() -> Result<()> {
    let ctx = session(&DRAWINGS[..1], &DataType::Utf8)?;
    let sql = "SELECT pidq(graph, '.nodes | filter(.kw > $min) | map(.tag)', params) FROM drawings,
        (VALUES (1, '{\"min\": 1}'), (2, '{\"min\": 10}')) AS t(n, params) ORDER BY n";
    assert_eq!(rows(&ctx, sql).await?, [r#"["P-1","P-2"]"#, r#"["P-1"]"#]);
    let sql = "SELECT pidq_number(graph, query) FROM drawings, (VALUES ('.nodes | size()'), (NULL)) AS t(query)";
    assert_eq!(rows(&ctx, sql).await?, ["2.0", "-"], "the query is a column");
    let unknown = failure(&ctx, "SELECT pidq(graph, '$a', '{\"b\": 1}') FROM drawings").await;
    assert!(unknown.contains("PQ1"), "{unknown}");
    Ok(())
}

#[tokio::test]
async fn limits_apply_to_each_drawing_and_are_settings() -> Result<()> {
    let ctx = session(&DRAWINGS[..2], &DataType::Utf8)?;
    for (setting, query, error) in [
        ("fuel = 15", ".nodes | map([.kw, .kw, .kw, .kw, .kw, .kw, .kw, .kw])", "PQ4001"),
        ("output = 10", ".nodes", "PQ4003"),
        ("drawing_size = 20", "size()", "raise `pidq.drawing_size`"),
        ("memory = 4000", ".nodes | map(padStart(.tag, 5000))", "PQ4007"),
    ] {
        rows(&ctx, &format!("SET pidq.{setting}")).await?;
        let found =
            rows(&ctx, &format!("SELECT pidq(graph, '{query}'), pidq_error(graph, '{query}') FROM drawings")).await?;
        assert!(found[0].starts_with("- | ") && found[0].contains(error), "{setting}: {found:?}");
        assert!(found[1].ends_with(" | -"), "{setting}: the other drawing has a result: {found:?}");
        let name = setting.split(' ').next().unwrap_or_default();
        let default = match name {
            "fuel" => 20_000_000,
            "output" | "drawing_size" => 64 << 20,
            _ => 256 << 20,
        };
        rows(&ctx, &format!("SET pidq.{name} = {default}")).await?;
    }
    assert!(failure(&ctx, "SET pidq.on_error = 'maybe'").await.contains("`null` or `fail`"));
    assert!(failure(&ctx, "SET pidq.speed = 1").await.contains("no setting `pidq.speed`"));
    Ok(())
}

#[tokio::test]
async fn a_session_cannot_raise_a_limit_above_the_ceiling() -> Result<()> {
    let ctx = SessionContext::new();
    Functions::with_ceiling(Settings { fuel: 3, ..Settings::default() }).register(&ctx);
    rows(&ctx, "SET pidq.fuel = 1000000").await?;
    let found = rows(&ctx, "SELECT pidq_error('[3,1,2]', 'map(get() + 1) | sort()')").await?;
    assert!(found[0].contains("PQ4001"), "{found:?}");
    Ok(())
}

#[tokio::test]
async fn a_sum_over_drawings_is_that_of_plain_runs() -> Result<()> {
    let drawings = plant::drawings(40);
    let table: Vec<(&str, Option<&str>)> =
        drawings.iter().map(|(name, graph)| (name.as_str(), Some(graph.as_str()))).collect();
    let ctx = session(&table, &DataType::Utf8View)?;
    for query in ["nodes() | size()", "deadEnds() | size()", "nodes() | map(.nominal_diameter) | sum()"] {
        let expected = plant::sum(&drawings, query).map_err(|error| DataFusionError::External(error.into()))?;
        let sql = format!("SELECT CAST(sum(pidq_number(graph, '{query}')) AS BIGINT) FROM drawings");
        assert_eq!(rows(&ctx, &sql).await?, [expected.to_string()], "{query}");
    }
    Ok(())
}
