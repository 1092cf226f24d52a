//! Token introspection: `POST /o/introspect/`, RFC 7662.

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
        Ok(Some(info)) => OAuthReply::json(200, &active(&info, &identities.options().base_url)),
        Ok(None) => OAuthReply::json(200, &Inactive { active: false }),
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

#[derive(Serialize)]
struct Inactive {
    active: bool,
}

#[derive(Serialize)]
struct Active<'a> {
    active: bool,
    scope: &'a str,
    client_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_type: Option<&'static str>,
    exp: i64,
    iat: i64,
    nbf: i64,
    sub: String,
    aud: &'a str,
    iss: &'a str,
}

fn active<'a>(info: &'a TokenInfo, base_url: &'a str) -> Active<'a> {
    let subject = match &info.user {
        Some((id, _)) => Subject::user(id),
        None => Subject::client(&info.client),
    };
    Active {
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
