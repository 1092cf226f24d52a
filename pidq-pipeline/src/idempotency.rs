//! `Idempotency-Key` middleware: a repeated POST gets the first response and is executed once.
//!
//! Wraps all handlers. A request with a key runs to its end even if the client disconnects, since clients then retry it.
//! Only successful responses are stored: a failed request changed nothing, and may be corrected and retried. `no-store`
//! responses and streams are not stored: such a request is executed again, but never twice concurrently.
//!
//! Responses contain document text and secrets of new keys, so they are encrypted with the application secret and the
//! idempotency key, of which only a fingerprint is stored.

mod fingerprint;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pidq_http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use pidq_http::{Fut, Handler, Method, Problem, Request, Response, Secret, StatusCode, codes, uuid_v7};
use serde::{Deserialize, Serialize};
use tracing::Instrument;

use crate::accept;
use crate::audit;
use crate::crypto::EncryptionContext;
use crate::platform::Platform;
use crate::problems::stored;
use crate::store::{Claim, IdempotencyKey};
use fingerprint::Fingerprint;

/// Maximum size of a stored response.
const MAX_RESPONSE_SIZE: usize = 8 << 20;
/// Lease renewal interval; two renewals may be lost.
const RENEWAL_INTERVAL: Duration = Duration::from_millis(crate::store::LEASE_MS as u64 / 3);

/// A request with a key.
#[derive(Clone)]
struct Keyed {
    key: Secret,
    what: IdempotencyKey,
}

/// Status and headers of a stored response.
#[derive(Deserialize, Serialize)]
struct Head {
    /// The fingerprint of the request.
    request: String,
    status: u16,
    headers: Vec<(String, String)>,
}

/// Wraps a handler of the platform.
pub(crate) fn around<'a>(
    platform: &'a Arc<Platform>,
    request: Request,
    handler: Handler<Platform>,
) -> Fut<'a, Result<Response, Problem>> {
    // Adds the request id to the log messages of the handler.
    let span = tracing::error_span!("request", request_id = &*request.head.id);
    let handled = async move {
        accept::check_accept(&request)?;
        match Keyed::of(&request)? {
            Some(keyed) => once(platform, keyed, request, handler).await,
            None => audit::handle(platform, request, handler).await,
        }
    };
    Box::pin(handled.instrument(span))
}

impl Keyed {
    fn of(request: &Request) -> Result<Option<Keyed>, Problem> {
        // A token request has no principal yet.
        let Ok(principal) = request.principal() else { return Ok(None) };
        if request.head.method != Method::POST {
            return Ok(None);
        }
        let Some(key) = request.head.idempotency_key()?.map(Secret::new) else { return Ok(None) };
        let what = IdempotencyKey {
            caller: principal.key().to_string(),
            fingerprint: key.fingerprint(),
            lease_owner: uuid_v7(),
        };
        Ok(Some(Keyed { key, what }))
    }

    fn seal(&self, platform: &Platform, head: &Head, body: &[u8]) -> Option<String> {
        let mut text = serde_json::to_vec(head).ok()?;
        text.push(b'\n');
        text.extend_from_slice(body);
        platform.encryptor.encrypt(EncryptionContext { purpose: &self.purpose(), context: &self.context() }, &text)
    }

    fn open(&self, platform: &Platform, sealed: &str) -> Option<(Head, Vec<u8>)> {
        let text = platform
            .encryptor
            .decrypt(EncryptionContext { purpose: &self.purpose(), context: &self.context() }, sealed)?;
        let end = text.iter().position(|&byte| byte == b'\n')?;
        Some((serde_json::from_slice(&text[..end]).ok()?, text[end + 1..].to_vec()))
    }

    fn purpose(&self) -> [&str; 2] {
        ["answers", self.key.expose()]
    }

    fn context(&self) -> [&str; 2] {
        [&self.what.caller, &self.what.fingerprint]
    }
}

async fn once(
    platform: &Arc<Platform>,
    keyed: Keyed,
    request: Request,
    handler: Handler<Platform>,
) -> Result<Response, Problem> {
    match platform.store.claim_idempotency_key(&keyed.what).await.map_err(stored)? {
        Claim::Completed(sealed) => again(platform, &keyed, request, &sealed).await,
        Claim::InProgress => Err(conflict("The first request with this key is still in progress.").retry_after(1)),
        Claim::Acquired => {
            let work = perform(platform.clone(), keyed.clone(), request, handler);
            match tokio::spawn(work.in_current_span()).await {
                Ok(answer) => answer,
                Err(_) => {
                    tracing::error!("a handler panicked; responding with 500");
                    release(platform, &keyed).await;
                    Err(Problem::internal())
                }
            }
        }
    }
}

