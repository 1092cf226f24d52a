//! Request pipeline: the checks in their fixed order, the handler, and the common response headers.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HOST, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER, STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, StatusCode, Version};
use tokio::time::timeout;

use crate::message::access_log::{AccessLog, OTHER_METHOD};
use crate::message::boxed_future::Fut;
use crate::message::compress::{self, Encoder};
use crate::message::conn_info::{ConnInfo, Framing};
use crate::message::head::Head;
use crate::message::proxies::{self, Network};
use crate::message::range;
use crate::message::request::{BodyReader, BodySource, Incoming, Request, UnreadBody};
use crate::message::response::{Content, Response, ResponseBody};
use crate::principal::Principal;
use crate::problem::{Problem, codes};
use crate::process::ids;
use crate::routing::route::{Access, Route, RouteError, RouteMatch};
use crate::routing::{builtin_routes, problem_pages};
use crate::service::cors;
use crate::service::rate_limit::{ConcurrencyPermit, RateDecision};
use crate::service::state::ServiceState;
use crate::trace::SpanKind;

/// Per-request state for the response headers and the access log.
struct RequestContext {
    head: Arc<Head>,
    /// Boxed because it is moved with every response.
    access_log: Box<AccessLog>,
    access: Access,
    /// True if the response depends on `Accept`.
    negotiates: bool,
    rate_decisions: Vec<RateDecision>,
    /// Concurrency permit of the principal; released when the response is built.
    permit: Option<ConcurrencyPermit>,
    /// Unread rest of the request body.
    unread_body: UnreadBody,
    /// True if the connection must close: the start of the next request is unknown, or the server stops soon.
    close: bool,
}

pub(crate) async fn dispatch<S: Send + Sync + 'static>(
    service: &ServiceState<S>,
    conn: &ConnInfo,
    request: hyper::Request<Incoming>,
    framing: Framing,
) -> hyper::Response<ResponseBody> {
    let (parts, body) = request.into_parts();
    let version = parts.version;
    let mut context = begin(service, conn, parts);
    let result = match check_framing(&context.head, version, framing, service.limits.url_size) {
        Ok(()) => {
            let source = context.unread_body.source(body);
            route(service, conn, &mut context, source).await
        }
        Err(problem) => {
            context.close = true;
            Err(problem)
        }
    };
    // A client that was too slow gets no more time.
    if result.as_ref().is_err_and(|problem| problem.status() != StatusCode::REQUEST_TIMEOUT) {
        context.unread_body.drain(&context.head.headers).await;
    }
    let response = result.unwrap_or_else(|problem| problem_response(service, &context, problem));
    finish(service, conn, context, response)
}

fn begin<S>(service: &ServiceState<S>, conn: &ConnInfo, parts: hyper::http::request::Parts) -> RequestContext {
    let id = ids::request_id(&parts.headers);
    // A proxy that kept the connection could send a request in the moment in which the server closes it. HTTP/2 needs no
    // such header: there, the server says which requests it has not accepted.
    let close = parts.version < Version::HTTP_2 && service.info.draining.load(Relaxed);
    let access_log =
        AccessLog::start(service.info.clone(), conn.activity.clone(), id.clone(), method_name(&parts.method));
    let trace = service.info.tracer.of_request(&parts.headers);
    // Probes and scrapes are no part of the work of the service.
    let is_traced = !builtin_routes::is_exempt_from_limits(parts.uri.path());
    let span = if is_traced { trace.span(SpanKind::Server, access_log.method) } else { trace.without_span() };
    let head = Head {
        client: proxies::client(conn.peer, &parts.headers, &service.proxies),
        secure: conn.tls || proxies::forwarded_over_tls(conn.peer, &parts.headers, &service.proxies),
        id,
        trace: span.trace().clone(),
        method: parts.method,
        uri: parts.uri,
        headers: parts.headers,
        query: OnceLock::new(),
    };
    let mut context = RequestContext {
        head: Arc::new(head),
        access_log,
        access: Access::Public,
        negotiates: false,
        rate_decisions: Vec::new(),
        permit: None,
        unread_body: UnreadBody::default(),
        close,
    };
    context.access_log.span = span;
    context.access_log.head = Some(context.head.clone());
    context
}

