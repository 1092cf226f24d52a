//! Dashboard of `pidq up`: a client of the API in the same process.

use pidq_dashboard::{APP_SECRET, ClientCredentials, DASHBOARD_URL, OpenError};
use pidq_http::auth::{GrantType, Identities, NewClient, Timestamp};
use pidq_http::{App, Listener, Secret, Service, Settings};
use pidq_server::Server;

use super::usage_failure;
use crate::cli::failure::Result;

/// Id of the dashboard's client. Its secret is generated.
const CLIENT_ID: &str = "pidq-dashboard";

/// Name of the key in the database that encrypts sessions if there is no application secret.
const SESSION_KEY: &str = "dashboard-sessions";

/// Name of the key in the database that is the secret of the client.
const CLIENT_KEY: &str = "dashboard-client";

/// Dashboard that is ready to be opened.
pub struct Dashboard {
    /// Open listeners.
    pub listeners: Vec<Listener>,
    /// URL of its start page.
    pub url: String,
}

/// Opens the listeners of the dashboard; `None` if it is turned off, or not part of this build.
pub fn prepare(settings: &Settings) -> Result<Option<Dashboard>> {
    if !pidq_dashboard::is_enabled(settings).map_err(usage_failure)? {
        return Ok(None);
    }
    match pidq_dashboard::check_assets(settings) {
        Ok(()) => {}
        Err(error @ OpenError::NotBuilt) => {
            tracing::warn!("{error}");
            return Ok(None);
        }
        Err(error) => return Err(usage_failure(error)),
    }
    let listeners = pidq_dashboard::listeners(settings).map_err(usage_failure)?;
    let url = url(settings, &listeners)?;
    Ok(Some(Dashboard { listeners, url }))
}

/// Opens the dashboard for the API of this process.
pub async fn open(
    settings: &Settings,
    server: &Server,
    api: Service<Server>,
) -> Result<App<pidq_dashboard::Dashboard>> {
    let client = match &server.identities {
        Some(identities) => Some(client(identities).await?),
        None => None,
    };
    let secret = session_secret(settings, server).await?;
    pidq_dashboard::open_local(settings, api, client, &secret).map_err(usage_failure)
}

/// Registers the client of the dashboard. All replicas on one database have the same secret for it.
async fn client(identities: &Identities) -> Result<ClientCredentials> {
    let secret = identities.shared_key(CLIENT_KEY).await.map_err(usage_failure)?;
    let client = NewClient {
        id: Some(CLIENT_ID),
        title: "Dashboard",
        tenant: None,
        secret: Some(secret.expose()),
        grant_types: &[GrantType::Password, GrantType::RefreshToken],
        scopes: &["read", "write"],
    };
    identities.ensure_client(client, Timestamp::now()).await.map_err(usage_failure)?;
    Ok(ClientCredentials { id: CLIENT_ID.to_owned(), secret })
}

/// Returns the secret that encrypts sessions: the application secret, else a key in the database. Without accounts
/// there are no sessions.
async fn session_secret(settings: &Settings, server: &Server) -> Result<Secret> {
    match (settings.get(&APP_SECRET).map_err(usage_failure)?, &server.identities) {
        (Some(secret), _) => Ok(secret),
        (None, Some(identities)) => identities.shared_key(SESSION_KEY).await.map_err(usage_failure),
        (None, None) => Secret::random().map_err(usage_failure),
    }
}

/// Returns the URL of the dashboard: the configured one, or that of its first listener.
fn url(settings: &Settings, listeners: &[Listener]) -> Result<String> {
    if let Some(url) = settings.get(&DASHBOARD_URL).map_err(usage_failure)? {
        return Ok(url);
    }
    super::banner::listener_url(settings, listeners)
}
