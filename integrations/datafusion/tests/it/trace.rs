//! Trace across drawings, compared with plain pidq on all drawings joined.

use std::collections::BTreeSet;

use datafusion::arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use pidq_datafusion::{Trace, TraceRequest, downstream};

use crate::{plant, rows, session};

fn ids(trace: &Trace) -> BTreeSet<String> {
    trace.items.iter().map(|item| format!("{}#{}", item.drawing, item.id)).collect()
}

fn table(drawings: &[(String, String)]) -> Vec<(&str, Option<&str>)> {
    drawings.iter().map(|(name, graph)| (name.as_str(), Some(graph.as_str()))).collect()
}

#[tokio::test]
async fn a_trace_reaches_what_the_joined_drawings_reach() -> Result<()> {
    let drawings = plant::drawings(70);
    let ctx = session(&table(&drawings), &DataType::Utf8)?;
    let mut largest = 0;
    for (sheet, item) in
        [(0, "A"), (0, "V1"), (5, "V4"), (8, "T"), (9, "B"), (10, "U"), (11, "V7"), (36, "B"), (69, "C")]
    {
        let drawing = plant::name(sheet);
        let tag = format!("{sheet}-{item}");
        let expected = plant::downstream(&drawings, &tag).map_err(|error| DataFusionError::External(error.into()))?;
        let trace = downstream(&ctx, &TraceRequest::new("drawings", &drawing, &tag)).await?;
        assert_eq!(ids(&trace), expected, "{drawing} {item}");
        let on_drawings: BTreeSet<&str> = trace.items.iter().map(|item| item.drawing.as_str()).collect();
        assert_eq!(trace.drawings, on_drawings.len());
        largest = largest.max(trace.drawings);
    }
    assert!(largest > 20, "the plant has long lines: {largest}");
    Ok(())
}

#[tokio::test]
async fn a_trace_says_where_it_ends_and_what_it_could_not_read() -> Result<()> {
    let mut drawings = plant::drawings(30);
    drawings[4].1 = "{".into();
    let ctx = session(&table(&drawings), &DataType::Utf8)?;
    let trace = downstream(&ctx, &TraceRequest::new("drawings", "PID-0001", "1-V1")).await?;
    let open: Vec<String> = trace.open_ends.iter().map(|end| format!("{}#{}", end.drawing, end.id)).collect();
    // The last one continues on the unread drawing.
    for end in ["PID-0001#D", "PID-0002#D", "PID-0003#2"] {
        assert!(open.iter().any(|found| found == end), "{end}: {open:?}");
    }
    assert!(!trace.items.iter().any(|item| item.drawing == "PID-0004"));
    assert_eq!(trace.unread.iter().map(|(drawing, _)| drawing.as_str()).collect::<Vec<_>>(), ["PID-0004"]);
    assert!(!trace.is_complete());
    Ok(())
}

#[tokio::test]
async fn a_stored_boundary_gives_the_same_trace() -> Result<()> {
    let drawings = plant::drawings(30);
    let ctx = session(&table(&drawings), &DataType::Utf8)?;
    rows(&ctx, "CREATE TABLE boundary AS SELECT * FROM pidq_boundary('drawings')").await?;
    let request = TraceRequest::new("drawings", "PID-0000", "0-V1");
    let stored = TraceRequest { boundary_table: Some("boundary".into()), ..request.clone() };
    assert_eq!(ids(&downstream(&ctx, &stored).await?), ids(&downstream(&ctx, &request).await?));
    Ok(())
}

#[tokio::test]
async fn an_unknown_drawing_or_item_is_an_error() -> Result<()> {
    let drawings = plant::drawings(3);
    let ctx = session(&table(&drawings), &DataType::Utf8)?;
    for (drawing, item, error) in [("PID-9", "0-V1", "0 drawings have the name `PID-9`"), ("PID-0000", "X", "X")] {
        let found = downstream(&ctx, &TraceRequest::new("drawings", drawing, item)).await;
        let message = found.err().map_or_else(String::new, |error| error.strip_backtrace());
        assert!(message.contains(error), "{drawing} {item}: {message}");
    }
    Ok(())
}
