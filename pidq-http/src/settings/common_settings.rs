//! Conversion of the common settings to limits, sockets and options.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::Uri;

use super::common::{
    ACCESS_TOKEN_TTL, ADMIN_LISTEN, BODY_IDLE_TIMEOUT, BODY_RATE, BODY_TIMEOUT, CONNECTION_LIMIT, CORS_ORIGINS,
    FIRST_BYTE_TIMEOUT, HEAD_TIMEOUT, INSECURE_HTTP, LISTEN, LOG_FORMAT, LOG_LEVEL, LOGIN_TTL, PASSWORD_GRANT,
    PROXY_PROTOCOL, PUBLIC_URL, RATE_LIMIT, REFRESH_GRACE, REFRESH_TOKEN_IDLE_TTL, REQUEST_LIMIT,
    REQUESTS_PER_CALLER_LIMIT, SHOW_VERSION, SHUTDOWN_DELAY, SHUTDOWN_GRACE, TLS_CERT, TLS_KEY, TLS_MIN,
    TOKEN_CACHE_TTL, TRACES_CA, TRACES_ENDPOINT, TRACES_HEADERS, TRACES_RATIO, TRACES_SERVICE_NAME, TRUSTED_PROXIES,
    WRITE_TIMEOUT,
};
use super::error::SettingError;
use super::loaded::Settings;
use super::setting::AnySetting;
use crate::auth::IdentityOptions;
use crate::limits::Limits;
use crate::message::head::is_loopback_name;
use crate::message::proxies::Network;
use crate::otlp::{self, CollectorOptions};
use crate::process::log::init_log;
use crate::serve::Listener;
use crate::service::rate_limit::RateLimiter;
use crate::service::{App, ProxyProtocol};
use crate::tls::Tls;
use crate::trace::Tracer;

/// Typed access to the common settings.
pub struct CommonSettings<'a>(pub &'a Settings);

