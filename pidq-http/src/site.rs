//! A service put together: state, routes, limits and hooks in; something that can be served out.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::header::HeaderName;
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;

use crate::answer;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::openapi;
use crate::operations::Operations;
use crate::principal::Principal;
use crate::problem::Problem;
use crate::proxies::Network;
use crate::quota::{Charge, Concurrency, Quota};
use crate::request::{Head, Incoming, Request};
use crate::response::{Activity, Outgoing, PIECE, Portion, Response};
use crate::route::{Fut, Handler, Route, Router};
use crate::serve::Framing;

/// Finds out who asks, for rows that need a token. Rows that do not are never asked about.
pub type Authenticate<S> = for<'a> fn(&'a Arc<S>, &'a Head) -> Fut<'a, Result<Arc<Principal>, Problem>>;

/// Whether the service can do its work, and what it does without; the text is for the log.
pub type Ready<S> = for<'a> fn(&'a Arc<S>) -> Fut<'a, Standing>;

/// What a service does its work without, or why it cannot do it.
pub type Standing = Result<Vec<&'static str>, String>;

/// What a request costs by method, path of its row and whoever asks, where a service has rates of its own. One that is
/// refused ends the request.
pub type Meter<S> = for<'a> fn(&'a Arc<S>, &'a Method, &'static str, &'a str) -> Fut<'a, Vec<Charge>>;

/// What stands around every handler: it calls the handler, or answers in its place.
pub type Around<S> = for<'a> fn(&'a Arc<S>, Request, Handler<S>) -> Fut<'a, Result<Response, Problem>>;

/// Hears of requests that were refused because a token has not the scope that their row needs: who asked, the path of the
/// row, and the answer.
pub type Refused<S> = for<'a> fn(&'a Arc<S>, &'a Head, &'a Principal, &'static str, &'a Problem) -> Fut<'a, ()>;

