//! The query functions of pidq in [Apache DataFusion](https://datafusion.apache.org): SQL over columns of drawings.
//!
//! | function | result |
//! |---|---|
//! | `pidq(drawing, query [, params])` | the result as JSON |
//! | `pidq_text`, `pidq_number`, `pidq_bool` | the result as text, number or boolean |
//! | `pidq_error(drawing, query [, params [, type]])` | why there is no result, else NULL |
//! | `pidq_rows(drawing, query [, columns [, params]])` | the rows of the result, as a list of structs |
//! | `FROM pidq_rows('table', query [, columns [, drawing column]])` | the rows of the results of all drawings |
//! | `FROM pidq_boundary('table' [, drawing column])` | what a trace across drawings needs of each drawing |
//!
//! A drawing is JSON text in a column of text or bytes. A query that does not compile fails the statement when it is
//! planned. An error of one drawing, such as broken JSON or used-up fuel, makes its result NULL; `pidq_error` and the
//! column `pidq_error` of the table functions say why. `SET pidq.on_error = 'fail'` fails the statement instead.
//! [`Settings`] lists the settings; its limits apply to each drawing.
//!
//! [`downstream`] follows the flow across all drawings of a table.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//!
//! # #[tokio::main]
//! # async fn main() -> datafusion::error::Result<()> {
//! let ctx = SessionContext::new();
//! pidq_datafusion::register(&ctx);
//! ctx.sql(r#"CREATE TABLE drawings AS SELECT * FROM (VALUES
//!     ('1', '{"nodes": [{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}]}'),
//!     ('2', '{"nodes": [{"tag": "P-201", "kw": 30}]}'),
//!     ('3', '{"nodes": [')) AS t(drawing, graph)"#).await?.collect().await?;
//! let table = ctx.sql("SELECT drawing, tag, kw, pidq_error IS NOT NULL AS failed
//!     FROM pidq_rows('drawings', '.nodes | filter(.kw > 10)', 'tag text, kw number') ORDER BY drawing").await?;
//! assert_eq!(datafusion::arrow::util::pretty::pretty_format_batches(&table.collect().await?)?.to_string(), "\
//! +---------+-------+------+--------+
//! | drawing | tag   | kw   | failed |
//! +---------+-------+------+--------+
//! | 1       | P-101 | 15.0 | false  |
//! | 2       | P-201 | 30.0 | false  |
//! | 3       |       |      | true   |
//! +---------+-------+------+--------+");
//! # Ok(())
//! # }
//! ```

mod columns;
mod drawing_column;
mod functions;
mod plans;
mod query_context;
mod rows;
mod run;
mod scalar;
mod settings;
mod tables;
mod text_column;
mod trace;

pub use functions::{Functions, register};
pub use settings::{OnError, Settings};
pub use trace::{Item, OpenEnd, Trace, TraceRequest, downstream};
