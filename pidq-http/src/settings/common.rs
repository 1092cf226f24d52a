//! Table of the settings shared by both services.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use tracing_subscriber::filter::LevelFilter;

use super::setting_type::{NonZeroDuration, Size};
use super::trace_types::{HeaderLines, Ratio};
use super::url_types::{BaseUrl, Origin};
use crate::message::proxies::Network;
use crate::process::log::LogFormat;
use crate::settings;
use crate::tls::TlsVersion;

settings! {
    /// Common settings. Services read them together with their own.
    pub COMMON {
        pub(super) CONFIG: Option<PathBuf> = ("PIDQ_CONFIG", "config.file", "TOML file with settings.");
        pub LISTEN: Vec<SocketAddr> = ("PIDQ_LISTEN", "config.listen", "Addresses to listen on.") or "127.0.0.1:8080";
        pub ADMIN_LISTEN: Option<SocketAddr> = ("PIDQ_ADMIN_LISTEN", "config.admin.listen", "Address of the metrics and health endpoints, which need no authentication: loopback, or with `PIDQ_INSECURE_HTTP` any. Empty turns them off.") or "127.0.0.1:9464";
        pub(super) INSECURE_HTTP: bool = ("PIDQ_INSECURE_HTTP", "config.insecure", "Allows plain HTTP on addresses other than loopback.") or "off";
        pub(super) PUBLIC_URL: Option<BaseUrl> = ("PIDQ_PUBLIC_URL", "config.publicUrl", "URL of the service as clients see it, without a trailing slash.");
        pub TLS_CERT: Option<PathBuf> = ("PIDQ_TLS_CERT", "config.tls.cert", "Certificate chain, PEM; reloaded on SIGHUP.");
        pub(super) TLS_KEY: Option<PathBuf> = ("PIDQ_TLS_KEY", "config.tls.key", "Private key of the certificate, PEM.");
        pub(super) TLS_MIN: TlsVersion = ("PIDQ_TLS_MIN", "config.tls.min", "Minimum TLS version.") or "1.2";
        pub(super) TRUSTED_PROXIES: Vec<Network> = ("PIDQ_TRUSTED_PROXIES", "config.proxies", "Networks of trusted proxies, whose X-Forwarded-For header is used.");
        pub(super) PROXY_PROTOCOL: bool = ("PIDQ_PROXY_PROTOCOL", "config.proxyProtocol", "Requires a PROXY protocol header, version 1 or 2, on connections from trusted proxies.") or "off";
        pub(super) CORS_ORIGINS: Vec<Origin> = ("PIDQ_CORS_ORIGINS", "config.cors.origins", "Origins allowed to make cross-origin requests.");
        pub(super) LOG_LEVEL: LevelFilter = ("PIDQ_LOG_LEVEL", "config.log.level", "Minimum level of log lines.") or "info";
        pub(super) LOG_FORMAT: LogFormat = ("PIDQ_LOG_FORMAT", "config.log.format", "Format of log lines; `auto` is text if standard error is a terminal, else JSON.") or "auto";
        pub(super) TRACES_ENDPOINT: Option<BaseUrl> = ("PIDQ_TRACES_ENDPOINT", "config.traces.endpoint", "Base URL of an OpenTelemetry collector, to which traces are sent (OTLP over HTTP, protobuf, path `/v1/traces`). Off by default.");
        pub(super) TRACES_HEADERS: Option<HeaderLines> = ("PIDQ_TRACES_HEADERS", "secrets.tracesHeaders", "Headers for the collector, such as `Authorization: Bearer KEY`, one per line.");
        pub(super) TRACES_CA: Option<PathBuf> = ("PIDQ_TRACES_CA", "config.traces.ca", "CA certificates of the collector, PEM, in addition to the public ones.");
        pub(super) TRACES_RATIO: Ratio = ("PIDQ_TRACES_RATIO", "config.traces.ratio", "Share of the traces that begin here and are recorded, from 0 to 1. In other traces, the caller decides by `traceparent`.") or "1";
        pub(super) TRACES_SERVICE_NAME: Option<String> = ("PIDQ_TRACES_SERVICE_NAME", "config.traces.serviceName", "Name of the service in traces; by default `pidq-server`, `pidq-pipeline` or `pidq-dashboard`.");
        pub(super) SHOW_VERSION: bool = ("PIDQ_SHOW_VERSION", "config.showVersion", "Shows the version in `/version` and `/openapi.json`, which need no authentication.") or "on";
        pub RATE_LIMIT: u32 = ("PIDQ_RATE_LIMIT", "config.limits.rate", "Maximum number of requests per minute and caller, or per network if unauthenticated; 0 disables the limit.") or "600";
        pub(super) PASSWORD_GRANT: bool = ("PIDQ_PASSWORD_GRANT", "config.auth.passwordGrant", "Enables the OAuth password grant (discouraged by RFC 9700).") or "on";
        pub(super) ACCESS_TOKEN_TTL: NonZeroDuration = ("PIDQ_ACCESS_TOKEN_TTL", "config.auth.accessTokenTtl", "Lifetime of an access token.") or "1h";
        pub(super) REFRESH_TOKEN_IDLE_TTL: NonZeroDuration = ("PIDQ_REFRESH_TOKEN_IDLE_TTL", "config.auth.refreshTokenIdleTtl", "Lifetime of an unused refresh token.") or "14d";
        pub(super) LOGIN_TTL: NonZeroDuration = ("PIDQ_LOGIN_TTL", "config.auth.loginTtl", "Maximum lifetime of a login, including refreshes.") or "30d";
        pub(super) REFRESH_GRACE: Duration = ("PIDQ_REFRESH_GRACE", "config.auth.refreshGrace", "Time during which a token refresh may be repeated if its response was lost.") or "10s";
        pub(super) TOKEN_CACHE_TTL: Duration = ("PIDQ_TOKEN_CACHE_TTL", "config.auth.tokenCacheTtl", "Time that a verified token is cached; a revocation by another process takes effect after this time at the latest. `0s` checks the database on every request.") or "1s";
        pub(super) CONNECTION_LIMIT: NonZeroUsize = ("PIDQ_CONNECTION_LIMIT", "config.limits.connections", "Maximum number of open connections.") or "10000";
        pub(super) REQUEST_LIMIT: NonZeroUsize = ("PIDQ_REQUEST_LIMIT", "config.limits.requests", "Maximum number of concurrent requests.") or "512";
        pub(super) REQUESTS_PER_CALLER_LIMIT: NonZeroUsize = ("PIDQ_REQUESTS_PER_CALLER_LIMIT", "config.limits.requestsPerCaller", "Maximum number of concurrent requests per caller.") or "64";
        pub(super) FIRST_BYTE_TIMEOUT: NonZeroDuration = ("PIDQ_FIRST_BYTE_TIMEOUT", "config.limits.firstByteTimeout", "Timeout for the first byte of a connection.") or "5s";
        pub(super) HEAD_TIMEOUT: NonZeroDuration = ("PIDQ_HEAD_TIMEOUT", "config.limits.headTimeout", "Timeout for a request head, and idle timeout of a connection.") or "10s";
        pub(super) BODY_TIMEOUT: NonZeroDuration = ("PIDQ_BODY_TIMEOUT", "config.limits.bodyTimeout", "Timeout for a small request body; larger bodies get more time.") or "60s";
        pub(super) BODY_IDLE_TIMEOUT: NonZeroDuration = ("PIDQ_BODY_IDLE_TIMEOUT", "config.limits.bodyIdleTimeout", "Maximum pause within a request body.") or "30s";
        pub(super) BODY_RATE: Size = ("PIDQ_BODY_RATE", "config.limits.bodyRate", "Minimum rate of a request body in bytes per second, after five seconds.") or "1KiB";
        pub(super) WRITE_TIMEOUT: NonZeroDuration = ("PIDQ_WRITE_TIMEOUT", "config.limits.writeTimeout", "Maximum time without write progress on a response.") or "30s";
        pub(super) SHUTDOWN_DELAY: Duration = ("PIDQ_SHUTDOWN_DELAY", "config.limits.shutdownDelay", "Time during which `/readyz` returns 503 before new connections are refused.") or "5s";
        pub(super) SHUTDOWN_GRACE: Duration = ("PIDQ_SHUTDOWN_GRACE", "config.limits.shutdownGrace", "Time for running requests to finish during shutdown.") or "25s";
    }
}
