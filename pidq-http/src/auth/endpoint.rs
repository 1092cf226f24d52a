//! OAuth endpoints for issuing, revoking and introspecting tokens: RFC 6749, 7009 and 7662.
//!
//! Requests and replies are plain data, independent of HTTP types.

mod basic_auth;
mod client;
mod form;
mod introspect;
mod metadata;
mod reply;
mod revoke;
mod token;

use std::net::IpAddr;

use super::Timestamp;

pub use introspect::{ActiveToken, TokenMetadata, introspection_endpoint};
pub use metadata::{
    AuthorizationServer, ProtectedResource, authorization_server_metadata, protected_resource_metadata,
};
pub use reply::OAuthReply;
pub use revoke::{EmptyObject, revocation_endpoint};
pub use token::{TokenResponse, token_endpoint};

/// Request to an OAuth endpoint.
#[derive(Clone, Copy)]
pub struct OAuthRequest<'a> {
    /// `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// All `Authorization` headers.
    pub authorization: &'a [&'a str],
    /// Query string.
    pub query: Option<&'a str>,
    /// Body. The reader may stop after [`MAX_BODY_SIZE`] and one byte.
    pub body: &'a [u8],
    /// Client address, as reported by trusted proxies.
    pub address: IpAddr,
    /// Time of the request.
    pub now: Timestamp,
}

/// Maximum body size.
pub const MAX_BODY_SIZE: usize = 16 * 1024;
