//! The graph query service of pidq: tokens, the graph of a job, queries on it.
//!
//! [`ROUTES`] is its table of contents, [`SETTINGS`] what an administrator decides. [`open`] makes an app of settings,
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
//! let arguments = ["--graphs", folder.to_str().ok_or("a path")?, "--auth", "off"].map(str::to_owned);
//! let site = open(&Settings::read(&[COMMON, SETTINGS], arguments, [])?).await?.build();
//! let request = hyper::Request::post("/graph/P-1").header("host", "localhost").header("content-type", "application/json");
//! let answer = site.call(request.body(r#"{"query": ".pid_graph.nodes | map(.id)"}"#.into())?).await;
//! assert_eq!(answer.status(), 200);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(()) }
//! ```

#![forbid(unsafe_code)]

pub mod buffers;
pub mod door;
pub mod graphs;
pub mod manual;
pub mod memory;
pub mod meters;
pub mod results;
pub mod served;
pub mod store;

mod answering;
mod asker;
mod fleet;
mod graph;
mod language;
mod opening;
mod problems;
mod question;
mod recipe;
mod rendering;
mod routes;
mod running;
mod server;
mod settings;
mod tokens;

pub use opening::{OpenError, open, open_accounts, open_store};
pub use routes::ROUTES;
pub use running::{attend, run, start};
pub use server::{Budget, OPEN_TENANT, Server};
pub use settings::SETTINGS;
