//! `Idempotency-Key`: a POST that comes again has the answer of the first time, and happens once.
//!
//! Stands around all handlers. A request that has a key is worked on to its end even if its sender goes away, since that
//! is when it comes again. What is kept is what went well: a refusal changed nothing, and may be sent again, corrected.
//! Answers that nobody may store (`no-store`) and those that are sent while they are made are not kept: such a request
//! happens again, and only never twice at once.
//!
//! Answers hold text of documents and secrets of new keys, so they are sealed with the application secret and the key of
//! the request, of which a fingerprint alone is stored.

mod fingerprint;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pidq_http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use pidq_http::{Fut, Handler, Method, Problem, Request, Response, Secret, StatusCode, uuid_v7};
use serde::{Deserialize, Serialize};
use tracing::Instrument;

use crate::audit;
use crate::forms;
use crate::platform::Platform;
use crate::problems::stored;
use crate::seal::Place;
use crate::store::{Claimed, Repeatable};
use fingerprint::Fingerprint;

/// The largest answer that is kept.
const LARGEST: usize = 8 << 20;
/// How often whoever works on a request says so: often enough that two may be lost.
const SIGN_OF_LIFE: Duration = Duration::from_millis(crate::store::HOLD as u64 / 3);

/// A request with a key.
#[derive(Clone)]
struct Keyed {
    key: Secret,
    what: Repeatable,
}

/// What is kept beside the body of an answer.
#[derive(Deserialize, Serialize)]
struct Head {
    /// The fingerprint of the request.
    request: String,
    status: u16,
    headers: Vec<(String, String)>,
}

/// What stands around the handlers of the platform.
pub(crate) fn around<'a>(
    platform: &'a Arc<Platform>,
    request: Request,
    handler: Handler<Platform>,
) -> Fut<'a, Result<Response, Problem>> {
    // What is logged while it is handled says of which request that is.
    let span = tracing::error_span!("request", request_id = &*request.head.id);
    let handled = async move {
        forms::acceptable(&request)?;
        match Keyed::of(&request)? {
            Some(keyed) => once(platform, keyed, request, handler).await,
            None => audit::handled(platform, request, handler).await,
        }
    };
    Box::pin(handled.instrument(span))
}

impl Keyed {
    fn of(request: &Request) -> Result<Option<Keyed>, Problem> {
        // Who names itself in its body, to get a token, is nobody yet.
        let Ok(principal) = request.principal() else { return Ok(None) };
        if request.head.method != Method::POST {
            return Ok(None);
        }
        let Some(key) = request.head.idempotency_key()?.map(Secret::new) else { return Ok(None) };
        let what = Repeatable { caller: principal.key().to_string(), name: key.fingerprint(), holder: uuid_v7() };
        Ok(Some(Keyed { key, what }))
    }

    fn seal(&self, platform: &Platform, head: &Head, body: &[u8]) -> Option<String> {
        let mut text = serde_json::to_vec(head).ok()?;
        text.push(b'\n');
        text.extend_from_slice(body);
        platform.sealer.seal(Place { purpose: &self.purpose(), context: &self.context() }, &text)
    }

    fn open(&self, platform: &Platform, sealed: &str) -> Option<(Head, Vec<u8>)> {
        let text = platform.sealer.open(Place { purpose: &self.purpose(), context: &self.context() }, sealed)?;
        let end = text.iter().position(|&byte| byte == b'\n')?;
        Some((serde_json::from_slice(&text[..end]).ok()?, text[end + 1..].to_vec()))
    }

    fn purpose(&self) -> [&str; 2] {
        ["answers", self.key.expose()]
    }

    fn context(&self) -> [&str; 2] {
        [&self.what.caller, &self.what.name]
    }
}

async fn once(
    platform: &Arc<Platform>,
    keyed: Keyed,
    request: Request,
    handler: Handler<Platform>,
) -> Result<Response, Problem> {
    match platform.store.claim(&keyed.what).await.map_err(stored)? {
        Claimed::Answered(sealed) => again(platform, &keyed, request, &sealed).await,
        Claimed::Running => Err(conflict("The first request with this key is still worked on.").retry_after(1)),
        Claimed::Ours => {
            let work = perform(platform.clone(), keyed.clone(), request, handler);
            match tokio::spawn(work.in_current_span()).await {
                Ok(answer) => answer,
                Err(_) => {
                    tracing::error!("a handler panicked");
                    forget(platform, &keyed).await;
                    Err(Problem::internal())
                }
            }
        }
    }
}

