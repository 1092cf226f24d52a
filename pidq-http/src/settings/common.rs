//! Settings shared by both services, and their conversion to limits, sockets and options.

use std::io;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use hyper::Uri;
use hyper::http::uri::Authority;
use tracing_subscriber::filter::LevelFilter;

use super::{Setting, SettingError, Settings, ValueKind};
use crate::auth::IdentityOptions;
use crate::limits::Limits;
use crate::message::proxies::Network;
use crate::process::log::{LogFormat, init_log};
use crate::serve::Listener;
use crate::service::rate_limit::RateLimiter;
use crate::service::{App, ProxyProtocol};
use crate::settings;
use crate::tls::{Tls, TlsVersion};

/// Common settings. Services read them together with their own.
pub const COMMON: &[Setting] = settings![
    "PIDQ_CONFIG", "config.file", ValueKind::Path, None, false, "TOML file with settings.";
    "PIDQ_LISTEN", "config.listen", ValueKind::List, Some("127.0.0.1:8080"), false, "Addresses to listen on.";
    "PIDQ_ADMIN_LISTEN", "config.admin.listen", ValueKind::Text, Some("127.0.0.1:9464"), false, "Loopback address of the metrics and health endpoints; empty turns them off.";
    "PIDQ_INSECURE_HTTP", "config.insecure", ValueKind::Switch, Some("off"), false, "Allows plain HTTP on addresses other than loopback.";
    "PIDQ_PUBLIC_URL", "config.publicUrl", ValueKind::Text, None, false, "URL of the service as clients see it, without a trailing slash.";
    "PIDQ_TLS_CERT", "config.tls.cert", ValueKind::Path, None, false, "Certificate chain, PEM; reloaded on SIGHUP.";
    "PIDQ_TLS_KEY", "config.tls.key", ValueKind::Path, None, false, "Private key of the certificate, PEM.";
    "PIDQ_TLS_MIN", "config.tls.min", ValueKind::OneOf(&["1.2", "1.3"]), Some("1.2"), false, "Minimum TLS version.";
    "PIDQ_TRUSTED_PROXIES", "config.proxies", ValueKind::List, None, false, "Networks of trusted proxies, whose X-Forwarded-For header is used.";
    "PIDQ_PROXY_PROTOCOL", "config.proxyProtocol", ValueKind::Switch, Some("off"), false, "Requires a PROXY protocol header, version 1 or 2, on connections from trusted proxies.";
    "PIDQ_CORS_ORIGINS", "config.cors.origins", ValueKind::List, None, false, "Origins allowed to make cross-origin requests.";
    "PIDQ_LOG_LEVEL", "config.log.level", ValueKind::OneOf(&["error", "warn", "info", "debug", "trace"]), Some("info"), false, "Minimum level of log lines.";
    "PIDQ_LOG_FORMAT", "config.log.format", ValueKind::OneOf(&["json", "text"]), Some("json"), false, "Format of log lines.";
    "PIDQ_SHOW_VERSION", "config.showVersion", ValueKind::Switch, Some("on"), false, "Shows the version in `/version` and `/openapi.json`, which need no authentication.";
    "PIDQ_RATE_LIMIT", "config.limits.rate", ValueKind::Number, Some("600"), false, "Maximum number of requests per minute and caller, or per network if unauthenticated; 0 disables the limit.";
    "PIDQ_PASSWORD_GRANT", "config.auth.passwordGrant", ValueKind::Switch, Some("on"), false, "Enables the OAuth password grant (discouraged by RFC 9700).";
    "PIDQ_ACCESS_TOKEN_TTL", "config.auth.accessTokenTtl", ValueKind::Duration, Some("1h"), false, "Lifetime of an access token.";
    "PIDQ_REFRESH_TOKEN_IDLE_TTL", "config.auth.refreshTokenIdleTtl", ValueKind::Duration, Some("14d"), false, "Lifetime of an unused refresh token.";
    "PIDQ_LOGIN_TTL", "config.auth.loginTtl", ValueKind::Duration, Some("30d"), false, "Maximum lifetime of a login, including refreshes.";
    "PIDQ_REFRESH_GRACE", "config.auth.refreshGrace", ValueKind::Duration, Some("10s"), false, "Time during which a token refresh may be repeated if its response was lost.";
    "PIDQ_TOKEN_CACHE_TTL", "config.auth.tokenCacheTtl", ValueKind::Duration, Some("1s"), false, "Time that a verified token is cached; a revocation by another process takes effect after this time at the latest. `0s` checks the database on every request.";
    "PIDQ_CONNECTION_LIMIT", "config.limits.connections", ValueKind::Number, Some("10000"), false, "Maximum number of open connections.";
    "PIDQ_REQUEST_LIMIT", "config.limits.requests", ValueKind::Number, Some("512"), false, "Maximum number of concurrent requests.";
    "PIDQ_REQUESTS_PER_CALLER_LIMIT", "config.limits.requestsPerCaller", ValueKind::Number, Some("64"), false, "Maximum number of concurrent requests per caller.";
    "PIDQ_FIRST_BYTE_TIMEOUT", "config.limits.firstByteTimeout", ValueKind::Duration, Some("5s"), false, "Timeout for the first byte of a connection.";
    "PIDQ_HEAD_TIMEOUT", "config.limits.headTimeout", ValueKind::Duration, Some("10s"), false, "Timeout for a request head, and idle timeout of a connection.";
    "PIDQ_BODY_TIMEOUT", "config.limits.bodyTimeout", ValueKind::Duration, Some("60s"), false, "Timeout for a small request body; larger bodies get more time.";
    "PIDQ_BODY_IDLE_TIMEOUT", "config.limits.bodyIdleTimeout", ValueKind::Duration, Some("30s"), false, "Maximum pause within a request body.";
    "PIDQ_BODY_RATE", "config.limits.bodyRate", ValueKind::Size, Some("1KiB"), false, "Minimum rate of a request body in bytes per second, after five seconds.";
    "PIDQ_WRITE_TIMEOUT", "config.limits.writeTimeout", ValueKind::Duration, Some("30s"), false, "Maximum time without write progress on a response.";
    "PIDQ_SHUTDOWN_DELAY", "config.limits.shutdownDelay", ValueKind::Duration, Some("5s"), false, "Time during which `/readyz` returns 503 before new connections are refused.";
    "PIDQ_SHUTDOWN_GRACE", "config.limits.shutdownGrace", ValueKind::Duration, Some("25s"), false, "Time for running requests to finish during shutdown.";
];

