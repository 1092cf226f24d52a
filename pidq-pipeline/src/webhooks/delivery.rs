//! Signed webhook request to a validated address. Only the status and `Retry-After` of the response are used.

use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, RETRY_AFTER};
use hyper::{HeaderMap, Method, Request, StatusCode};
use pidq_http::Bytes;
use pidq_http::auth::Timestamp;
use pidq_store::MAX_RETRY_AFTER;
use pidq_store::domain::event::Event;
use tokio::time::timeout;

use super::signing::SigningKeys;
use crate::net::egress::{EgressError, Exchange, ResponseLimits, Target};
use crate::net::webhook_client::WebhookClient;
use crate::platform::Platform;

/// Limits of a response. The body is not read.
const LIMITS: ResponseLimits = ResponseLimits { head: 16 << 10, body: 0 };
/// A signed delivery request.
pub(crate) struct DeliveryRequest {
    /// Event id, the same for all attempts.
    id: String,
    seconds: i64,
    body: String,
    signature: Option<String>,
}

/// Result of a delivery request.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum DeliveryResponse {
    /// Accepted (2xx).
    Accepted(StatusCode),
    /// 410 Gone: no further deliveries.
    Gone,
    /// Rejected with a status, and `Retry-After` in seconds if given.
    Rejected(StatusCode, Option<i64>),
    /// No response; the reason reveals nothing about name resolution.
    NoResponse(&'static str),
}

impl DeliveryResponse {
    pub fn is_accepted(&self) -> bool {
        matches!(self, DeliveryResponse::Accepted(_))
    }

    pub fn status(&self) -> Option<u16> {
        match self {
            DeliveryResponse::Accepted(status) | DeliveryResponse::Rejected(status, _) => Some(status.as_u16()),
            DeliveryResponse::Gone => Some(StatusCode::GONE.as_u16()),
            DeliveryResponse::NoResponse(_) => None,
        }
    }

    /// Returns the error message; none if the delivery was accepted.
    pub fn error(&self) -> Option<String> {
        match self {
            DeliveryResponse::Accepted(_) => None,
            DeliveryResponse::Gone => Some("the URL responded with 410 Gone".to_owned()),
            DeliveryResponse::Rejected(status, _) if status.is_redirection() => {
                Some(format!("the URL responded with {}; redirects are not followed", status.as_u16()))
            }
            DeliveryResponse::Rejected(status, _) => Some(format!("the URL responded with {}", status.as_u16())),
            DeliveryResponse::NoResponse(reason) => Some((*reason).to_owned()),
        }
    }
}

impl DeliveryRequest {
    pub fn new(platform: &Platform, event: &Event, secrets: &SigningKeys) -> DeliveryRequest {
        let (now, body) = (Timestamp::now(), event.to_json(&platform.licensing.system_id).to_string());
        let signature = secrets.sign(&event.id, now.0, &body);
        DeliveryRequest { id: event.id.clone(), seconds: now.seconds(), body, signature }
    }

    /// Sends the request within the timeout.
    pub async fn send(self, client: &WebhookClient, url: &str) -> DeliveryResponse {
        match timeout(client.timeout, self.exchange(client, url)).await {
            Ok(Ok((status, _))) if status.is_success() => DeliveryResponse::Accepted(status),
            Ok(Ok((StatusCode::GONE, _))) => DeliveryResponse::Gone,
            // Redirects are not followed: their targets have not been validated.
            Ok(Ok((status, headers))) => DeliveryResponse::Rejected(status, retry_after(&headers)),
            Ok(Err(reason)) => DeliveryResponse::NoResponse(reason),
            Err(_) => DeliveryResponse::NoResponse("the request timed out"),
        }
    }

    async fn exchange(self, client: &WebhookClient, url: &str) -> Result<(StatusCode, HeaderMap), &'static str> {
        // Resolved and validated for each call, since the addresses of a name may change.
        let target = client.guard.target(url, None).await.map_err(|error| match error {
            EgressError::Rejected(_) => "the address is not allowed",
            EgressError::Unresolved => "the host name cannot be resolved",
        })?;
        let connection = client.guard.connect(&target, client.timeout).await.map_err(|_| "connecting failed")?;
        let request = self.request(&target).ok_or("the request cannot be built for this URL")?;
        let exchange = Exchange::open(connection, request, LIMITS).await;
        let exchange = exchange.map_err(|_| "the connection closed before a valid response")?;
        Ok((exchange.status, exchange.headers))
    }

    fn request(self, target: &Target) -> Option<Request<Full<Bytes>>> {
        let path = target.url.path();
        let path = if path.is_empty() { "/" } else { path };
        target
            .request(Method::POST, &format!("{path}{}", target.url.query()))
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
    (seconds >= 0).then_some(seconds.min(MAX_RETRY_AFTER.as_secs() as i64))
}
