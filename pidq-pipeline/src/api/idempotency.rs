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
use pidq_http::{Fut, Handler, Method, Problem, Request, Response, Secret, StatusCode, Trace, codes, uuid_v7};
use pidq_store::crypto::EncryptionContext;
use pidq_store::{Claim, IdempotencyKey};
use serde::{Deserialize, Serialize};
use tracing::Instrument;

use crate::api::problems::store_problem;
use crate::api::{accept_header, audit_middleware};
use crate::platform::Platform;
use fingerprint::Fingerprint;

/// Maximum size of a stored response.
const MAX_RESPONSE_SIZE: usize = 8 << 20;
/// Lease renewal interval; two renewals may be lost.
const RENEWAL_INTERVAL: Duration = Duration::from_millis(pidq_store::LEASE_MS as u64 / 3);

/// A request with a key.
#[derive(Clone)]
struct KeyedRequest {
    key: Secret,
    id: IdempotencyKey,
}

/// Status and headers of a stored response.
#[derive(Deserialize, Serialize)]
struct StoredHead {
    request_fingerprint: String,
    status: u16,
    headers: Vec<(String, String)>,
}

/// Wraps a handler of the platform.
pub(crate) fn middleware<'a>(
    platform: &'a Arc<Platform>,
    request: Request,
    handler: Handler<Platform>,
) -> Fut<'a, Result<Response, Problem>> {
    // Adds the ids of request and trace to the log messages of the handler.
    let span = tracing::error_span!("request", request_id = &*request.head.id, trace_id = request.head.trace.id());
    let response = async move {
        accept_header::check_accept(&request)?;
        match KeyedRequest::from_request(&request)? {
            Some(keyed) => execute_once(platform, keyed, request, handler).await,
            None => audit_middleware::handle(platform, request, handler).await,
        }
    };
    Box::pin(response.instrument(span))
}

impl KeyedRequest {
    fn from_request(request: &Request) -> Result<Option<KeyedRequest>, Problem> {
        // A token request has no principal yet.
        let Ok(principal) = request.principal() else { return Ok(None) };
        if request.head.method != Method::POST {
            return Ok(None);
        }
        let Some(key) = request.head.idempotency_key()?.map(Secret::new) else { return Ok(None) };
        let id = IdempotencyKey {
            caller: principal.key().to_string(),
            fingerprint: key.fingerprint(),
            lease_owner: uuid_v7(),
        };
        Ok(Some(KeyedRequest { key, id }))
    }

    fn encrypt_response(&self, platform: &Platform, head: &StoredHead, body: &[u8]) -> Option<String> {
        let mut plaintext = serde_json::to_vec(head).ok()?;
        plaintext.push(b'\n');
        plaintext.extend_from_slice(body);
        platform.encryptor.encrypt(EncryptionContext { purpose: &self.purpose(), context: &self.context() }, &plaintext)
    }

    fn decrypt_response(&self, platform: &Platform, ciphertext: &str) -> Option<(StoredHead, Vec<u8>)> {
        let plaintext = platform
            .encryptor
            .decrypt(EncryptionContext { purpose: &self.purpose(), context: &self.context() }, ciphertext)?;
        let end = plaintext.iter().position(|&byte| byte == b'\n')?;
        Some((serde_json::from_slice(&plaintext[..end]).ok()?, plaintext[end + 1..].to_vec()))
    }

    fn purpose(&self) -> [&str; 2] {
        ["responses", self.key.expose()]
    }

    fn context(&self) -> [&str; 2] {
        [&self.id.caller, &self.id.fingerprint]
    }
}

