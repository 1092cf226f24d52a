//! Replies of the OAuth endpoints: JSON that must not be cached.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::auth::login_throttle::Throttled;
use crate::auth::{FULL_RETRY_AFTER, IdentityError};

/// Reply of an OAuth endpoint.
#[derive(Clone)]
pub struct OAuthReply {
    /// HTTP status.
    pub status: u16,
    /// Headers, except those of the connection.
    pub headers: Vec<(&'static str, String)>,
    /// JSON body.
    pub body: Vec<u8>,
}

/// The body may contain tokens.
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
        // Serialization of these types cannot fail.
        OAuthReply { status, headers, body: serde_json::to_vec(body).unwrap_or_default() }
    }
}

/// OAuth error.
#[derive(Debug)]
pub(super) enum OAuthError {
    /// The request violates the RFC.
    Request(String),
    /// The body is too large.
    TooLarge,
    /// Client authentication failed.
    Client(Challenge),
    /// The client may not use this grant type.
    Unauthorized,
    /// The grant type is not supported.
    GrantType,
    /// The requested scope exceeds the allowed one.
    Scope,
    /// The user or token is invalid; the reason is not revealed.
    Credentials(&'static str),
    /// Too many attempts.
    Throttled(Throttled),
    /// Temporarily unavailable.
    Unavailable,
    /// The disk is full, so that no token can be stored.
    StorageFull,
}

/// Authentication challenge, sent only if the client used the `Authorization` header. Some libraries show nothing
/// else to their users.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Challenge {
    Basic,
    None,
}

impl From<IdentityError> for OAuthError {
    fn from(error: IdentityError) -> OAuthError {
        if error.is_storage_full() {
            tracing::error!(%error, "no token can be stored because the disk is full; responding with 507");
            return OAuthError::StorageFull;
        }
        if !matches!(error, IdentityError::Busy) {
            tracing::error!(%error, "an account operation failed; responding with 503");
        }
        OAuthError::Unavailable
    }
}

impl From<Throttled> for OAuthError {
    fn from(wait: Throttled) -> OAuthError {
        OAuthError::Throttled(wait)
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    error_description: &'a str,
}

impl OAuthError {
    pub(super) fn reply(&self) -> OAuthReply {
        let (status, error, error_description) = self.error_fields();
        let mut reply = OAuthReply::json(status, &Body { error, error_description });
        match self {
            OAuthError::Client(Challenge::Basic) => {
                reply.headers.push(("WWW-Authenticate", "Basic realm=\"pidq\"".to_owned()));
            }
            OAuthError::Throttled(Throttled(wait)) => reply.headers.push(("Retry-After", whole_seconds(*wait))),
            OAuthError::Unavailable => reply.headers.push(("Retry-After", "1".to_owned())),
            OAuthError::StorageFull => reply.headers.push(("Retry-After", FULL_RETRY_AFTER.to_string())),
            _ => {}
        }
        reply
    }

    /// Returns the status, the error code and its description.
    fn error_fields(&self) -> (u16, &'static str, &str) {
        match self {
            OAuthError::Request(what) => (400, "invalid_request", what),
            OAuthError::TooLarge => (413, "invalid_request", "The body is longer than 16 KiB."),
            OAuthError::Client(_) => (401, "invalid_client", "The client is unknown or its secret is wrong."),
            OAuthError::Unauthorized => (400, "unauthorized_client", "The client may not use this grant type."),
            OAuthError::GrantType => (400, "unsupported_grant_type", "This grant type is not supported."),
            OAuthError::Scope => {
                (400, "invalid_scope", "The scope is unknown or exceeds the permissions of the client or the user.")
            }
            OAuthError::Credentials(what) => (400, "invalid_grant", what),
            OAuthError::Throttled(_) => (429, "temporarily_unavailable", "Too many attempts. Try again later."),
            OAuthError::Unavailable => (503, "temporarily_unavailable", "The service is busy. Try again."),
            OAuthError::StorageFull => {
                (507, "temporarily_unavailable", "The disk of the service is full. No token was issued.")
            }
        }
    }
}

/// Rounds up, so that a retry at that time is not too early.
fn whole_seconds(wait: Duration) -> String {
    wait.as_millis().div_ceil(1000).max(1).to_string()
}
