//! Application builder: combines state, routes, limits and hooks into a `Service`.

pub(crate) mod cors;
pub(crate) mod dispatch;
pub(crate) mod rate_limit;
pub(crate) mod state;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use hyper::header::HeaderName;
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;

pub use self::rate_limit::{ConcurrencyLimit, ConcurrencyPermit, RateDecision, RateLimiter};
pub use self::state::{Authenticate, Middleware, ProxyProtocol, RateLimitHook, ReadinessCheck};
use self::state::{ForbiddenHook, Mounted, MountedService, ServiceState};
use crate::limits::Limits;
use crate::message::boxed_future::Fut;
use crate::message::conn_info::{ConnInfo, Framing, ListenerKind};
use crate::message::proxies::Network;
use crate::message::request::{Incoming, RequestBody};
use crate::message::response::{CHUNK_SIZE, ResponseBody, ServiceBody};
use crate::message::service_info::{Readiness, ServiceInfo};
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::routing::builtin_routes::BuiltinRoutes;
use crate::routing::openapi;
use crate::routing::route::{Route, Router};
use crate::trace::Tracer;

/// Application under construction: its state, its routes, and everything that is the same for all routes.
pub struct App<S: 'static> {
    /// Name in `/version` and in the documentation.
    pub name: &'static str,
    /// Version shown there. `None` hides it.
    pub version: Option<&'static str>,
    /// Names and versions of optional programs on which results depend, shown there as well. None by default.
    pub components: Vec<(String, String)>,
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
    /// Recorder of traces. Records none by default.
    pub tracer: Tracer,
    /// Values of settings that are limits in schemas. A schema names the setting in `$comment`; OpenAPI shows the
    /// value instead of the default.
    pub schema_limits: Vec<(&'static str, u64)>,
    /// Page to which `/` redirects browsers: a path or a URL. The documentation by default.
    pub start_page: String,
    /// Another service on the same listeners. None by default.
    mounted: Option<Mounted>,
    /// True if the service has the built-in routes.
    has_builtin_routes: bool,
}

impl<S: Send + Sync + 'static> App<S> {
    /// Creates an application with default limits; only its public routes are accessible until `authenticate` is set.
    pub fn new(name: &'static str, version: &'static str, state: S, routes: &'static [Route<S>]) -> Self {
        App {
            name,
            version: Some(version),
            components: Vec::new(),
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
            tracer: Tracer::default(),
            schema_limits: Vec::new(),
            start_page: "/docs".to_owned(),
            mounted: None,
            has_builtin_routes: true,
        }
    }

    /// Mounts another service under a path prefix, such as `/api`, on the same listeners. This service has the
    /// built-in routes, such as `/docs` and `/readyz`, for both.
    pub fn mount<T: Send + Sync + 'static>(mut self, prefix: &'static str, other: Service<T>) -> Self {
        self.mounted = Some(Mounted { prefix, service: Arc::new(other) });
        self
    }

    /// Leaves out the built-in routes of the public listeners, such as `/docs` and `/readyz`, for a service that has
    /// others of its own in their place.
    pub fn without_builtin_routes(mut self) -> Self {
        self.has_builtin_routes = false;
        self
    }

    /// Builds the service.
    ///
    /// # Panics
    ///
    /// Panics if two routes conflict.
    pub fn build(self) -> Service<S> {
        let builtin = if self.has_builtin_routes { BuiltinRoutes::<S>::PUBLIC } else { &[] };
        let public: Vec<_> = builtin.iter().chain(self.routes.iter().copied()).collect();
        let mut document = openapi::document(self.name, self.version.unwrap_or("0"), &public);
        openapi::apply_limits(&mut document, &self.schema_limits);
        if let Some(mounted) = &self.mounted {
            openapi::merge(&mut document, &mounted.service.openapi_document(), |path| mounted.handles(path));
        }
        let mounted_metrics = self.mounted.clone().map(|mounted| {
            let read: Box<dyn Fn() -> String + Send + Sync> = Box::new(move || mounted.service.metrics_text());
            read
        });
        let mut components = self.components;
        components.extend(self.mounted.iter().flat_map(|mounted| mounted.service.components()));
        let (state, ready, mounted) = (self.state.clone(), self.readiness, self.mounted.clone());
        let metrics = Metrics::new(self.registry);
        let (public, admin) = (Router::new(public, &metrics), Router::new(BuiltinRoutes::<S>::ADMIN, &metrics));
        let info = ServiceInfo {
            name: self.name,
            version: self.version,
            components,
            openapi: document.to_string().into(),
            docs: openapi::page(&document).into(),
            start_page: self.start_page,
            metrics,
            mounted_metrics,
            tracer: self.tracer,
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
        Service(Arc::new(ServiceState {
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

    fn components(&self) -> Vec<(String, String)> {
        self.0.info.components.clone()
    }

    fn readiness(&self) -> Fut<'static, Readiness> {
        (self.0.info.ready)()
    }

    fn metrics_text(&self) -> String {
        self.metrics()
    }

    fn drain(&self) {
        Service::drain(self);
    }

    fn flush_traces(&self) -> Fut<'static, ()> {
        Service::flush_traces(self)
    }
}

/// Weak reference to a service.
pub struct WeakService<S: 'static>(Weak<ServiceState<S>>);

impl<S: Send + Sync + 'static> WeakService<S> {
    /// Returns the service, if it still exists.
    pub fn upgrade(&self) -> Option<Service<S>> {
        self.0.upgrade().map(Service)
    }
}

/// Built service: handles requests through `serve`, or through `call` in tests and embedders.
pub struct Service<S: 'static>(pub(crate) Arc<ServiceState<S>>);

impl<S: Send + Sync + 'static> Service<S> {
    /// Handles a request without a network connection; the client address is loopback.
    pub async fn call(&self, request: hyper::Request<Bytes>) -> hyper::Response<ServiceBody> {
        self.forward(request.map(RequestBody::from), Ipv4Addr::LOCALHOST.into(), false).await
    }

    /// Handles a request that a gateway in this process has received from a client, over TLS or not. Dropping the
    /// response body has the effect of a client that disconnects.
    pub async fn forward(
        &self,
        request: hyper::Request<RequestBody>,
        client: IpAddr,
        is_secure: bool,
    ) -> hyper::Response<ServiceBody> {
        let conn = ConnInfo {
            peer: client,
            tls: is_secure,
            listener_kind: ListenerKind::Public,
            chunk_size: CHUNK_SIZE,
            activity: Arc::default(),
        };
        let response = self.dispatch(&conn, request.map(|body| body.0), Framing::Unambiguous).await;
        response.map(ServiceBody)
    }

    /// Returns a weak reference, for clients inside the same process.
    pub fn downgrade(&self) -> WeakService<S> {
        WeakService(Arc::downgrade(&self.0))
    }

    /// Returns the OpenAPI document.
    pub fn openapi(&self) -> Bytes {
        self.0.info.openapi.clone()
    }

    /// Returns the metrics as OpenMetrics text, those of a mounted service included.
    pub fn metrics(&self) -> String {
        self.0.info.metrics_text()
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

    /// Sends the recorded spans of this service and of a mounted one, within a few seconds.
    pub(crate) fn flush_traces(&self) -> Fut<'static, ()> {
        let (info, mounted) = (self.0.info.clone(), self.0.mounted.clone());
        Box::pin(async move {
            if let Some(mounted) = mounted {
                mounted.service.flush_traces().await;
            }
            info.tracer.shut_down().await;
        })
    }
}

impl<S> Clone for Service<S> {
    fn clone(&self) -> Self {
        Service(self.0.clone())
    }
}
