//! HTTP adapter of accounts: OAuth endpoints as handlers, and authentication of requests.
//!
//! The logic is in [`crate::auth`]; this module only converts requests and replies.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::{
    AuthError, GRANT_TYPES, Identities, OAuthReply, OAuthRequest, Timestamp, introspection_endpoint,
    revocation_endpoint, token_endpoint,
};
use crate::message::head::Head;
use crate::message::request::{Accepts, Request};
use crate::message::response::Response;
use crate::principal::Principal;
use crate::problem::{Problem, sentence};

/// Body of `POST /o/token/`. The OAuth endpoints report wrong content types in OAuth's own form.
pub const TOKEN_FORM: Accepts = form::<TokenRequest>();
/// Body of `POST /o/revoke_token/` and `POST /o/introspect/`.
pub const KNOWN_TOKEN_FORM: Accepts = form::<KnownTokenRequest>();

const fn form<T: JsonSchema>() -> Accepts {
    Accepts::of::<T>(&["application/x-www-form-urlencoded"], crate::auth::MAX_BODY_SIZE as u64)
}

/// Request for a token (RFC 6749, 4.3, 4.4 and 6). The client authenticates by `Authorization: Basic`, or with
/// `client_id` and `client_secret` in the form. Unknown parameters are ignored.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = {"type": "string"}))]
#[allow(dead_code, reason = "describes the parameters that the strict form parser reads")]
struct TokenRequest {
    /// Grant.
    #[schemars(extend("pattern" = format!("^({})$", GRANT_TYPES.map(|(_, name)| name).join("|"))))]
    grant_type: String,
    /// Login, for the grant `password`.
    #[serde(default)]
    #[schemars(with = "String")]
    username: Option<String>,
    /// Password, for the grant `password`.
    #[serde(default)]
    #[schemars(with = "String")]
    password: Option<String>,
    /// Refresh token, for the grant `refresh_token`.
    #[serde(default)]
    #[schemars(with = "String")]
    refresh_token: Option<String>,
    /// Requested scopes, separated by spaces. Default: all that are allowed.
    #[serde(default)]
    #[schemars(with = "String")]
    scope: Option<String>,
    /// Client id.
    #[serde(default)]
    #[schemars(with = "String")]
    client_id: Option<String>,
    /// Client secret.
    #[serde(default)]
    #[schemars(with = "String")]
    client_secret: Option<String>,
}

/// Request about a token (RFC 7009, 2.1; RFC 7662, 2.1). The client authenticates as for a token.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = {"type": "string"}))]
#[allow(dead_code, reason = "describes the parameters that the strict form parser reads")]
struct KnownTokenRequest {
    /// Access token or refresh token.
    #[schemars(length(min = 1))]
    token: String,
    /// Kind of the token; ignored.
    #[serde(default)]
    #[schemars(with = "String")]
    token_type_hint: Option<String>,
    /// Client id.
    #[serde(default)]
    #[schemars(with = "String")]
    client_id: Option<String>,
    /// Client secret.
    #[serde(default)]
    #[schemars(with = "String")]
    client_secret: Option<String>,
}

/// `POST /o/token/`.
pub async fn token(identities: &Identities, request: Request) -> Result<Response, Problem> {
    let form = RawForm::read(request).await?;
    Ok(form.response(token_endpoint(identities, form.request(&form.authorization())).await))
}

/// `POST /o/revoke_token/`.
pub async fn revoke(identities: &Identities, request: Request) -> Result<Response, Problem> {
    let form = RawForm::read(request).await?;
    Ok(form.response(revocation_endpoint(identities, form.request(&form.authorization())).await))
}

/// `POST /o/introspect/`.
pub async fn introspect(identities: &Identities, request: Request) -> Result<Response, Problem> {
    let form = RawForm::read(request).await?;
    Ok(form.response(introspection_endpoint(identities, form.request(&form.authorization())).await))
}

/// Authenticates a request by its bearer token. Handlers find the [`Caller`](crate::auth::Caller) in the extension of
/// the principal.
pub async fn bearer(identities: &Identities, head: &Head) -> Result<Arc<Principal>, Problem> {
    authenticate(identities, head).await.map_err(auth_problem)
}

/// Authenticates a request, for services that convert the error themselves.
pub async fn authenticate(identities: &Identities, head: &Head) -> Result<Arc<Principal>, AuthError> {
    let mut values = head.headers.get_all(AUTHORIZATION).iter().map(as_text);
    // Two are enough to detect repetition.
    let headers = [values.next(), values.next()];
    let headers = match headers {
        [None, _] => &[][..],
        [Some(one), None] => &[one][..],
        [Some(one), Some(other)] => &[one, other][..],
    };
    let bearer = identities.verify_bearer(headers, Timestamp::now()).await?;
    Ok(bearer.principal.clone())
}

/// Returns the client id of `Authorization: Basic` if the credentials are valid.
pub async fn client_from_basic_auth(identities: &Identities, head: &Head) -> Result<Option<String>, Problem> {
    let [header] = authorization(head)[..] else { return Ok(None) };
    let client = identities.client_from_basic_auth(header, head.client).await;
    client.map_err(|cause| auth_problem(AuthError::Unavailable(cause)))
}

/// Unparsed form sent to an OAuth endpoint.
struct RawForm {
    head: Arc<Head>,
    body: Bytes,
}

impl RawForm {
    async fn read(mut request: Request) -> Result<RawForm, Problem> {
        let body = request.bytes_of_any_type().await?;
        Ok(RawForm { head: request.head, body })
    }

    fn authorization(&self) -> Vec<&str> {
        authorization(&self.head)
    }

    fn request<'a>(&'a self, authorization: &'a [&'a str]) -> OAuthRequest<'a> {
        OAuthRequest {
            content_type: self.head.header(CONTENT_TYPE.as_str()),
            authorization,
            query: self.head.uri.query(),
            body: &self.body,
            address: self.head.client,
            now: Timestamp::now(),
        }
    }

    fn response(&self, reply: OAuthReply) -> Response {
        let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let response = Response::new(status, "application/json", reply.body);
        let header_name = |name: &str| HeaderName::from_bytes(name.as_bytes()).ok();
        let headers = reply.headers.into_iter().filter_map(|(name, value)| Some((header_name(name)?, value)));
        headers.fold(response, |response, (name, value)| response.header(name, value))
    }
}

fn authorization(head: &Head) -> Vec<&str> {
    head.headers.get_all(AUTHORIZATION).iter().map(as_text).collect()
}

/// Returns a header as a string. One that is not text counts as empty, since repetition is an error whatever the
/// content.
fn as_text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

/// Converts an authentication error into a problem.
pub fn auth_problem(error: AuthError) -> Problem {
    if let AuthError::Unavailable(cause) = &error {
        return cause.to_problem("Tokens cannot be verified right now: try again.");
    }
    let problem = Problem::new(error.code()).detail(sentence(&error.to_string()));
    match error.challenge(None) {
        Some(challenge) => problem.header(WWW_AUTHENTICATE, challenge),
        None => problem,
    }
}
