//! The settings that both services have, and what becomes of them.

use std::io;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use hyper::Uri;
use hyper::http::uri::Authority;
use tracing_subscriber::filter::LevelFilter;

use super::{Kind, Setting, SettingError, Settings};
use crate::auth::IdentityOptions;
use crate::limits::Limits;
use crate::log::{LogFormat, init_log};
use crate::proxies::Network;
use crate::quota::Quota;
use crate::serve::Listener;
use crate::settings;
use crate::site::{App, Introduction};
use crate::tls::{Tls, TlsVersion};

/// The rows of the floor. Services read them together with their own.
pub const COMMON: &[Setting] = settings![
    "PIDQ_CONFIG", "config.file", Kind::Path, None, false, "A TOML file with settings.";
    "PIDQ_LISTEN", "config.listen", Kind::List, Some("127.0.0.1:8080"), false, "Addresses to listen on.";
    "PIDQ_ADMIN_LISTEN", "config.admin.listen", Kind::Text, Some("127.0.0.1:9464"), false, "Address of the metrics, on loopback; empty turns it off.";
    "PIDQ_INSECURE_HTTP", "config.insecure", Kind::Switch, Some("off"), false, "Allows plain HTTP beyond loopback.";
    "PIDQ_PUBLIC_URL", "config.publicUrl", Kind::Text, None, false, "The URL that clients see, without a slash at the end.";
    "PIDQ_TLS_CERT", "config.tls.cert", Kind::Path, None, false, "The certificate chain, PEM; read again on SIGHUP.";
    "PIDQ_TLS_KEY", "config.tls.key", Kind::Path, None, false, "The key of the certificate, PEM.";
    "PIDQ_TLS_MIN", "config.tls.min", Kind::OneOf(&["1.2", "1.3"]), Some("1.2"), false, "The oldest version of TLS that is spoken.";
    "PIDQ_TRUSTED_PROXIES", "config.proxies", Kind::List, None, false, "Networks whose X-Forwarded-For is believed.";
    "PIDQ_PROXY_PROTOCOL", "config.proxyProtocol", Kind::Switch, Some("off"), false, "Whether trusted proxies begin each connection with a PROXY header, version 1 or 2.";
    "PIDQ_CORS_ORIGINS", "config.cors.origins", Kind::List, None, false, "Origins whose pages may call.";
    "PIDQ_LOG_LEVEL", "config.log.level", Kind::OneOf(&["error", "warn", "info", "debug", "trace"]), Some("info"), false, "The least important lines that are written.";
    "PIDQ_LOG_FORMAT", "config.log.format", Kind::OneOf(&["json", "text"]), Some("json"), false, "How log lines look.";
    "PIDQ_SHOW_VERSION", "config.showVersion", Kind::Switch, Some("on"), false, "Whether strangers are told the version.";
    "PIDQ_RATE", "config.limits.rate", Kind::Number, Some("600"), false, "Requests a minute for a principal, or for a network where there is none; 0 turns it off.";
    "PIDQ_PASSWORD_GRANT", "config.auth.passwordGrant", Kind::Switch, Some("on"), false, "Whether passwords are taken for tokens; RFC 9700 advises against it.";
    "PIDQ_ACCESS_LIFE", "config.auth.accessLife", Kind::Duration, Some("1h"), false, "How long an access token lives.";
    "PIDQ_REFRESH_IDLE", "config.auth.refreshIdle", Kind::Duration, Some("14d"), false, "How long a refresh token lives that nobody uses.";
    "PIDQ_LOGIN_LIFE", "config.auth.loginLife", Kind::Duration, Some("30d"), false, "How long a login lives, however often it is refreshed.";
    "PIDQ_REFRESH_GRACE", "config.auth.refreshGrace", Kind::Duration, Some("10s"), false, "How long a refresh may be repeated because its answer was lost.";
    "PIDQ_TOKEN_CACHE", "config.auth.tokenCache", Kind::Duration, Some("1s"), false, "How long a token that was found good is believed; what another process takes back counts after that. 0s asks the database for every request.";
    "PIDQ_MAX_CONNECTIONS", "config.limits.connections", Kind::Number, Some("10000"), false, "Connections that are open at once.";
    "PIDQ_MAX_REQUESTS", "config.limits.requests", Kind::Number, Some("512"), false, "Requests that are worked on at once.";
    "PIDQ_MAX_REQUESTS_PER_PRINCIPAL", "config.limits.requestsPerPrincipal", Kind::Number, Some("64"), false, "Requests that a principal may have open at once.";
    "PIDQ_FIRST_BYTE_TIME", "config.limits.firstByteTime", Kind::Duration, Some("5s"), false, "How long a connection may say nothing at first.";
    "PIDQ_HEAD_TIME", "config.limits.headTime", Kind::Duration, Some("10s"), false, "How long a head may take, and a connection be idle.";
    "PIDQ_BODY_TIME", "config.limits.bodyTime", Kind::Duration, Some("60s"), false, "How long a small body may take.";
    "PIDQ_BODY_IDLE", "config.limits.bodyIdle", Kind::Duration, Some("30s"), false, "How long a body may say nothing in its middle.";
    "PIDQ_BODY_RATE", "config.limits.bodyRate", Kind::Size, Some("1KiB"), false, "Bytes a second that a body has to have after five seconds.";
    "PIDQ_WRITE_STALL", "config.limits.writeStall", Kind::Duration, Some("30s"), false, "How long a reader may take nothing of its answer.";
    "PIDQ_DRAIN_WAIT", "config.limits.drainWait", Kind::Duration, Some("5s"), false, "How long /readyz says no before connections are refused.";
    "PIDQ_DRAIN_TIME", "config.limits.drainTime", Kind::Duration, Some("25s"), false, "How long running requests may take at the end.";
];

