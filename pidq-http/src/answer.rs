//! From a request to its answer: the checks in their fixed order, the handler, the headers that all share.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, CACHE_CONTROL,
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER,
    STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, StatusCode, Version};
use tokio::time::timeout;

use crate::compress;
use crate::ids;
use crate::log::Exchange;
use crate::operations;
use crate::principal::Principal;
use crate::problem::{Place, Problem};
use crate::proxies::{self, Network};
use crate::quota::{Charge, Held};
use crate::range;
use crate::request::{Head, Incoming, Leftover, Reader, Request, Source};
use crate::response::{Content, Outgoing, Response};
use crate::route::{Access, Found, Fut, Missed, Route};
use crate::serve::Framing;
use crate::site::{Inner, Wire};

/// What is found out about a request on its way, for the headers and the log line of its answer.
struct Trail {
    head: Arc<Head>,
    /// Boxed, as all that is moved with every answer.
    exchange: Box<Exchange>,
    access: Access,
    /// Whether the answer depends on `Accept`.
    negotiates: bool,
    charges: Vec<Charge>,
    /// A place in the count of open requests; given back when the answer is made.
    held: Option<Held>,
    /// What nobody has read of the body.
    leftover: Leftover,
    /// Whether the connection has to end, since nobody can know where the next request begins.
    close: bool,
}

pub(crate) async fn answer<S: Send + Sync + 'static>(
    site: &Inner<S>,
    wire: &Wire,
    request: hyper::Request<Incoming>,
    framing: Framing,
) -> hyper::Response<Outgoing> {
    let (parts, body) = request.into_parts();
    let version = parts.version;
    let mut trail = begin(site, wire, parts);
    let answered = match check_framing(&trail.head, version, framing, site.limits.url) {
        Ok(()) => {
            let source = trail.leftover.source(body);
            route(site, wire, &mut trail, source).await
        }
        Err(problem) => {
            trail.close = true;
            Err(problem)
        }
    };
    // Those who were too slow get no more time.
    if answered.as_ref().is_err_and(|problem| problem.status() != StatusCode::REQUEST_TIMEOUT) {
        trail.leftover.drain(&trail.head.headers).await;
    }
    let response = answered.unwrap_or_else(|problem| tell(site, &trail, problem));
    finish(site, wire, trail, response)
}

fn begin<S>(site: &Inner<S>, wire: &Wire, parts: hyper::http::request::Parts) -> Trail {
    let id = ids::request_id(&parts.headers);
    let exchange = Exchange::begin(site.facts.clone(), wire.activity.clone(), id.clone(), method_name(&parts.method));
    let head = Head {
        client: proxies::client(wire.peer, &parts.headers, &site.proxies),
        secure: wire.tls || proxies::came_by_tls(wire.peer, &parts.headers, &site.proxies),
        id,
        traceparent: ids::traceparent(&parts.headers),
        method: parts.method,
        uri: parts.uri,
        headers: parts.headers,
        query: OnceLock::new(),
    };
    let mut trail = Trail {
        head: Arc::new(head),
        exchange,
        access: Access::Public,
        negotiates: false,
        charges: Vec::new(),
        held: None,
        leftover: Leftover::default(),
        close: false,
    };
    trail.exchange.traceparent = trail.head.traceparent.clone();
    trail.exchange.head = Some(trail.head.clone());
    trail
}

/// Methods are a label of metrics: strangers may not make up new ones.
fn method_name(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN.into_iter().find(|&name| name == method.as_str()).unwrap_or("other")
}