/// Returns the method as a metric label. Unknown methods share one label, so clients cannot create new ones.
fn method_name(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN.into_iter().find(|&name| name == method.as_str()).unwrap_or(OTHER_METHOD)
}

/// Rejects requests that hyper accepts although RFC 9112 does not.
fn check_framing(head: &Head, version: Version, framing: Framing, url: usize) -> Result<(), Problem> {
    let wrong = |detail: &str| Err(Problem::new(codes::INVALID_REQUEST).detail(detail));
    if framing == Framing::Ambiguous {
        return wrong("The body length is ambiguous or the request head is malformed.");
    }
    if head.uri.path_and_query().is_some_and(|path| path.as_str().len() > url) {
        return Err(Problem::new(codes::URI_TOO_LONG).detail(format!("Path and query may have at most {url} bytes.")));
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
        (_, Some(host)) if !host.to_str().is_ok_and(is_host) => wrong("The Host header is invalid."),
        _ => Ok(()),
    }
}

fn is_host(host: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    // Hot: nearly all hosts are this plain. RFC 9110 allows an empty one for requests without an authority.
    let is_simple =
        name.bytes().all(is_plain) && (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_simple || host.is_empty() || host.parse::<hyper::http::uri::Authority>().is_ok_and(|a| !a.as_str().contains('@'))
}

async fn route<S: Send + Sync + 'static>(
    service: &ServiceState<S>,
    conn: &ConnInfo,
    context: &mut RequestContext,
    source: BodySource,
) -> Result<Response, Problem> {
    let path = context.head.uri.path();
    if context.head.method == Method::OPTIONS && path == "*" {
        return Ok(
            Response::empty(StatusCode::NO_CONTENT).header(ALLOW, "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT")
        );
    }
    let found = match service.router(conn.listener_kind).find(&context.head.method, path) {
        Ok(found) => found,
        Err(RouteError::Options(allow)) => return Ok(cors::preflight(service, &context.head, &allow)),
        Err(missed) => return Err(missed.into_problem()),
    };
    context.access = found.route.access;
    context.negotiates = found.route.negotiates();
    context.access_log.route = found.route.path;
    context.access_log.route_metrics = Some(found.metrics.clone());
    let is_exempt = builtin_routes::is_exempt_from_limits(found.route.path);
    context.access_log.log_at_info = !is_exempt;
    let principal = authorize(service, context, found.route).await?;
    context.access_log.principal = principal.clone();
    if is_exempt {
        return handle(service, context, found, principal, source).await;
    }
    enforce_limits(service, context, found.route, principal.as_deref()).await?;
    // Before the handler: a write whose result cannot be sent does not happen.
    context.head.check_accepts_content()?;
    let _slot = acquire_slot(service).await?;
    handle(service, context, found, principal, source).await
}

/// Authorizes the request for its route. A rejected request counts against the rate limit, and the hook is notified.
async fn authorize<S: Send + Sync + 'static>(
    service: &ServiceState<S>,
    context: &mut RequestContext,
    route: &'static Route<S>,
) -> Result<Option<Arc<Principal>>, Problem> {
    let AccessDenied { problem, principal } = match check_access(service, context, route).await {
        Ok(principal) => return Ok(principal),
        Err(denied) => denied,
    };
    // Token guesses count against the network they come from.
    enforce_limits(service, context, route, None).await?;
    if let Some(principal) = principal {
        (service.on_forbidden)(&service.state, &context.head, &principal, route.path, &problem).await;
    }
    Err(problem)
}

/// Rejected access: the problem, and the principal if it is known.
struct AccessDenied {
    problem: Problem,
    principal: Option<Arc<Principal>>,
}

/// Checks the token (401) and then its scope (403).
async fn check_access<S>(
    service: &ServiceState<S>,
    context: &RequestContext,
    route: &Route<S>,
) -> Result<Option<Arc<Principal>>, AccessDenied> {
    if !route.access.needs_token() {
        return Ok(None);
    }
    let unknown = |problem| AccessDenied { problem, principal: None };
    let principal = (service.authenticate)(&service.state, &context.head).await.map_err(unknown)?;
    match route.access.scope() {
        Some(scope) if !principal.has_scope(scope) => {
            Err(AccessDenied { problem: Problem::insufficient_scope(scope), principal: Some(principal) })
        }
        _ => Ok(Some(principal)),
    }
}

