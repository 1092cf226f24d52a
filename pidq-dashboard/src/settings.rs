//! Settings of the dashboard: in every process that serves it, and those of a process of its own.

use std::net::SocketAddr;
use std::path::PathBuf;

use pidq_http::{BaseUrl, Secret, settings};

settings! {
    /// Settings of the dashboard.
    pub SETTINGS {
        pub DASHBOARD_LISTEN: Vec<SocketAddr> = ("PIDQ_DASHBOARD_LISTEN", "config.dashboard.listen", "Addresses of the dashboard; empty turns it off.") or "127.0.0.1:3000";
        pub DASHBOARD_URL: Option<BaseUrl> = ("PIDQ_DASHBOARD_URL", "config.dashboard.url", "URL of the dashboard as browsers see it, without a trailing slash.");
        pub(crate) DASHBOARD_DIR: Option<PathBuf> = ("PIDQ_DASHBOARD_DIR", "config.dashboard.dir", "Directory of a built front end that replaces the one in the program, for development.");
    }
}

settings! {
    /// Settings of a dashboard in a process of its own, besides [`SETTINGS`].
    pub REMOTE_SETTINGS {
        pub(crate) API_URL: BaseUrl = ("PIDQ_API_URL", "config.dashboard.apiUrl", "URL of the API that the dashboard calls, without a trailing slash.") or "http://127.0.0.1:8000";
        pub(crate) API_CA: Option<PathBuf> = ("PIDQ_API_CA", "config.dashboard.apiCa", "Additional CA certificates (PEM) for the API.");
        pub(crate) CLIENT_ID: Option<String> = ("PIDQ_CLIENT_ID", "config.auth.clientId", "Id of the dashboard's client at the API, for sign-in with a password.");
        pub(crate) CLIENT_SECRET: Option<Secret> = ("PIDQ_CLIENT_SECRET", "config.auth.clientSecret", "Secret of the dashboard's client at the API.");
        pub APP_SECRET: Option<Secret> = ("PIDQ_APP_SECRET", "secrets.appSecret", "Secret that encrypts the cookies of sessions, the same in all replicas. Without it, sessions end when the process exits.");
    }
}
