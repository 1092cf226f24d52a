//! Single sign-on: the identity provider, and the sealed cookie of a sign-in that a browser has started.

use pidq_http::auth::{LoginSecrets, RelyingParty};
use pidq_http::header::HeaderMap;
use pidq_http::{Head, Problem};
use serde::{Deserialize, Serialize};

use crate::cookie;
use crate::seal::Sealer;

/// Purpose of the key that seals sign-ins.
const PURPOSE: &str = "sso";

/// Time in which a person signs in at the provider, in seconds.
const ATTEMPT_TTL: u32 = 600;

/// Identity provider at which people sign in.
pub(crate) struct Sso {
    pub provider: RelyingParty,
    /// Name of the provider for people.
    pub name: String,
    /// URL that the provider returns to after sign-out.
    pub signed_out_url: String,
}

impl Sso {
    /// Revokes a token. A failure has no consequence: the token ends when it expires.
    pub async fn revoke(&self, token: &str) {
        if let Err(error) = self.provider.revoke(token).await {
            tracing::warn!(%error, "a token could not be revoked; it ends when it expires");
        }
    }
}

/// Sign-in that a browser has started and not completed.
#[derive(Deserialize, Serialize)]
pub(crate) struct Attempt {
    pub secrets: LoginSecrets,
    /// Path of the page to open after the sign-in, which [`crate::return_path`] has checked.
    pub return_to: String,
    /// End of the time for the sign-in, in seconds since 1970.
    ends_at: i64,
}

impl Attempt {
    /// Starts a sign-in.
    ///
    /// # Errors
    /// 500 without randomness.
    pub fn new(return_to: &str, now: i64) -> Result<Attempt, Problem> {
        let secrets = LoginSecrets::random().map_err(|error| {
            tracing::error!(%error, "starting a sign-in failed; responding with 500");
            Problem::internal()
        })?;
        Ok(Attempt { secrets, return_to: return_to.to_owned(), ends_at: now.saturating_add(ATTEMPT_TTL.into()) })
    }

    /// Puts the sign-in into a cookie of the browser.
    pub fn write(&self, sealer: &Sealer, headers: &mut HeaderMap) -> Result<(), Problem> {
        let is_set = cookie::set_for(headers, cookie::SSO, &sealer.seal(PURPOSE, self)?, ATTEMPT_TTL);
        if is_set { Ok(()) } else { Err(Problem::internal()) }
    }

    /// Returns the sign-in that the browser has started; `None` if there is none, or its time is over.
    pub fn read(sealer: &Sealer, head: &Head, now: i64) -> Option<Attempt> {
        let attempt: Attempt = sealer.open(PURPOSE, &cookie::read(&head.headers, cookie::SSO)?)?;
        (now < attempt.ends_at).then_some(attempt)
    }
}
