//! Server limits: timeouts, sizes and counts.

use std::time::Duration;

/// Limits of a server. Every value is valid; zero means none at all.
///
/// hyper sets no default for most of these.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Timeout for the first byte of a connection.
    pub first_byte_timeout: Duration,
    /// Timeout for a request head, and idle timeout of a kept connection.
    pub head_timeout: Duration,
    /// Maximum size of a request head.
    pub head_size: usize,
    /// Maximum number of header fields.
    pub header_limit: usize,
    /// Maximum size of path and query.
    pub url_size: usize,
    /// Time before the minimum rate of a body applies.
    pub body_grace: Duration,
    /// Minimum rate of a body in bytes per second after that.
    pub body_rate: u64,
    /// Maximum pause within a body.
    pub body_idle_timeout: Duration,
    /// Timeout for a whole body. Larger size limits extend it.
    pub body_timeout: Duration,
    /// Maximum size of a JSON body, unless the route has a smaller limit.
    pub json_body_size: u64,
    /// Maximum time without write progress on a response.
    pub write_timeout: Duration,
    /// Maximum number of concurrent TLS handshakes.
    pub handshake_limit: usize,
    /// Timeout for a TLS handshake.
    pub handshake_timeout: Duration,
    /// Maximum number of open connections; also bounded by the file descriptor limit.
    pub connection_limit: usize,
    /// Maximum number of concurrent requests.
    pub request_limit: usize,
    /// Maximum time that a request waits for a slot before it is rejected.
    pub request_queue_timeout: Duration,
    /// Maximum number of concurrent requests per principal.
    pub requests_per_principal_limit: usize,
    /// Maximum number of concurrent streams of an HTTP/2 connection.
    pub stream_limit: u32,
    /// Time that `/readyz` reports 503 before connections are no longer accepted.
    pub shutdown_delay: Duration,
    /// Time for running requests to finish after that.
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            first_byte_timeout: Duration::from_secs(5),
            head_timeout: Duration::from_secs(10),
            head_size: 16 << 10,
            header_limit: 64,
            url_size: 8 << 10,
            body_grace: Duration::from_secs(5),
            body_rate: 1024,
            body_idle_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(60),
            json_body_size: u64::MAX,
            write_timeout: Duration::from_secs(30),
            handshake_limit: 256,
            handshake_timeout: Duration::from_secs(10),
            connection_limit: 10_000,
            request_limit: 512,
            request_queue_timeout: Duration::from_millis(100),
            requests_per_principal_limit: 64,
            stream_limit: 64,
            shutdown_delay: Duration::from_secs(5),
            shutdown_grace: Duration::from_secs(25),
        }
    }
}
