//! Dashboard as an OAuth client of the API: tokens for a password, their refresh and revocation.

use std::time::Duration;

use form_urlencoded::Serializer;
use hyper::Request;
use pidq_http::auth::TokenReply;
use pidq_http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use pidq_http::{Bytes, Fut, Method, Problem, RequestBody, Secret, StatusCode, codes};
use serde::Deserialize;
use tokio::time::timeout;

use crate::api::{AnyApi, Browser, read};

/// Time for a reply of an OAuth endpoint. A password check takes a second when many people sign in.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Client of the API's OAuth endpoints.
pub(crate) struct OAuthClient {
    pub id: String,
    pub secret: Secret,
}

/// Reply to an introspection (RFC 7662).
#[derive(Deserialize)]
pub(crate) struct TokenState {
    pub active: bool,
    #[serde(default)]
    pub scope: Option<String>,
    #[serde(default)]
    pub username: Option<String>,
}

/// Grants of the API, from its metadata (RFC 8414).
#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    grant_types_supported: Vec<String>,
}

/// Ways to sign in that the API offers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Accounts {
    /// False if the API runs without accounts.
    pub are_enabled: bool,
    /// True if the API issues tokens for passwords.
    pub has_passwords: bool,
}

/// Reason for not issuing tokens.
pub(crate) enum GrantError {
    /// The credentials or the refresh token are invalid (`invalid_grant`).
    Rejected,
    /// Another reason.
    Failed(Problem),
}

impl OAuthClient {
    /// Requests tokens with the parameters of a grant.
    pub async fn tokens(
        &self,
        api: &AnyApi,
        browser: &Browser,
        grant: &[(&str, &str)],
    ) -> Result<TokenReply, GrantError> {
        let (status, headers, body) = self.post(api, browser, "/o/token/", grant).await.map_err(GrantError::Failed)?;
        parse_tokens(status, &headers, &body)
    }

    /// Revokes a token, and with it all tokens of its login.
    pub async fn revoke(&self, api: &AnyApi, browser: &Browser, token: &str) -> Result<(), Problem> {
        let (status, headers, _) = self.post(api, browser, "/o/revoke_token/", &[("token", token)]).await?;
        if status.is_success() { Ok(()) } else { Err(failure(status, &headers, "")) }
    }

    /// Returns the state of a token; `None` if the API does not tell.
    pub async fn introspect(&self, api: &AnyApi, browser: &Browser, token: &str) -> Option<TokenState> {
        let reply = self.post(api, browser, "/o/introspect/", &[("token", token)]).await;
        let (status, _, body) = reply.ok()?;
        status.is_success().then(|| serde_json::from_slice(&body).ok()).flatten()
    }

    /// Returns a form with the parameters and the credentials of the client.
    fn form(&self, parameters: &[(&str, &str)]) -> Bytes {
        let mut form = Serializer::new(String::new());
        form.append_pair("client_id", &self.id).append_pair("client_secret", self.secret.expose());
        form.extend_pairs(parameters).finish().into()
    }

    async fn post(
        &self,
        api: &AnyApi,
        browser: &Browser,
        path: &str,
        parameters: &[(&str, &str)],
    ) -> Result<(StatusCode, HeaderMap, Bytes), Problem> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(RequestBody::from(self.form(parameters)))
            .map_err(|_| Problem::internal())?;
        call(api, browser, request).await
    }
}

/// Sends a request of the dashboard itself.
fn call<'a>(
    api: &'a AnyApi,
    browser: &'a Browser,
    request: Request<RequestBody>,
) -> Fut<'a, Result<(StatusCode, HeaderMap, Bytes), Problem>> {
    let response = api.call(request, browser);
    Box::pin(async move {
        let late = |_| {
            tracing::warn!("the API did not reply in time; responding with 502");
            Problem::new(codes::API_UNAVAILABLE).detail("The API does not respond.")
        };
        let response = timeout(TIMEOUT, response).await.map_err(late)??;
        timeout(TIMEOUT, read(response)).await.map_err(late)?
    })
}