/// What settings make of the floor: lines, sockets and limits.
pub struct Floor<'a>(pub &'a Settings);

impl Floor<'_> {
    /// Sends log lines where they belong, warnings about settings first.
    pub fn init_log(&self) -> Result<(), SettingError> {
        let level: LevelFilter = self.0.parsed("PIDQ_LOG_LEVEL")?;
        let json = self.0.text("PIDQ_LOG_FORMAT")? == "json";
        init_log(if json { LogFormat::Json } else { LogFormat::Text }, level);
        for warning in self.0.warnings() {
            tracing::warn!("{warning}");
        }
        Ok(())
    }

    /// The limits.
    pub fn limits(&self) -> Result<Limits, SettingError> {
        let settings = self.0;
        Ok(Limits {
            connections: self.some("PIDQ_MAX_CONNECTIONS")?,
            requests: self.some("PIDQ_MAX_REQUESTS")?,
            requests_per_principal: self.some("PIDQ_MAX_REQUESTS_PER_PRINCIPAL")?,
            first_byte: self.time_for("PIDQ_FIRST_BYTE_TIME")?,
            head_time: self.time_for("PIDQ_HEAD_TIME")?,
            body_idle: self.time_for("PIDQ_BODY_IDLE")?,
            body_time: self.time_for("PIDQ_BODY_TIME")?,
            body_rate: settings.size("PIDQ_BODY_RATE")?,
            write_stall: self.time_for("PIDQ_WRITE_STALL")?,
            drain_wait: settings.duration("PIDQ_DRAIN_WAIT")?,
            drain_time: settings.duration("PIDQ_DRAIN_TIME")?,
            ..Limits::default()
        })
    }

    /// A number that is not zero: with none of these nobody would be served.
    fn some(&self, env: &str) -> Result<usize, SettingError> {
        match self.0.parsed(env)? {
            0 => Err(self.0.wrong(env, "at least 1, or nobody would be served")),
            number => Ok(number),
        }
    }

    /// A time that is not zero: without any nobody would be served.
    fn time_for(&self, env: &str) -> Result<Duration, SettingError> {
        match self.0.duration(env)? {
            Duration::ZERO => Err(self.0.wrong(env, "longer than 0, or nobody would be served")),
            time => Ok(time),
        }
    }

    /// The address that clients see, if somebody says it: without a slash at its end.
    pub fn public_url(&self) -> Result<Option<&str>, SettingError> {
        let Some(url) = self.0.optional("PIDQ_PUBLIC_URL")? else { return Ok(None) };
        let url = url.trim_end_matches('/');
        match url.parse::<Uri>() {
            Ok(uri) if is_site(&uri) && !url.contains(['?', '#']) => Ok(Some(url)),
            _ => Err(self.0.wrong("PIDQ_PUBLIC_URL", "a URL such as `https://pidq.example` is needed")),
        }
    }

    /// The host in that address.
    pub fn public_host(&self) -> Result<Option<String>, SettingError> {
        let url = self.public_url()?.and_then(|url| url.parse::<Uri>().ok());
        Ok(url.and_then(|url| url.host().map(str::to_ascii_lowercase)))
    }

    /// Origins as browsers spell them.
    fn origins(&self) -> Result<Vec<String>, SettingError> {
        let origins: Vec<String> = self.0.list("PIDQ_CORS_ORIGINS")?;
        let checked = origins.iter().map(|origin| {
            let spelt = origin.trim_end_matches('/').to_ascii_lowercase();
            let is_origin =
                spelt.parse::<Uri>().is_ok_and(|uri| is_site(&uri) && uri.path() == "/") && !spelt.contains('?');
            let wrong = || format!("`{origin}` is no origin such as `https://plant.example`; name each of them");
            if is_origin { Ok(spelt) } else { Err(self.0.wrong("PIDQ_CORS_ORIGINS", &wrong())) }
        });
        checked.collect()
    }

    /// Gives an app its limits, its rate, its proxies and its origins.
    pub fn furnish<S: Send + Sync + 'static>(&self, app: &mut App<S>) -> Result<(), SettingError> {
        app.limits = self.limits()?;
        app.proxies = self.0.list("PIDQ_TRUSTED_PROXIES")?;
        app.introduction = self.introduction(&app.proxies)?;
        app.origins = self.origins()?;
        let rate: u32 = self.0.parsed("PIDQ_RATE")?;
        app.quota = (rate > 0).then(|| Quota::new("user", rate, Duration::from_secs(60)));
        if !self.0.on("PIDQ_SHOW_VERSION")? {
            app.version = None;
        }
        Ok(())
    }

    /// How accounts give tokens, for a service that clients see at this address.
    pub fn identities(&self, base_url: &str) -> Result<IdentityOptions, SettingError> {
        let settings = self.0;
        Ok(IdentityOptions {
            password_grant: settings.on("PIDQ_PASSWORD_GRANT")?,
            access_life: self.time_for("PIDQ_ACCESS_LIFE")?,
            refresh_idle: self.time_for("PIDQ_REFRESH_IDLE")?,
            login_life: self.time_for("PIDQ_LOGIN_LIFE")?,
            refresh_grace: settings.duration("PIDQ_REFRESH_GRACE")?,
            token_cache: settings.duration("PIDQ_TOKEN_CACHE")?,
            ..IdentityOptions::at(base_url)
        })
    }

    /// Without proxies that are trusted nobody would be asked, and whoever sent a header would be refused.
    fn introduction(&self, proxies: &[Network]) -> Result<Introduction, SettingError> {
        match self.0.on("PIDQ_PROXY_PROTOCOL")? {
            true if proxies.is_empty() => {
                Err(self.0.wrong("PIDQ_PROXY_PROTOCOL", "`PIDQ_TRUSTED_PROXIES` has to say whose headers are believed"))
            }
            true => Ok(Introduction::Proxy),
            false => Ok(Introduction::None),
        }
    }

    /// The sockets: those of the service manager if there are any, else those that are asked for.
    pub fn listeners(&self) -> Result<Vec<Listener>, SettingError> {
        let tls = self.tls()?;
        let wrong = |error: io::Error| self.0.wrong("PIDQ_LISTEN", &error.to_string());
        let mut listeners = Listener::activated(tls.as_ref(), self.0.on("PIDQ_INSECURE_HTTP")?).map_err(wrong)?;
        if listeners.is_empty() {
            let addresses = self.0.list::<Address>("PIDQ_LISTEN")?;
            if addresses.is_empty() {
                return Err(self.0.wrong("PIDQ_LISTEN", "it names no address, so nobody could be served"));
            }
            for Address(address) in addresses {
                let deaf = |error| self.0.wrong("PIDQ_LISTEN", &unusable(address, &error));
                listeners.push(self.listener(address, tls.as_ref()).map_err(deaf)?);
            }
        }
        if self.0.optional("PIDQ_ADMIN_LISTEN")?.is_some() {
            let Address(address) = self.0.parsed("PIDQ_ADMIN_LISTEN")?;
            let admin = Listener::admin(address);
            listeners.push(admin.map_err(|error| self.0.wrong("PIDQ_ADMIN_LISTEN", &unusable(address, &error)))?);
        }
        Ok(listeners)
    }

    fn listener(&self, address: SocketAddr, tls: Option<&Tls>) -> io::Result<Listener> {
        let insecure = self.0.on("PIDQ_INSECURE_HTTP").map_err(io::Error::other)?;
        match tls {
            Some(tls) => Listener::tls(address, tls.clone()),
            None if insecure => Listener::insecure(address),
            None => Listener::plain(address),
        }
    }

    fn tls(&self) -> Result<Option<Tls>, SettingError> {
        let oldest = if self.0.text("PIDQ_TLS_MIN")? == "1.3" { TlsVersion::V1_3 } else { TlsVersion::V1_2 };
        match (self.0.path("PIDQ_TLS_CERT")?, self.0.path("PIDQ_TLS_KEY")?) {
            (None, None) => Ok(None),
            (Some(certificates), Some(key)) => match Tls::open(certificates, key, oldest) {
                Ok(tls) => Ok(Some(tls)),
                Err(error) => Err(self.0.wrong("PIDQ_TLS_CERT", &error.to_string())),
            },
            (Some(_), None) => Err(self.0.wrong("PIDQ_TLS_CERT", "set `PIDQ_TLS_KEY` as well")),
            (None, Some(_)) => Err(self.0.wrong("PIDQ_TLS_KEY", "set `PIDQ_TLS_CERT` as well")),
        }
    }
}

