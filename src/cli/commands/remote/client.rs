//! HTTP client of a remote service: authentication, retries and streamed responses.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, Uri};
use pidq_http::{Bytes, HttpsClient, Method, Secret, StatusCode, https_client};
use serde_json::Value as Json;
use tokio::time::{sleep, timeout};

use super::credentials::Credentials;
use super::problem::RemoteProblem;
use crate::cli::failure::{Failure, Result};

/// Timeout for the first byte of a response, in addition to the time for sending the request.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);
/// Minimum transfer rate of a request body in bytes per second.
const MIN_UPLOAD_RATE: u64 = 16 << 10;
/// Idle timeout of a response body.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum total delay of retries.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);
/// Maximum size in bytes of a response that is read into memory.
const MAX_JSON_SIZE: usize = 16 << 20;
/// Header with the request id.
const REQUEST_ID: &str = "x-request-id";
/// Help text for a missing token.
const TOKEN_HELP: &str = "set `PIDQ_TOKEN`, or `PIDQ_CLIENT_ID` and `PIDQ_CLIENT_SECRET`, or name a `--token-file`";

/// Client of a service, with its credentials.
pub struct Client {
    base: String,
    http: HttpsClient<Full<Bytes>>,
    credentials: Credentials,
}

/// Repeatable request.
pub struct Call {
    method: Method,
    path: String,
    headers: Vec<(HeaderName, String)>,
    body: Bytes,
}

/// Result of a request: a connection failure, a problem, or the response.
type SendResult = Result<std::result::Result<ServiceResponse, RemoteProblem>>;

/// Successful response.
pub struct ServiceResponse(Response<Incoming>);

impl Call {
    /// Creates a request without a body.
    pub fn new(method: Method, path: impl Into<String>) -> Call {
        Call { method, path: path.into(), headers: Vec::new(), body: Bytes::new() }
    }

    /// Adds a body.
    pub fn body(mut self, media: &str, body: impl Into<Bytes>) -> Call {
        self.body = body.into();
        self.header(CONTENT_TYPE, media)
    }

    /// Adds a header.
    pub fn header(mut self, name: HeaderName, value: impl Into<String>) -> Call {
        self.headers.push((name, value.into()));
        self
    }
}

impl Client {
    /// Creates a client for a URL. Plain HTTP is limited to this machine unless `insecure` is set.
    pub fn new(url: &str, insecure: bool, ca_certificates: Option<&str>, credentials: Credentials) -> Result<Client> {
        let base = base(url, insecure).map_err(Failure::Usage)?;
        let http = https_client(ca_certificates, 1).map_err(Failure::Usage)?;
        Ok(Client { base, http, credentials })
    }

    /// Sends a request. Errors show `subject`, such as a file, as their location.
    pub async fn send(&mut self, call: &Call, subject: Option<&str>) -> Result<ServiceResponse> {
        let result = self.send_authenticated(call).await?;
        let help = self.credentials.is_none().then_some(TOKEN_HELP);
        result.map_err(|problem| {
            let help = help.filter(|_| problem.status == StatusCode::UNAUTHORIZED);
            problem.into_failure(subject, help)
        })
    }

    /// Sends a request with a token, which is renewed once if rejected.
    async fn send_authenticated(&mut self, call: &Call) -> SendResult {
        if self.credentials.login().is_some_and(|login| login.needs_token()) {
            self.renew().await?;
        }
        let response = self.send_with_token(call).await?;
        let is_expired = matches!(&response, Err(problem) if problem.status == StatusCode::UNAUTHORIZED);
        if is_expired && self.credentials.login().is_some() {
            self.renew().await?;
            return self.send_with_token(call).await;
        }
        Ok(response)
    }

    /// Obtains a token.
    async fn renew(&mut self) -> Result<()> {
        let forms = self.credentials.login().map(|login| login.forms()).unwrap_or_default();
        let mut last_problem = None;
        for form in forms {
            let call = Call::new(Method::POST, "/o/token/").body("application/x-www-form-urlencoded", form);
            match self.send_with_retry(&call, None).await? {
                Ok(response) => {
                    let tokens = response.json().await?;
                    return self.credentials.login().map_or(Ok(()), |login| login.accept(&tokens));
                }
                Err(problem) => last_problem = Some(problem),
            }
        }
        Err(last_problem.map_or_else(|| Failure::Usage(TOKEN_HELP.into()), |problem| problem.into_failure(None, None)))
    }

    async fn send_with_token(&self, call: &Call) -> SendResult {
        self.send_with_retry(call, self.credentials.token()).await
    }

    /// Sends a request, retrying after `Retry-After`.
    async fn send_with_retry(&self, call: &Call, token: Option<&Secret>) -> SendResult {
        let mut remaining = MAX_RETRY_DELAY;
        loop {
            let response = self.send_once(call, token).await?;
            let delay = response
                .as_ref()
                .err()
                .and_then(RemoteProblem::retry_delay)
                .map(|delay| delay.max(Duration::from_secs(1)));
            match delay.and_then(|delay| Some((delay, remaining.checked_sub(delay)?))) {
                None => return Ok(response),
                Some((delay, rest)) => {
                    remaining = rest;
                    sleep(delay).await;
                }
            }
        }
    }

