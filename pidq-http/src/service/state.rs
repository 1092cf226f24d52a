//! State of a built service: routes, hooks and limits, as the request pipeline uses them.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use hyper::Method;
use hyper::header::HeaderName;
use tokio::sync::Semaphore;

use super::rate_limit::{ConcurrencyLimit, RateDecision, RateLimiter};
use crate::limits::Limits;
use crate::message::boxed_future::Fut;
use crate::message::conn_info::{ConnInfo, Framing, ListenerKind};
use crate::message::head::Head;
use crate::message::proxies::Network;
use crate::message::request::{Incoming, Request};
use crate::message::response::{Response, ResponseBody};
use crate::message::service_info::{Readiness, ServiceInfo};
use crate::principal::Principal;
use crate::problem::Problem;
use crate::routing::route::{Handler, Router};

/// Authenticates the caller of routes that need a token. It is not called for other routes.
pub type Authenticate<S> = for<'a> fn(&'a Arc<S>, &'a Head) -> Fut<'a, Result<Arc<Principal>, Problem>>;

/// Readiness check of the service; the error text is for the log.
pub type ReadinessCheck<S> = for<'a> fn(&'a Arc<S>) -> Fut<'a, Readiness>;

/// Hook that returns additional rate-limit decisions by method, route path and principal key. A limited decision
/// rejects the request.
pub type RateLimitHook<S> = for<'a> fn(&'a Arc<S>, &'a Method, &'static str, &'a str) -> Fut<'a, Vec<RateDecision>>;

/// Middleware around every handler: calls the handler, or responds in its place.
pub type Middleware<S> = for<'a> fn(&'a Arc<S>, Request, Handler<S>) -> Fut<'a, Result<Response, Problem>>;

/// Hook for requests rejected because the token lacks the required scope: the principal, the path of the route, and
/// the problem.
pub type ForbiddenHook<S> = for<'a> fn(&'a Arc<S>, &'a Head, &'a Principal, &'static str, &'a Problem) -> Fut<'a, ()>;

pub(crate) struct ServiceState<S: 'static> {
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

impl<S> ServiceState<S> {
    /// Returns whether a connection from this address must begin with a PROXY header. Headers from other addresses
    /// are not accepted.
    pub fn expects_proxy_header(&self, address: IpAddr) -> bool {
        self.proxy_protocol == ProxyProtocol::Proxy && self.proxies.iter().any(|network| network.contains(address))
    }
}

impl<S> ServiceState<S> {
    pub fn router(&self, listener_kind: ListenerKind) -> &Router<S> {
        match listener_kind {
            ListenerKind::Public => &self.public,
            ListenerKind::Admin => &self.admin,
        }
    }
}

/// Service mounted under a path prefix.
#[derive(Clone)]
pub(crate) struct Mounted {
    pub prefix: &'static str,
    pub service: Arc<dyn MountedService>,
}

impl Mounted {
    /// Returns whether a path belongs to the mounted service.
    pub fn handles(&self, path: &str) -> bool {
        path.strip_prefix(self.prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Interface of a mounted service, independent of the type of its state.
pub(crate) trait MountedService: Send + Sync {
    fn dispatch<'a>(
        &'a self,
        conn: &'a ConnInfo,
        request: hyper::Request<Incoming>,
        framing: Framing,
    ) -> Fut<'a, hyper::Response<ResponseBody>>;
    fn openapi_document(&self) -> Bytes;
    /// Returns the names and versions of optional programs.
    fn components(&self) -> Vec<(String, String)>;
    fn readiness(&self) -> Fut<'static, Readiness>;
    fn metrics_text(&self) -> String;
    fn drain(&self);
    fn flush_traces(&self) -> Fut<'static, ()>;
}