/// What hyper lets through, and RFC 9112 does not.
fn check_framing(head: &Head, version: Version, framing: Framing, url: usize) -> Result<(), Problem> {
    let wrong = |detail: &str| Err(Problem::bad_request("invalid-request", detail));
    if framing == Framing::Ambiguous {
        return wrong("The length of the body is told in more than one way, or the head is not well formed.");
    }
    if head.uri.path_and_query().is_some_and(|whole| whole.as_str().len() > url) {
        return Err(Problem::new(StatusCode::URI_TOO_LONG, "uri-too-long")
            .detail(format!("A path with its query may have at most {url} bytes.")));
    }
    let mut hosts = head.headers.get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return wrong("There is more than one Host header.");
    }
    match (version, host) {
        (Version::HTTP_11, None) => wrong("There is no Host header."),
        (Version::HTTP_2, Some(host)) if head.uri.authority().is_some_and(|a| a.as_str().as_bytes() != host) => {
            wrong("The Host header and the authority differ.")
        }
        (_, Some(host)) if !host.to_str().is_ok_and(is_host) => wrong("The Host header is no host."),
        _ => Ok(()),
    }
}

fn is_host(host: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    // Hot: nearly all hosts are as plain as that. An empty one is allowed by RFC 9110, for requests
    // that have no authority.
    let is_usual =
        name.bytes().all(is_plain) && (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_usual || host.is_empty() || host.parse::<hyper::http::uri::Authority>().is_ok_and(|a| !a.as_str().contains('@'))
}

async fn route<S: Send + Sync + 'static>(
    site: &Inner<S>,
    wire: &Wire,
    trail: &mut Trail,
    source: Source,
) -> Result<Response, Problem> {
    let path = trail.head.uri.path();
    if trail.head.method == Method::OPTIONS && path == "*" {
        return Ok(
            Response::empty(StatusCode::NO_CONTENT).header(ALLOW, "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT")
        );
    }
    let found = match site.router(wire.door).find(&trail.head.method, path) {
        Ok(found) => found,
        Err(Missed::Options(allow)) => return Ok(options(site, &trail.head, &allow)),
        Err(missed) => return Err(missed.into_problem()),
    };
    trail.access = found.route.access;
    trail.negotiates = found.route.negotiates();
    trail.exchange.route = found.route.path;
    trail.exchange.figures = Some(found.figures.clone());
    trail.exchange.loud = !operations::is_operation(found.route.path);
    let principal = let_in(site, trail, found.route).await?;
    trail.exchange.principal = principal.clone();
    if !trail.exchange.loud {
        return handle(site, trail, found, principal, source).await;
    }
    charge(site, trail, found.route, principal.as_deref()).await?;
    let _turn = turn(site).await?;
    handle(site, trail, found, principal, source).await
}

/// Who asks, if the route lets them. Who is refused pays all the same, and it is noted who it was.
async fn let_in<S: Send + Sync + 'static>(
    site: &Inner<S>,
    trail: &mut Trail,
    route: &'static Route<S>,
) -> Result<Option<Arc<Principal>>, Problem> {
    let Refusal { problem, principal } = match admit(site, trail, route).await {
        Ok(principal) => return Ok(principal),
        Err(refusal) => refusal,
    };
    // Guessing tokens is paid by the network it comes from.
    charge(site, trail, route, None).await?;
    if let Some(principal) = principal {
        (site.refused)(&site.state, &trail.head, &principal, route.path, &problem).await;
    }
    Err(problem)
}

/// Why somebody is not let in, and who, if that is known.
struct Refusal {
    problem: Problem,
    principal: Option<Arc<Principal>>,
}

/// 401, then 403. Whoever is let in has all that the row asks for.
async fn admit<S>(site: &Inner<S>, trail: &Trail, route: &Route<S>) -> Result<Option<Arc<Principal>>, Refusal> {
    if !route.access.needs_token() {
        return Ok(None);
    }
    let unknown = |problem| Refusal { problem, principal: None };
    let principal = (site.authenticate)(&site.state, &trail.head).await.map_err(unknown)?;
    match route.access.scope() {
        Some(scope) if !principal.has_scope(scope) => {
            Err(Refusal { problem: Problem::insufficient_scope(scope), principal: Some(principal) })
        }
        _ => Ok(Some(principal)),
    }
}