/// Returns the stored response if this is the same request.
async fn again(platform: &Platform, keyed: &Keyed, mut request: Request, sealed: &str) -> Result<Response, Problem> {
    let Some((head, body)) = keyed.open(platform, sealed) else {
        return Err(conflict("The stored response was encrypted with another application secret. Use a new key."));
    };
    let fingerprint = observe_fingerprint(&mut request);
    request.skip_body().await?;
    if finished(&fingerprint) != head.request {
        let detail = "This key was used for a different request. Use a new key.";
        return Err(Problem::new(codes::IDEMPOTENCY_KEY_REUSE).detail(detail));
    }
    let status = StatusCode::from_u16(head.status).map_err(|_| Problem::internal())?;
    let named =
        |(name, value): &(String, String)| Some((name.parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?));
    let headers: HeaderMap = head.headers.iter().filter_map(named).collect();
    Ok(Response::replay(status, headers, body).header(HeaderName::from_static("idempotency-replayed"), "true"))
}

/// Executes a request and stores its response.
async fn perform(
    platform: Arc<Platform>,
    keyed: Keyed,
    mut request: Request,
    handler: Handler<Platform>,
) -> Result<Response, Problem> {
    let fingerprint = observe_fingerprint(&mut request);
    let answer = tokio::select! {
        answer = audit::handle(&platform, request, handler) => answer,
        () = renew_lease(&platform, &keyed) => Err(Problem::internal()),
    };
    let sealed = answer.as_ref().ok().and_then(|answer| {
        let (head, body) = storable_parts(answer, &fingerprint)?;
        keyed.seal(&platform, &head, &body)
    });
    match sealed {
        Some(sealed) => {
            if let Err(error) = platform.store.save_response(&keyed.what, &sealed).await {
                tracing::error!(%error, "storing a response failed");
            }
        }
        None => release(&platform, &keyed).await,
    }
    answer
}

/// Returns the parts of a response to store; none if it failed, is too large, or is `no-store`.
fn storable_parts(answer: &Response, fingerprint: &Mutex<Fingerprint>) -> Option<(Head, pidq_http::Bytes)> {
    let is_secret = answer.headers.get(CACHE_CONTROL).is_some_and(|value| value == "no-store");
    let body =
        answer.bytes().filter(|body| answer.status.is_success() && !is_secret && body.len() <= MAX_RESPONSE_SIZE)?;
    let text = |(name, value): (&HeaderName, &HeaderValue)| Some((name.to_string(), value.to_str().ok()?.to_owned()));
    let headers = answer.headers.iter().filter_map(text).collect();
    Some((Head { request: finished(fingerprint), status: answer.status.as_u16(), headers }, body))
}

/// Renews the lease. Never returns.
async fn renew_lease(platform: &Platform, keyed: &Keyed) {
    loop {
        tokio::time::sleep(RENEWAL_INTERVAL).await;
        if let Err(error) = platform.store.renew_idempotency_lease(&keyed.what).await {
            tracing::warn!(%error, "renewing the lease of an idempotency key failed");
        }
    }
}

async fn release(platform: &Platform, keyed: &Keyed) {
    if let Err(error) = platform.store.release_idempotency_key(&keyed.what).await {
        tracing::error!(%error, "releasing an idempotency key failed");
    }
}

/// Fingerprints a request while its body is read.
fn observe_fingerprint(request: &mut Request) -> Arc<Mutex<Fingerprint>> {
    let fingerprint = Arc::new(Mutex::new(Fingerprint::new(&request.head)));
    let shared = fingerprint.clone();
    request.observe(move |chunk| shared.lock().unwrap_or_else(PoisonError::into_inner).add(chunk));
    fingerprint
}

fn finished(fingerprint: &Mutex<Fingerprint>) -> String {
    fingerprint.lock().unwrap_or_else(PoisonError::into_inner).finish()
}

fn conflict(detail: &str) -> Problem {
    Problem::new(codes::IDEMPOTENCY_CONFLICT).detail(detail)
}