/// Typed access to the common settings.
pub struct CommonSettings<'a>(pub &'a Settings);

impl CommonSettings<'_> {
    /// Initializes the log and logs the warnings about settings.
    pub fn init_log(&self) -> Result<(), SettingError> {
        let level: LevelFilter = self.0.parsed("PIDQ_LOG_LEVEL")?;
        let json = self.0.required("PIDQ_LOG_FORMAT")? == "json";
        init_log(if json { LogFormat::Json } else { LogFormat::Text }, level);
        for warning in self.0.warnings() {
            tracing::warn!("{warning}");
        }
        Ok(())
    }

    /// Returns the limits.
    pub fn limits(&self) -> Result<Limits, SettingError> {
        let settings = self.0;
        Ok(Limits {
            connection_limit: self.nonzero_count("PIDQ_CONNECTION_LIMIT")?,
            request_limit: self.nonzero_count("PIDQ_REQUEST_LIMIT")?,
            requests_per_principal_limit: self.nonzero_count("PIDQ_REQUESTS_PER_CALLER_LIMIT")?,
            first_byte_timeout: self.nonzero_duration("PIDQ_FIRST_BYTE_TIMEOUT")?,
            head_timeout: self.nonzero_duration("PIDQ_HEAD_TIMEOUT")?,
            body_idle_timeout: self.nonzero_duration("PIDQ_BODY_IDLE_TIMEOUT")?,
            body_timeout: self.nonzero_duration("PIDQ_BODY_TIMEOUT")?,
            body_rate: settings.size("PIDQ_BODY_RATE")?,
            write_timeout: self.nonzero_duration("PIDQ_WRITE_TIMEOUT")?,
            shutdown_delay: settings.duration("PIDQ_SHUTDOWN_DELAY")?,
            shutdown_grace: settings.duration("PIDQ_SHUTDOWN_GRACE")?,
            ..Limits::default()
        })
    }

    /// Returns a number that must not be zero.
    fn nonzero_count(&self, env: &str) -> Result<usize, SettingError> {
        match self.0.parsed(env)? {
            0 => Err(self.0.invalid(env, "expected at least 1, found 0")),
            number => Ok(number),
        }
    }

    /// Returns a duration that must not be zero.
    fn nonzero_duration(&self, env: &str) -> Result<Duration, SettingError> {
        match self.0.duration(env)? {
            Duration::ZERO => Err(self.0.invalid(env, "expected a duration longer than 0, found 0")),
            time => Ok(time),
        }
    }

    /// Returns the public URL, if set, without a trailing slash.
    pub fn public_url(&self) -> Result<Option<&str>, SettingError> {
        let Some(url) = self.0.optional("PIDQ_PUBLIC_URL")? else { return Ok(None) };
        let url = url.trim_end_matches('/');
        match url.parse::<Uri>() {
            Ok(uri) if is_base_url(&uri) && !url.contains(['?', '#']) => Ok(Some(url)),
            _ => Err(self.0.invalid("PIDQ_PUBLIC_URL", "expected a URL such as `https://pidq.example`")),
        }
    }

    /// Returns the host of the public URL.
    pub fn public_host(&self) -> Result<Option<String>, SettingError> {
        let url = self.public_url()?.and_then(|url| url.parse::<Uri>().ok());
        Ok(url.and_then(|url| url.host().map(str::to_ascii_lowercase)))
    }

    /// Returns the CORS origins in the form that browsers send.
    fn origins(&self) -> Result<Vec<String>, SettingError> {
        let origins: Vec<String> = self.0.list("PIDQ_CORS_ORIGINS")?;
        let checked = origins.iter().map(|origin| {
            let normalized = origin.trim_end_matches('/').to_ascii_lowercase();
            let is_origin = normalized.parse::<Uri>().is_ok_and(|uri| is_base_url(&uri) && uri.path() == "/")
                && !normalized.contains('?');
            let wrong = || format!("expected origins such as `https://plant.example`, found `{origin}`");
            if is_origin { Ok(normalized) } else { Err(self.0.invalid("PIDQ_CORS_ORIGINS", &wrong())) }
        });
        checked.collect()
    }

    /// Applies the limits, the rate limit, the proxies and the CORS origins to an app.
    pub fn apply_to<S: Send + Sync + 'static>(&self, app: &mut App<S>) -> Result<(), SettingError> {
        app.limits = self.limits()?;
        app.proxies = self.0.list("PIDQ_TRUSTED_PROXIES")?;
        app.proxy_protocol = self.proxy_protocol(&app.proxies)?;
        app.origins = self.origins()?;
        let rate: u32 = self.0.parsed("PIDQ_RATE_LIMIT")?;
        app.rate_limit = (rate > 0).then(|| RateLimiter::new("user", rate, Duration::from_secs(60)));
        if !self.0.switch("PIDQ_SHOW_VERSION")? {
            app.version = None;
        }
        Ok(())
    }

    /// Returns the account and token options of a service with this base URL.
    pub fn identity_options(&self, base_url: &str) -> Result<IdentityOptions, SettingError> {
        let settings = self.0;
        Ok(IdentityOptions {
            password_grant: settings.switch("PIDQ_PASSWORD_GRANT")?,
            access_token_ttl: self.nonzero_duration("PIDQ_ACCESS_TOKEN_TTL")?,
            refresh_token_idle_ttl: self.nonzero_duration("PIDQ_REFRESH_TOKEN_IDLE_TTL")?,
            login_ttl: self.nonzero_duration("PIDQ_LOGIN_TTL")?,
            refresh_grace: settings.duration("PIDQ_REFRESH_GRACE")?,
            token_cache_ttl: settings.duration("PIDQ_TOKEN_CACHE_TTL")?,
            ..IdentityOptions::at(base_url)
        })
    }

    /// Returns the PROXY protocol mode, which requires trusted proxies.
    fn proxy_protocol(&self, proxies: &[Network]) -> Result<ProxyProtocol, SettingError> {
        match self.0.switch("PIDQ_PROXY_PROTOCOL")? {
            true if proxies.is_empty() => {
                Err(self.0.invalid("PIDQ_PROXY_PROTOCOL", "set `PIDQ_TRUSTED_PROXIES` as well"))
            }
            true => Ok(ProxyProtocol::Proxy),
            false => Ok(ProxyProtocol::None),
        }
    }

    /// Opens the listeners: the sockets of the service manager if there are any, else the configured addresses.
    pub fn listeners(&self) -> Result<Vec<Listener>, SettingError> {
        let tls = self.tls()?;
        let wrong = |error: io::Error| self.0.invalid("PIDQ_LISTEN", &error.to_string());
        let mut listeners = Listener::activated(tls.as_ref(), self.0.switch("PIDQ_INSECURE_HTTP")?).map_err(wrong)?;
        if listeners.is_empty() {
            let addresses = self.0.list::<ListenAddress>("PIDQ_LISTEN")?;
            if addresses.is_empty() {
                return Err(self.0.invalid("PIDQ_LISTEN", "expected at least one address"));
            }
            for ListenAddress(address) in addresses {
                let bind_error = |error| self.0.invalid("PIDQ_LISTEN", &listen_error(address, &error));
                listeners.push(self.listener(address, tls.as_ref()).map_err(bind_error)?);
            }
        }
        if self.0.optional("PIDQ_ADMIN_LISTEN")?.is_some() {
            let ListenAddress(address) = self.0.parsed("PIDQ_ADMIN_LISTEN")?;
            let admin = Listener::admin(address);
            listeners.push(admin.map_err(|error| self.0.invalid("PIDQ_ADMIN_LISTEN", &listen_error(address, &error)))?);
        }
        Ok(listeners)
    }

    fn listener(&self, address: SocketAddr, tls: Option<&Tls>) -> io::Result<Listener> {
        let insecure = self.0.switch("PIDQ_INSECURE_HTTP").map_err(io::Error::other)?;
        match tls {
            Some(tls) => Listener::tls(address, tls.clone()),
            None if insecure => Listener::insecure(address),
            None => Listener::plain(address),
        }
    }

    fn tls(&self) -> Result<Option<Tls>, SettingError> {
        let min_version = if self.0.required("PIDQ_TLS_MIN")? == "1.3" { TlsVersion::V1_3 } else { TlsVersion::V1_2 };
        match (self.0.path("PIDQ_TLS_CERT")?, self.0.path("PIDQ_TLS_KEY")?) {
            (None, None) => Ok(None),
            (Some(certificates), Some(key)) => match Tls::open(certificates, key, min_version) {
                Ok(tls) => Ok(Some(tls)),
                Err(error) => Err(self.0.invalid("PIDQ_TLS_CERT", &error.to_string())),
            },
            (Some(_), None) => Err(self.0.invalid("PIDQ_TLS_CERT", "set `PIDQ_TLS_KEY` as well")),
            (None, Some(_)) => Err(self.0.invalid("PIDQ_TLS_KEY", "set `PIDQ_TLS_CERT` as well")),
        }
    }
}