async fn execute_once(
    platform: &Arc<Platform>,
    keyed: KeyedRequest,
    request: Request,
    handler: Handler<Platform>,
) -> Result<Response, Problem> {
    match platform.store.claim_idempotency_key(&keyed.id).await.map_err(store_problem)? {
        Claim::Completed(ciphertext) => replay(platform, &keyed, request, &ciphertext).await,
        Claim::InProgress => Err(conflict("The first request with this key is still in progress.").retry_after(1)),
        Claim::Acquired => {
            let work = execute_and_store(platform.clone(), keyed.clone(), request, handler);
            match tokio::spawn(Trace::current().scope(work).in_current_span()).await {
                Ok(response) => response,
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
async fn replay(
    platform: &Platform,
    keyed: &KeyedRequest,
    mut request: Request,
    ciphertext: &str,
) -> Result<Response, Problem> {
    let Some((head, body)) = keyed.decrypt_response(platform, ciphertext) else {
        return Err(conflict("The stored response was encrypted with another application secret. Use a new key."));
    };
    let fingerprint = observe_fingerprint(&mut request);
    request.skip_body().await?;
    if finish(&fingerprint) != head.request_fingerprint {
        let detail = "This key was used for a different request. Use a new key.";
        return Err(Problem::new(codes::IDEMPOTENCY_KEY_REUSE).detail(detail));
    }
    let status = StatusCode::from_u16(head.status).map_err(|_| Problem::internal())?;
    let parse_header =
        |(name, value): &(String, String)| Some((name.parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?));
    let headers: HeaderMap = head.headers.iter().filter_map(parse_header).collect();
    Ok(Response::replay(status, headers, body).header(HeaderName::from_static("idempotency-replayed"), "true"))
}

/// Executes a request and stores its response.
async fn execute_and_store(
    platform: Arc<Platform>,
    keyed: KeyedRequest,
    mut request: Request,
    handler: Handler<Platform>,
) -> Result<Response, Problem> {
    let fingerprint = observe_fingerprint(&mut request);
    let response = tokio::select! {
        response = audit_middleware::handle(&platform, request, handler) => response,
        () = renew_lease(&platform, &keyed) => Err(Problem::internal()),
    };
    let ciphertext = response.as_ref().ok().and_then(|response| {
        let (head, body) = storable_parts(response, &fingerprint)?;
        keyed.encrypt_response(&platform, &head, &body)
    });
    match ciphertext {
        Some(ciphertext) => {
            if let Err(error) = platform.store.save_response(&keyed.id, &ciphertext).await {
                tracing::error!(%error, "storing the response for an idempotency key failed; a repeated request is executed again");
            }
        }
        None => release(&platform, &keyed).await,
    }
    response
}

/// Returns the parts of a response to store; none if it failed, is too large, or is `no-store`.
fn storable_parts(response: &Response, fingerprint: &Mutex<Fingerprint>) -> Option<(StoredHead, pidq_http::Bytes)> {
    let is_secret = response.headers.get(CACHE_CONTROL).is_some_and(|value| value == "no-store");
    let body = response
        .bytes()
        .filter(|body| response.status.is_success() && !is_secret && body.len() <= MAX_RESPONSE_SIZE)?;
    let text = |(name, value): (&HeaderName, &HeaderValue)| Some((name.to_string(), value.to_str().ok()?.to_owned()));
    let headers = response.headers.iter().filter_map(text).collect();
    Some((StoredHead { request_fingerprint: finish(fingerprint), status: response.status.as_u16(), headers }, body))
}

/// Renews the lease. Never returns.
async fn renew_lease(platform: &Platform, keyed: &KeyedRequest) {
    loop {
        tokio::time::sleep(RENEWAL_INTERVAL).await;
        if let Err(error) = platform.store.renew_idempotency_lease(&keyed.id).await {
            tracing::warn!(%error, "renewing the lease of an idempotency key failed; retrying");
        }
    }
}

async fn release(platform: &Platform, keyed: &KeyedRequest) {
    if let Err(error) = platform.store.release_idempotency_key(&keyed.id).await {
        tracing::error!(%error, "releasing an idempotency key failed; repeated requests conflict until its lease expires");
    }
}

/// Fingerprints a request while its body is read.
fn observe_fingerprint(request: &mut Request) -> Arc<Mutex<Fingerprint>> {
    let fingerprint = Arc::new(Mutex::new(Fingerprint::new(&request.head)));
    let shared = fingerprint.clone();
    request.observe(move |chunk| shared.lock().unwrap_or_else(PoisonError::into_inner).add(chunk));
    fingerprint
}

fn finish(fingerprint: &Mutex<Fingerprint>) -> String {
    fingerprint.lock().unwrap_or_else(PoisonError::into_inner).finish()
}

fn conflict(detail: &str) -> Problem {
    Problem::new(codes::IDEMPOTENCY_CONFLICT).detail(detail)
}
