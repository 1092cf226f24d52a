//! Resolution of host names, as a trait so that tests can replace DNS.

use std::io;
use std::net::IpAddr;

use pidq_http::Fut;

/// Resolves host names.
pub trait Resolver: Send + Sync {
    /// Returns all addresses of a name. Called once per request; the checked result is used for the connection.
    fn resolve<'a>(&'a self, name: &'a str) -> Fut<'a, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Fut<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect()) })
    }
}
