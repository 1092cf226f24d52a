//! HTTP layer of both pidq services: TLS, routes, authentication, problems, settings, databases.
//!
//! A service is a state and a table of [`Route`]s. An [`App`] adds limits and hooks, and [`serve`] does the rest:
//! framing, timeouts, 404 and 405, tokens and scopes, problems, compression, validators, metrics, access log, OpenAPI,
//! and graceful shutdown. This crate does not depend on graphs.
//!
//! ```
//! use pidq_http::{Access, Action, App, Limits, Listener, Method, Problem, Reply, Request, Response, Route, Shutdown, codes, serve};
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
//!     action: Action::None,
//!     summary: "Number of pumps of a unit.",
//!     parameters: &[],
//!     body: None,
//!     replies: &[Reply::json::<u32>(200, "The number.")],
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

mod limits;
mod message;
mod metrics;
mod otlp;
mod principal;
mod problem;
mod process;
mod routing;
mod schema;
mod secret;
mod serve;
mod service;
mod settings;
mod tls;
mod trace;

pub use bytes::Bytes;
pub use hyper::{Method, StatusCode, Uri, header};
pub use prometheus_client;

pub use crate::limits::Limits;
pub use crate::message::boxed_future::Fut;
pub use crate::message::fingerprint::Fingerprint;
pub use crate::message::head::Head;
pub use crate::message::pagination::{CursorSigner, PageRequest};
pub use crate::message::percent::encode as percent_encode;
pub use crate::message::proxies::{InvalidNetwork, Network};
pub use crate::message::request::{Accepts, BodyChunks, Form, Multipart, MultipartLimits, Part, Request, RequestBody};
pub use crate::message::response::{
    BodyError, BodyProducer, Disconnected, Events, Lines, Response, Sender, ServiceBody,
};
pub use crate::message::service_info::Readiness;
pub use crate::message::vectored::VectoredBody;
pub use crate::metrics::{AnyMetric, HTTP_METRICS, Metric, MetricTable, QueryMeasurements, metrics_table};
pub use crate::principal::{Principal, PrincipalKind};
pub use crate::problem::codes::{self, ProblemCode, problem_table};
pub use crate::problem::{Problem, pointer_step, sentence};
pub use crate::process::allocator::{ServiceAllocator, configure_malloc};
pub use crate::process::ids::uuid_v7;
pub use crate::process::log::{LogFormat, has_colors, init_log};
pub use crate::process::thread_pool::{JobResult, ThreadPool};
pub use crate::routing::route::{
    Access, Action, Handler, Parameter, ParameterLocation, Reply, Route, route_sections, route_table,
};
pub use crate::schema::{Binary, TypeSchema};
pub use crate::secret::Secret;
pub use crate::serve::{Listener, ServiceGroup, Shutdown, Stop, serve, serve_service};
pub use crate::service::{
    App, Authenticate, ConcurrencyLimit, ConcurrencyPermit, Middleware, ProxyProtocol, RateDecision, RateLimitHook,
    RateLimiter, ReadinessCheck, Service, WeakService,
};
pub use crate::settings::{
    ADMIN_LISTEN, AnySetting, BaseUrl, COMMON, Choice, CommonSettings, DataDir, LISTEN, MemorySize, NonZeroDuration,
    Origin, RATE_LIMIT, Setting, SettingError, SettingTable, SettingType, Settings, Size, TLS_CERT, default_value,
    environment, mismatch, settings_help, settings_help_where, settings_table,
};
pub use crate::tls::{HttpsClient, Tls, TlsError, TlsVersion, client_tls, https_client};
pub use crate::trace::{Span, SpanKind, SpanValue, TRACEPARENT, Trace, Tracer};
