//! Application builder: combines state, routes, limits and hooks into a `Service`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::header::HeaderName;
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;

use crate::builtin_routes::BuiltinRoutes;
use crate::dispatch;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::openapi;
use crate::principal::Principal;
use crate::problem::Problem;
use crate::proxies::Network;
use crate::rate_limit::{ConcurrencyLimit, RateDecision, RateLimiter};
use crate::request::{Head, Incoming, Request};
use crate::response::{BodyChunk, CHUNK_SIZE, ConnActivity, Response, ResponseBody};
use crate::route::{Fut, Handler, Route, Router};
use crate::serve::Framing;

/// Authenticates the caller of routes that need a token. It is not called for other routes.
pub type Authenticate<S> = for<'a> fn(&'a Arc<S>, &'a Head) -> Fut<'a, Result<Arc<Principal>, Problem>>;

/// Readiness check of the service; the error text is for the log.
pub type ReadinessCheck<S> = for<'a> fn(&'a Arc<S>) -> Fut<'a, Readiness>;

/// Result of a readiness check: the degraded features, or the reason for not being ready.
pub type Readiness = Result<Vec<&'static str>, String>;

/// Hook that returns additional rate-limit decisions by method, route path and principal key. A limited decision
/// rejects the request.
pub type RateLimitHook<S> = for<'a> fn(&'a Arc<S>, &'a Method, &'static str, &'a str) -> Fut<'a, Vec<RateDecision>>;

/// Middleware around every handler: calls the handler, or responds in its place.
pub type Middleware<S> = for<'a> fn(&'a Arc<S>, Request, Handler<S>) -> Fut<'a, Result<Response, Problem>>;

/// Hook for requests rejected because the token lacks the required scope: the principal, the path of the route, and
/// the problem.
pub type ForbiddenHook<S> = for<'a> fn(&'a Arc<S>, &'a Head, &'a Principal, &'static str, &'a Problem) -> Fut<'a, ()>;