/// 429: too many in a minute, or too many at once.
async fn charge<S>(
    site: &Inner<S>,
    trail: &mut Trail,
    route: &Route<S>,
    principal: Option<&Principal>,
) -> Result<(), Problem> {
    let network = || format!("net {}", Network::of(trail.head.client)).into();
    let key: Arc<str> = principal.map_or_else(network, |principal| principal.key().clone());
    trail.charges.extend(site.quota.as_ref().map(|quota| quota.charge(&key)));
    trail.charges.extend((site.meter)(&site.state, &trail.head.method, route.path, &key).await);
    trail.charges.iter().find_map(Charge::refused).map_or(Ok(()), Err)?;
    if principal.is_some() {
        trail.held = Some(site.open.hold(key)?);
    }
    Ok(())
}

/// 503: more work than this machine has hands for. A short wait takes the edge off a burst.
async fn turn<S>(site: &Inner<S>) -> Result<tokio::sync::SemaphorePermit<'_>, Problem> {
    let overloaded = || Problem::unavailable("overloaded", "There is more to do than can be done now.", 1);
    if let Ok(turn) = site.turns.try_acquire() {
        return Ok(turn);
    }
    let turn = timeout(site.limits.request_wait, site.turns.acquire()).await.map_err(|_| overloaded())?;
    turn.map_err(|_| overloaded())
}

async fn handle<S: Send + Sync + 'static>(
    site: &Inner<S>,
    trail: &Trail,
    found: Found<'_, S>,
    principal: Option<Arc<Principal>>,
    source: Source,
) -> Result<Response, Problem> {
    let request = Request {
        head: trail.head.clone(),
        route: found.route.path,
        params: found.params,
        principal,
        accepts: found.route.body.map(|body| body.within(&site.limits)),
        body: Reader::new(source, &site.limits),
        facts: site.facts.clone(),
    };
    found.route.check_query(&request)?;
    unpanicked((site.around)(&site.state, request, found.route.handler)).await.unwrap_or_else(|_| {
        tracing::error!(id = &*trail.head.id, route = found.route.path, "a handler panicked");
        Err(Problem::internal())
    })
}

/// A panic is a bug, and still no reason to end the other streams of a connection.
async fn unpanicked<T>(mut future: Fut<'_, T>) -> Result<T, Box<dyn Any + Send>> {
    poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

fn tell<S>(site: &Inner<S>, trail: &Trail, mut problem: Problem) -> Response {
    if let Some(url) = &site.resource_metadata {
        problem.extend_challenge(&format!("resource_metadata=\"{url}\""));
    }
    let problem = if trail.access == Access::Client { problem.into_oauth() } else { problem };
    problem.into_response(&Place { path: trail.head.uri.path(), request_id: &trail.head.id })
}

fn options<S>(site: &Inner<S>, head: &Head, allow: &str) -> Response {
    let response = Response::empty(StatusCode::NO_CONTENT).header(ALLOW, allow);
    if allowed_origin(site, head).is_none() || !head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return response;
    }
    response
        .header(ACCESS_CONTROL_ALLOW_METHODS, allow)
        .header(ACCESS_CONTROL_ALLOW_HEADERS, CORS_HEADERS)
        .header(ACCESS_CONTROL_MAX_AGE, "600")
}

const CORS_HEADERS: &str = "Authorization, Content-Type, Content-Encoding, If-Match, If-None-Match, Idempotency-Key, \
    X-Change-Version, X-Request-Id, X-Schema-Version";
const CORS_EXPOSED: &str = "Content-Disposition, Content-Range, ETag, Idempotency-Replayed, Link, Location, \
    WWW-Authenticate, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Result-Kind";

fn allowed_origin<'a, S>(site: &Inner<S>, head: &'a Head) -> Option<&'a HeaderValue> {
    head.headers.get(ORIGIN).filter(|origin| site.origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()))
}