/// A service: its state, its rows, and all that is the same for each of them.
pub struct App<S: 'static> {
    /// The name in `/version` and in the documentation.
    pub name: &'static str,
    /// The version there. None hides it.
    pub version: Option<&'static str>,
    /// What handlers share.
    pub state: Arc<S>,
    /// The endpoints.
    pub routes: Vec<&'static Route<S>>,
    /// Who asks. Refuses everybody by default.
    pub authenticate: Authenticate<S>,
    /// What stands around handlers: nothing by default.
    pub around: Around<S>,
    /// Who hears of requests that were refused: nobody by default.
    pub refused: Refused<S>,
    /// Headers that all answers have.
    pub headers: Vec<(HeaderName, &'static str)>,
    /// What `/readyz` asks. Always ready by default.
    pub ready: Ready<S>,
    /// How long, how much, how many.
    pub limits: Limits,
    /// The rate of each principal, and of each network where there is none.
    pub quota: Option<Quota>,
    /// Rates beside that. None by default.
    pub meter: Meter<S>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub proxies: Vec<Network>,
    /// What these proxies say before they pass a connection on.
    pub introduction: Introduction,
    /// Origins whose pages may call: `https://plant.example`.
    pub origins: Vec<String>,
    /// Where clients find out how to get a token (RFC 9728); appended to challenges.
    pub resource_metadata: Option<String>,
    /// Where figures of the service are registered.
    pub registry: Registry,
    /// Settings that are limits in schemas, which name them as `$comment`: what OpenAPI says instead of the defaults.
    pub figures: Vec<(&'static str, u64)>,
    /// Another service at the same addresses. None by default.
    beside: Option<Beside>,
}

impl<S: Send + Sync + 'static> App<S> {
    /// A service with the usual limits, that nobody may use yet but for its public rows.
    pub fn new(name: &'static str, version: &'static str, state: S, routes: &'static [Route<S>]) -> Self {
        App {
            name,
            version: Some(version),
            state: Arc::new(state),
            routes: routes.iter().collect(),
            authenticate: |_, _| Box::pin(async { Err(Problem::unauthenticated()) }),
            around: |state, request, handler| handler(state, request),
            refused: |_, _, _, _, _| Box::pin(async {}),
            headers: Vec::new(),
            ready: |_| Box::pin(async { Ok(Vec::new()) }),
            limits: Limits::default(),
            quota: None,
            meter: |_, _, _, _| Box::pin(async { Vec::new() }),
            proxies: Vec::new(),
            introduction: Introduction::None,
            origins: Vec::new(),
            resource_metadata: None,
            registry: Registry::default(),
            figures: Vec::new(),
            beside: None,
        }
    }

    /// Puts another service beside this one: it answers what is under a path, such as `/api`, on the same listeners and
    /// for as long. What both need of the floor, `/docs` or `/readyz`, is answered here for both.
    pub fn with<T: Send + Sync + 'static>(mut self, prefix: &'static str, other: Site<T>) -> Self {
        self.beside = Some(Beside { prefix, site: Arc::new(other) });
        self
    }

    /// Makes it ready to answer.
    ///
    /// Panics when two rows are in each other's way.
    pub fn build(self) -> Site<S> {
        let public: Vec<_> = Operations::<S>::PUBLIC.iter().chain(self.routes.iter().copied()).collect();
        let mut document = openapi::document(self.name, self.version.unwrap_or("0"), &public);
        openapi::configure(&mut document, &self.figures);
        if let Some(beside) = &self.beside {
            openapi::add(&mut document, &beside.site.document(), |path| beside.takes(path));
        }
        let (state, ready, beside) = (self.state.clone(), self.ready, self.beside.clone());
        let metrics = Metrics::new(self.registry);
        let (public, admin) = (Router::new(public, &metrics), Router::new(Operations::<S>::ADMIN, &metrics));
        let facts = Facts {
            name: self.name,
            version: self.version,
            openapi: document.to_string().into(),
            docs: openapi::page(&document).into(),
            metrics,
            draining: AtomicBool::new(false),
            ready: Box::new(move || {
                let (state, beside) = (state.clone(), beside.clone());
                Box::pin(async move {
                    let mut without = ready(&state).await?;
                    if let Some(beside) = beside {
                        without.extend(beside.site.standing().await?);
                    }
                    Ok(without)
                })
            }),
        };
        Site(Arc::new(Inner {
            public,
            admin,
            facts: Arc::new(facts),
            turns: Semaphore::new(self.limits.requests.min(Semaphore::MAX_PERMITS)),
            open: Concurrency::new(self.limits.requests_per_principal),
            state: self.state,
            authenticate: self.authenticate,
            around: self.around,
            refused: self.refused,
            headers: self.headers,
            limits: self.limits,
            quota: self.quota,
            meter: self.meter,
            proxies: self.proxies,
            introduction: self.introduction,
            origins: self.origins,
            resource_metadata: self.resource_metadata,
            beside: self.beside,
        }))
    }
}

/// A service at the addresses of another one.
#[derive(Clone)]
pub(crate) struct Beside {
    prefix: &'static str,
    site: Arc<dyn Neighbour>,
}

impl Beside {
    /// Whether a path is for it.
    fn takes(&self, path: &str) -> bool {
        path.strip_prefix(self.prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// What a service needs of one that is beside it, whatever the state of that is.
trait Neighbour: Send + Sync {
    fn answer<'a>(
        &'a self,
        wire: &'a Wire,
        request: hyper::Request<Incoming>,
        framing: Framing,
    ) -> Fut<'a, hyper::Response<Outgoing>>;
    fn document(&self) -> Bytes;
    fn standing(&self) -> Fut<'static, Standing>;
    fn drain(&self);
}

impl<S: Send + Sync + 'static> Neighbour for Site<S> {
    fn answer<'a>(
        &'a self,
        wire: &'a Wire,
        request: hyper::Request<Incoming>,
        framing: Framing,
    ) -> Fut<'a, hyper::Response<Outgoing>> {
        Box::pin(answer::answer(&self.0, wire, request, framing))
    }

    fn document(&self) -> Bytes {
        self.openapi()
    }

    fn standing(&self) -> Fut<'static, Standing> {
        (self.0.facts.ready)()
    }

    fn drain(&self) {
        Site::drain(self);
    }
}

/// What trusted proxies say before they pass a connection on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Introduction {
    /// Nothing: they speak HTTP, and say who comes in its headers.
    #[default]
    None,
    /// A header of the PROXY protocol, version 1 or 2, also before TLS. Connections without one are closed.
    Proxy,
}

impl<S> Inner<S> {
    /// Whether a connection from there begins with a PROXY header. Others are never asked for one, nor believed.
    pub fn speaks_proxy(&self, address: std::net::IpAddr) -> bool {
        self.introduction == Introduction::Proxy && self.proxies.iter().any(|network| network.contains(address))
    }
}

