//! Tests of a real server on 127.0.0.1.

#[cfg(feature = "otel")]
#[path = "../collector.rs"]
mod collector;
mod descriptors;
mod framing;
mod fuzz_corpus;
mod http2;
mod logs;
mod metrics_and_limits;
mod proxy_protocol;
mod responses;
mod restart;
mod server;
mod shutdown;
mod slow_clients;
mod tls;
#[cfg(feature = "otel")]
mod traces;
mod vectored;
