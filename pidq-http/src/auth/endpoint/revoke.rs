//! `POST /o/revoke_token/`: a login ended by its client. RFC 7009.

use serde::Serialize;

use super::form::Form;
use super::reply::Refusal;
use super::{OAuthReply, OAuthRequest, client};
use crate::auth::{Identities, audit};

/// Ends all tokens of the login that a token belongs to.
///
/// The answer is the same for a token that is unknown or another client's: 200 with a JSON object, because some
/// libraries want a JSON type on every reply and others exactly 200.
pub async fn revocation_endpoint(identities: &Identities, request: OAuthRequest<'_>) -> OAuthReply {
    match revoke(identities, &request).await {
        Ok(()) => OAuthReply::json(200, &Nothing {}),
        Err(refusal) => refusal.reply(),
    }
}

#[derive(Serialize)]
struct Nothing {}

async fn revoke(identities: &Identities, request: &OAuthRequest<'_>) -> Result<(), Refusal> {
    let form = Form::read(request)?;
    let client = client::authenticated(identities, request, &form).await?;
    let facts = identities.token_facts(form.required("token")?, request.now).await?;
    if let Some(facts) = facts.filter(|facts| facts.client == client.id) {
        identities.end_family(&facts.family, request.now).await?;
        audit::tokens("revoked", &client.id, &facts.family);
    }
    Ok(())
}
