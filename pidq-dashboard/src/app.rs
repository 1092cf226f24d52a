//! Construction of the dashboard from settings.

use std::fs;
use std::path::PathBuf;

use pidq_http::auth::{RelyingParty, RelyingPartySettings};
use pidq_http::{AnySetting, App, CommonSettings, Listener, Secret, Service, Setting, SettingError, Settings, Uri};

use crate::api::{Api, LocalApi, RemoteApi};
use crate::assets::Assets;
use crate::cross_site;
use crate::dashboard::Dashboard;
use crate::oauth::OAuthClient;
use crate::routes::ROUTES;
use crate::security_headers;
use crate::session::Sessions;
use crate::settings::{
    API_CA, API_URL, APP_SECRET, CLIENT_ID, CLIENT_SECRET, DASHBOARD_DIR, DASHBOARD_LISTEN, DASHBOARD_SSO_CLIENT_ID,
    DASHBOARD_SSO_CLIENT_SECRET, DASHBOARD_SSO_NAME, DASHBOARD_SSO_RESOURCE, DASHBOARD_SSO_SCOPES, DASHBOARD_URL,
    SSO_CA, SSO_ISSUER,
};
use crate::sso::Sso;

/// Minimum number of characters of the application secret.
const SECRET_SIZE: usize = 32;

/// Error of opening the dashboard.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A setting is invalid.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The program was built without the front end.
    #[error(
        "the dashboard is not part of this build: run `scripts/dashboard.sh build`, which needs Node.js, and build the program again"
    )]
    NotBuilt,
    /// The system's random number generator failed.
    #[error("the system's random number generator failed")]
    NoRandomness,
}

/// Client of the dashboard at the API, for sign-in with a password.
pub struct ClientCredentials {
    /// Client id.
    pub id: String,
    /// Client secret.
    pub secret: Secret,
}

/// Returns whether the settings ask for the dashboard.
///
/// # Errors
/// If the setting is in no table that was read.
pub fn is_enabled(settings: &Settings) -> Result<bool, SettingError> {
    Ok(!settings.get(&DASHBOARD_LISTEN)?.is_empty())
}

/// Reads the front end: that of this build, or of a directory.
///
/// # Errors
/// If it is not part of this build, or its directory cannot be read.
pub fn assets(settings: &Settings) -> Result<Assets, OpenError> {
    let Some(dir) = settings.get(&DASHBOARD_DIR)? else { return Assets::embedded().ok_or(OpenError::NotBuilt) };
    let invalid = |error| settings.invalid(&DASHBOARD_DIR, &format!("`{}`: {error}", dir.display()));
    Ok(Assets::read(&dir).map_err(invalid)?)
}

/// Reserves the listeners of the dashboard.
///
/// # Errors
/// If an address cannot be bound.
pub fn listeners(settings: &Settings) -> Result<Vec<Listener>, SettingError> {
    CommonSettings(settings).listeners_at(&DASHBOARD_LISTEN, &settings.get(&DASHBOARD_LISTEN)?)
}

/// Opens a dashboard for an API of this process. `secret` encrypts sessions.
///
/// # Errors
/// If a setting is invalid.
pub fn open_local<S: Send + Sync + 'static>(
    settings: &Settings,
    assets: Assets,
    api: Service<S>,
    client: Option<ClientCredentials>,
    secret: &Secret,
) -> Result<App<Dashboard>, OpenError> {
    open(settings, assets, Box::new(LocalApi(api)), client, secret)
}

/// Opens a dashboard for the API at a URL.
///
/// # Errors
/// If a setting is invalid or the front end is missing.
pub fn open_remote(settings: &Settings) -> Result<App<Dashboard>, OpenError> {
    if !is_enabled(settings)? {
        return Err(settings.invalid(&DASHBOARD_LISTEN, "expected at least one address").into());
    }
    let api = RemoteApi::new(settings.get(&API_URL)?, certificates(settings, &API_CA)?.as_deref());
    let api = api.map_err(|reason| settings.invalid(&API_CA, &reason))?;
    let client = match (settings.get(&CLIENT_ID)?, settings.get(&CLIENT_SECRET)?) {
        (Some(id), Some(secret)) => Some(ClientCredentials { id, secret }),
        (None, None) => None,
        (Some(_), None) => return Err(settings.invalid(&CLIENT_ID, "set `PIDQ_CLIENT_SECRET` as well").into()),
        (None, Some(_)) => return Err(settings.invalid(&CLIENT_SECRET, "set `PIDQ_CLIENT_ID` as well").into()),
    };
    let secret = match settings.get(&APP_SECRET)? {
        Some(secret) if secret.expose().len() < SECRET_SIZE => {
            let reason = format!("must have at least {SECRET_SIZE} random characters");
            return Err(settings.invalid(&APP_SECRET, &reason).into());
        }
        Some(secret) => secret,
        None => {
            tracing::warn!("sessions end when this process exits, because `PIDQ_APP_SECRET` is not set");
            Secret::random().map_err(|_| OpenError::NoRandomness)?
        }
    };
    open(settings, assets(settings)?, Box::new(api), client, &secret)
}

