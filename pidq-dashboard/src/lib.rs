//! Server side of the web dashboard: the built front end, sessions in sealed cookies, and a proxy to the API.
//!
//! A browser never sees a token. The cookie of a session contains the tokens, encrypted with a key that only the server
//! has; the proxy adds the access token to requests and refreshes it. People sign in with a password, for tokens of the
//! API, or at an identity provider, for its tokens, which the API verifies. [`open_local`] serves an API of the same
//! process, [`open_remote`] one at a URL.

#![forbid(unsafe_code)]

mod api;
mod app;
mod assets;
mod cookie;
mod cross_site;
mod dashboard;
pub mod manual;
mod oauth;
mod proxy;
mod return_path;
mod routes;
mod seal;
mod security_headers;
mod session;
mod settings;
mod sign_in;
mod sso;
mod sso_failure;
mod sso_handlers;

pub use app::{ClientCredentials, OpenError, assets, is_enabled, listeners, open_local, open_remote};
pub use assets::Assets;
pub use dashboard::Dashboard;
pub use settings::{APP_SECRET, DASHBOARD_LISTEN, DASHBOARD_URL, REMOTE_SETTINGS, SETTINGS};
