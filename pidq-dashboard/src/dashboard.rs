//! State of the dashboard that all handlers share.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pidq_http::auth::{LoginError, Timestamp, TokenReply};
use pidq_http::header::SET_COOKIE;
use pidq_http::{Head, Problem, codes};

use crate::api::{Api, Browser};
use crate::assets::Assets;
use crate::cookie;
use crate::oauth::{Accounts, GrantError, OAuthClient, accounts};
use crate::session::{Current, Session, Sessions, no_session, now};
use crate::sso::Sso;

/// Time that the API's ways to sign in are kept.
const ACCOUNTS_TTL: Duration = Duration::from_secs(60);

/// The dashboard: the front end, the API and the sessions.
pub struct Dashboard {
    pub(crate) assets: Assets,
    pub(crate) api: Box<dyn Api>,
    /// Client for passwords; without one, nobody can sign in with a password.
    pub(crate) client: Option<OAuthClient>,
    /// Identity provider; without one, nobody can sign in by single sign-on.
    pub(crate) sso: Option<Sso>,
    pub(crate) sessions: Sessions,
    /// Host of the dashboard's public URL.
    pub(crate) public_host: Option<String>,
    pub(crate) accounts: Mutex<Option<(Accounts, Instant)>>,
}

impl Dashboard {
    /// Returns how people sign in at the API. Without accounts, only requests from this machine to a host name of the
    /// dashboard are answered, the latter as protection against DNS rebinding.
    ///
    /// # Errors
    /// 502 if the API is unavailable and was never asked, 403 for another machine, 400 for another host name.
    pub(crate) async fn accounts(&self, head: &Head, browser: &Browser) -> Result<Accounts, Problem> {
        let known = *self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let accounts = match known {
            Some((accounts, asked)) if asked.elapsed() < ACCOUNTS_TTL => accounts,
            _ => match (accounts(&*self.api, browser).await, known) {
                (Ok(accounts), _) => {
                    *self.accounts.lock().unwrap_or_else(PoisonError::into_inner) = Some((accounts, Instant::now()));
                    accounts
                }
                (Err(_), Some((accounts, _))) => accounts,
                (Err(problem), None) => return Err(problem),
            },
        };
        if !accounts.are_enabled {
            if !head.client.to_canonical().is_loopback() {
                let detail = "Without accounts, the dashboard serves only the machine that it runs on.";
                return Err(Problem::new(codes::FORBIDDEN).detail(detail));
            }
            head.check_host(self.public_host.as_deref())?;
        }
        Ok(accounts)
    }

    /// Returns the session of a request, with valid tokens.
    ///
    /// # Errors
    /// If the access token has expired and the API cannot refresh it now.
    pub(crate) async fn current(&self, head: &Head, browser: &Browser) -> Result<Current, Problem> {
        let now = now();
        let Some(session) = self.sessions.read(head, now) else { return Ok(Current::None) };
        let refresh = self.refresh(session.clone(), browser);
        self.sessions.current(session, now, refresh).await
    }

    /// Returns the session that a request needs.
    ///
    /// # Errors
    /// 401 without a session; it deletes a cookie that is of no use. And as [`Dashboard::current`].
    pub(crate) async fn required(&self, head: &Head, browser: &Browser) -> Result<Current, Problem> {
        match self.current(head, browser).await? {
            Current::None => Err(without_cookie(no_session(), head)),
            current => Ok(current),
        }
    }

    async fn refresh(&self, session: Session, browser: &Browser) -> Result<TokenReply, GrantError> {
        let Some(token) = session.refresh_token.as_deref() else { return Err(GrantError::Rejected) };
        if let Some(subject) = &session.provider_subject {
            return self.refresh_at_provider(token, subject).await;
        }
        let Some(client) = &self.client else { return Err(GrantError::Rejected) };
        let grant = [("grant_type", "refresh_token"), ("refresh_token", token)];
        client.tokens(&*self.api, browser, &grant).await
    }

    async fn refresh_at_provider(&self, token: &str, subject: &str) -> Result<TokenReply, GrantError> {
        let Some(sso) = &self.sso else { return Err(GrantError::Rejected) };
        sso.provider.refresh(token, subject, Timestamp::now()).await.map_err(|error| match error {
            LoginError::Unavailable(_) => {
                tracing::warn!(%error, "refreshing the tokens of a session failed");
                let detail = "The identity provider does not respond.";
                GrantError::Failed(Problem::new(codes::UNAVAILABLE).detail(detail).retry_after(5))
            }
            LoginError::Rejected => GrantError::Rejected,
            error => {
                tracing::warn!(%error, "a session ends, because its tokens cannot be refreshed");
                GrantError::Rejected
            }
        })
    }
}

/// Adds headers to a problem that delete the cookie of the session, if the request has one.
fn without_cookie(problem: Problem, head: &Head) -> Problem {
    if cookie::read(&head.headers, cookie::SESSION).is_none() {
        return problem;
    }
    cookie::deletions(&head.headers, cookie::SESSION)
        .fold(problem, |problem, cookie| problem.header(SET_COOKIE, cookie))
}