/// The headers that all answers share, the validator, and the content coding.
fn finish<S>(site: &Inner<S>, wire: &Wire, mut trail: Trail, mut response: Response) -> hyper::Response<Outgoing> {
    trail.held = None;
    let plain = trail.access == Access::Client || range::is_offered(&response.headers);
    let encoder = if plain { None } else { compress::encoder(&trail.head.headers, &mut response) };
    not_modified(&trail.head, &mut response);
    if let Err(problem) = range::cut(&trail.head, &mut response) {
        response = tell(site, &trail, problem);
    }
    tell_when(&mut response);
    share(site, &trail, &mut response.headers);
    if trail.head.method == Method::HEAD {
        forget_body(&mut response, encoder.is_none());
    }
    trail.exchange.status = response.status.as_u16();
    trail.exchange.query = trail.exchange.head.take().and_then(|head| head.query());
    trail.exchange.notes = std::mem::take(&mut response.notes);
    let has_body = trail.head.method != Method::HEAD && response.status != StatusCode::NOT_MODIFIED;
    let encoder = encoder.filter(|_| has_body);
    let body = Outgoing::new(response.body, encoder, trail.exchange, wire);
    let mut answer = hyper::Response::new(body);
    *answer.status_mut() = response.status;
    *answer.headers_mut() = response.headers;
    answer
}

/// Who is sent away for a while is told for how long, by whatever knows better, or for a minute.
fn tell_when(response: &mut Response) {
    if [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&response.status) {
        response.headers.entry(RETRY_AFTER).or_insert(HeaderValue::from_static("60"));
    }
}

fn share<S>(site: &Inner<S>, trail: &Trail, headers: &mut HeaderMap) {
    let mut absent = |name: HeaderName, value: HeaderValue| {
        headers.entry(name).or_insert(value);
    };
    let text = HeaderValue::from_static;
    if let Ok(id) = HeaderValue::from_str(&trail.head.id) {
        absent(ids::REQUEST_ID, id);
    }
    absent(X_CONTENT_TYPE_OPTIONS, text("nosniff"));
    if trail.access.needs_token() {
        absent(CACHE_CONTROL, text("private, no-cache"));
    } else {
        absent(CACHE_CONTROL, text("no-store"));
    }
    if trail.head.secure {
        absent(STRICT_TRANSPORT_SECURITY, text("max-age=31536000"));
    }
    if trail.close {
        absent(CONNECTION, text("close"));
    }
    site.headers.iter().for_each(|(name, value)| absent(name.clone(), text(value)));
    if !trail.charges.is_empty() {
        for (name, value) in Charge::headers(&trail.charges) {
            if let Ok(value) = HeaderValue::try_from(value) {
                absent(name, value);
            }
        }
    }
    headers.append(VARY, text(varies(trail)));
    if !site.origins.is_empty() {
        headers.append(VARY, HeaderValue::from_static("Origin"));
    }
    if let Some(origin) = allowed_origin(site, &trail.head) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(CORS_EXPOSED));
    }
}

/// The headers of a request that decide on its answer. A handler may name others.
fn varies(trail: &Trail) -> &'static str {
    match (trail.negotiates, trail.access.needs_token()) {
        (false, false) => "Accept-Encoding",
        (false, true) => "Accept-Encoding, Authorization",
        (true, false) => "Accept-Encoding, Accept",
        (true, true) => "Accept-Encoding, Authorization, Accept",
    }
}

/// 304 when the client has these very bytes, in whatever coding. The tag stays that of the coding that would be sent.
fn not_modified(head: &Head, response: &mut Response) {
    let asks = head.method == Method::GET || head.method == Method::HEAD;
    let Some(tag) = response.headers.get(ETAG) else { return };
    let same = tag.to_str().is_ok_and(|tag| head.knows(tag));
    if asks && same && response.status == StatusCode::OK {
        response.status = StatusCode::NOT_MODIFIED;
        response.body = Content::Empty;
        response.headers.remove(CONTENT_TYPE);
        response.headers.remove(hyper::header::CONTENT_ENCODING);
    }
}

/// HEAD is GET without the body. The length is told when it is known to be that of the GET; what has no body has none.
fn forget_body(response: &mut Response, plain: bool) {
    let is_plain = plain && ![StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&response.status);
    if let (true, Some(length)) = (is_plain, response.body.length()) {
        response.headers.insert(CONTENT_LENGTH, length.into());
    }
    response.body = Content::Empty;
}
