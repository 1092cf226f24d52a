//! Outgoing connections: egress policy, root certificates, webhook client.

pub mod egress;

pub(crate) mod tls_roots;
pub(crate) mod webhook_client;
