//! A service as the command talks to it: tokens, patience, and answers that are read piece by piece.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, Uri};
use pidq_http::{Bytes, HttpsClient, Method, Secret, StatusCode, https_client};
use serde_json::Value as Json;
use tokio::time::{sleep, timeout};

use super::access::Access;
use super::refusal::Refusal;
use crate::cli::failure::{Failure, Result};

/// How long an answer may take to begin, beside the time that its request takes to be sent.
const BEGIN: Duration = Duration::from_secs(120);
/// The slowest line that a body is sent over, in bytes a second.
const SLOWEST: u64 = 16 << 10;
/// How long nothing may come of an answer that has begun.
const STALL: Duration = Duration::from_secs(60);
/// How long a busy service is waited for, all together.
const PATIENCE: Duration = Duration::from_secs(30);
/// More of a refusal, or of a document that is read whole, is not read.
const WHOLE: usize = 16 << 20;
/// How a request id is called.
const REQUEST_ID: &str = "x-request-id";
/// What to do about a missing token.
const NO_TOKEN: &str = "set `PIDQ_TOKEN`, or `PIDQ_CLIENT_ID` and `PIDQ_CLIENT_SECRET`, or name a `--token-file`";

/// A service, and what it is shown.
pub struct Client {
    base: String,
    http: HttpsClient<Full<Bytes>>,
    access: Access,
}

/// A request. It can be sent again.
pub struct Call {
    method: Method,
    path: String,
    headers: Vec<(HeaderName, String)>,
    body: Bytes,
}

/// What comes of asking: no answer at all, a refusal, or the answer.
type Asked = Result<std::result::Result<Answer, Refusal>>;

/// An answer that is the wanted one.
pub struct Answer(Response<Incoming>);

impl Call {
    /// A request without a body.
    pub fn new(method: Method, path: impl Into<String>) -> Call {
        Call { method, path: path.into(), headers: Vec::new(), body: Bytes::new() }
    }

    /// The same with a body.
    pub fn body(mut self, media: &str, body: impl Into<Bytes>) -> Call {
        self.body = body.into();
        self.header(CONTENT_TYPE, media)
    }

    /// The same with one more header.
    pub fn header(mut self, name: HeaderName, value: impl Into<String>) -> Call {
        self.headers.push((name, value.into()));
        self
    }
}

impl Client {
    /// A service at a URL. Plain HTTP is for this machine, unless `insecure` says that something else encrypts.
    pub fn new(url: &str, insecure: bool, authorities: Option<&str>, access: Access) -> Result<Client> {
        let base = base(url, insecure).map_err(Failure::Usage)?;
        let http = https_client(authorities, 1).map_err(Failure::Usage)?;
        Ok(Client { base, http, access })
    }

    /// Asks. `about` is what a refusal is about, such as a file.
    pub async fn ask(&mut self, call: &Call, about: Option<&str>) -> Result<Answer> {
        let asked = self.answer(call).await?;
        let help = self.access.is_nobody().then_some(NO_TOKEN);
        asked.map_err(|refusal| {
            let help = help.filter(|_| refusal.status == StatusCode::UNAUTHORIZED);
            refusal.into_failure(about, help)
        })
    }

    /// With a token where there is one. One that is not good any more is renewed once.
    async fn answer(&mut self, call: &Call) -> Asked {
        if self.access.login().is_some_and(|login| login.needs_token()) {
            self.renew().await?;
        }
        let answer = self.patiently(call).await?;
        let is_over = matches!(&answer, Err(refusal) if refusal.status == StatusCode::UNAUTHORIZED);
        if is_over && self.access.login().is_some() {
            self.renew().await?;
            return self.patiently(call).await;
        }
        Ok(answer)
    }

    /// Gets a token for the login.
    async fn renew(&mut self) -> Result<()> {
        let forms = self.access.login().map(|login| login.forms()).unwrap_or_default();
        let mut refused = None;
        for form in forms {
            let call = Call::new(Method::POST, "/o/token/").body("application/x-www-form-urlencoded", form);
            match self.waiting(&call, None).await? {
                Ok(answer) => {
                    let tokens = answer.json().await?;
                    return self.access.login().map_or(Ok(()), |login| login.accept(&tokens));
                }
                Err(refusal) => refused = Some(refusal),
            }
        }
        Err(refused.map_or_else(|| Failure::Usage(NO_TOKEN.into()), |refusal| refusal.into_failure(None, None)))
    }

    async fn patiently(&self, call: &Call) -> Asked {
        self.waiting(call, self.access.token()).await
    }

    /// Asks again where the service says when to.
    async fn waiting(&self, call: &Call, token: Option<&Secret>) -> Asked {
        let mut left = PATIENCE;
        loop {
            let answer = self.once(call, token).await?;
            let pause =
                answer.as_ref().err().and_then(Refusal::comes_back).map(|pause| pause.max(Duration::from_secs(1)));
            match pause.and_then(|pause| Some((pause, left.checked_sub(pause)?))) {
                None => return Ok(answer),
                Some((pause, rest)) => {
                    left = rest;
                    sleep(pause).await;
                }
            }
        }
    }

