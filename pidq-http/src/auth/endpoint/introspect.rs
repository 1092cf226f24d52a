//! Token introspection: `POST /o/introspect/`, RFC 7662.

use schemars::JsonSchema;
use serde::Serialize;

use super::form::OAuthForm;
use super::reply::OAuthError;
use super::{OAuthReply, OAuthRequest, client};
use crate::auth::clients::Client;
use crate::auth::tokens::TokenInfo;
use crate::auth::{Identities, Subject};

/// Introspects a client's own tokens, or all tokens if the client holds the scope `introspection`.
pub async fn introspection_endpoint(identities: &Identities, request: OAuthRequest<'_>) -> OAuthReply {
    match introspect(identities, &request).await {
        Ok(Some(info)) => OAuthReply::json(200, &TokenMetadata::Active(active(&info, &identities.options().base_url))),
        Ok(None) => OAuthReply::json(200, &TokenMetadata::Inactive { active: false }),
        Err(error) => error.reply(),
    }
}

async fn introspect(identities: &Identities, request: &OAuthRequest<'_>) -> Result<Option<TokenInfo>, OAuthError> {
    let form = OAuthForm::parse(request)?;
    let client = client::authenticate(identities, request, &form).await?;
    let info = identities.token_info(form.required("token")?, request.now).await?;
    Ok(info.filter(|info| info.is_active && may_introspect(&client, info)))
}

fn may_introspect(client: &Client, info: &TokenInfo) -> bool {
    info.client == client.id || client.scopes.iter().any(|scope| scope == "introspection")
}

/// Metadata of a token (RFC 7662, 2.2).
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
#[schemars(rename = "TokenMetadata")]
pub enum TokenMetadata<'a> {
    /// A valid token.
    #[schemars(title = "Active")]
    Active(ActiveToken<'a>),
    /// An unknown, expired or revoked token, or one that the client may not introspect.
    #[schemars(title = "Inactive")]
    Inactive {
        /// `false`.
        active: bool,
    },
}

/// Metadata of a valid token.
#[derive(JsonSchema, Serialize)]
#[schemars(inline)]
pub struct ActiveToken<'a> {
    /// `true`.
    active: bool,
    /// Scopes, separated by spaces.
    scope: &'a str,
    /// Client that the token was issued to.
    client_id: &'a str,
    /// Login of the user. Absent for a token of the client itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    username: Option<&'a str>,
    /// Token type. Absent for a refresh token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("const" = "Bearer"))]
    token_type: Option<&'static str>,
    /// Expiry, in seconds since 1970.
    exp: i64,
    /// Time of issue, in seconds since 1970.
    iat: i64,
    /// Start of validity, in seconds since 1970.
    nbf: i64,
    /// User or client that the token stands for.
    sub: String,
    /// Service that the token is for.
    aud: &'a str,
    /// Service that issued the token.
    iss: &'a str,
}

fn active<'a>(info: &'a TokenInfo, base_url: &'a str) -> ActiveToken<'a> {
    let subject = match &info.user {
        Some((id, _)) => Subject::user(id),
        None => Subject::client(&info.client),
    };
    ActiveToken {
        active: true,
        scope: &info.scope,
        client_id: &info.client,
        username: info.user.as_ref().map(|(_, login)| login.as_str()),
        // A refresh token has no token type.
        token_type: info.is_access.then_some("Bearer"),
        exp: info.expires_at.seconds(),
        iat: info.issued_at.seconds(),
        nbf: info.issued_at.seconds(),
        sub: subject.as_str().to_owned(),
        aud: base_url,
        iss: base_url,
    }
}
