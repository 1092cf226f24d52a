//! Accounts on the wire: the OAuth endpoints as handlers, and who sent a request.
//!
//! What is decided is decided in [`crate::auth`]; here it is only read from requests and written into answers.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};

use crate::auth::{
    AuthError, Identities, Moment, OAuthReply, OAuthRequest, introspection_endpoint, revocation_endpoint,
    token_endpoint,
};
use crate::principal::Principal;
use crate::problem::{Problem, sentence};
use crate::request::{Head, Request};
use crate::response::Response;
use crate::route::Accepts;

/// What the endpoints take. They tell wrong content types in their own words.
pub const FORM: Accepts = Accepts {
    media: &["application/x-www-form-urlencoded"],
    limit: crate::auth::LARGEST_BODY as u64,
    schema: r#"{"type":"object","properties":{"grant_type":{"type":"string"},"username":{"type":"string"},"password":{"type":"string"},"client_id":{"type":"string"},"client_secret":{"type":"string"},"refresh_token":{"type":"string"},"scope":{"type":"string"},"token":{"type":"string"},"token_type_hint":{"type":"string"}}}"#,
};

/// `POST /o/token/`.
pub async fn token(identities: &Identities, request: Request) -> Result<Response, Problem> {
    let posted = Posted::read(request).await?;
    Ok(posted.response(token_endpoint(identities, posted.request(&posted.authorization())).await))
}

/// `POST /o/revoke_token/`.
pub async fn revoke(identities: &Identities, request: Request) -> Result<Response, Problem> {
    let posted = Posted::read(request).await?;
    Ok(posted.response(revocation_endpoint(identities, posted.request(&posted.authorization())).await))
}

/// `POST /o/introspect/`.
pub async fn introspect(identities: &Identities, request: Request) -> Result<Response, Problem> {
    let posted = Posted::read(request).await?;
    Ok(posted.response(introspection_endpoint(identities, posted.request(&posted.authorization())).await))
}

/// Who sent a request, by its bearer token. Handlers find the [`Caller`](crate::auth::Caller) in what is known.
pub async fn bearer(identities: &Identities, head: &Head) -> Result<Arc<Principal>, Problem> {
    sender(identities, head).await.map_err(refusal)
}

/// The same, for services that have words of their own for what is refused.
pub async fn sender(identities: &Identities, head: &Head) -> Result<Arc<Principal>, AuthError> {
    let mut values = head.headers.get_all(AUTHORIZATION).iter().map(as_text);
    // Nobody needs more than two to see that there are too many.
    let headers = [values.next(), values.next()];
    let headers = match headers {
        [None, _] => &[][..],
        [Some(one), None] => &[one][..],
        [Some(one), Some(other)] => &[one, other][..],
    };
    let bearer = identities.bearer(headers, Moment::now()).await?;
    Ok(bearer.principal.clone())
}

/// The client whose id and secret a request has in `Authorization: Basic`, if they are right.
pub async fn basic(identities: &Identities, head: &Head) -> Result<Option<String>, Problem> {
    let [header] = authorization(head)[..] else { return Ok(None) };
    let client = identities.client_of_basic(header, head.client).await;
    client.map_err(|cause| refusal(AuthError::Unavailable(cause)))
}

/// A form that was sent to one of the endpoints.
struct Posted {
    head: Arc<Head>,
    body: Bytes,
}

impl Posted {
    async fn read(mut request: Request) -> Result<Posted, Problem> {
        let body = request.bytes_of_any_type().await?;
        Ok(Posted { head: request.head, body })
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
            now: Moment::now(),
        }
    }

    fn response(&self, reply: OAuthReply) -> Response {
        let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let response = Response::new(status, "application/json", reply.body);
        let named = |name: &str| HeaderName::from_bytes(name.as_bytes()).ok();
        let headers = reply.headers.into_iter().filter_map(|(name, value)| Some((named(name)?, value)));
        headers.fold(response, |response, (name, value)| response.header(name, value))
    }
}

fn authorization(head: &Head) -> Vec<&str> {
    head.headers.get_all(AUTHORIZATION).iter().map(as_text).collect()
}

/// A header that is no text is still there: two headers are a mistake, whatever they say.
fn as_text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

/// A token that was refused, as a problem.
pub fn refusal(error: AuthError) -> Problem {
    if let AuthError::Unavailable(cause) = &error {
        tracing::error!(%cause, "tokens cannot be checked");
        return Problem::unavailable("unavailable", error.to_string(), 1);
    }
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::UNAUTHORIZED);
    let problem = Problem::new(status, error.code()).detail(sentence(&error.to_string()));
    match error.challenge(None) {
        Some(challenge) => problem.header(WWW_AUTHENTICATE, challenge),
        None => problem,
    }
}
