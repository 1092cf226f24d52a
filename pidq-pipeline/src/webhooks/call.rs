//! One call of a webhook: signed, to a checked place, and of the answer nothing but its status.

use http_body_util::Full;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT};
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use pidq_http::Bytes;
use pidq_http::auth::Moment;
use tokio::time::timeout;

use super::Caller;
use super::secret::Secrets;
use crate::egress::{NoTarget, Target};
use crate::events::Event;
use crate::platform::Platform;

/// The most bytes of the head of an answer. What follows is not read at all.
const LARGEST_HEAD: usize = 16 << 10;
/// The longest wait that a webhook may ask for by `Retry-After`, in seconds.
const LONGEST_WAIT: i64 = 86_400;

/// What is told, signed for this moment.
pub(super) struct Call {
    /// The same whenever it is told.
    id: String,
    seconds: i64,
    body: String,
    signature: Option<String>,
}

/// What came of it.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Answer {
    /// It was taken.
    Taken(StatusCode),
    /// The address wants nothing more, for good.
    Gone,
    /// It was answered, and not taken; seconds to wait, if it said so.
    Refused(StatusCode, Option<i64>),
    /// There was no answer. Why, in words that tell nothing of where a name leads.
    Silent(&'static str),
}

impl Answer {
    pub fn is_taken(&self) -> bool {
        matches!(self, Answer::Taken(_))
    }

    pub fn status(&self) -> Option<u16> {
        match self {
            Answer::Taken(status) | Answer::Refused(status, _) => Some(status.as_u16()),
            Answer::Gone => Some(StatusCode::GONE.as_u16()),
            Answer::Silent(_) => None,
        }
    }

    /// What was wrong.
    pub fn fault(&self) -> Option<String> {
        match self {
            Answer::Taken(_) => None,
            Answer::Gone => Some("the address answered 410: it wants nothing more".to_owned()),
            Answer::Refused(status, _) if status.is_redirection() => {
                Some(format!("the address answered {}, and redirects are not followed", status.as_u16()))
            }
            Answer::Refused(status, _) => Some(format!("the address answered {}", status.as_u16())),
            Answer::Silent(why) => Some((*why).to_owned()),
        }
    }
}

impl Call {
    pub fn of(platform: &Platform, event: &Event, secrets: &Secrets) -> Call {
        let (now, body) = (Moment::now(), event.to_json(&platform.licensing.system_id).to_string());
        let signature = secrets.sign(&event.id, now.0, &body);
        Call { id: event.id.clone(), seconds: now.seconds(), body, signature }
    }

    /// Tells it, within the time of a call.
    pub async fn make(self, caller: &Caller, url: &str) -> Answer {
        match timeout(caller.time, self.exchange(caller, url)).await {
            Ok(Ok((status, _))) if status.is_success() => Answer::Taken(status),
            Ok(Ok((StatusCode::GONE, _))) => Answer::Gone,
            // Redirects are not followed: they would lead past what was checked.
            Ok(Ok((status, headers))) => Answer::Refused(status, retry_after(&headers)),
            Ok(Err(why)) => Answer::Silent(why),
            Err(_) => Answer::Silent("there was no answer in time"),
        }
    }

    async fn exchange(self, caller: &Caller, url: &str) -> Result<(StatusCode, HeaderMap), &'static str> {
        // Looked up and checked for each call: a name may lead somewhere else by now.
        let target = caller.guard.target(url, None).await.map_err(|error| match error {
            NoTarget::Refused(_) => "this service does not call that address",
            NoTarget::Unresolved => "the name leads nowhere",
        })?;
        let connection = caller.guard.connect(&target, caller.time).await.map_err(|_| "there is no connection")?;
        let request = self.request(&target).ok_or("the address cannot be called")?;
        let broken = |_| "the connection broke off before an answer that can be read";
        let client = http1::Builder::new().max_buf_size(LARGEST_HEAD).handshake(TokioIo::new(connection)).await;
        let (mut sender, connection) = client.map_err(broken)?;
        let answer = sender.send_request(request);
        tokio::pin!(answer);
        // The body of the answer is not read: the connection ends with this future.
        let answer = tokio::select! {
            answer = &mut answer => answer,
            // It may have ended right behind the answer.
            _ = connection => answer.await,
        };
        let answer = answer.map_err(broken)?;
        Ok((answer.status(), answer.headers().clone()))
    }

    fn request(self, target: &Target) -> Option<Request<Full<Bytes>>> {
        let path = target.address.path();
        let path = if path.is_empty() { "/" } else { path };
        Request::builder()
            .method(Method::POST)
            .uri(format!("{path}{}", target.address.query()))
            .header(HOST, target.address.authority())
            .header(USER_AGENT, concat!("pidq/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT_ENCODING, "identity")
            .header(CONTENT_TYPE, "application/cloudevents+json")
            .header("webhook-id", self.id)
            .header("webhook-timestamp", self.seconds)
            .header("webhook-signature", self.signature?)
            .body(Full::new(Bytes::from(self.body)))
            .ok()
    }
}

fn retry_after(headers: &HeaderMap) -> Option<i64> {
    let seconds: i64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    (seconds >= 0).then_some(seconds.min(LONGEST_WAIT))
}
