//! Session of a person: tokens in a sealed cookie, so that the server keeps no state and replicas share sessions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pidq_http::auth::{ProviderLogin, TokenReply};
use pidq_http::header::HeaderMap;
use pidq_http::{Head, Problem, Secret, codes};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::cookie;
use crate::oauth::GrantError;
use crate::seal::Sealer;

/// Purpose of the key that seals sessions.
const PURPOSE: &str = "session";

/// Maximum time of a session in seconds, whatever the tokens allow.
const LONGEST_SESSION: i64 = 30 * 24 * 60 * 60;

/// Time before the expiry of an access token at which it is refreshed, in seconds; less for short-lived tokens.
const REFRESH_MARGIN: i64 = 60;

/// Time that a refreshed session is kept for requests that still carry the cookie from before.
const REFRESHED_TTL: Duration = Duration::from_secs(60);

/// Lifetime of an access token whose issuer does not tell, in seconds.
const UNKNOWN_LIFETIME: i64 = 300;

/// Session of a person.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Session {
    pub login: String,
    pub scopes: Vec<String>,
    pub access_token: String,
    pub refresh_token: Option<String>,
    /// Time of issue and expiry of the access token, and end of the session, in seconds since 1970.
    pub issued_at: i64,
    pub expires_at: i64,
    pub ends_at: i64,
    /// Id of the user at the identity provider that has issued the tokens; `None` for tokens of the API.
    pub provider_subject: Option<String>,
}

impl Session {
    /// Creates a session that begins now, with tokens of the API.
    pub fn new(login: String, tokens: TokenReply, now: i64) -> Session {
        let ends_at = now.saturating_add(LONGEST_SESSION);
        let empty = Session {
            login,
            scopes: Vec::new(),
            access_token: String::new(),
            refresh_token: None,
            issued_at: now,
            expires_at: now,
            ends_at,
            provider_subject: None,
        };
        empty.with_tokens(tokens, now)
    }

    /// Creates a session that begins now, with tokens of an identity provider.
    pub fn of_provider(login: ProviderLogin, now: i64) -> Session {
        Session { provider_subject: Some(login.subject), ..Session::new(login.name, login.tokens, now) }
    }

    /// Returns the session with new tokens. What the reply leaves out stays as it is.
    pub fn with_tokens(mut self, tokens: TokenReply, now: i64) -> Session {
        if let Some(scope) = &tokens.scope {
            self.scopes = scope.split_whitespace().map(str::to_owned).collect();
        }
        self.access_token = tokens.access_token;
        self.refresh_token = tokens.refresh_token.or(self.refresh_token);
        self.issued_at = now;
        self.expires_at = now.saturating_add(tokens.expires_in.unwrap_or(UNKNOWN_LIFETIME).max(0));
        self
    }

    /// Returns the token whose revocation ends the session.
    pub fn revocable_token(&self) -> &str {
        self.refresh_token.as_ref().unwrap_or(&self.access_token)
    }

    /// Returns whether the access token is valid.
    pub fn is_valid(&self, now: i64) -> bool {
        now < self.expires_at.min(self.ends_at)
    }

    /// Returns whether the session has ended: its tokens are of no use.
    fn has_ended(&self, now: i64) -> bool {
        now >= self.ends_at || self.refresh_token.is_none() && now >= self.expires_at
    }

    /// Returns whether the access token is to be refreshed, which is some time before its expiry.
    fn is_due(&self, now: i64) -> bool {
        let margin = REFRESH_MARGIN.min((self.expires_at - self.issued_at) / 4);
        self.refresh_token.is_some() && now >= self.expires_at - margin
    }
}

/// Returns the time in seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Session of a request.
pub(crate) enum Current {
    /// There is none, or it has ended.
    None,
    /// The session of the cookie.
    Unchanged(Session),
    /// The session with new tokens, which the response puts into the cookie.
    Refreshed(Session),
}

impl Current {
    /// Returns the session, if there is one.
    pub fn session(&self) -> Option<&Session> {
        match self {
            Current::None => None,
            Current::Unchanged(session) | Current::Refreshed(session) => Some(session),
        }
    }
}

/// Refresh that runs or has succeeded, and the time of its start.
type Refresh = (Arc<OnceCell<Session>>, Instant);

/// Reads and writes the cookies of sessions, and refreshes their tokens.
pub(crate) struct Sessions {
    sealer: Sealer,
    /// By the digest of the refresh token. Requests of one session share a refresh, because a refresh token is valid
    /// once.
    refreshes: Mutex<BTreeMap<[u8; 32], Refresh>>,
}

impl Sessions {
    pub fn new(secret: &Secret) -> Sessions {
        Sessions { sealer: Sealer::new(secret), refreshes: Mutex::default() }
    }

    /// Returns the session of a request. A cookie that cannot be opened counts as none.
    pub fn read(&self, head: &Head, now: i64) -> Option<Session> {
        let session: Session = self.sealer.open(PURPOSE, &cookie::read(&head.headers, cookie::SESSION)?)?;
        (!session.has_ended(now)).then_some(session)
    }

    /// Returns the sealer of cookies.
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Puts a session into the cookie of a response.
    ///
    /// # Errors
    /// 500 if the tokens are too large for a cookie.
    pub fn write(&self, headers: &mut HeaderMap, session: &Session) -> Result<(), Problem> {
        if cookie::set(headers, cookie::SESSION, &self.sealer.seal(PURPOSE, session)?) {
            return Ok(());
        }
        tracing::error!("the tokens are too large for a cookie; responding with 500");
        Err(Problem::internal())
    }

    /// Returns the session with tokens that are valid, by the future `refresh` if they expire soon. If the API is
    /// unavailable, a token that has not expired yet is used.
    ///
    /// # Errors
    /// The reason for a refresh that failed, unless the refresh token is no longer valid: then there is no session.
    pub async fn current(
        &self,
        session: Session,
        now: i64,
        refresh: impl Future<Output = Result<TokenReply, GrantError>>,
    ) -> Result<Current, Problem> {
        let Some(token) = session.refresh_token.as_deref().filter(|_| session.is_due(now)) else {
            return Ok(Current::Unchanged(session));
        };
        let cell = self.refresh_cell(token);
        let refreshed = async { Ok(session.clone().with_tokens(refresh.await?, now)) };
        match cell.get_or_try_init(|| refreshed).await {
            Ok(refreshed) => Ok(Current::Refreshed(refreshed.clone())),
            Err(GrantError::Rejected) => Ok(Current::None),
            Err(GrantError::Failed(_)) if session.is_valid(now) => Ok(Current::Unchanged(session)),
            Err(GrantError::Failed(problem)) => Err(problem),
        }
    }

    fn refresh_cell(&self, token: &str) -> Arc<OnceCell<Session>> {
        let mut key = [0; 32];
        key.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        let mut refreshes = self.refreshes.lock().unwrap_or_else(PoisonError::into_inner);
        refreshes.retain(|_, (_, started)| started.elapsed() < REFRESHED_TTL);
        refreshes.entry(key).or_insert_with(|| (Arc::default(), Instant::now())).0.clone()
    }
}

/// 401 for a request that needs a session.
pub(crate) fn no_session() -> Problem {
    Problem::new(codes::UNAUTHENTICATED).detail("There is no session. Sign in.")
}
