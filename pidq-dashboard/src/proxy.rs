//! Proxy to the API: adds the access token of the session, and streams bodies in both directions.

use std::sync::Arc;

use hyper::Uri;
use pidq_http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_SECURITY_POLICY, COOKIE, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue,
    ORIGIN, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SET_COOKIE, STRICT_TRANSPORT_SECURITY, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use pidq_http::{Head, Problem, Request, RequestBody, Response, codes};

use crate::api::Browser;
use crate::dashboard::Dashboard;
use crate::oauth::bearer;
use crate::security_headers::API_POLICY;
use crate::session::Current;

/// Headers of one connection (RFC 9110, 7.6.1), besides those that `Connection` names.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Request headers that are for the dashboard, or that it sets itself.
const OWN_REQUEST_HEADERS: [HeaderName; 10] = [
    AUTHORIZATION,
    COOKIE,
    EXPECT,
    HOST,
    ORIGIN,
    HeaderName::from_static("forwarded"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
];

/// Response headers that the dashboard sets itself.
const OWN_RESPONSE_HEADERS: [HeaderName; 2] = [SET_COOKIE, STRICT_TRANSPORT_SECURITY];

/// Forwards a request that needs a token.
pub(crate) async fn with_token(dashboard: &Arc<Dashboard>, request: Request) -> Result<Response, Problem> {
    let (head, browser) = (request.head.clone(), Browser::of(&request.head));
    if !dashboard.accounts(&head, &browser).await?.are_enabled {
        return forward(dashboard, request, &browser, None).await;
    }
    let current = dashboard.required(&head, &browser).await?;
    let token = current.session().map(|session| session.access_token.clone());
    let mut response = forward(dashboard, request, &browser, token.as_deref()).await?;
    if let Current::Refreshed(session) = &current {
        dashboard.sessions.write(&mut response.headers, session)?;
    }
    Ok(response)
}

/// Forwards a request that needs no token.
pub(crate) async fn without_token(dashboard: &Arc<Dashboard>, request: Request) -> Result<Response, Problem> {
    let browser = Browser::of(&request.head);
    forward(dashboard, request, &browser, None).await
}

async fn forward(
    dashboard: &Dashboard,
    mut request: Request,
    browser: &Browser,
    token: Option<&str>,
) -> Result<Response, Problem> {
    let body = request.raw_body();
    let mut response = dashboard.api.call(api_request(&request.head, body, token)?, browser).await?;
    filter(response.headers_mut(), &OWN_RESPONSE_HEADERS);
    let policy = HeaderValue::from_static(API_POLICY);
    response.headers_mut().entry(CONTENT_SECURITY_POLICY).or_insert(policy);
    Ok(Response::forwarded(response))
}

/// Returns the request to the API.
fn api_request(head: &Head, body: RequestBody, token: Option<&str>) -> Result<hyper::Request<RequestBody>, Problem> {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = hyper::Request::new(body);
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = path.parse::<Uri>().map_err(|_| Problem::new(codes::INVALID_PATH))?;
    *request.headers_mut() = head.headers.clone();
    filter(request.headers_mut(), &OWN_REQUEST_HEADERS);
    if let Some(token) = token {
        request.headers_mut().insert(AUTHORIZATION, bearer(token)?);
    }
    Ok(request)
}

/// Removes the headers of the connection, those that `Connection` names, and `own`.
fn filter(headers: &mut HeaderMap, own: &[HeaderName]) {
    let lines = headers.get_all(CONNECTION).iter().filter_map(|line| line.to_str().ok());
    let named: Vec<HeaderName> =
        lines.flat_map(|line| line.split(',')).filter_map(|name| name.trim().parse().ok()).collect();
    for name in named.iter().chain(&HOP_BY_HOP).chain(own) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_are_removed() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("cookie", "a=b"),
            ("x-forwarded-for", "203.0.113.7"),
            ("if-none-match", "\"7\""),
        ] {
            headers.append(name, value.parse().expect("a value"));
        }
        filter(&mut headers, &OWN_REQUEST_HEADERS);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["if-none-match"]);
    }
}
