//! Client authentication, by header or by form, not by both.

use std::net::IpAddr;

use super::OAuthRequest;
use super::basic_auth::{Credentials, parse_basic_auth};
use super::form::OAuthForm;
use super::reply::{Challenge, OAuthError};
use crate::auth::clients::Client;
use crate::auth::{ClientNetwork, Identities, IdentityError, audit};

/// Authenticates the client of a request.
pub(super) async fn authenticate(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &OAuthForm,
) -> Result<Client, OAuthError> {
    let (candidates, challenge) = credentials(request, form)?;
    for candidate in candidates {
        if let Some(client) = identities.verify_client(&candidate.id, &candidate.secret).await? {
            return Ok(client);
        }
    }
    audit::client_rejected(ClientNetwork::from_address(request.address));
    Err(OAuthError::Client(challenge))
}

impl Identities {
    /// Returns the client id of an `Authorization: Basic` header if its credentials are valid.
    pub async fn client_from_basic_auth(&self, header: &str, address: IpAddr) -> Result<Option<String>, IdentityError> {
        for candidate in parse_basic_auth(header).unwrap_or_default() {
            if let Some(client) = self.verify_client(&candidate.id, &candidate.secret).await? {
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
            let candidates = parse_basic_auth(header).ok_or(OAuthError::Client(Challenge::Basic))?;
            let matching: Vec<_> = candidates.into_iter().filter(|candidate| matches_form(candidate, form)).collect();
            if matching.is_empty() { Err(client_mismatch()) } else { Ok((matching, Challenge::Basic)) }
        }
        _ => Err(OAuthError::Request("There is more than one Authorization header.".to_owned())),
    }
}

fn client_mismatch() -> OAuthError {
    OAuthError::Request("The header and the body name different clients.".to_owned())
}

fn form_credentials(form: &OAuthForm) -> Vec<Credentials> {
    let secret = form.required_secret("client_secret").ok();
    let both = form.optional("client_id").zip(secret);
    both.map(|(id, secret)| Credentials { id: id.to_owned(), secret }).into_iter().collect()
}

fn matches_form(candidate: &Credentials, form: &OAuthForm) -> bool {
    form.optional("client_id").is_none_or(|id| id == candidate.id)
        && form.optional("client_secret").is_none_or(|secret| secret == candidate.secret.as_str())
}
