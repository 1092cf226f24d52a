//! Cross-origin resource sharing (CORS): preflight responses, and headers for allowed origins.

use hyper::StatusCode;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, HeaderMap,
    HeaderValue, ORIGIN, VARY,
};

use super::state::ServiceState;
use crate::message::head::Head;
use crate::message::response::Response;

/// Returns the response to an OPTIONS request, with the CORS headers of a preflight request from an allowed origin.
pub(crate) fn preflight<S>(service: &ServiceState<S>, head: &Head, allow: &str) -> Response {
    let response = Response::empty(StatusCode::NO_CONTENT).header(ALLOW, allow);
    if allowed_origin(service, head).is_none() || !head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return response;
    }
    response
        .header(ACCESS_CONTROL_ALLOW_METHODS, allow)
        .header(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS)
        .header(ACCESS_CONTROL_MAX_AGE, "600")
}

const ALLOWED_HEADERS: &str = "Authorization, Content-Type, Content-Encoding, If-Match, If-None-Match, Idempotency-Key, \
    X-Change-Version, X-Request-Id, X-Schema-Version";
const EXPOSED_HEADERS: &str = "Content-Disposition, Content-Range, ETag, Idempotency-Replayed, Link, Location, \
    WWW-Authenticate, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Result-Kind";

fn allowed_origin<'a, S>(service: &ServiceState<S>, head: &'a Head) -> Option<&'a HeaderValue> {
    head.headers
        .get(ORIGIN)
        .filter(|origin| service.origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()))
}

/// Adds the headers for the origin of a request, if it is allowed.
pub(crate) fn add_headers<S>(service: &ServiceState<S>, head: &Head, headers: &mut HeaderMap) {
    if !service.origins.is_empty() {
        headers.append(VARY, HeaderValue::from_static("Origin"));
    }
    if let Some(origin) = allowed_origin(service, head) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    }
}
