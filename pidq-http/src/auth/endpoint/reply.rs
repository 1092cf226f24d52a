//! What the endpoints answer: JSON that nobody may cache.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::auth::IdentityError;
use crate::auth::throttle::TooMany;

/// An answer.
#[derive(Clone)]
pub struct OAuthReply {
    /// The status.
    pub status: u16,
    /// All headers but those about the connection.
    pub headers: Vec<(&'static str, String)>,
    /// JSON.
    pub body: Vec<u8>,
}

/// The body may hold tokens.
impl fmt::Debug for OAuthReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthReply").field("status", &self.status).finish_non_exhaustive()
    }
}

impl OAuthReply {
    pub(super) fn json(status: u16, body: &impl Serialize) -> OAuthReply {
        let headers = vec![
            ("Content-Type", "application/json".to_owned()),
            ("Cache-Control", "no-store".to_owned()),
            ("Pragma", "no-cache".to_owned()),
        ];
        // Nothing that is written here can fail to be JSON.
        OAuthReply { status, headers, body: serde_json::to_vec(body).unwrap_or_default() }
    }
}

/// What a request is refused for.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The request is not as the RFC wants it.
    Request(String),
    /// The body is too long.
    TooLarge,
    /// The client did not show who it is.
    Client(Challenge),
    /// The client may not use this grant.
    Unauthorized,
    /// No such grant is offered.
    GrantType,
    /// More was asked for than there is to have.
    Scope,
    /// The user or the token is not accepted, for whatever reason.
    Credentials(&'static str),
    /// Too many tries.
    TooMany(TooMany),
    /// It cannot be answered now.
    Unavailable,
}

/// Whether the client used the header `Authorization`: only then does the reply name a scheme. Some libraries show
/// nothing but the scheme to their users when there is one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Challenge {
    Basic,
    None,
}

impl From<IdentityError> for Refusal {
    fn from(error: IdentityError) -> Refusal {
        if !matches!(error, IdentityError::Busy) {
            tracing::error!(%error, "accounts cannot be looked at");
        }
        Refusal::Unavailable
    }
}

impl From<TooMany> for Refusal {
    fn from(wait: TooMany) -> Refusal {
        Refusal::TooMany(wait)
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    error_description: &'a str,
}

impl Refusal {
    pub(super) fn reply(&self) -> OAuthReply {
        let (status, error, error_description) = self.words();
        let mut reply = OAuthReply::json(status, &Body { error, error_description });
        match self {
            Refusal::Client(Challenge::Basic) => {
                reply.headers.push(("WWW-Authenticate", "Basic realm=\"pidq\"".to_owned()));
            }
            Refusal::TooMany(TooMany(wait)) => reply.headers.push(("Retry-After", whole_seconds(*wait))),
            Refusal::Unavailable => reply.headers.push(("Retry-After", "1".to_owned())),
            _ => {}
        }
        reply
    }

    fn words(&self) -> (u16, &'static str, &str) {
        match self {
            Refusal::Request(what) => (400, "invalid_request", what),
            Refusal::TooLarge => (413, "invalid_request", "The body is longer than 16 KiB."),
            Refusal::Client(_) => (401, "invalid_client", "The client is unknown or its secret is wrong."),
            Refusal::Unauthorized => (400, "unauthorized_client", "The client may not use this grant type."),
            Refusal::GrantType => (400, "unsupported_grant_type", "This grant type is not offered."),
            Refusal::Scope => (400, "invalid_scope", "The scope is unknown or more than may be had."),
            Refusal::Credentials(what) => (400, "invalid_grant", what),
            Refusal::TooMany(_) => (429, "temporarily_unavailable", "Too many attempts. Try again later."),
            Refusal::Unavailable => (503, "temporarily_unavailable", "The service is busy. Try again."),
        }
    }
}

/// Rounded up: who comes back at that time is let in.
fn whole_seconds(wait: Duration) -> String {
    wait.as_millis().div_ceil(1000).max(1).to_string()
}