/// Asks the API how people sign in.
pub(crate) async fn accounts(api: &AnyApi, browser: &Browser) -> Result<Accounts, Problem> {
    let request = Request::get("/.well-known/oauth-authorization-server").body(RequestBody::from(Bytes::new()));
    let (status, headers, body) = call(api, browser, request.map_err(|_| Problem::internal())?).await?;
    if status == StatusCode::NOT_FOUND {
        return Ok(Accounts { are_enabled: false, has_passwords: false });
    }
    let metadata: Metadata = serde_json::from_slice(&body).map_err(|_| failure(status, &headers, ""))?;
    let has_passwords = metadata.grant_types_supported.iter().any(|grant| grant == "password");
    Ok(Accounts { are_enabled: true, has_passwords })
}

/// Asks the API whether it accepts an access token, which an identity provider may have issued.
pub(crate) async fn is_accepted(api: &AnyApi, browser: &Browser, token: &str) -> Result<bool, Problem> {
    let request = Request::get("/graph?limit=1").header(AUTHORIZATION, bearer(token)?);
    let request = request.body(RequestBody::from(Bytes::new())).map_err(|_| Problem::internal())?;
    match call(api, browser, request).await?.0 {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Ok(false),
        status if status.is_success() => Ok(true),
        _ => Err(Problem::new(codes::API_UNAVAILABLE).detail("The API does not tell whether it accepts the token.")),
    }
}

/// Returns the header with an access token, which is hidden in debug output.
pub(crate) fn bearer(token: &str) -> Result<HeaderValue, Problem> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| Problem::internal())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads the reply of a token endpoint.
pub(crate) fn parse_tokens(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Result<TokenReply, GrantError> {
    #[derive(Default, Deserialize)]
    struct Refusal {
        #[serde(default)]
        error: String,
    }
    if status.is_success() {
        return serde_json::from_slice(body).map_err(|_| GrantError::Failed(failure(status, headers, "no tokens")));
    }
    let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
    match &*refusal.error {
        "invalid_grant" => Err(GrantError::Rejected),
        error => Err(GrantError::Failed(failure(status, headers, error))),
    }
}

/// Returns the problem for a reply that is not the expected one.
fn failure(status: StatusCode, headers: &HeaderMap, error: &str) -> Problem {
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    match status {
        StatusCode::TOO_MANY_REQUESTS => Problem::new(codes::RATE_LIMITED)
            .detail("There were too many attempts. Try again later.")
            .retry_after(retry_after.unwrap_or(60)),
        StatusCode::SERVICE_UNAVAILABLE => {
            Problem::new(codes::UNAVAILABLE).detail("The API is busy. Try again.").retry_after(retry_after.unwrap_or(1))
        }
        _ => {
            tracing::error!(
                %status,
                error,
                "the API refused a request of the dashboard for tokens; check `PIDQ_CLIENT_ID` and `PIDQ_CLIENT_SECRET`"
            );
            Problem::new(codes::API_UNAVAILABLE)
                .detail("The API refuses requests of the dashboard; the log has the cause.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the status of the response to a reply of the token endpoint; 401 for rejected credentials.
    fn outcome(status: u16, body: &str) -> Result<String, u16> {
        let status = StatusCode::from_u16(status).expect("a status");
        let headers = HeaderMap::from_iter([(RETRY_AFTER, "7".parse().expect("a value"))]);
        parse_tokens(status, &headers, body.as_bytes()).map(|tokens| tokens.access_token).map_err(|error| match error {
            GrantError::Rejected => 401,
            GrantError::Failed(problem) => problem.status().as_u16(),
        })
    }

    #[test]
    fn a_reply_of_the_token_endpoint_is_tokens_or_a_reason() {
        assert_eq!(outcome(200, r#"{"access_token": "a", "token_type": "Bearer"}"#), Ok("a".into()));
        assert_eq!(outcome(400, r#"{"error": "invalid_grant"}"#), Err(401));
        assert_eq!(outcome(429, r#"{"error": "temporarily_unavailable"}"#), Err(429));
        assert_eq!(outcome(503, ""), Err(503));
        for (status, body) in [(200, "{}"), (200, "<html>"), (401, r#"{"error": "invalid_client"}"#), (500, "")] {
            assert_eq!(outcome(status, body), Err(502), "{status} {body}");
        }
    }
}