fn open(
    settings: &Settings,
    assets: Assets,
    api: Box<dyn Api>,
    client: Option<ClientCredentials>,
    secret: &Secret,
) -> Result<App<Dashboard>, OpenError> {
    let state = Dashboard {
        assets,
        api,
        client: client.map(|client| OAuthClient { id: client.id, secret: client.secret }),
        sso: sso(settings)?,
        sessions: Sessions::new(secret),
        public_host: public_host(settings)?,
        accounts: std::sync::Mutex::default(),
    };
    let mut app = App::new("pidq-dashboard", env!("CARGO_PKG_VERSION"), state, ROUTES).without_builtin_routes();
    app.middleware = |state, request, handler| match cross_site::check(&request.head) {
        Ok(()) => handler(state, request),
        Err(problem) => Box::pin(async { Err(problem) }),
    };
    app.headers = security_headers::all();
    CommonSettings(settings).apply_to(&mut app)?;
    app.tracer = CommonSettings(settings).tracer(app.name, env!("CARGO_PKG_VERSION"))?;
    // The API limits the rate of each person; a page with many files is one visit. Other origins have no business here.
    app.rate_limit = None;
    app.origins = Vec::new();
    Ok(app)
}

/// Returns the identity provider at which people sign in; `None` if the settings name no client at it.
fn sso(settings: &Settings) -> Result<Option<Sso>, SettingError> {
    let Some(client_id) = settings.get(&DASHBOARD_SSO_CLIENT_ID)? else {
        return match settings.is_set(&DASHBOARD_SSO_CLIENT_SECRET) {
            true => Err(settings
                .invalid(&DASHBOARD_SSO_CLIENT_SECRET, &format!("requires `{}`", DASHBOARD_SSO_CLIENT_ID.env()))),
            false => Ok(None),
        };
    };
    let required =
        |row: &dyn AnySetting| settings.invalid(&DASHBOARD_SSO_CLIENT_ID, &format!("requires `{}`", row.env()));
    let issuer = settings.get(&SSO_ISSUER)?.ok_or_else(|| required(&SSO_ISSUER))?;
    let url = settings.get(&DASHBOARD_URL)?.ok_or_else(|| required(&DASHBOARD_URL))?;
    let scopes = settings.get(&DASHBOARD_SSO_SCOPES)?;
    if !scopes.iter().any(|scope| scope == "openid") {
        return Err(settings.invalid(&DASHBOARD_SSO_SCOPES, "`openid` is required"));
    }
    let provider = RelyingParty::new(RelyingPartySettings {
        issuer,
        client_id,
        client_secret: settings.get(&DASHBOARD_SSO_CLIENT_SECRET)?,
        redirect_uri: format!("{url}/session/callback"),
        scopes,
        resource: settings.get(&DASHBOARD_SSO_RESOURCE)?,
        root_certificates: certificates(settings, &SSO_CA)?,
    });
    let provider = provider.map_err(|error| settings.invalid(&SSO_ISSUER, &error.to_string()))?;
    Ok(Some(Sso { provider, name: settings.get(&DASHBOARD_SSO_NAME)?, signed_out_url: format!("{url}/sign-in") }))
}

/// Reads a file of certificates.
fn certificates(settings: &Settings, row: &Setting<Option<PathBuf>>) -> Result<Option<String>, SettingError> {
    let Some(path) = settings.get(row)? else { return Ok(None) };
    let invalid = |error| settings.invalid(row, &format!("`{}`: {error}", path.display()));
    fs::read_to_string(&path).map(Some).map_err(invalid)
}

fn public_host(settings: &Settings) -> Result<Option<String>, SettingError> {
    let url = settings.get(&DASHBOARD_URL)?.and_then(|url| url.parse::<Uri>().ok());
    Ok(url.and_then(|url| url.host().map(str::to_ascii_lowercase)))
}
