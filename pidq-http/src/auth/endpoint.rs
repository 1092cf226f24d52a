//! The OAuth endpoints: tokens given, taken back and looked at. RFC 6749, 7009 and 7662.
//!
//! Each takes a request as plain data and gives a reply as plain data, and each is a story of named steps in its file.

mod authorization;
mod client;
mod form;
mod introspect;
mod issue;
mod metadata;
mod reply;
mod revoke;

use std::net::IpAddr;

use super::Moment;

pub use introspect::introspection_endpoint;
pub use issue::token_endpoint;
pub use metadata::{authorization_server_metadata, protected_resource_metadata};
pub use reply::OAuthReply;
pub use revoke::revocation_endpoint;

/// A request to one of the endpoints.
#[derive(Clone, Copy)]
pub struct OAuthRequest<'a> {
    /// The header `Content-Type`.
    pub content_type: Option<&'a str>,
    /// All headers `Authorization`.
    pub authorization: &'a [&'a str],
    /// What follows the `?` in the URL.
    pub query: Option<&'a str>,
    /// The body. Whoever reads it may stop at [`LARGEST_BODY`] and one byte.
    pub body: &'a [u8],
    /// Where the request comes from: behind a trusted proxy, the address that the proxy names.
    pub address: IpAddr,
    /// When it came.
    pub now: Moment,
}

/// A body with more bytes is refused.
pub const LARGEST_BODY: usize = 16 * 1024;
