//! Client authentication, by header or by form, not by both.

use std::net::IpAddr;

use super::OAuthRequest;
use super::basic_auth::{Credentials, basic};
use super::form::OAuthForm;
use super::reply::{Challenge, OAuthError};
use crate::auth::clients::Client;
use crate::auth::{ClientNetwork, Identities, IdentityError, audit};

/// Authenticates the client of a request.
pub(super) async fn authenticated(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &OAuthForm,
) -> Result<Client, OAuthError> {
    let (readings, challenge) = credentials(request, form)?;
    for reading in readings {
        if let Some(client) = identities.verify_client(&reading.id, &reading.secret).await? {
            return Ok(client);
        }
    }
    audit::client_rejected(ClientNetwork::from_address(request.address));
    Err(OAuthError::Client(challenge))
}

impl Identities {
    /// Returns the client id of an `Authorization: Basic` header if its credentials are valid.
    pub async fn client_from_basic_auth(&self, header: &str, address: IpAddr) -> Result<Option<String>, IdentityError> {
        for reading in basic(header).unwrap_or_default() {
            if let Some(client) = self.verify_client(&reading.id, &reading.secret).await? {
                return Ok(Some(client.id));
            }
        }
        audit::client_rejected(ClientNetwork::from_address(address));
        Ok(None)
    }
}

fn credentials(request: &OAuthRequest<'_>, form: &OAuthForm) -> Result<(Vec<Credentials>, Challenge), OAuthError> {
    match request.authorization {
        [] => Ok((form_credentials(form), Challenge::None)),
        [header] => {
            let readings = basic(header).ok_or(OAuthError::Client(Challenge::Basic))?;
            let agreed: Vec<_> = readings.into_iter().filter(|reading| agrees(reading, form)).collect();
            if agreed.is_empty() { Err(two_clients()) } else { Ok((agreed, Challenge::Basic)) }
        }
        _ => Err(OAuthError::Request("There is more than one Authorization header.".to_owned())),
    }
}

fn two_clients() -> OAuthError {
    OAuthError::Request("The header and the body name different clients.".to_owned())
}

fn form_credentials(form: &OAuthForm) -> Vec<Credentials> {
    let secret = form.required_secret("client_secret").ok();
    let both = form.optional("client_id").zip(secret);
    both.map(|(id, secret)| Credentials { id: id.to_owned(), secret }).into_iter().collect()
}

fn agrees(reading: &Credentials, form: &OAuthForm) -> bool {
    form.optional("client_id").is_none_or(|id| id == reading.id)
        && form.optional("client_secret").is_none_or(|secret| secret == reading.secret.as_str())
}
