//! What both services of pidq stand on: HTTP, TLS, routes, access, problems, settings.
//!
//! A service is a state and a table of [`Route`]s. An [`App`] adds limits and hooks, and [`serve`] does the rest:
//! framing, timeouts, 404 and 405, tokens and scopes, problems, compression, validators, metrics, one log line per
//! request, OpenAPI, and an end that breaks no answer off. This floor knows nothing of graphs.
//!
//! ```
//! use pidq_http::{Access, App, Limits, Listener, Method, Problem, Reply, Request, Response, Route, Shutdown, serve};
//! # use std::error::Error;
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! struct Plant {
//!     pumps: u32,
//! }
//!
//! const ROUTES: &[Route<Plant>] = &[Route {
//!     method: Method::GET,
//!     path: "/pumps/{unit}",
//!     access: Access::Public,
//!     summary: "How many pumps a unit has.",
//!     parameters: &[],
//!     body: None,
//!     replies: &[Reply { status: 200, media: Some("application/json"), schema: "{}", summary: "The number." }],
//!     handler: |plant, request| Box::pin(pumps(plant, request)),
//! }];
//!
//! async fn pumps(plant: &Plant, request: Request) -> Result<Response, Problem> {
//!     match request.path("unit")? {
//!         "20" => Response::json(&plant.pumps),
//!         _ => Err(Problem::not_found("unit-not-found")),
//!     }
//! }
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn Error>> {
//! let mut app = App::new("plant", "1.0.0", Plant { pumps: 7 }, ROUTES);
//! app.limits.drain_wait = std::time::Duration::ZERO;
//! let listener = Listener::plain("127.0.0.1:0".parse()?)?;
//! let address = listener.address()?;
//! let (stop, shutdown) = Shutdown::manual();
//! let server = tokio::spawn(serve(app, vec![listener], shutdown));
//!
//! let mut client = tokio::net::TcpStream::connect(address).await?;
//! client.write_all(b"GET /pumps/20 HTTP/1.1\r\nHost: plant\r\nConnection: close\r\n\r\n").await?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer).await?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("\r\n\r\n7"));
//!
//! stop.stop();
//! server.await??;
//! # Ok(()) }
//! ```

#![forbid(unsafe_code)]

pub mod auth;
pub mod database;
pub mod oauth;

mod allocator;
mod answer;
mod compress;
mod ids;
mod limits;
mod log;
mod metrics;
mod negotiate;
mod openapi;
mod operations;
mod page;
mod percent;
mod principal;
mod problem;
mod proxies;
mod quota;
mod range;
mod request;
mod response;
mod route;
mod serve;
mod settings;
mod site;
mod tls;
mod work;

pub use bytes::Bytes;
pub use hyper::{Method, StatusCode, Uri, header};
pub use prometheus_client;

pub use crate::allocator::give_memory_back;
pub use crate::ids::{hex, uuid_v7};
pub use crate::limits::Limits;
pub use crate::log::{Fingerprint, LogFormat, init_log};
pub use crate::page::{Cursors, Page};
pub use crate::percent::encode as percent_encode;
pub use crate::principal::{Principal, PrincipalKind};
pub use crate::problem::{Problem, pointer_step, sentence};
pub use crate::proxies::{Network, NoNetwork};
pub use crate::quota::{Charge, Concurrency, Held, Quota};
pub use crate::request::{Form, Head, Multipart, MultipartLimits, Part, Pieces, Request};
pub use crate::response::{Events, Filling, Gathering, Gone, Lines, Response, Sender};
pub use crate::route::{Accepts, Access, Fut, Handler, Parameter, Place, Reply, Route, endpoints, index};
pub use crate::serve::{Listener, Shutdown, Stop, serve, serve_site};
pub use crate::settings::{COMMON, Floor, Kind, Secret, Setting, SettingError, Settings, environment, help, manual};
pub use crate::site::{App, Around, Authenticate, Introduction, Line, Meter, Ready, Site, Standing};
pub use crate::tls::{HttpsClient, Tls, TlsError, TlsVersion, client_tls, https_client};
pub use crate::work::{Done, Work};