/// Application under construction: its state, its routes, and everything that is the same for all routes.
pub struct App<S: 'static> {
    /// Name in `/version` and in the documentation.
    pub name: &'static str,
    /// Version shown there. `None` hides it.
    pub version: Option<&'static str>,
    /// State shared by the handlers.
    pub state: Arc<S>,
    /// The endpoints.
    pub routes: Vec<&'static Route<S>>,
    /// Authenticator. Rejects all callers by default.
    pub authenticate: Authenticate<S>,
    /// Middleware around handlers; none by default.
    pub middleware: Middleware<S>,
    /// Hook for requests rejected with 403; does nothing by default.
    pub on_forbidden: ForbiddenHook<S>,
    /// Headers of all responses.
    pub headers: Vec<(HeaderName, &'static str)>,
    /// Readiness check of `/readyz`. Always ready by default.
    pub readiness: ReadinessCheck<S>,
    /// Timeouts, sizes and counts.
    pub limits: Limits,
    /// Rate limit of each principal, or of each network for unauthenticated requests.
    pub rate_limit: Option<RateLimiter>,
    /// Additional rate limits. None by default.
    pub rate_limit_hook: RateLimitHook<S>,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub proxies: Vec<Network>,
    /// PROXY protocol of these proxies.
    pub proxy_protocol: ProxyProtocol,
    /// Origins allowed to make cross-origin requests: `https://plant.example`.
    pub origins: Vec<String>,
    /// URL of the protected resource metadata (RFC 9728); appended to challenges.
    pub resource_metadata: Option<String>,
    /// Registry for the metrics of the service.
    pub registry: Registry,
    /// Values of settings that are limits in schemas. A schema names the setting in `$comment`; OpenAPI shows the
    /// value instead of the default.
    pub schema_limits: Vec<(&'static str, u64)>,
    /// Another service on the same listeners. None by default.
    mounted: Option<Mounted>,
}

impl<S: Send + Sync + 'static> App<S> {
    /// Creates an application with default limits; only its public routes are accessible until `authenticate` is set.
    pub fn new(name: &'static str, version: &'static str, state: S, routes: &'static [Route<S>]) -> Self {
        App {
            name,
            version: Some(version),
            state: Arc::new(state),
            routes: routes.iter().collect(),
            authenticate: |_, _| Box::pin(async { Err(Problem::unauthenticated()) }),
            middleware: |state, request, handler| handler(state, request),
            on_forbidden: |_, _, _, _, _| Box::pin(async {}),
            headers: Vec::new(),
            readiness: |_| Box::pin(async { Ok(Vec::new()) }),
            limits: Limits::default(),
            rate_limit: None,
            rate_limit_hook: |_, _, _, _| Box::pin(async { Vec::new() }),
            proxies: Vec::new(),
            proxy_protocol: ProxyProtocol::None,
            origins: Vec::new(),
            resource_metadata: None,
            registry: Registry::default(),
            schema_limits: Vec::new(),
            mounted: None,
        }
    }

    /// Mounts another service under a path prefix, such as `/api`, on the same listeners. This service has the
    /// built-in routes, such as `/docs` and `/readyz`, for both.
    pub fn mount<T: Send + Sync + 'static>(mut self, prefix: &'static str, other: Service<T>) -> Self {
        self.mounted = Some(Mounted { prefix, service: Arc::new(other) });
        self
    }

    /// Builds the service.
    ///
    /// # Panics
    ///
    /// Panics if two routes conflict.
    pub fn build(self) -> Service<S> {
        let public: Vec<_> = BuiltinRoutes::<S>::PUBLIC.iter().chain(self.routes.iter().copied()).collect();
        let mut document = openapi::document(self.name, self.version.unwrap_or("0"), &public);
        openapi::apply_limits(&mut document, &self.schema_limits);
        if let Some(mounted) = &self.mounted {
            openapi::merge(&mut document, &mounted.service.openapi_document(), |path| mounted.handles(path));
        }
        let (state, ready, mounted) = (self.state.clone(), self.readiness, self.mounted.clone());
        let metrics = Metrics::new(self.registry);
        let (public, admin) = (Router::new(public, &metrics), Router::new(BuiltinRoutes::<S>::ADMIN, &metrics));
        let info = ServiceInfo {
            name: self.name,
            version: self.version,
            openapi: document.to_string().into(),
            docs: openapi::page(&document).into(),
            metrics,
            draining: AtomicBool::new(false),
            ready: Box::new(move || {
                let (state, mounted) = (state.clone(), mounted.clone());
                Box::pin(async move {
                    let mut degraded = ready(&state).await?;
                    if let Some(mounted) = mounted {
                        degraded.extend(mounted.service.readiness().await?);
                    }
                    Ok(degraded)
                })
            }),
        };
        Service(Arc::new(Inner {
            public,
            admin,
            info: Arc::new(info),
            request_slots: Semaphore::new(self.limits.request_limit.min(Semaphore::MAX_PERMITS)),
            concurrency: ConcurrencyLimit::new(self.limits.requests_per_principal_limit),
            state: self.state,
            authenticate: self.authenticate,
            middleware: self.middleware,
            on_forbidden: self.on_forbidden,
            headers: self.headers,
            limits: self.limits,
            rate_limit: self.rate_limit,
            rate_limit_hook: self.rate_limit_hook,
            proxies: self.proxies,
            proxy_protocol: self.proxy_protocol,
            origins: self.origins,
            resource_metadata: self.resource_metadata,
            mounted: self.mounted,
        }))
    }
}

/// Service mounted under a path prefix.
#[derive(Clone)]
pub(crate) struct Mounted {
    prefix: &'static str,
    service: Arc<dyn MountedService>,
}

impl Mounted {
    /// Returns whether a path belongs to the mounted service.
    fn handles(&self, path: &str) -> bool {
        path.strip_prefix(self.prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Interface of a mounted service, independent of the type of its state.
trait MountedService: Send + Sync {
    fn dispatch<'a>(
        &'a self,
        conn: &'a ConnInfo,
        request: hyper::Request<Incoming>,
        framing: Framing,
    ) -> Fut<'a, hyper::Response<ResponseBody>>;
    fn openapi_document(&self) -> Bytes;
    fn readiness(&self) -> Fut<'static, Readiness>;
    fn drain(&self);
}

impl<S: Send + Sync + 'static> MountedService for Service<S> {
    fn dispatch<'a>(
        &'a self,
        conn: &'a ConnInfo,
        request: hyper::Request<Incoming>,
        framing: Framing,
    ) -> Fut<'a, hyper::Response<ResponseBody>> {
        Box::pin(dispatch::dispatch(&self.0, conn, request, framing))
    }

    fn openapi_document(&self) -> Bytes {
        self.openapi()
    }

    fn readiness(&self) -> Fut<'static, Readiness> {
        (self.0.info.ready)()
    }

    fn drain(&self) {
        Service::drain(self);
    }
}

/// Use of the PROXY protocol by trusted proxies.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ProxyProtocol {
    /// Not used: proxies speak HTTP and forward the client address in headers.
    #[default]
    None,
    /// Each connection begins with a PROXY header, version 1 or 2, also before TLS. Connections without one are
    /// closed.
    Proxy,
}

impl<S> Inner<S> {
    /// Returns whether a connection from this address must begin with a PROXY header. Headers from other addresses
    /// are not accepted.
    pub fn expects_proxy_header(&self, address: std::net::IpAddr) -> bool {
        self.proxy_protocol == ProxyProtocol::Proxy && self.proxies.iter().any(|network| network.contains(address))
    }
}

