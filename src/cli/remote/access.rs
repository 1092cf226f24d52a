//! What a service is shown: a token that was given, or one that is got for a login and renewed.

use std::path::Path;
use std::time::{Duration, Instant};

use pidq_http::{Kind, Secret, Setting, Settings, percent_encode, settings};
use serde_json::Value as Json;

use crate::cli::failure::{Failure, Result};
use crate::cli::service::variables;

/// The environment, in the form that services have theirs: a secret may stand in a file, `PIDQ_TOKEN_FILE`.
const ENVIRONMENT: &[Setting] = settings![
    "PIDQ_TOKEN", "token", Kind::Text, None, true, "An access token.";
    "PIDQ_CLIENT_ID", "client.id", Kind::Text, None, false, "A client of the service.";
    "PIDQ_CLIENT_SECRET", "client.secret", Kind::Text, None, true, "The secret of the client.";
    "PIDQ_USERNAME", "username", Kind::Text, None, false, "The user that the client asks for; without one it asks for itself.";
    "PIDQ_PASSWORD", "password", Kind::Text, None, true, "The password of the user.";
];

/// A token is renewed so long before it ends.
const EARLY: Duration = Duration::from_secs(30);
/// How long a token lives that does not say.
const UNSAID: u64 = 3600;

/// What a service is shown.
pub enum Access {
    Nobody,
    Token(Secret),
    Login(Login),
}

/// Who gets tokens, and the one that it has.
pub struct Login {
    /// Name and password, or nothing.
    user: Vec<Member>,
    client: Vec<Member>,
    held: Option<Held>,
}

/// A member of a form.
type Member = (&'static str, Secret);

struct Held {
    access: Secret,
    refresh: Option<Secret>,
    ends: Instant,
}

impl Access {
    /// What the environment says, and the file with a token where one is named.
    pub fn read(token_file: Option<&Path>) -> Result<Access> {
        let file = token_file.map(|path| ("PIDQ_TOKEN_FILE".to_owned(), path.display().to_string()));
        let is_ours = |name: &str| ENVIRONMENT.iter().any(|row| row.env == name.strip_suffix("_FILE").unwrap_or(name));
        // A token that is named on the command line is the one that is meant.
        let given = |name: &str| is_ours(name) && !(file.is_some() && name == "PIDQ_TOKEN");
        let environment = variables()?.into_iter().filter(|(name, _)| given(name)).chain(file.clone());
        let found = Settings::read(&[ENVIRONMENT], [], environment).and_then(|settings| Access::of(&settings));
        found.map_err(|error| Failure::Usage(error.to_string()))
    }

    fn of(settings: &Settings) -> std::result::Result<Access, pidq_http::SettingError> {
        if let Some(token) = settings.secret("PIDQ_TOKEN")? {
            return Ok(Access::Token(token));
        }
        let mut given = false;
        for name in ["PIDQ_CLIENT_ID", "PIDQ_CLIENT_SECRET", "PIDQ_USERNAME"] {
            given |= settings.optional(name)?.is_some();
        }
        if !given {
            return Ok(Access::Nobody);
        }
        // Half a login is a mistake, and the error says what is missing.
        let [id, secret] = ["PIDQ_CLIENT_ID", "PIDQ_CLIENT_SECRET"].map(|name| settings.text(name).map(Secret::new));
        let (id, secret) = (id?, secret?);
        let user = match settings.optional("PIDQ_USERNAME")? {
            Some(name) => Some((Secret::new(name), Secret::new(settings.text("PIDQ_PASSWORD")?))),
            None => None,
        };
        Ok(Access::Login(Login::new(user, id, secret)))
    }

    /// The token to show now.
    pub fn token(&self) -> Option<&Secret> {
        match self {
            Access::Nobody => None,
            Access::Token(token) => Some(token),
            Access::Login(login) => login.held.as_ref().map(|held| &held.access),
        }
    }

    /// The login, where there is one: it can get another token.
    pub fn login(&mut self) -> Option<&mut Login> {
        match self {
            Access::Login(login) => Some(login),
            Access::Nobody | Access::Token(_) => None,
        }
    }

    /// Whether there is nothing to show.
    pub fn is_nobody(&self) -> bool {
        matches!(self, Access::Nobody)
    }
}

impl Login {
    fn new(user: Option<(Secret, Secret)>, id: Secret, secret: Secret) -> Login {
        let user = user.map(|(name, password)| [("username", name), ("password", password)]);
        Login {
            user: user.into_iter().flatten().collect(),
            client: vec![("client_id", id), ("client_secret", secret)],
            held: None,
        }
    }

    /// Whether a token has to be got before anything is asked.
    pub fn needs_token(&self) -> bool {
        self.held.as_ref().is_none_or(|held| Instant::now() + EARLY > held.ends)
    }

    /// The forms that get one, the cheaper first.
    pub fn forms(&self) -> Vec<String> {
        let refresh = self.held.as_ref().and_then(|held| held.refresh.as_ref());
        let renewal = refresh.map(|token| self.form("refresh_token", &[("refresh_token", token.clone())]));
        let grant = if self.user.is_empty() { "client_credentials" } else { "password" };
        renewal.into_iter().chain([self.form(grant, &self.user)]).collect()
    }

    fn form(&self, grant: &str, more: &[Member]) -> String {
        let members = more.iter().chain(&self.client);
        let members = members.map(|(name, value)| format!("&{name}={}", percent_encode(value.expose())));
        format!("grant_type={grant}{}", members.collect::<String>())
    }

    /// Keeps what the service gave.
    pub fn accept(&mut self, answer: &Json) -> Result<()> {
        let text = |name: &str| answer[name].as_str().map(Secret::new);
        let access = text("access_token").ok_or_else(|| Failure::Usage("the service gave no token".into()))?;
        let lives = Duration::from_secs(answer["expires_in"].as_u64().unwrap_or(UNSAID));
        self.held = Some(Held { access, refresh: text("refresh_token"), ends: Instant::now() + lives });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn login(user: Option<(&str, &str)>) -> Login {
        let user = user.map(|(name, password)| (Secret::new(name), Secret::new(password)));
        Login::new(user, Secret::new("desk"), Secret::new("a&b"))
    }

    #[test]
    fn a_user_asks_by_password_and_a_client_for_itself() {
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
    fn a_token_that_ends_soon_is_renewed_and_one_without_an_end_is_kept() {
        let mut login = login(None);
        login.accept(&json!({"access_token": "a", "expires_in": 29})).expect("a token");
        assert!(login.needs_token());
        login.accept(&json!({"access_token": "a"})).expect("a token");
        assert!(!login.needs_token());
        assert!(login.accept(&json!({"access_token": 1})).is_err());
    }
}