/// Returns whether a URL is an HTTP base URL without user information.
fn is_base_url(uri: &Uri) -> bool {
    let is_plain = |authority: &Authority| !authority.host().is_empty() && !authority.as_str().contains('@');
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some_and(is_plain)
}

/// Address to listen on. The parse error shows an example.
struct ListenAddress(SocketAddr);

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected an address with a port, such as `127.0.0.1:8080`, found `{text}`");
        text.parse().map(ListenAddress).map_err(|_| wrong())
    }
}

/// Returns the error message for an address that cannot be bound.
fn listen_error(address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!("{address} is already in use; choose another address"),
        _ => format!("cannot listen on {address}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(environment: &[(&str, &str)]) -> Settings {
        let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Settings::read(&[COMMON], [], environment).expect("no mistake")
    }

    #[test]
    fn defaults_equal_those_of_the_code() {
        let limits = CommonSettings(&settings(&[])).limits().expect("defaults are good");
        assert_eq!(format!("{limits:?}"), format!("{:?}", Limits::default()));
        let (url, settings) = ("https://pidq.example", settings(&[]));
        let identities = CommonSettings(&settings).identity_options(url).expect("defaults are good");
        assert_eq!(format!("{identities:?}"), format!("{:?}", IdentityOptions::at(url)));
    }

    #[test]
    fn names_and_config_keys_are_unique() {
        let mut names: Vec<_> = COMMON.iter().flat_map(|row| [row.env, row.config_key]).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn unusable_limits_are_rejected() {
        for name in
            ["PIDQ_CONNECTION_LIMIT", "PIDQ_REQUEST_LIMIT", "PIDQ_REQUESTS_PER_CALLER_LIMIT", "PIDQ_HEAD_TIMEOUT"]
        {
            let error = CommonSettings(&settings(&[(name, "0")])).limits().expect_err("a limit of 0");
            assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
        }
        for name in ["PIDQ_ACCESS_TOKEN_TTL", "PIDQ_REFRESH_TOKEN_IDLE_TTL", "PIDQ_LOGIN_TTL"] {
            let error = CommonSettings(&settings(&[(name, "0s")])).identity_options("x").expect_err("a TTL of 0");
            assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
        }
        let maximum = settings(&[("PIDQ_REQUEST_LIMIT", "18446744073709551615")]);
        let mut app = App::new("test", "0", (), &[]);
        CommonSettings(&maximum).apply_to(&mut app).expect("the maximum");
        app.build();
        assert!(
            CommonSettings(&settings(&[("PIDQ_LISTEN", ",")]))
                .listeners()
                .is_err_and(|error| error.to_string().contains("`PIDQ_LISTEN`"))
        );
    }

    #[test]
    fn urls_and_origins_are_validated() {
        let public = |url: &str| {
            CommonSettings(&settings(&[("PIDQ_PUBLIC_URL", url)])).public_url().ok().flatten().map(str::to_owned)
        };
        for (url, expected) in
            [("https://a.example/", "https://a.example"), ("http://[::1]:8080/x", "http://[::1]:8080/x")]
        {
            assert_eq!(public(url).as_deref(), Some(expected));
        }
        for url in [
            "a.example",
            "ftp://a.example",
            "https://",
            "https://a\"b",
            "https://a\nb",
            "https://u:p@a",
            "https://a?b",
            "https://\u{e4}",
        ] {
            assert_eq!(public(url), None, "{url}");
        }
        let origins = |given: &str| {
            CommonSettings(&settings(&[("PIDQ_CORS_ORIGINS", given)])).origins().map_err(|error| error.to_string())
        };
        assert_eq!(
            origins("https://A.example/, http://b:81"),
            Ok(vec!["https://a.example".to_owned(), "http://b:81".to_owned()])
        );
        for given in ["*", "null", "a.example", "https://a.example/x", "https://a.example?x"] {
            assert!(origins(given).is_err_and(|error| error.contains("`PIDQ_CORS_ORIGINS`")), "{given}");
        }
    }

    #[tokio::test]
    async fn plain_http_beyond_loopback_requires_the_setting() {
        let open = |more: &[(&str, &str)]| {
            let given = [&[("PIDQ_LISTEN", "0.0.0.0:0"), ("PIDQ_ADMIN_LISTEN", "")][..], more].concat();
            CommonSettings(&settings(&given))
                .listeners()
                .map(|listeners| listeners.len())
                .map_err(|error| error.to_string())
        };
        assert!(open(&[]).is_err_and(|error| error.contains("`PIDQ_LISTEN`") && error.contains("certificate")));
        assert_eq!(open(&[("PIDQ_INSECURE_HTTP", "on")]), Ok(1));
        assert!(open(&[("PIDQ_TLS_CERT", "/x")]).is_err_and(|error| error.contains("`PIDQ_TLS_KEY`")));
    }
}
