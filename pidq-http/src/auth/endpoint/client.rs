//! Which client is asking: by its header or by its form, not by both.

use std::net::IpAddr;

use super::OAuthRequest;
use super::authorization::{Credentials, basic};
use super::form::Form;
use super::reply::{Challenge, Refusal};
use crate::auth::clients::Client;
use crate::auth::{Identities, IdentityError, Network, audit};

/// The client of a request, once it has shown its secret.
pub(super) async fn authenticated(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &Form,
) -> Result<Client, Refusal> {
    let (readings, challenge) = credentials(request, form)?;
    for reading in readings {
        if let Some(client) = identities.client_with(&reading.id, &reading.secret).await? {
            return Ok(client);
        }
    }
    audit::client_refused(Network::of(request.address));
    Err(Refusal::Client(challenge))
}

impl Identities {
    /// The id of the client whose credentials a header `Authorization: Basic` has, if they are right.
    pub async fn client_of_basic(&self, header: &str, address: IpAddr) -> Result<Option<String>, IdentityError> {
        for reading in basic(header).unwrap_or_default() {
            if let Some(client) = self.client_with(&reading.id, &reading.secret).await? {
                return Ok(Some(client.id));
            }
        }
        audit::client_refused(Network::of(address));
        Ok(None)
    }
}

fn credentials(request: &OAuthRequest<'_>, form: &Form) -> Result<(Vec<Credentials>, Challenge), Refusal> {
    match request.authorization {
        [] => Ok((from_form(form), Challenge::None)),
        [header] => {
            let readings = basic(header).ok_or(Refusal::Client(Challenge::Basic))?;
            let agreed: Vec<_> = readings.into_iter().filter(|reading| agrees(reading, form)).collect();
            if agreed.is_empty() { Err(two_clients()) } else { Ok((agreed, Challenge::Basic)) }
        }
        _ => Err(Refusal::Request("There is more than one Authorization header.".to_owned())),
    }
}

fn two_clients() -> Refusal {
    Refusal::Request("The header and the body name different clients.".to_owned())
}

fn from_form(form: &Form) -> Vec<Credentials> {
    let secret = form.required_secret("client_secret").ok();
    let both = form.optional("client_id").zip(secret);
    both.map(|(id, secret)| Credentials { id: id.to_owned(), secret }).into_iter().collect()
}

fn agrees(reading: &Credentials, form: &Form) -> bool {
    form.optional("client_id").is_none_or(|id| id == reading.id)
        && form.optional("client_secret").is_none_or(|secret| secret == reading.secret.as_str())
}
