//! Credentials for a remote service: a fixed token, or a login whose tokens are renewed.

use std::path::Path;
use std::time::{Duration, Instant};

use pidq_http::{AnySetting, Secret, Settings, percent_encode};
use serde_json::Value as Json;

use crate::cli::client_settings::{CLIENT_ID, CLIENT_SECRET, CREDENTIALS, PASSWORD, TOKEN, USERNAME};
use crate::cli::environment::variables;
use crate::cli::failure::{Failure, Result};

/// Time before expiry at which a token is renewed.
const RENEWAL_MARGIN: Duration = Duration::from_secs(30);
/// Lifetime in seconds of a token without `expires_in`.
const DEFAULT_TOKEN_TTL: u64 = 3600;

/// Credentials of the client.
pub enum Credentials {
    None,
    Token(Secret),
    Login(OAuthLogin),
}

/// OAuth login with the password or client-credentials grant, and its current token.
pub struct OAuthLogin {
    /// User name and password, or empty.
    user: Vec<FormField>,
    client: Vec<FormField>,
    token: Option<CachedToken>,
}

/// Field of a form.
type FormField = (&'static str, Secret);

struct CachedToken {
    access_token: Secret,
    refresh_token: Option<Secret>,
    expires_at: Instant,
}

impl Credentials {
    /// Reads the credentials from the environment, or the token from a file.
    pub fn read(token_file: Option<&Path>) -> Result<Credentials> {
        let file = token_file.map(|path| (format!("{}_FILE", TOKEN.env()), path.display().to_string()));
        let is_known =
            |name: &str| CREDENTIALS.iter().any(|row| row.env() == name.strip_suffix("_FILE").unwrap_or(name));
        // A token file given on the command line overrides the environment.
        let is_used = |name: &str| is_known(name) && !(file.is_some() && name == TOKEN.env());
        let environment = variables()?.into_iter().filter(|(name, _)| is_used(name)).chain(file.clone());
        let found =
            Settings::read(&[CREDENTIALS], [], environment).and_then(|settings| Credentials::from_settings(&settings));
        found.map_err(|error| Failure::Usage(error.to_string()))
    }

    fn from_settings(settings: &Settings) -> std::result::Result<Credentials, pidq_http::SettingError> {
        if let Some(token) = settings.get(&TOKEN)? {
            return Ok(Credentials::Token(token));
        }
        let login: [&dyn AnySetting; 3] = [&CLIENT_ID, &CLIENT_SECRET, &USERNAME];
        if !login.into_iter().any(|row| settings.is_set(row)) {
            return Ok(Credentials::None);
        }
        // An incomplete login is an error that names the missing variable.
        let (id, secret) = (Secret::new(settings.required(&CLIENT_ID)?), settings.required(&CLIENT_SECRET)?);
        let user = match settings.get(&USERNAME)? {
            Some(name) => Some((Secret::new(name), settings.required(&PASSWORD)?)),
            None => None,
        };
        Ok(Credentials::Login(OAuthLogin::new(user, id, secret)))
    }

    /// Returns the current token.
    pub fn token(&self) -> Option<&Secret> {
        match self {
            Credentials::None => None,
            Credentials::Token(token) => Some(token),
            Credentials::Login(login) => login.token.as_ref().map(|token| &token.access_token),
        }
    }

    /// Returns the login, which can obtain another token.
    pub fn login(&mut self) -> Option<&mut OAuthLogin> {
        match self {
            Credentials::Login(login) => Some(login),
            Credentials::None | Credentials::Token(_) => None,
        }
    }

    /// Returns true without credentials.
    pub fn is_none(&self) -> bool {
        matches!(self, Credentials::None)
    }
}

impl OAuthLogin {
    fn new(user: Option<(Secret, Secret)>, id: Secret, secret: Secret) -> OAuthLogin {
        let user = user.map(|(name, password)| [("username", name), ("password", password)]);
        OAuthLogin {
            user: user.into_iter().flatten().collect(),
            client: vec![("client_id", id), ("client_secret", secret)],
            token: None,
        }
    }

    /// Returns true if a token must be obtained before the next request.
    pub fn needs_token(&self) -> bool {
        self.token.as_ref().is_none_or(|token| Instant::now() + RENEWAL_MARGIN > token.expires_at)
    }

    /// Returns the token request forms to try, the cheaper one first.
    pub fn forms(&self) -> Vec<String> {
        let refresh = self.token.as_ref().and_then(|token| token.refresh_token.as_ref());
        let renewal = refresh.map(|token| self.form("refresh_token", &[("refresh_token", token.clone())]));
        let grant = if self.user.is_empty() { "client_credentials" } else { "password" };
        renewal.into_iter().chain([self.form(grant, &self.user)]).collect()
    }

    fn form(&self, grant: &str, more: &[FormField]) -> String {
        let fields = more.iter().chain(&self.client);
        let fields = fields.map(|(name, value)| format!("&{name}={}", percent_encode(value.expose())));
        format!("grant_type={grant}{}", fields.collect::<String>())
    }

    /// Stores the token of a token response.
    pub fn accept(&mut self, response: &Json) -> Result<()> {
        let text = |name: &str| response[name].as_str().map(Secret::new);
        let access_token =
            text("access_token").ok_or_else(|| Failure::Usage("the service returned no token".into()))?;
        let ttl = Duration::from_secs(response["expires_in"].as_u64().unwrap_or(DEFAULT_TOKEN_TTL));
        let refresh_token = text("refresh_token");
        self.token = Some(CachedToken { access_token, refresh_token, expires_at: Instant::now() + ttl });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn login(user: Option<(&str, &str)>) -> OAuthLogin {
        let user = user.map(|(name, password)| (Secret::new(name), Secret::new(password)));
        OAuthLogin::new(user, Secret::new("desk"), Secret::new("a&b"))
    }

    #[test]
    fn users_use_the_password_grant_and_clients_their_credentials() {
        let client = "&client_id=desk&client_secret=a%26b";
        assert_eq!(login(None).forms(), [format!("grant_type=client_credentials{client}")]);
        let forms = login(Some(("ann@x", "p w"))).forms();
        assert_eq!(forms, [format!("grant_type=password&username=ann%40x&password=p%20w{client}")]);
    }

    #[test]
    fn a_refresh_token_is_tried_before_the_password() {
        let mut login = login(None);
        assert!(login.needs_token());
        login.accept(&json!({"access_token": "a", "refresh_token": "r", "expires_in": 3600})).expect("a token");
        assert!(!login.needs_token());
        assert!(login.forms()[0].starts_with("grant_type=refresh_token&refresh_token=r&client_id=desk"));
        assert_eq!(login.forms().len(), 2);
    }

    #[test]
    fn an_expiring_token_is_renewed() {
        let mut login = login(None);
        login.accept(&json!({"access_token": "a", "expires_in": 29})).expect("a token");
        assert!(login.needs_token());
        login.accept(&json!({"access_token": "a"})).expect("a token");
        assert!(!login.needs_token());
        assert!(login.accept(&json!({"access_token": 1})).is_err());
    }
}
