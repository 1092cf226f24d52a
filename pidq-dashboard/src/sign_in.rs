//! Handlers of `/session`: whether a person is signed in, sign-in with a password, and sign-out.

use std::sync::Arc;

use pidq_http::{Problem, Request, Response, StatusCode, codes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::Browser;
use crate::cookie;
use crate::dashboard::Dashboard;
use crate::oauth::{Accounts, GrantError, is_accepted};
use crate::session::{Current, Session, now};

/// Credentials of a person.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SignIn {
    /// Login.
    login: String,
    /// Password.
    password: String,
}

/// State of the session of a browser.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub(crate) enum SessionState {
    /// State with a session, or of an API without accounts.
    SignedIn {
        /// `true`.
        signed_in: bool,
        /// Login; `null` without accounts.
        login: Option<String>,
        /// Scopes of the session.
        scopes: Vec<String>,
        /// `tokens`, or `off` without accounts.
        auth: &'static str,
        /// Ways to sign in.
        methods: Methods,
    },
    /// State without a session.
    SignedOut {
        /// `false`.
        signed_in: bool,
        /// Ways to sign in.
        methods: Methods,
    },
}

/// Ways to sign in.
#[derive(Clone, JsonSchema, Serialize)]
pub(crate) struct Methods {
    /// `true` if people can sign in with a password.
    password: bool,
    /// Identity provider for single sign-on; `null` without one.
    sso: Option<Provider>,
}

/// Identity provider.
#[derive(Clone, JsonSchema, Serialize)]
pub(crate) struct Provider {
    /// Name for people.
    name: String,
}

/// Answer to a sign-out at an identity provider.
#[derive(JsonSchema, Serialize)]
pub(crate) struct SignedOut {
    /// URL to open, which ends the session at the provider.
    end_session_url: String,
}

/// Scopes of everyone at an API without accounts.
const ALL_SCOPES: [&str; 2] = ["read", "write"];

/// `GET /session`.
pub(crate) async fn show(dashboard: &Arc<Dashboard>, request: Request) -> Result<Response, Problem> {
    let (head, browser) = (&request.head, Browser::of(&request.head));
    let accounts = match dashboard.accounts(head, &browser).await {
        Err(problem) if problem.code() == codes::API_UNAVAILABLE.name => {
            // The page says what is wrong when it calls the API.
            Accounts { are_enabled: true, has_passwords: true }
        }
        accounts => accounts?,
    };
    let methods = methods(dashboard, accounts);
    if !accounts.are_enabled {
        let scopes = ALL_SCOPES.map(str::to_owned).to_vec();
        return Response::json(&SessionState::SignedIn { signed_in: true, login: None, scopes, auth: "off", methods });
    }
    let current = match dashboard.current(head, &browser).await {
        // The API cannot refresh the tokens now; the session still exists.
        Err(_) => dashboard.sessions.read(head, now()).map_or(Current::None, Current::Unchanged),
        Ok(current) => confirmed(dashboard, &browser, current).await,
    };
    let mut response = match current.session() {
        Some(session) => signed_in(session, methods)?,
        None => Response::json(&SessionState::SignedOut { signed_in: false, methods })?,
    };
    match &current {
        Current::Refreshed(session) => dashboard.sessions.write(&mut response.headers, session)?,
        Current::None if cookie::read(&head.headers, cookie::SESSION).is_some() => {
            cookie::clear(&mut response.headers, &head.headers, cookie::SESSION);
        }
        Current::None | Current::Unchanged(_) => {}
    }
    Ok(response)
}

/// Asks the API whether the tokens of a session are still valid: they may have been revoked elsewhere.
async fn confirmed(dashboard: &Dashboard, browser: &Browser, mut current: Current) -> Current {
    let (Current::Unchanged(session) | Current::Refreshed(session)) = &mut current else { return current };
    if session.provider_subject.is_some() {
        // An API that does not respond says nothing about the tokens.
        let is_accepted = is_accepted(&*dashboard.api, browser, &session.access_token).await.unwrap_or(true);
        return if is_accepted { current } else { Current::None };
    }
    let Some(client) = &dashboard.client else { return current };
    let Some(state) = client.introspect(&*dashboard.api, browser, &session.access_token).await else { return current };
    if !state.active {
        return Current::None;
    }
    session.login = state.username.unwrap_or_else(|| std::mem::take(&mut session.login));
    if let Some(scope) = state.scope {
        session.scopes = scope.split_whitespace().map(str::to_owned).collect();
    }
    current
}

/// `POST /session`.
pub(crate) async fn sign_in(dashboard: &Arc<Dashboard>, mut request: Request) -> Result<Response, Problem> {
    let SignIn { login, password } = request.object().await?;
    let browser = Browser::of(&request.head);
    let accounts = dashboard.accounts(&request.head, &browser).await?;
    let methods = methods(dashboard, accounts);
    let client = dashboard.client.as_ref().filter(|_| accounts.has_passwords);
    let client = client.ok_or_else(|| {
        Problem::new(codes::INVALID_REQUEST).detail("This installation does not accept passwords here.")
    })?;
    let grant = [("grant_type", "password"), ("username", &*login), ("password", &*password)];
    let tokens = client.tokens(&*dashboard.api, &browser, &grant).await.map_err(|error| match error {
        GrantError::Rejected => Problem::new(codes::INVALID_CREDENTIALS).detail("The login or the password is wrong."),
        GrantError::Failed(problem) => problem,
    })?;
    let session = Session::new(login, tokens, now());
    let mut response = signed_in(&session, methods)?;
    dashboard.sessions.write(&mut response.headers, &session)?;
    Ok(response)
}

/// `DELETE /session`. The cookie is deleted even if the tokens cannot be revoked.
pub(crate) async fn sign_out(dashboard: &Arc<Dashboard>, request: Request) -> Result<Response, Problem> {
    let (head, browser) = (&request.head, Browser::of(&request.head));
    let session = dashboard.sessions.read(head, now());
    let end_session_url = match &session {
        Some(session) => revoke(dashboard, &browser, session).await,
        None => None,
    };
    let mut response = match end_session_url {
        Some(end_session_url) => Response::json(&SignedOut { end_session_url })?,
        None => Response::empty(StatusCode::NO_CONTENT),
    };
    cookie::clear(&mut response.headers, &head.headers, cookie::SESSION);
    Ok(response)
}

/// Revokes the tokens of a session. Returns the URL that ends the session at the identity provider, if it has one.
async fn revoke(dashboard: &Dashboard, browser: &Browser, session: &Session) -> Option<String> {
    let token = session.revocable_token();
    if session.provider_subject.is_some() {
        let sso = dashboard.sso.as_ref()?;
        sso.revoke(token).await;
        return sso.provider.end_session_url(&sso.signed_out_url).await;
    }
    if dashboard.client.as_ref()?.revoke(&*dashboard.api, browser, token).await.is_err() {
        tracing::warn!("the tokens of a session could not be revoked; they end when they expire");
    }
    None
}

fn signed_in(session: &Session, methods: Methods) -> Result<Response, Problem> {
    let (login, scopes) = (Some(session.login.clone()), session.scopes.clone());
    Response::json(&SessionState::SignedIn { signed_in: true, login, scopes, auth: "tokens", methods })
}

fn methods(dashboard: &Dashboard, accounts: Accounts) -> Methods {
    let sso = dashboard.sso.as_ref().map(|sso| Provider { name: sso.name.clone() });
    Methods { password: accounts.has_passwords && dashboard.client.is_some(), sso }
}
