//! Graph query service of pidq: OAuth tokens, stored graphs, and queries on them.
//!
//! [`ROUTES`] is the table of endpoints, [`SETTINGS`] the table of settings. [`open`] builds the service from settings;
//! [`run`] is the command.
//!
//! ```
//! use pidq_http::{COMMON, Settings};
//! use pidq_server::{SETTINGS, open};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = std::env::temp_dir().join(format!("pidq-example-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! std::fs::write(folder.join("P-1.json"), r#"{"pid_graph": {"nodes": [{"id": "V-1"}], "edges": []}}"#)?;
//!
//! let arguments = ["--graph-dir", folder.to_str().ok_or("a path")?, "--auth", "off"].map(str::to_owned);
//! let service = open(&Settings::read(&[COMMON, SETTINGS], arguments, [])?).await?.build();
//! let request = hyper::Request::post("/graph/P-1").header("host", "localhost").header("content-type", "application/json");
//! let response = service.call(request.body(r#"{"query": ".pid_graph.nodes | map(.id)"}"#.into())?).await;
//! assert_eq!(response.status(), 200);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(()) }
//! ```

#![forbid(unsafe_code)]

pub mod buffer_pool;
pub mod caches;
pub mod manual;
pub mod memory_pool;
pub mod metrics;
pub mod read_only_dir;
pub mod result_cache;
pub mod store;
pub mod validation;

mod batch_query;
mod caller;
mod command;
mod functions_handler;
mod graph_handlers;
mod oauth_handlers;
mod problems;
mod query_execution;
mod query_handler;
mod response_format;
mod routes;
mod server;
mod settings;
mod splice_body;
mod startup;

pub use command::{run, start, start_background_tasks};
pub use routes::ROUTES;
pub use server::{DEFAULT_TENANT, QueryLimits, Server};
pub use settings::SETTINGS;
pub use startup::{OpenError, open, open_accounts, open_store};
