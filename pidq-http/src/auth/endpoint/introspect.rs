//! `POST /o/introspect/`: what a token is good for. RFC 7662.

use serde::Serialize;

use super::form::Form;
use super::reply::Refusal;
use super::{OAuthReply, OAuthRequest, client};
use crate::auth::clients::Client;
use crate::auth::sessions::TokenFacts;
use crate::auth::{Identities, Subject};

/// Tells a client about its own tokens; about all tokens if it holds the scope `introspection`.
pub async fn introspection_endpoint(identities: &Identities, request: OAuthRequest<'_>) -> OAuthReply {
    match introspect(identities, &request).await {
        Ok(Some(facts)) => OAuthReply::json(200, &active(&facts, &identities.options().base_url)),
        Ok(None) => OAuthReply::json(200, &Inactive { active: false }),
        Err(refusal) => refusal.reply(),
    }
}

async fn introspect(identities: &Identities, request: &OAuthRequest<'_>) -> Result<Option<TokenFacts>, Refusal> {
    let form = Form::read(request)?;
    let client = client::authenticated(identities, request, &form).await?;
    let facts = identities.token_facts(form.required("token")?, request.now).await?;
    Ok(facts.filter(|facts| facts.is_alive && may_see(&client, facts)))
}

fn may_see(client: &Client, facts: &TokenFacts) -> bool {
    facts.client == client.id || client.scopes.iter().any(|scope| scope == "introspection")
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

fn active<'a>(facts: &'a TokenFacts, base_url: &'a str) -> Active<'a> {
    let subject = match &facts.user {
        Some((id, _)) => Subject::user(id),
        None => Subject::client(&facts.client),
    };
    Active {
        active: true,
        scope: &facts.scope,
        client_id: &facts.client,
        username: facts.user.as_ref().map(|(_, login)| login.as_str()),
        // A refresh token is of no type that a resource knows.
        token_type: facts.is_access.then_some("Bearer"),
        exp: facts.expires_at.seconds(),
        iat: facts.issued_at.seconds(),
        nbf: facts.issued_at.seconds(),
        sub: subject.as_str().to_owned(),
        aud: base_url,
        iss: base_url,
    }
}
