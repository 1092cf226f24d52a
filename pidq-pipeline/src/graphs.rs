//! A graph query service that knows the same people: what a drawing says, for a question to documents.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Request, Uri};
use pidq_http::{Bytes, Fut, Head, HttpsClient, Kind, Problem, Setting, SettingError, Settings, StatusCode};
use pidq_http::{https_client, percent_encode, sentence, settings};
use serde_json::Value;
use tokio::time::timeout;

use crate::keys;
use crate::problems::unprocessable;

/// What an administrator decides about it.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_GRAPH_URL", "config.graph.url", Kind::Text, None, false, "The graph query service that questions may ask by `graph`, as `https://graphs.plant.example`. Whoever asks has to be known there by the same token.";
];

/// How long it may take: a query ends after ten seconds there.
const PATIENCE: Duration = Duration::from_secs(15);
/// The most bytes of an answer.
const LARGEST: usize = 1 << 20;
/// Connections that are kept for the next question.
const KEPT: usize = 4;

/// A graph query service. Who asks is in the request: the service decides what they may see.
pub trait GraphService: Send + Sync {
    /// Its answer, with a body of so many bytes at most.
    fn call(&self, request: Request<Bytes>, largest: usize) -> Fut<'_, Result<Answer, Silence>>;
}

/// What it said.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// Which version of the drawing it is about.
    pub version: Option<String>,
    /// The body.
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Silence {
    /// It cannot be reached, or breaks off.
    Unreachable,
    /// It says more than was wanted.
    TooLong,
}

impl Answer {
    /// The answer of a response.
    ///
    /// # Errors
    /// If its body breaks off, or is longer.
    pub async fn of<B>(response: hyper::Response<B>, largest: usize) -> Result<Answer, Silence>
    where
        B: hyper::body::Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = response.into_parts();
        let version = head.headers.get("x-change-version").and_then(|version| version.to_str().ok());
        let version = version.map(str::to_owned);
        match Limited::new(body, largest).collect().await {
            Ok(body) => Ok(Answer { status: head.status, version, body: body.to_bytes() }),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(Silence::TooLong),
            Err(_) => Err(Silence::Unreachable),
        }
    }
}

/// A service elsewhere.
pub struct Remote {
    client: HttpsClient<Full<Bytes>>,
    base: String,
}

impl Remote {
    /// The service of the settings, if they name one. `authorities` (PEM) are believed beside the public ones.
    ///
    /// # Errors
    /// If a setting is wrong.
    pub fn of(settings: &Settings, authorities: Option<&str>) -> Result<Option<Remote>, SettingError> {
        const NAME: &str = "PIDQ_GRAPH_URL";
        let Some(url) = settings.optional(NAME)? else { return Ok(None) };
        let base = url.trim_end_matches('/').to_owned();
        let address: Option<Uri> = base.parse().ok();
        let is_sound = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none();
        if !address.as_ref().is_some_and(is_sound) {
            return Err(settings.wrong(NAME, "an address such as `https://graphs.plant.example` is expected"));
        }
        let client = https_client(authorities, KEPT).map_err(|why| settings.wrong("PIDQ_LLM_CA", &why))?;
        Ok(Some(Remote { client, base }))
    }

    async fn ask(&self, request: Request<Bytes>, largest: usize) -> Result<Answer, Silence> {
        let (mut head, body) = request.into_parts();
        head.uri = format!("{}{}", self.base, head.uri).parse().map_err(|_| Silence::Unreachable)?;
        head.headers.remove(HOST);
        let response = self.client.request(Request::from_parts(head, Full::new(body))).await;
        Answer::of(response.map_err(|_| Silence::Unreachable)?, largest).await
    }
}

impl GraphService for Remote {
    fn call(&self, request: Request<Bytes>, largest: usize) -> Fut<'_, Result<Answer, Silence>> {
        Box::pin(self.ask(request, largest))
    }
}

/// A query to the graph of a job, as whoever sent `head`.
pub(crate) async fn query(
    service: &dyn GraphService,
    head: &Head,
    job: &str,
    body: &Value,
    form: &'static str,
) -> Result<Answer, Problem> {
    let request = request(head, job, body, form).ok_or_else(no_job)?;
    let answer = timeout(PATIENCE, service.call(request, LARGEST)).await.unwrap_or(Err(Silence::Unreachable));
    match answer {
        Ok(answer) if answer.status == StatusCode::OK => Ok(answer),
        Ok(answer) => Err(refused(&answer)),
        Err(Silence::Unreachable) => Err(unavailable("The graph query service does not answer.", 5)),
        Err(Silence::TooLong) => {
            let detail = format!(
                "The result has more than {LARGEST} bytes. Ask for less: for ids and tags, or the first items."
            );
            Err(unprocessable("graph-query-failed", "/graph/query", &detail))
        }
    }
}

fn request(head: &Head, job: &str, body: &Value, form: &'static str) -> Option<Request<Bytes>> {
    // `.` and `..` would be other paths.
    let job = Some(percent_encode(job)).filter(|job| !job.trim_matches('.').is_empty())?;
    let mut request = Request::post(format!("/graph/{job}"))
        .header(HOST, "localhost")
        .header(USER_AGENT, concat!("pidq/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, form)
        .header(ACCEPT_ENCODING, "identity")
        .header("x-request-id", &*head.id);
    // A key of the platform is a secret of the platform: no other service is told it.
    let token = head.bearer().ok().flatten().filter(|token| keys::parts(token).is_none());
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some(trace) = &head.traceparent {
        request = request.header("traceparent", trace);
    }
    let body = body.to_string();
    request.header("content-length", body.len()).body(Bytes::from(body)).ok()
}

/// A refusal in the words of a question: what it says of the job and of the query belongs to members of the body.
fn refused(answer: &Answer) -> Problem {
    let told: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let detail = told["detail"].as_str().or(told["error_description"].as_str()).unwrap_or("It says no more.");
    let detail = sentence(detail);
    match answer.status {
        StatusCode::UNAUTHORIZED => Problem::new(StatusCode::FORBIDDEN, "graph-refused").detail(
            "The graph query service wants a token that it knows. One of `/o/token/` is good for both, where they share accounts; an API key is not.",
        ),
        StatusCode::FORBIDDEN => Problem::new(StatusCode::FORBIDDEN, "graph-refused").detail(detail),
        StatusCode::NOT_FOUND => unprocessable("graph-not-found", "/graph/job_id", &detail),
        StatusCode::TOO_MANY_REQUESTS => unavailable(&detail, 5),
        StatusCode::BAD_REQUEST if told["code"] == "invalid-job-id" => no_job(),
        status if status.is_client_error() => of_query(&told, &detail),
        _ => unavailable("The graph query service cannot answer now.", 5),
    }
}

fn no_job() -> Problem {
    let detail = "The id of a job has 1 to 128 letters, digits and any of `._:@~-`.";
    unprocessable("validation", "/graph/job_id", detail)
}

/// A query that does not compile or fails, with what the engine says of it.
fn of_query(told: &Value, detail: &str) -> Problem {
    let problem = unprocessable("graph-query-failed", "/graph/query", detail);
    ["pq_code", "position", "line", "column", "span", "help", "suggestions"].into_iter().fold(
        problem,
        |problem, name| match told.get(name) {
            Some(value) => problem.with(name, value.clone()),
            None => problem,
        },
    )
}

fn unavailable(detail: &str, seconds: u64) -> Problem {
    Problem::unavailable("graph-unavailable", detail, seconds)
}
