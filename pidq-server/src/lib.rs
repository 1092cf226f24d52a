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

pub mod caches;
pub mod memory;
pub mod metrics;
pub mod store;

mod app;
mod caller;
mod graph_selector;
mod handlers;
mod problems;
mod query;
mod response_format;
mod server;
mod upload;

pub use app::command::{run, start, start_background_tasks};
pub use app::first_credentials::deliver as deliver_first_credentials;
pub use app::manual;
pub use app::routes::ROUTES;
pub use app::settings::{ADMIN_LOGIN, DATA_DIR, DATABASE_URL, SETTINGS, STORE_URL};
pub use app::sso::identity_provider;
pub use app::startup::{OpenError, open, open_accounts, open_store};
pub use server::{DEFAULT_TENANT, QueryLimits, Server};