/// Data of the built-in routes, independent of the type of the state.
pub(crate) struct ServiceInfo {
    pub name: &'static str,
    pub version: Option<&'static str>,
    pub openapi: Bytes,
    pub docs: Bytes,
    pub metrics: Metrics,
    pub draining: AtomicBool,
    pub ready: Box<dyn Fn() -> Fut<'static, Readiness> + Send + Sync>,
}

/// Error that ended a response body.
type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// Weak reference to a service.
pub struct WeakService<S: 'static>(Weak<Inner<S>>);

impl<S: Send + Sync + 'static> WeakService<S> {
    /// Returns the service, if it still exists.
    pub fn upgrade(&self) -> Option<Service<S>> {
        self.0.upgrade().map(Service)
    }
}

/// Built service: handles requests through `serve`, or through `call` in tests and embedders.
pub struct Service<S: 'static>(pub(crate) Arc<Inner<S>>);

pub(crate) struct Inner<S: 'static> {
    pub public: Router<S>,
    pub admin: Router<S>,
    pub info: Arc<ServiceInfo>,
    pub request_slots: Semaphore,
    pub concurrency: ConcurrencyLimit,
    pub state: Arc<S>,
    pub authenticate: Authenticate<S>,
    pub middleware: Middleware<S>,
    pub on_forbidden: ForbiddenHook<S>,
    pub headers: Vec<(HeaderName, &'static str)>,
    pub limits: Limits,
    pub rate_limit: Option<RateLimiter>,
    pub rate_limit_hook: RateLimitHook<S>,
    pub proxies: Vec<Network>,
    pub proxy_protocol: ProxyProtocol,
    pub origins: Vec<String>,
    pub resource_metadata: Option<String>,
    pub mounted: Option<Mounted>,
}

/// Connection data that the request pipeline needs.
#[derive(Clone)]
pub(crate) struct ConnInfo {
    pub peer: std::net::IpAddr,
    pub tls: bool,
    pub listener_kind: ListenerKind,
    /// Maximum number of response bytes handed to hyper at once.
    pub chunk_size: usize,
    pub activity: Arc<ConnActivity>,
}

/// Set of routes that a listener serves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ListenerKind {
    Public,
    Admin,
}

impl<S: Send + Sync + 'static> Service<S> {
    /// Handles a request without a network connection; the client address is loopback.
    pub async fn call(
        &self,
        request: hyper::Request<Bytes>,
    ) -> hyper::Response<impl http_body::Body<Data = Bytes, Error: Into<BodyError>> + Send + use<S>> {
        let peer = std::net::Ipv4Addr::LOCALHOST.into();
        let conn = ConnInfo {
            peer,
            tls: false,
            listener_kind: ListenerKind::Public,
            chunk_size: CHUNK_SIZE,
            activity: Arc::default(),
        };
        let response = self.dispatch(&conn, request.map(Incoming::from), Framing::Unambiguous).await;
        response.map(|body| body.map_frame(|frame| frame.map_data(BodyChunk::into_bytes)))
    }

    /// Returns a weak reference, for clients inside the same process.
    pub fn downgrade(&self) -> WeakService<S> {
        WeakService(Arc::downgrade(&self.0))
    }

    /// Returns the OpenAPI document.
    pub fn openapi(&self) -> Bytes {
        self.0.info.openapi.clone()
    }

    /// Returns the metrics as OpenMetrics text.
    pub fn metrics(&self) -> String {
        self.0.info.metrics.encode()
    }

    pub(crate) async fn dispatch(
        &self,
        conn: &ConnInfo,
        request: hyper::Request<Incoming>,
        framing: Framing,
    ) -> hyper::Response<ResponseBody> {
        match &self.0.mounted {
            Some(mounted) if conn.listener_kind == ListenerKind::Public && mounted.handles(request.uri().path()) => {
                mounted.service.dispatch(conn, request, framing).await
            }
            _ => dispatch::dispatch(&self.0, conn, request, framing).await,
        }
    }

    pub(crate) fn drain(&self) {
        self.0.info.draining.store(true, Relaxed);
        if let Some(mounted) = &self.0.mounted {
            mounted.service.drain();
        }
    }
}

impl<S> Clone for Service<S> {
    fn clone(&self) -> Self {
        Service(self.0.clone())
    }
}

impl<S> Inner<S> {
    pub fn router(&self, listener_kind: ListenerKind) -> &Router<S> {
        match listener_kind {
            ListenerKind::Public => &self.public,
            ListenerKind::Admin => &self.admin,
        }
    }
}