/// Enforces the rate limits and the concurrency limit (429).
async fn enforce_limits<S>(
    service: &ServiceState<S>,
    context: &mut RequestContext,
    route: &Route<S>,
    principal: Option<&Principal>,
) -> Result<(), Problem> {
    let network = || format!("net {}", Network::for_client(context.head.client)).into();
    let key: Arc<str> = principal.map_or_else(network, |principal| principal.key().clone());
    context.rate_decisions.extend(service.rate_limit.as_ref().map(|limiter| limiter.check(&key)));
    context
        .rate_decisions
        .extend((service.rate_limit_hook)(&service.state, &context.head.method, route.path, &key).await);
    context.rate_decisions.iter().find_map(RateDecision::problem).map_or(Ok(()), Err)?;
    if principal.is_some() {
        context.permit = Some(service.concurrency.acquire(key)?);
    }
    Ok(())
}

/// Acquires a request slot, or returns 503. A short wait absorbs bursts.
async fn acquire_slot<S>(service: &ServiceState<S>) -> Result<tokio::sync::SemaphorePermit<'_>, Problem> {
    let overloaded = || Problem::new(codes::OVERLOADED).detail("The server is overloaded. Try again.").retry_after(1);
    if let Ok(slot) = service.request_slots.try_acquire() {
        return Ok(slot);
    }
    let slot = timeout(service.limits.request_queue_timeout, service.request_slots.acquire())
        .await
        .map_err(|_| overloaded())?;
    slot.map_err(|_| overloaded())
}

async fn handle<S: Send + Sync + 'static>(
    service: &ServiceState<S>,
    context: &RequestContext,
    found: RouteMatch<'_, S>,
    principal: Option<Arc<Principal>>,
    source: BodySource,
) -> Result<Response, Problem> {
    let request = Request {
        head: context.head.clone(),
        route: found.route.path,
        params: found.params,
        principal,
        accepts: found.route.body.map(|body| body.within(&service.limits)),
        body: BodyReader::new(source, &service.limits),
        info: service.info.clone(),
    };
    found.route.check_query(&request)?;
    let trace = context.head.trace.clone();
    let response = (service.middleware)(&service.state, request, found.route.handler);
    let response = if trace.is_empty() { response } else { Box::pin(trace.scope(response)) };
    catch_panic(response).await.unwrap_or_else(|_| {
        tracing::error!(
            request_id = &*context.head.id,
            trace_id = context.head.trace.id(),
            route = found.route.path,
            "a handler panicked; responding with 500"
        );
        Err(Problem::internal())
    })
}