/// Whether a URL names a site, and nobody on it.
fn is_site(uri: &Uri) -> bool {
    let is_plain = |authority: &Authority| !authority.host().is_empty() && !authority.as_str().contains('@');
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some_and(is_plain)
}

/// An address to listen on. Where a text is none, it is told what one looks like.
struct Address(SocketAddr);

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected an address with a port, such as `127.0.0.1:8080`, found `{text}`");
        text.parse().map(Address).map_err(|_| wrong())
    }
}

/// Why nobody can be served at an address.
fn unusable(address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!("another process listens on {address}; give another address"),
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
    fn every_default_is_a_value_and_is_what_the_code_has() {
        let limits = Floor(&settings(&[])).limits().expect("defaults are good");
        assert_eq!(format!("{limits:?}"), format!("{:?}", Limits::default()));
        let (url, settings) = ("https://pidq.example", settings(&[]));
        let identities = Floor(&settings).identities(url).expect("defaults are good");
        assert_eq!(format!("{identities:?}"), format!("{:?}", IdentityOptions::at(url)));
    }

    #[test]
    fn names_and_paths_are_there_once() {
        let mut names: Vec<_> = COMMON.iter().flat_map(|row| [row.env, row.chart]).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn what_would_serve_nobody_ends_the_start() {
        for name in ["PIDQ_MAX_CONNECTIONS", "PIDQ_MAX_REQUESTS", "PIDQ_MAX_REQUESTS_PER_PRINCIPAL", "PIDQ_HEAD_TIME"] {
            let refused = Floor(&settings(&[(name, "0")])).limits().expect_err("nobody is served");
            assert!(refused.to_string().contains(&format!("`{name}`")), "{refused}");
        }
        for name in ["PIDQ_ACCESS_LIFE", "PIDQ_REFRESH_IDLE", "PIDQ_LOGIN_LIFE"] {
            let refused = Floor(&settings(&[(name, "0s")])).identities("x").expect_err("no token lives");
            assert!(refused.to_string().contains(&format!("`{name}`")), "{refused}");
        }
        let most = settings(&[("PIDQ_MAX_REQUESTS", "18446744073709551615")]);
        let mut app = App::new("test", "0", (), &[]);
        Floor(&most).furnish(&mut app).expect("as many as can be");
        app.build();
        assert!(
            Floor(&settings(&[("PIDQ_LISTEN", ",")]))
                .listeners()
                .is_err_and(|error| error.to_string().contains("`PIDQ_LISTEN`"))
        );
    }

    #[test]
    fn addresses_of_sites_are_checked() {
        let public =
            |url: &str| Floor(&settings(&[("PIDQ_PUBLIC_URL", url)])).public_url().ok().flatten().map(str::to_owned);
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
            Floor(&settings(&[("PIDQ_CORS_ORIGINS", given)])).origins().map_err(|error| error.to_string())
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
    async fn plain_http_beyond_loopback_has_to_be_asked_for() {
        let open = |more: &[(&str, &str)]| {
            let given = [&[("PIDQ_LISTEN", "0.0.0.0:0"), ("PIDQ_ADMIN_LISTEN", "")][..], more].concat();
            Floor(&settings(&given)).listeners().map(|listeners| listeners.len()).map_err(|error| error.to_string())
        };
        assert!(open(&[]).is_err_and(|error| error.contains("`PIDQ_LISTEN`") && error.contains("certificate")));
        assert_eq!(open(&[("PIDQ_INSECURE_HTTP", "on")]), Ok(1));
        assert!(open(&[("PIDQ_TLS_CERT", "/x")]).is_err_and(|error| error.contains("`PIDQ_TLS_KEY`")));
    }
}