    async fn send_once(&self, call: &Call, token: Option<&Secret>) -> SendResult {
        let request = self.request(call, token)?;
        let limit = RESPONSE_TIMEOUT + Duration::from_secs(call.body.len() as u64 / MIN_UPLOAD_RATE);
        let response = timeout(limit, self.http.request(request)).await;
        let response = response.map_err(|_| self.unreachable("no response"))?;
        let response = ServiceResponse(response.map_err(|error| self.unreachable(&innermost_reason(&error)))?);
        if response.0.status().is_success() { Ok(Ok(response)) } else { Ok(Err(response.problem().await)) }
    }

    fn request(&self, call: &Call, token: Option<&Secret>) -> Result<Request<Full<Bytes>>> {
        let mut request = Request::builder().method(&call.method).uri(format!("{}{}", self.base, call.path));
        for (name, value) in &call.headers {
            request = request.header(name, value);
        }
        if let Some(token) = token {
            let value = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
            let mut value = value.map_err(|_| Failure::Usage("the token contains invalid characters".into()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let request = request.body(Full::new(call.body.clone()));
        request.map_err(|_| Failure::Usage("an option contains characters that are invalid in an HTTP request".into()))
    }

    fn unreachable(&self, reason: &str) -> Failure {
        Failure::Usage(format!("cannot reach {}: {reason}", self.base))
    }
}

impl ServiceResponse {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// Reads the whole body as JSON.
    pub async fn json(self) -> Result<Json> {
        let body = timeout(IDLE_TIMEOUT, Limited::new(self.0.into_body(), MAX_JSON_SIZE).collect()).await;
        let body = body.ok().and_then(|body| body.ok()).ok_or_else(truncated_response)?.to_bytes();
        serde_json::from_slice(&body).map_err(|_| Failure::Usage("the response of the service is not JSON".into()))
    }

    /// Returns the next chunk of the body.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>> {
        loop {
            let frame = timeout(IDLE_TIMEOUT, self.0.frame()).await.map_err(|_| truncated_response())?;
            match frame {
                None => return Ok(None),
                Some(Err(_)) => return Err(truncated_response()),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(chunk) => return Ok(Some(chunk)),
                    Err(_) => continue,
                },
            }
        }
    }

    async fn problem(self) -> RemoteProblem {
        let number = |name: &str| self.header(name).and_then(|value| value.trim().parse().ok());
        let retry_after = number(RETRY_AFTER.as_str()).map(Duration::from_secs);
        let (status, request_id) = (self.0.status(), self.header(REQUEST_ID).map(str::to_owned));
        // An unreadable body is still a problem response.
        RemoteProblem { status, retry_after, request_id, body: self.json().await.unwrap_or_default() }
    }
}

fn truncated_response() -> Failure {
    Failure::Usage("the response of the service was truncated".into())
}

/// Returns the innermost error, which has the actual cause.
pub fn innermost_reason(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let reason = innermost.to_string();
    match reason.contains("UnknownIssuer") {
        true => format!("{reason}; specify the CA of the server certificate with `--ca`"),
        false => reason,
    }
}

/// Validates the URL and removes a trailing slash.
fn base(url: &str, insecure: bool) -> std::result::Result<String, String> {
    let reject = |reason: &str| Err(format!("`--url` {reason}"));
    let Ok(uri) = url.parse::<Uri>() else { return reject("expects a URL such as `https://pidq.example.com`") };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return reject("expects a URL such as `https://pidq.example.com`");
    };
    if authority.as_str().contains('@') {
        return reject("must not contain credentials: set `PIDQ_USERNAME` and `PIDQ_PASSWORD`");
    }
    if uri.query().is_some() {
        return reject("must not contain a query");
    }
    let is_loopback = ["localhost", "127.0.0.1", "[::1]"].contains(&authority.host());
    let base = format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/'));
    match scheme {
        "https" => Ok(base),
        "http" if is_loopback || insecure => Ok(base),
        "http" => reject("is plain HTTP, which exposes tokens: use https, or add `--insecure-http`"),
        _ => reject("must be http or https"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_over_tls_or_stay_on_this_machine() {
        let is_accepted = |url, insecure| base(url, insecure).is_ok();
        for url in ["https://a.example", "https://a.example:8443/pidq/", "http://127.0.0.1:8080", "http://[::1]:1/"] {
            assert!(is_accepted(url, false), "{url}");
        }
        for url in
            ["http://a.example", "a.example", "ftp://a", "https://a:b@c", "https://a/?b", "", "http://127.0.0.1.evil"]
        {
            assert!(!is_accepted(url, false), "{url}");
        }
        assert!(is_accepted("http://a.example", true) && !is_accepted("https://a:b@c", true));
        assert_eq!(base("https://a.example/pidq/", false).as_deref(), Ok("https://a.example/pidq"));
    }
}