    async fn once(&self, call: &Call, token: Option<&Secret>) -> Asked {
        let request = self.request(call, token)?;
        let patience = BEGIN + Duration::from_secs(call.body.len() as u64 / SLOWEST);
        let answer = timeout(patience, self.http.request(request)).await;
        let answer = answer.map_err(|_| self.unreachable("it does not answer"))?;
        let answer = Answer(answer.map_err(|error| self.unreachable(&reason(&error)))?);
        if answer.0.status().is_success() { Ok(Ok(answer)) } else { Ok(Err(answer.refusal().await)) }
    }

    fn request(&self, call: &Call, token: Option<&Secret>) -> Result<Request<Full<Bytes>>> {
        let mut request = Request::builder().method(&call.method).uri(format!("{}{}", self.base, call.path));
        for (name, value) in &call.headers {
            request = request.header(name, value);
        }
        if let Some(token) = token {
            let value = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
            let mut value =
                value.map_err(|_| Failure::Usage("the token is not one: it has other characters".into()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let request = request.body(Full::new(call.body.clone()));
        request.map_err(|_| Failure::Usage("the request cannot be written: an option has other characters".into()))
    }

    fn unreachable(&self, why: &str) -> Failure {
        Failure::Usage(format!("cannot ask {}: {why}", self.base))
    }
}

impl Answer {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// The whole of it as JSON.
    pub async fn json(self) -> Result<Json> {
        let whole = timeout(STALL, Limited::new(self.0.into_body(), WHOLE).collect()).await;
        let whole = whole.ok().and_then(|whole| whole.ok()).ok_or_else(broken_off)?.to_bytes();
        serde_json::from_slice(&whole).map_err(|_| Failure::Usage("the answer of the service is not JSON".into()))
    }

    /// The next bytes of it.
    pub async fn piece(&mut self) -> Result<Option<Bytes>> {
        loop {
            let frame = timeout(STALL, self.0.frame()).await.map_err(|_| broken_off())?;
            match frame {
                None => return Ok(None),
                Some(Err(_)) => return Err(broken_off()),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(piece) => return Ok(Some(piece)),
                    Err(_) => continue,
                },
            }
        }
    }

    async fn refusal(self) -> Refusal {
        let number = |name: &str| self.header(name).and_then(|value| value.trim().parse().ok());
        let retry_after = number(RETRY_AFTER.as_str()).map(Duration::from_secs);
        let (status, request) = (self.0.status(), self.header(REQUEST_ID).map(str::to_owned));
        // What cannot be read says nothing, and is still a refusal.
        Refusal { status, retry_after, request, body: self.json().await.unwrap_or_default() }
    }
}

fn broken_off() -> Failure {
    Failure::Usage("the answer of the service broke off".into())
}

/// The innermost reason: what is around it says no more than that it failed.
fn reason(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let why = innermost.to_string();
    match why.contains("UnknownIssuer") {
        true => format!("{why}; `--ca` names the authority of its certificate"),
        false => why,
    }
}

/// The URL without a slash at its end, if it is one to be asked.
fn base(url: &str, insecure: bool) -> std::result::Result<String, String> {
    let no = |why: &str| Err(format!("`--url` {why}"));
    let Ok(uri) = url.parse::<Uri>() else { return no("is not a URL such as `https://pidq.example.com`") };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return no("is not a URL such as `https://pidq.example.com`");
    };
    if authority.as_str().contains('@') {
        return no("has a name or a password in it: set `PIDQ_USERNAME` and `PIDQ_PASSWORD`");
    }
    if uri.query().is_some() {
        return no("has a query: name the service alone");
    }
    let is_here = ["localhost", "127.0.0.1", "[::1]"].contains(&authority.host());
    let base = format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/'));
    match scheme {
        "https" => Ok(base),
        "http" if is_here || insecure => Ok(base),
        "http" => no("is plain HTTP, which shows tokens to the network: use https, or say `--insecure-http`"),
        _ => no("is neither http nor https"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_over_tls_or_stay_on_this_machine() {
        let good = |url, insecure| base(url, insecure).is_ok();
        for url in ["https://a.example", "https://a.example:8443/pidq/", "http://127.0.0.1:8080", "http://[::1]:1/"] {
            assert!(good(url, false), "{url}");
        }
        for url in
            ["http://a.example", "a.example", "ftp://a", "https://a:b@c", "https://a/?b", "", "http://127.0.0.1.evil"]
        {
            assert!(!good(url, false), "{url}");
        }
        assert!(good("http://a.example", true) && !good("https://a:b@c", true));
        assert_eq!(base("https://a.example/pidq/", false).as_deref(), Ok("https://a.example/pidq"));
    }
}
