//! Dashboard of `pidq up`: a client of the API in the same process.

use pidq_dashboard::{APP_SECRET, Assets, ClientCredentials, DASHBOARD_URL, OpenError};
use pidq_http::auth::{GrantType, Identities, NewClient, Timestamp};
use pidq_http::{App, Listener, Secret, Service, Settings};
use pidq_server::Server;

use crate::cli::failure::{Failure, Result};

/// Id of the dashboard's client. Its secret is generated.
const CLIENT_ID: &str = "pidq-dashboard";

/// Name of the key in the database that encrypts sessions if there is no application secret.
const SESSION_KEY: &str = "dashboard-sessions";

/// Name of the key in the database that is the secret of the client.
const CLIENT_KEY: &str = "dashboard-client";

/// Dashboard that is ready to be opened.
pub struct Dashboard {
    /// Front end.
    pub assets: Assets,
    /// Its listeners.
    pub listeners: Vec<Listener>,
    /// URL of its start page.
    pub url: String,
}

/// Reserves the listeners of the dashboard; `None` if it is turned off, or not part of this build.
pub fn prepare(settings: &Settings) -> Result<Option<Dashboard>> {
    if !pidq_dashboard::is_enabled(settings).map_err(Failure::usage)? {
        return Ok(None);
    }
    let assets = match pidq_dashboard::assets(settings) {
        Ok(assets) => assets,
        Err(error @ OpenError::NotBuilt) => {
            tracing::warn!("{error}");
            return Ok(None);
        }
        Err(error) => return Err(Failure::usage(error)),
    };
    let listeners = pidq_dashboard::listeners(settings).map_err(Failure::usage)?;
    let url = url(settings, &listeners)?;
    Ok(Some(Dashboard { assets, listeners, url }))
}

/// Opens the dashboard for the API of this process.
pub async fn open(
    settings: &Settings,
    assets: Assets,
    server: &Server,
    api: Service<Server>,
) -> Result<App<pidq_dashboard::Dashboard>> {
    let client = match &server.identities {
        Some(identities) => Some(client(identities).await?),
        None => None,
    };
    let secret = session_secret(settings, server).await?;
    pidq_dashboard::open_local(settings, assets, api, client, &secret).map_err(Failure::usage)
}

/// Registers the client of the dashboard. All replicas on one database have the same secret for it.
async fn client(identities: &Identities) -> Result<ClientCredentials> {
    let secret = identities.shared_key(CLIENT_KEY).await.map_err(Failure::usage)?;
    let client = NewClient {
        id: Some(CLIENT_ID),
        title: "Dashboard",
        tenant: None,
        secret: Some(secret.expose()),
        grant_types: &[GrantType::Password, GrantType::RefreshToken],
        scopes: &["read", "write"],
    };
    identities.ensure_client(client, Timestamp::now()).await.map_err(Failure::usage)?;
    Ok(ClientCredentials { id: CLIENT_ID.to_owned(), secret })
}

/// Returns the secret that encrypts sessions: the application secret, else a key in the database. Without accounts
/// there are no sessions.
async fn session_secret(settings: &Settings, server: &Server) -> Result<Secret> {
    match (settings.get(&APP_SECRET).map_err(Failure::usage)?, &server.identities) {
        (Some(secret), _) => Ok(secret),
        (None, Some(identities)) => identities.shared_key(SESSION_KEY).await.map_err(Failure::usage),
        (None, None) => Secret::random().map_err(Failure::usage),
    }
}

/// Returns the URL of the dashboard: the configured one, or that of its first listener.
fn url(settings: &Settings, listeners: &[Listener]) -> Result<String> {
    if let Some(url) = settings.get(&DASHBOARD_URL).map_err(Failure::usage)? {
        return Ok(url);
    }
    super::banner::listener_url(settings, listeners)
}