/// What the floor itself needs to answer, whatever the service is.
pub(crate) struct Facts {
    pub name: &'static str,
    pub version: Option<&'static str>,
    pub openapi: Bytes,
    pub docs: Bytes,
    pub metrics: Metrics,
    pub draining: AtomicBool,
    pub ready: Box<dyn Fn() -> Fut<'static, Standing> + Send + Sync>,
}

/// Why a body broke off.
type Fault = Box<dyn std::error::Error + Send + Sync>;

/// A way to call a service as long as it is there.
pub struct Line<S: 'static>(Weak<Inner<S>>);

impl<S: Send + Sync + 'static> Line<S> {
    /// The service, if it is still there.
    pub fn site(&self) -> Option<Site<S>> {
        self.0.upgrade().map(Site)
    }
}

/// A service that can answer: by `serve`, or by a call, which tests and embedders make.
pub struct Site<S: 'static>(pub(crate) Arc<Inner<S>>);

pub(crate) struct Inner<S: 'static> {
    pub public: Router<S>,
    pub admin: Router<S>,
    pub facts: Arc<Facts>,
    pub turns: Semaphore,
    pub open: Concurrency,
    pub state: Arc<S>,
    pub authenticate: Authenticate<S>,
    pub around: Around<S>,
    pub refused: Refused<S>,
    pub headers: Vec<(HeaderName, &'static str)>,
    pub limits: Limits,
    pub quota: Option<Quota>,
    pub meter: Meter<S>,
    pub proxies: Vec<Network>,
    pub introduction: Introduction,
    pub origins: Vec<String>,
    pub resource_metadata: Option<String>,
    pub beside: Option<Beside>,
}

/// What is known of a connection when a request comes over it.
#[derive(Clone)]
pub(crate) struct Wire {
    pub peer: std::net::IpAddr,
    pub tls: bool,
    pub door: Door,
    /// How much of an answer is handed to hyper at once.
    pub piece: usize,
    pub activity: Arc<Activity>,
}

/// Which rows a listener leads to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Door {
    Public,
    Admin,
}

impl<S: Send + Sync + 'static> Site<S> {
    /// Answers a request without a network, as if it came from this machine.
    pub async fn call(
        &self,
        request: hyper::Request<Bytes>,
    ) -> hyper::Response<impl http_body::Body<Data = Bytes, Error: Into<Fault>> + Send + use<S>> {
        let peer = std::net::Ipv4Addr::LOCALHOST.into();
        let wire = Wire { peer, tls: false, door: Door::Public, piece: PIECE, activity: Arc::default() };
        let answer = self.answer(&wire, request.map(Incoming::from), Framing::Sound).await;
        answer.map(|body| body.map_frame(|frame| frame.map_data(Portion::whole)))
    }

    /// A way to call it for what it calls itself, or is beside it: it keeps nothing alive.
    pub fn line(&self) -> Line<S> {
        Line(Arc::downgrade(&self.0))
    }

    /// The methods and paths that it answers, for tests that compare them with the documentation.
    pub fn openapi(&self) -> Bytes {
        self.0.facts.openapi.clone()
    }

    /// What is counted, as the listener of the administrator shows it.
    pub fn metrics(&self) -> String {
        self.0.facts.metrics.text()
    }

    pub(crate) async fn answer(
        &self,
        wire: &Wire,
        request: hyper::Request<Incoming>,
        framing: Framing,
    ) -> hyper::Response<Outgoing> {
        match &self.0.beside {
            Some(beside) if wire.door == Door::Public && beside.takes(request.uri().path()) => {
                beside.site.answer(wire, request, framing).await
            }
            _ => answer::answer(&self.0, wire, request, framing).await,
        }
    }

    pub(crate) fn drain(&self) {
        self.0.facts.draining.store(true, Relaxed);
        if let Some(beside) = &self.0.beside {
            beside.site.drain();
        }
    }
}

impl<S> Clone for Site<S> {
    fn clone(&self) -> Self {
        Site(self.0.clone())
    }
}

impl<S> Inner<S> {
    pub fn router(&self, door: Door) -> &Router<S> {
        match door {
            Door::Public => &self.public,
            Door::Admin => &self.admin,
        }
    }
}