impl CommonSettings<'_> {
    /// Initializes the log and logs the warnings about settings.
    pub fn init_log(&self) -> Result<(), SettingError> {
        init_log(self.0.get(&LOG_FORMAT)?, self.0.get(&LOG_LEVEL)?);
        for warning in self.0.warnings() {
            tracing::warn!("{warning}");
        }
        Ok(())
    }

    /// Returns whether log lines are text, for a person to read.
    pub fn logs_text(&self) -> Result<bool, SettingError> {
        Ok(self.0.get(&LOG_FORMAT)?.is_text())
    }

    /// Returns the limits.
    pub fn limits(&self) -> Result<Limits, SettingError> {
        let settings = self.0;
        Ok(Limits {
            connection_limit: settings.get(&CONNECTION_LIMIT)?.get(),
            request_limit: settings.get(&REQUEST_LIMIT)?.get(),
            requests_per_principal_limit: settings.get(&REQUESTS_PER_CALLER_LIMIT)?.get(),
            first_byte_timeout: settings.get(&FIRST_BYTE_TIMEOUT)?,
            head_timeout: settings.get(&HEAD_TIMEOUT)?,
            body_idle_timeout: settings.get(&BODY_IDLE_TIMEOUT)?,
            body_timeout: settings.get(&BODY_TIMEOUT)?,
            body_rate: settings.get(&BODY_RATE)?,
            write_timeout: settings.get(&WRITE_TIMEOUT)?,
            shutdown_delay: settings.get(&SHUTDOWN_DELAY)?,
            shutdown_grace: settings.get(&SHUTDOWN_GRACE)?,
            ..Limits::default()
        })
    }

    /// Creates the tracer of a service with this name and version, if a collector is configured. Requires a tokio runtime.
    pub fn tracer(&self, name: &str, version: &'static str) -> Result<Tracer, SettingError> {
        let settings = self.0;
        let Some(endpoint) = settings.get(&TRACES_ENDPOINT)? else { return Ok(Tracer::default()) };
        let certificates = settings.get(&TRACES_CA)?.map(std::fs::read_to_string).transpose();
        let options = CollectorOptions {
            endpoint,
            headers: settings.get(&TRACES_HEADERS)?.unwrap_or_default(),
            root_certificates: certificates.map_err(|error| settings.invalid(&TRACES_CA, &error.to_string()))?,
            ratio: settings.get(&TRACES_RATIO)?,
            service_name: settings.get(&TRACES_SERVICE_NAME)?.unwrap_or_else(|| name.to_owned()),
            service_version: version,
        };
        otlp::tracer(options).map_err(|reason| settings.invalid(&TRACES_ENDPOINT, &reason))
    }

    /// Returns the public URL, if set, without a trailing slash.
    pub fn public_url(&self) -> Result<Option<String>, SettingError> {
        self.0.get(&PUBLIC_URL)
    }

    /// Returns the host of the public URL.
    pub fn public_host(&self) -> Result<Option<String>, SettingError> {
        let url = self.public_url()?.and_then(|url| url.parse::<Uri>().ok());
        Ok(url.and_then(|url| url.host().map(str::to_ascii_lowercase)))
    }

    /// Returns the reason why clients on other machines reach a service that listens on loopback only, if a setting
    /// says so: a proxy passes their requests on.
    pub fn reason_of_remote_clients(&self) -> Result<Option<String>, SettingError> {
        if !self.0.get(&TRUSTED_PROXIES)?.is_empty() {
            return Ok(Some(format!("`{}` is set", TRUSTED_PROXIES.env())));
        }
        let host = self.public_host()?.filter(|host| !is_loopback_name(host.trim_matches(['[', ']'])));
        Ok(host.map(|host| format!("the host of `{}` is {host}", PUBLIC_URL.env())))
    }

    /// Applies the limits, the rate limit, the proxies and the CORS origins to an app.
    pub fn apply_to<S: Send + Sync + 'static>(&self, app: &mut App<S>) -> Result<(), SettingError> {
        app.limits = self.limits()?;
        app.proxies = self.0.get(&TRUSTED_PROXIES)?;
        app.proxy_protocol = self.proxy_protocol(&app.proxies)?;
        app.origins = self.0.get(&CORS_ORIGINS)?;
        let rate = self.0.get(&RATE_LIMIT)?;
        app.rate_limit = (rate > 0).then(|| RateLimiter::new("user", rate, Duration::from_secs(60)));
        if !self.0.get(&SHOW_VERSION)? {
            app.version = None;
        }
        Ok(())
    }

    /// Returns the account and token options of a service with this base URL.
    pub fn identity_options(&self, base_url: &str) -> Result<IdentityOptions, SettingError> {
        let settings = self.0;
        Ok(IdentityOptions {
            password_grant: settings.get(&PASSWORD_GRANT)?,
            access_token_ttl: settings.get(&ACCESS_TOKEN_TTL)?,
            refresh_token_idle_ttl: settings.get(&REFRESH_TOKEN_IDLE_TTL)?,
            login_ttl: settings.get(&LOGIN_TTL)?,
            refresh_grace: settings.get(&REFRESH_GRACE)?,
            token_cache_ttl: settings.get(&TOKEN_CACHE_TTL)?,
            ..IdentityOptions::at(base_url)
        })
    }

    /// Returns the PROXY protocol mode, which requires trusted proxies.
    fn proxy_protocol(&self, proxies: &[Network]) -> Result<ProxyProtocol, SettingError> {
        match self.0.get(&PROXY_PROTOCOL)? {
            true if proxies.is_empty() => {
                let reason = format!("set `{}` as well", TRUSTED_PROXIES.env());
                Err(self.0.invalid(&PROXY_PROTOCOL, &reason))
            }
            true => Ok(ProxyProtocol::Proxy),
            false => Ok(ProxyProtocol::None),
        }
    }

    /// Reserves the listeners: the sockets of the service manager if there are any, else the configured addresses.
    /// Connections are refused until [`Listener::listen`] or [`serve`](crate::serve) is called.
    pub fn listeners(&self) -> Result<Vec<Listener>, SettingError> {
        let (tls, insecure) = (self.tls()?, self.0.get(&INSECURE_HTTP)?);
        let wrong = |error: io::Error| self.0.invalid(&LISTEN, &error.to_string());
        let mut listeners = Listener::activated(tls.as_ref(), insecure).map_err(wrong)?;
        if listeners.is_empty() {
            let addresses = self.0.get(&LISTEN)?;
            if addresses.is_empty() {
                return Err(self.0.invalid(&LISTEN, "expected at least one address"));
            }
            listeners = self.listeners_at(&LISTEN, &addresses)?;
        }
        listeners.extend(self.admin_listener()?);
        Ok(listeners)
    }

    /// Reserves listeners on the addresses of another setting, with the certificate of the common settings, if there is
    /// one.
    pub fn listeners_at(&self, row: &dyn AnySetting, addresses: &[SocketAddr]) -> Result<Vec<Listener>, SettingError> {
        let (tls, insecure) = (self.tls()?, self.0.get(&INSECURE_HTTP)?);
        let open = |address: &SocketAddr| {
            let bind_error = |error| self.0.invalid(row, &listen_error(*address, &error));
            Listener::reserve(*address, tls.clone(), insecure).map_err(bind_error)
        };
        addresses.iter().map(open).collect()
    }

    /// Reserves the admin listener, if it is not turned off.
    pub fn admin_listener(&self) -> Result<Option<Listener>, SettingError> {
        let Some(address) = self.0.get(&ADMIN_LISTEN)? else { return Ok(None) };
        let bind_error = |error| self.0.invalid(&ADMIN_LISTEN, &listen_error(address, &error));
        Listener::reserve_admin(address, self.0.get(&INSECURE_HTTP)?).map(Some).map_err(bind_error)
    }

    fn tls(&self) -> Result<Option<Tls>, SettingError> {
        let both_needed = |set: &dyn AnySetting, unset: &dyn AnySetting| {
            Err(self.0.invalid(set, &format!("set `{}` as well", unset.env())))
        };
        match (self.0.get(&TLS_CERT)?, self.0.get(&TLS_KEY)?) {
            (None, None) => Ok(None),
            (Some(certificates), Some(key)) => match Tls::open(certificates, key, self.0.get(&TLS_MIN)?) {
                Ok(tls) => Ok(Some(tls)),
                Err(error) => Err(self.0.invalid(&TLS_CERT, &error.to_string())),
            },
            (Some(_), None) => both_needed(&TLS_CERT, &TLS_KEY),
            (None, Some(_)) => both_needed(&TLS_KEY, &TLS_CERT),
        }
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
    use crate::settings::COMMON;

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

    fn error(environment: &[(&str, &str)]) -> String {
        let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Settings::read(&[COMMON], [], environment).err().expect("it is invalid").to_string()
    }

    #[test]
    fn unusable_limits_are_rejected() {
        for name in [
            "PIDQ_CONNECTION_LIMIT",
            "PIDQ_REQUEST_LIMIT",
            "PIDQ_REQUESTS_PER_CALLER_LIMIT",
            "PIDQ_HEAD_TIMEOUT",
            "PIDQ_ACCESS_TOKEN_TTL",
            "PIDQ_REFRESH_TOKEN_IDLE_TTL",
            "PIDQ_LOGIN_TTL",
        ] {
            let error = error(&[(name, "0")]);
            assert!(error.contains(&format!("`{name}`")) && error.contains("found `0`"), "{error}");
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
    fn a_proxy_or_a_public_name_means_that_clients_are_remote() {
        let reason = |given: &[(&str, &str)]| {
            CommonSettings(&settings(given)).reason_of_remote_clients().expect("valid settings")
        };
        assert_eq!(reason(&[]), None);
        for local in ["http://localhost:8000", "http://127.0.0.1", "http://[::1]:8000", "https://pidq.localhost"] {
            assert_eq!(reason(&[("PIDQ_PUBLIC_URL", local)]), None, "{local}");
        }
        let named = |given: &[(&str, &str)]| reason(given).unwrap_or_default();
        assert!(named(&[("PIDQ_PUBLIC_URL", "https://Pidq.example")]).contains("PIDQ_PUBLIC_URL` is pidq.example"));
        assert!(named(&[("PIDQ_TRUSTED_PROXIES", "127.0.0.1")]).contains("PIDQ_TRUSTED_PROXIES"));
    }

    #[test]
    fn invalid_urls_and_origins_name_the_setting() {
        assert_eq!(
            error(&[("PIDQ_PUBLIC_URL", "a.example")]),
            "`PIDQ_PUBLIC_URL`, set by the environment variable `PIDQ_PUBLIC_URL`: \
             expected a URL such as `https://pidq.example`"
        );
        let error = error(&[("PIDQ_CORS_ORIGINS", "https://a.example, *")]);
        assert!(error.contains("`PIDQ_CORS_ORIGINS`") && error.ends_with("found `*`"), "{error}");
    }

    #[test]
    fn a_reserved_address_refuses_connections_until_it_listens() {
        let given = settings(&[("PIDQ_LISTEN", "127.0.0.1:0"), ("PIDQ_ADMIN_LISTEN", "")]);
        let listener = CommonSettings(&given).listeners().expect("a free port").remove(0);
        let address = listener.address().expect("it is bound");
        let connect = || std::net::TcpStream::connect(address).map(drop).map_err(|error| error.kind());
        assert_eq!(connect(), Err(io::ErrorKind::ConnectionRefused));
        listener.listen().expect("nothing else listens there");
        assert_eq!(connect(), Ok(()));
        let taken = settings(&[("PIDQ_LISTEN", &address.to_string()), ("PIDQ_ADMIN_LISTEN", "")]);
        let error = CommonSettings(&taken).listeners().err().expect("it is taken");
        assert!(error.to_string().contains("already in use"), "{error}");
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
        let admin = |more: &[(&str, &str)]| {
            let given = [&[("PIDQ_ADMIN_LISTEN", "0.0.0.0:0")][..], more].concat();
            CommonSettings(&settings(&given)).admin_listener().map(|listener| listener.is_some())
        };
        assert!(admin(&[]).is_err_and(|error| error.to_string().contains("`PIDQ_ADMIN_LISTEN`")));
        assert_eq!(admin(&[("PIDQ_INSECURE_HTTP", "on")]).ok(), Some(true));
        assert!(open(&[("PIDQ_TLS_CERT", "/x")]).is_err_and(|error| error.contains("`PIDQ_TLS_KEY`")));
    }
}
