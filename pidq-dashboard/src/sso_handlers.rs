//! Handlers of single sign-on: its start at the identity provider, and its end at the callback.
//!
//! A failure ends on the sign-in page with a code, so that a person never sees a problem document.

use std::sync::Arc;

use form_urlencoded::Serializer;
use pidq_http::auth::{AuthorizationReply, ProviderLogin, Timestamp};
use pidq_http::header::LOCATION;
use pidq_http::{Form, Problem, Request, Response, StatusCode};

use crate::api::Browser;
use crate::cookie;
use crate::dashboard::Dashboard;
use crate::oauth::is_accepted;
use crate::return_path;
use crate::session::{Session, now};
use crate::sso::{Attempt, Sso};
use crate::sso_failure::{self, SsoFailure};

/// `GET /session/sso`.
pub(crate) async fn start(dashboard: &Arc<Dashboard>, request: Request) -> Result<Response, Problem> {
    let query = request.query().unwrap_or_default();
    let return_to = return_path::local(parameter(&query, "return_to").unwrap_or_default());
    let Some(sso) = &dashboard.sso else { return Ok(failed(sso_failure::OFF, return_to)) };
    let attempt = Attempt::new(return_to, now())?;
    let asks_again = parameter(&query, "prompt") == Some("login");
    match sso.provider.authorization_url(&attempt.secrets, asks_again).await {
        Ok(url) => {
            let mut response = redirect(&url);
            attempt.write(dashboard.sessions.sealer(), &mut response.headers)?;
            Ok(response)
        }
        Err(error) => {
            tracing::warn!(%error, "starting single sign-on failed");
            Ok(failed(SsoFailure::of(&error), return_to))
        }
    }
}

/// `GET /session/callback`. The cookie of the sign-in is deleted in any case.
pub(crate) async fn complete(dashboard: &Arc<Dashboard>, request: Request) -> Result<Response, Problem> {
    let head = request.head.clone();
    let attempt = Attempt::read(dashboard.sessions.sealer(), &head, now());
    let return_to = attempt.as_ref().map_or_else(|| "/".to_owned(), |attempt| attempt.return_to.clone());
    let completed = match (&dashboard.sso, attempt) {
        (None, _) => Err(sso_failure::OFF),
        (Some(_), None) => Err(sso_failure::STATE),
        (Some(sso), Some(attempt)) => log_in(dashboard, sso, &attempt, &request).await,
    };
    let mut response = completed.unwrap_or_else(|failure| failed(failure, &return_to));
    cookie::clear(&mut response.headers, &head.headers, cookie::SSO);
    Ok(response)
}

/// Returns the response with the session of a person who has signed in at the provider, and whom the API accepts.
async fn log_in(
    dashboard: &Dashboard,
    sso: &Sso,
    attempt: &Attempt,
    request: &Request,
) -> Result<Response, &'static SsoFailure> {
    let query = request.query().map_err(|_| sso_failure::STATE)?;
    let reply = AuthorizationReply {
        state: parameter(&query, "state"),
        code: parameter(&query, "code"),
        issuer: parameter(&query, "iss"),
        error: parameter(&query, "error"),
    };
    let login = sso.provider.log_in(&reply, &attempt.secrets, Timestamp::now()).await.map_err(|error| {
        tracing::warn!(%error, "single sign-on failed");
        SsoFailure::of(&error)
    })?;
    let accepted = check_acceptance(dashboard, &login, &Browser::of(&request.head)).await;
    let session = Session::of_provider(login, now());
    let opened = accepted.and_then(|()| opened(dashboard, &session, &attempt.return_to));
    if let Err(failure) = &opened {
        tracing::warn!(code = failure.code, "a person signed in at the identity provider, but not here");
        sso.revoke(session.revocable_token()).await;
    }
    opened
}

/// Returns the redirect to a page that opens a session.
fn opened(dashboard: &Dashboard, session: &Session, return_to: &str) -> Result<Response, &'static SsoFailure> {
    let mut response = redirect(return_to);
    let written = dashboard.sessions.write(&mut response.headers, session);
    written.map(|()| response).map_err(|_| sso_failure::TOO_LARGE)
}

/// Asks the API whether it accepts the access token.
async fn check_acceptance(
    dashboard: &Dashboard,
    login: &ProviderLogin,
    browser: &Browser,
) -> Result<(), &'static SsoFailure> {
    match is_accepted(&*dashboard.api, browser, &login.tokens.access_token).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(sso_failure::REJECTED),
        Err(_) => Err(sso_failure::API_UNAVAILABLE),
    }
}

/// Returns the redirect to the sign-in page with a failure.
fn failed(failure: &SsoFailure, return_to: &str) -> Response {
    let mut query = Serializer::new(String::new());
    query.append_pair("error", failure.code);
    if return_to != "/" {
        query.append_pair("return_to", return_to);
    }
    redirect(&format!("/sign-in?{}", query.finish()))
}

fn redirect(url: &str) -> Response {
    Response::empty(StatusCode::SEE_OTHER).header(LOCATION, url)
}

/// Returns a parameter; `None` if it is repeated, because the values could come from two replies.
fn parameter<'a>(query: &'a Form, name: &str) -> Option<&'a str> {
    query.single(name).ok().flatten()
}
