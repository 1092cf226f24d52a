//! How long, how much and how many: the figures that keep a server alive.

use std::time::Duration;

/// The limits of a server. Every value is valid; zero means none at all.
///
/// hyper has none of these by default, or none that a server on the net should have.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a connection may say nothing at first.
    pub first_byte: Duration,
    /// How long a head may take, and how long a kept connection may be idle.
    pub head_time: Duration,
    /// The most bytes of a head.
    pub head_size: usize,
    /// The most header fields.
    pub headers: usize,
    /// The most bytes of path and query.
    pub url: usize,
    /// How long a body may be as slow as it likes.
    pub body_grace: Duration,
    /// The bytes a second that a body has to have after that.
    pub body_rate: u64,
    /// How long a body may say nothing, however much of it there is.
    pub body_idle: Duration,
    /// How long a body may take in all. Larger limits on bytes extend it.
    pub body_time: Duration,
    /// The most bytes of a JSON body, where the row of the endpoint has no smaller figure.
    pub json_body: u64,
    /// How long a reader may take no byte of its answer.
    pub write_stall: Duration,
    /// How many TLS handshakes run at once.
    pub handshakes: usize,
    /// How long a TLS handshake may take.
    pub handshake_time: Duration,
    /// How many connections are open at once; never more than the descriptors allow.
    pub connections: usize,
    /// How many requests are worked on at once.
    pub requests: usize,
    /// How long a request waits for its turn before it is sent away.
    pub request_wait: Duration,
    /// How many requests a principal may have open at once.
    pub requests_per_principal: usize,
    /// How many streams an HTTP/2 connection has.
    pub streams: u32,
    /// How long `/readyz` says no before connections are no longer accepted.
    pub drain_wait: Duration,
    /// How long running requests may take after that.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            first_byte: Duration::from_secs(5),
            head_time: Duration::from_secs(10),
            head_size: 16 << 10,
            headers: 64,
            url: 8 << 10,
            body_grace: Duration::from_secs(5),
            body_rate: 1024,
            body_idle: Duration::from_secs(30),
            body_time: Duration::from_secs(60),
            json_body: u64::MAX,
            write_stall: Duration::from_secs(30),
            handshakes: 256,
            handshake_time: Duration::from_secs(10),
            connections: 10_000,
            requests: 512,
            request_wait: Duration::from_millis(100),
            requests_per_principal: 64,
            streams: 64,
            drain_wait: Duration::from_secs(5),
            drain_time: Duration::from_secs(25),
        }
    }
}
