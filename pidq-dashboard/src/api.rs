//! Connection to the API: a service of this process, or a server elsewhere.

use std::net::IpAddr;

use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::{Request, Response, Uri};
use pidq_http::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use pidq_http::{
    BodyError, Bytes, Fut, Head, HttpsClient, Problem, RequestBody, Service, SpanKind, StatusCode, TRACEPARENT, Trace,
    codes, https_client,
};

/// Response body of the API. Dropping it cancels the request.
pub(crate) type ApiBody = UnsyncBoxBody<Bytes, BodyError>;

/// Browser on whose behalf the API is called.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    pub address: IpAddr,
    pub is_secure: bool,
    /// Host and port that the browser has in its address bar.
    pub host: String,
    pub request_id: String,
    /// Position of the request of the browser in its trace.
    pub trace: Trace,
}

impl Browser {
    pub fn of(head: &Head) -> Browser {
        Browser {
            address: head.client,
            is_secure: head.secure,
            host: authority(head).unwrap_or_else(|| "localhost".to_owned()),
            request_id: head.id.to_string(),
            trace: head.trace.clone(),
        }
    }
}

/// Returns host and port that the browser used.
pub(crate) fn authority(head: &Head) -> Option<String> {
    let of_uri = head.uri.authority().map(|authority| authority.as_str().to_owned());
    of_uri.or_else(|| head.header(HOST).map(str::to_owned)).map(|text| text.to_ascii_lowercase())
}

/// API that the dashboard is a client of.
pub(crate) trait Api: Send + Sync {
    /// Sends a request with a path and a query as its URI.
    ///
    /// # Errors
    /// 502 if the API cannot be reached.
    fn call<'a>(
        &'a self,
        request: Request<RequestBody>,
        browser: &'a Browser,
    ) -> Fut<'a, Result<Response<ApiBody>, Problem>>;
}

/// API of any kind.
pub(crate) type AnyApi = dyn Api;

/// API of this process, called without a connection.
pub(crate) struct LocalApi<S: 'static>(pub Service<S>);

impl<S: Send + Sync + 'static> Api for LocalApi<S> {
    fn call<'a>(
        &'a self,
        mut request: Request<RequestBody>,
        browser: &'a Browser,
    ) -> Fut<'a, Result<Response<ApiBody>, Problem>> {
        Box::pin(async move {
            insert(request.headers_mut(), HOST, &browser.host);
            insert(request.headers_mut(), REQUEST_ID, &browser.request_id);
            insert_trace(request.headers_mut(), &browser.trace);
            let response = self.0.forward(request, browser.address, browser.is_secure).await;
            Ok(response.map(BodyExt::boxed_unsync))
        })
    }
}

/// API at a URL.
pub(crate) struct RemoteApi {
    client: HttpsClient<RequestBody>,
    url: String,
}

/// Idle connections to the API that are kept.
const IDLE_CONNECTION_LIMIT: usize = 64;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

impl RemoteApi {
    /// Creates a client of the API at a URL without a trailing slash, with additional CA certificates (PEM).
    ///
    /// # Errors
    /// The reason why the certificates cannot be used.
    pub fn new(url: String, root_certificates: Option<&str>) -> Result<RemoteApi, String> {
        Ok(RemoteApi { client: https_client(root_certificates, IDLE_CONNECTION_LIMIT)?, url })
    }
}

impl Api for RemoteApi {
    fn call<'a>(
        &'a self,
        mut request: Request<RequestBody>,
        browser: &'a Browser,
    ) -> Fut<'a, Result<Response<ApiBody>, Problem>> {
        Box::pin(async move {
            let mut span = browser.trace.span(SpanKind::Client, request.method().to_string());
            span.set("http.request.method", request.method().to_string());
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
            *request.uri_mut() = format!("{}{path}", self.url)
                .parse::<Uri>()
                .map_err(|_| Problem::new(codes::INVALID_PATH).detail("The path cannot be forwarded to the API."))?;
            let headers = request.headers_mut();
            headers.remove(HOST);
            insert(headers, REQUEST_ID, &browser.request_id);
            insert_trace(headers, span.trace());
            insert(headers, FORWARDED_FOR, &browser.address.to_string());
            insert(headers, FORWARDED_PROTO, if browser.is_secure { "https" } else { "http" });
            let response = self.client.request(request).await.map_err(|error| {
                span.fail("unreachable");
                tracing::warn!(
                    url = self.url,
                    reason = innermost_reason(&error),
                    "the API at `PIDQ_API_URL` cannot be reached; responding with 502"
                );
                unreachable()
            })?;
            span.set("http.response.status_code", response.status().as_u16());
            Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
        })
    }
}

/// Sets the trace context, also in place of that of the browser.
fn insert_trace(headers: &mut HeaderMap, trace: &Trace) {
    headers.remove(TRACEPARENT);
    if let Some(traceparent) = trace.traceparent() {
        insert(headers, TRACEPARENT, traceparent);
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn unreachable() -> Problem {
    Problem::new(codes::API_UNAVAILABLE).detail("The API does not respond.")
}

fn broken_reply(error: &dyn std::error::Error) -> Problem {
    tracing::warn!(reason = innermost_reason(error), "a reply of the API broke off; responding with 502");
    unreachable()
}

/// Returns the innermost cause, such as a refused connection.
fn innermost_reason(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Maximum size of a reply that the dashboard itself reads.
const REPLY_SIZE: usize = 64 << 10;

/// Reads a reply of the API that the dashboard itself has requested.
pub(crate) async fn read(response: Response<ApiBody>) -> Result<(StatusCode, HeaderMap, Bytes), Problem> {
    let (head, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| broken_reply(&*error))?.into_data() else { continue };
        bytes.extend_from_slice(&data);
        if bytes.len() > REPLY_SIZE {
            return Err(broken_reply(&std::io::Error::other("it is too large")));
        }
    }
    Ok((head.status, head.headers, bytes.into()))
}
