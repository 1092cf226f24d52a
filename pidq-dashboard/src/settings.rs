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
        pub(crate) DASHBOARD_SSO_CLIENT_ID: Option<String> = ("PIDQ_DASHBOARD_SSO_CLIENT_ID", "config.dashboard.ssoClientId", "Id of the dashboard's client at the identity provider `PIDQ_SSO_ISSUER`; turns on single sign-on in the dashboard.");
        pub(crate) DASHBOARD_SSO_CLIENT_SECRET: Option<Secret> = ("PIDQ_DASHBOARD_SSO_CLIENT_SECRET", "config.dashboard.ssoClientSecret", "Secret of that client; a public client has none.");
        pub(crate) DASHBOARD_SSO_SCOPES: Vec<String> = ("PIDQ_DASHBOARD_SSO_SCOPES", "config.dashboard.ssoScopes", "Scopes that the dashboard requests at the provider.") or "openid,profile,read,write";
        pub(crate) DASHBOARD_SSO_RESOURCE: Option<String> = ("PIDQ_DASHBOARD_SSO_RESOURCE", "config.dashboard.ssoResource", "Resource that the access tokens are for (RFC 8707), for providers that ask for it.");
        pub(crate) DASHBOARD_SSO_NAME: String = ("PIDQ_DASHBOARD_SSO_NAME", "config.dashboard.ssoName", "Name of the provider on the sign-in page, after “Continue with”.") or "single sign-on";
    }
}

settings! {
    /// Settings of a dashboard in a process of its own, besides [`SETTINGS`]. `pidq up` has those of the API.
    pub REMOTE_SETTINGS {
        pub(crate) SSO_ISSUER: Option<String> = ("PIDQ_SSO_ISSUER", "config.sso.issuer", "Issuer URL of the identity provider, the same as that of the API.");
        pub(crate) SSO_CA: Option<PathBuf> = ("PIDQ_SSO_CA", "config.sso.ca", "Additional CA certificates (PEM) for the provider.");
        pub(crate) API_URL: BaseUrl = ("PIDQ_API_URL", "config.dashboard.apiUrl", "URL of the API that the dashboard calls, without a trailing slash.") or "http://127.0.0.1:8000";
        pub(crate) API_CA: Option<PathBuf> = ("PIDQ_API_CA", "config.dashboard.apiCa", "Additional CA certificates (PEM) for the API.");
        pub(crate) CLIENT_ID: Option<String> = ("PIDQ_CLIENT_ID", "config.auth.clientId", "Id of the dashboard's client at the API, for sign-in with a password.");
        pub(crate) CLIENT_SECRET: Option<Secret> = ("PIDQ_CLIENT_SECRET", "config.auth.clientSecret", "Secret of the dashboard's client at the API.");
        pub APP_SECRET: Option<Secret> = ("PIDQ_APP_SECRET", "secrets.appSecret", "Secret that encrypts the cookies of sessions, the same in all replicas. Without it, sessions end when the process exits.");
    }
}
