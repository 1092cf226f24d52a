//! Token revocation: `POST /o/revoke_token/`, RFC 7009.

use schemars::JsonSchema;
use serde::Serialize;

use super::form::OAuthForm;
use super::reply::OAuthError;
use super::{OAuthReply, OAuthRequest, client};
use crate::auth::{Identities, audit};

/// Revokes all tokens of the login that a token belongs to.
///
/// The response is the same for a token that is unknown or belongs to another client: 200 with a JSON object, because
/// some libraries expect JSON on every reply and others exactly 200.
pub async fn revocation_endpoint(identities: &Identities, request: OAuthRequest<'_>) -> OAuthReply {
    match revoke(identities, &request).await {
        Ok(()) => OAuthReply::json(200, &EmptyObject {}),
        Err(error) => error.reply(),
    }
}

/// Reply to a revocation: an object without fields.
#[derive(JsonSchema, Serialize)]
pub struct EmptyObject {}

async fn revoke(identities: &Identities, request: &OAuthRequest<'_>) -> Result<(), OAuthError> {
    let form = OAuthForm::parse(request)?;
    let client = client::authenticate(identities, request, &form).await?;
    let info = identities.token_info(form.required("token")?, request.now).await?;
    if let Some(info) = info.filter(|info| info.client == client.id) {
        identities.revoke_family(&info.family, request.now).await?;
        audit::tokens("revoked", &client.id, &info.family);
    }
    Ok(())
}