/// Catches a panic of the handler, so that it does not end the other streams of the connection.
async fn catch_panic<T>(mut future: Fut<'_, T>) -> Result<T, Box<dyn Any + Send>> {
    poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

fn problem_response<S>(service: &ServiceState<S>, context: &RequestContext, mut problem: Problem) -> Response {
    if let Some(url) = &service.resource_metadata {
        problem.extend_challenge(&format!("resource_metadata=\"{url}\""));
    }
    let problem = if context.access == Access::Client { problem.into_oauth() } else { problem };
    let is_page = context.head.method == Method::GET && context.head.prefers_html();
    let page = is_page.then(|| problem_pages::occurrence(&problem, &context.head.id)).flatten();
    let response = Response::from_problem(problem, &context.head.occurrence());
    match page {
        Some(page) => problem_pages::as_page(response, page),
        None => response,
    }
}

/// Returns the encoder of the response, if it is to be compressed.
fn compress_response(head: &Head, response: &mut Response) -> Option<Encoder> {
    let is_stream = matches!(response.body, Content::Stream(_));
    compress::encoder(&head.headers, &mut response.headers, response.body.length(), is_stream)
}

/// Adds the common headers, the validator, and the content coding.
fn finish<S>(
    service: &ServiceState<S>,
    conn: &ConnInfo,
    mut context: RequestContext,
    mut response: Response,
) -> hyper::Response<ResponseBody> {
    context.permit = None;
    let is_forwarded = response.is_forwarded();
    let plain = is_forwarded || context.access == Access::Client || range::offers_ranges(&response.headers);
    let encoder = if plain { None } else { compress_response(&context.head, &mut response) };
    if !is_forwarded {
        not_modified(&context.head, &mut response);
    }
    if let Err(problem) = response.apply_range(&context.head) {
        response = problem_response(service, &context, problem);
    }
    default_retry_after(&mut response);
    add_common_headers(service, &context, &mut response.headers);
    if context.head.method == Method::HEAD && !is_forwarded {
        strip_body(&mut response, encoder.is_none());
    }
    context.access_log.status = response.status.as_u16();
    context.access_log.query = context.access_log.head.take().and_then(|head| head.query());
    context.access_log.query_measurements = response.query_measurements;
    let has_body = context.head.method != Method::HEAD && response.status != StatusCode::NOT_MODIFIED;
    let encoder = encoder.filter(|_| has_body);
    let body = ResponseBody::new(response.body, encoder, context.access_log, conn);
    let mut http_response = hyper::Response::new(body);
    *http_response.status_mut() = response.status;
    *http_response.headers_mut() = response.headers;
    http_response
}

/// Sets a default `Retry-After` of one minute on 429 and 503.
fn default_retry_after(response: &mut Response) {
    if [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&response.status) {
        response.headers.entry(RETRY_AFTER).or_insert(HeaderValue::from_static("60"));
    }
}

fn add_common_headers<S>(service: &ServiceState<S>, context: &RequestContext, headers: &mut HeaderMap) {
    let mut set_default = |name: HeaderName, value: HeaderValue| {
        headers.entry(name).or_insert(value);
    };
    if let Ok(id) = HeaderValue::from_str(&context.head.id) {
        set_default(ids::REQUEST_ID, id);
    }
    set_default(X_CONTENT_TYPE_OPTIONS, const { HeaderValue::from_static("nosniff") });
    if context.access.needs_token() {
        set_default(CACHE_CONTROL, const { HeaderValue::from_static("private, no-cache") });
    } else {
        set_default(CACHE_CONTROL, const { HeaderValue::from_static("no-store") });
    }
    if context.head.secure {
        set_default(STRICT_TRANSPORT_SECURITY, const { HeaderValue::from_static("max-age=31536000") });
    }
    if context.close {
        set_default(CONNECTION, const { HeaderValue::from_static("close") });
    }
    service.headers.iter().for_each(|(name, value)| set_default(name.clone(), HeaderValue::from_static(value)));
    if !context.rate_decisions.is_empty() {
        for (name, value) in RateDecision::headers(&context.rate_decisions) {
            if let Ok(value) = HeaderValue::try_from(value) {
                set_default(name, value);
            }
        }
    }
    headers.append(VARY, vary_header(context));
    cors::add_headers(service, &context.head, headers);
}

/// Returns the request headers that the response depends on. A handler may add others.
fn vary_header(context: &RequestContext) -> HeaderValue {
    match (context.negotiates, context.access.needs_token()) {
        (false, false) => const { HeaderValue::from_static("Accept-Encoding") },
        (false, true) => const { HeaderValue::from_static("Accept-Encoding, Authorization") },
        (true, false) => const { HeaderValue::from_static("Accept-Encoding, Accept") },
        (true, true) => const { HeaderValue::from_static("Accept-Encoding, Authorization, Accept") },
    }
}

/// Responds with 304 if the client has the same content in any coding. The tag stays that of the coding that would be
/// sent.
fn not_modified(head: &Head, response: &mut Response) {
    let is_read = head.method == Method::GET || head.method == Method::HEAD;
    let Some(tag) = response.headers.get(ETAG) else { return };
    let same = tag.to_str().is_ok_and(|tag| head.has_cached(tag));
    if is_read && same && response.status == StatusCode::OK {
        response.status = StatusCode::NOT_MODIFIED;
        response.body = Content::Empty;
        response.headers.remove(CONTENT_TYPE);
        response.headers.remove(hyper::header::CONTENT_ENCODING);
    }
}

/// Removes the body of a HEAD response. `Content-Length` is set if the length of the GET response is known.
fn strip_body(response: &mut Response, plain: bool) {
    let is_plain = plain && ![StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&response.status);
    if let (true, Some(length)) = (is_plain, response.body.length()) {
        response.headers.insert(CONTENT_LENGTH, length.into());
    }
    response.body = Content::Empty;
}
