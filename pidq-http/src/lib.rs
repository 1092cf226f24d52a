//! HTTP layer of both pidq services: TLS, routes, authentication, problems, settings, databases.
//!
//! A service is a state and a table of [`Route`]s. An [`App`] adds limits and hooks, and [`serve`] does the rest:
//! framing, timeouts, 404 and 405, tokens and scopes, problems, compression, validators, metrics, access log, OpenAPI,
//! and graceful shutdown. This crate does not depend on graphs.
//!
//! ```
//! use pidq_http::{Access, App, Limits, Listener, Method, Problem, Reply, Request, Response, Route, Shutdown, codes, serve};
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
//!     summary: "Number of pumps of a unit.",
//!     parameters: &[],
//!     body: None,
//!     replies: &[Reply { status: 200, media: Some("application/json"), schema: "{}", summary: "The number." }],
//!     handler: |plant, request| Box::pin(pumps(plant, request)),
//! }];
//!
//! async fn pumps(plant: &Plant, request: Request) -> Result<Response, Problem> {
//!     match request.path("unit")? {
//!         "20" => Response::json(&plant.pumps),
//!         _ => Err(Problem::new(codes::NOT_FOUND)),
//!     }
//! }
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn Error>> {
//! let mut app = App::new("plant", "1.0.0", Plant { pumps: 7 }, ROUTES);
//! app.limits.shutdown_delay = std::time::Duration::ZERO;
//! let listener = Listener::plain("127.0.0.1:0".parse()?)?;
//! let address = listener.address()?;
//! let (stop, shutdown) = Shutdown::manual();
//! let server = tokio::spawn(serve(app, vec![listener], shutdown));
//!
//! let mut client = tokio::net::TcpStream::connect(address).await?;
//! client.write_all(b"GET /pumps/20 HTTP/1.1\r\nHost: plant\r\nConnection: close\r\n\r\n").await?;
//! let mut response = String::new();
//! client.read_to_string(&mut response).await?;
//! assert!(response.starts_with("HTTP/1.1 200 OK") && response.ends_with("\r\n\r\n7"));
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
mod builtin_routes;
mod compress;
mod dispatch;
mod ids;
mod limits;
mod log;
mod metrics;
mod negotiate;
mod openapi;
mod pagination;
mod percent;
mod principal;
mod problem;
mod proxies;
mod range;
mod rate_limit;
mod request;
mod response;
mod route;
mod serve;
mod service;
mod settings;
mod thread_pool;
mod tls;

pub use bytes::Bytes;
pub use hyper::{Method, StatusCode, Uri, header};
pub use prometheus_client;

pub use crate::allocator::configure_malloc;
pub use crate::ids::{hex, uuid_v7};
pub use crate::limits::Limits;
pub use crate::log::{Fingerprint, LogFormat, init_log};
pub use crate::metrics::QueryMeasurements;
pub use crate::pagination::{CursorSigner, PageRequest};
pub use crate::percent::encode as percent_encode;
pub use crate::principal::{Principal, PrincipalKind};
pub use crate::problem::codes::{self, ProblemCode};
pub use crate::problem::pages::problem_table;
pub use crate::problem::{Problem, pointer_step, sentence};
pub use crate::proxies::{InvalidNetwork, Network};
pub use crate::rate_limit::{ConcurrencyLimit, ConcurrencyPermit, RateDecision, RateLimiter};
pub use crate::request::{BodyChunks, Form, Head, Multipart, MultipartLimits, Part, Request};
pub use crate::response::{BodyProducer, Disconnected, Events, Lines, Response, Sender, VectoredBody};
pub use crate::route::{
    Accepts, Access, Fut, Handler, Parameter, ParameterLocation, Reply, Route, route_sections, route_table,
};
pub use crate::serve::{Listener, Shutdown, Stop, serve, serve_service};
pub use crate::service::{
    App, Authenticate, Middleware, ProxyProtocol, RateLimitHook, Readiness, ReadinessCheck, Service, WeakService,
};
pub use crate::settings::{
    COMMON, CommonSettings, Secret, Setting, SettingError, Settings, ValueKind, environment, settings_help,
    settings_table,
};
pub use crate::thread_pool::{JobResult, ThreadPool};
pub use crate::tls::{HttpsClient, Tls, TlsError, TlsVersion, client_tls, https_client};