/// The answer of the first time, if this is the same request.
async fn again(platform: &Platform, keyed: &Keyed, mut request: Request, sealed: &str) -> Result<Response, Problem> {
    let Some((head, body)) = keyed.open(platform, sealed) else {
        return Err(conflict(
            "The answer was kept under another application secret, and cannot be read. Use a new key.",
        ));
    };
    let fingerprint = watch(&mut request);
    request.skip_body().await?;
    if finished(&fingerprint) != head.request {
        let detail = "Another request had this key before. A key names one request: use a new one.";
        return Err(Problem::unprocessable("idempotency-key-reuse", detail));
    }
    let status = StatusCode::from_u16(head.status).map_err(|_| Problem::internal())?;
    let named =
        |(name, value): &(String, String)| Some((name.parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?));
    let headers: HeaderMap = head.headers.iter().filter_map(named).collect();
    Ok(Response::again(status, headers, body).header(HeaderName::from_static("idempotency-replayed"), "true"))
}

/// Works on a request, and keeps what comes of it.
async fn perform(
    platform: Arc<Platform>,
    keyed: Keyed,
    mut request: Request,
    handler: Handler<Platform>,
) -> Result<Response, Problem> {
    let fingerprint = watch(&mut request);
    let answer = tokio::select! {
        answer = audit::handled(&platform, request, handler) => answer,
        () = holding(&platform, &keyed) => Err(Problem::internal()),
    };
    let sealed = answer.as_ref().ok().and_then(|answer| {
        let (head, body) = kept(answer, &fingerprint)?;
        keyed.seal(&platform, &head, &body)
    });
    match sealed {
        Some(sealed) => {
            if let Err(error) = platform.store.keep_answer(&keyed.what, &sealed).await {
                tracing::error!(%error, "an answer could not be kept");
            }
        }
        None => forget(&platform, &keyed).await,
    }
    answer
}

/// What is kept of an answer; nothing, if it may not be, or is too large, or went wrong.
fn kept(answer: &Response, fingerprint: &Mutex<Fingerprint>) -> Option<(Head, pidq_http::Bytes)> {
    let is_secret = answer.headers.get(CACHE_CONTROL).is_some_and(|value| value == "no-store");
    let body = answer.bytes().filter(|body| answer.status.is_success() && !is_secret && body.len() <= LARGEST)?;
    let text = |(name, value): (&HeaderName, &HeaderValue)| Some((name.to_string(), value.to_str().ok()?.to_owned()));
    let headers = answer.headers.iter().filter_map(text).collect();
    Some((Head { request: finished(fingerprint), status: answer.status.as_u16(), headers }, body))
}

/// Says again and again that somebody works on it. Never ends.
async fn holding(platform: &Platform, keyed: &Keyed) {
    loop {
        tokio::time::sleep(SIGN_OF_LIFE).await;
        if let Err(error) = platform.store.hold_on(&keyed.what).await {
            tracing::warn!(%error, "a request with a key could not be held");
        }
    }
}

async fn forget(platform: &Platform, keyed: &Keyed) {
    if let Err(error) = platform.store.release(&keyed.what).await {
        tracing::error!(%error, "a request with a key could not be released");
    }
}

/// The fingerprint of a request, which grows while its body is read.
fn watch(request: &mut Request) -> Arc<Mutex<Fingerprint>> {
    let fingerprint = Arc::new(Mutex::new(Fingerprint::of(&request.head)));
    let watched = fingerprint.clone();
    request.observe(move |piece| watched.lock().unwrap_or_else(PoisonError::into_inner).add(piece));
    fingerprint
}

fn finished(fingerprint: &Mutex<Fingerprint>) -> String {
    fingerprint.lock().unwrap_or_else(PoisonError::into_inner).finish()
}

fn conflict(detail: &str) -> Problem {
    Problem::new(StatusCode::CONFLICT, "idempotency-conflict").detail(detail)
}
