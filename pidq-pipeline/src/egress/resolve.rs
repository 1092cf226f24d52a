//! Names → addresses. A trait, so that a test can be the name server.

use std::io;
use std::net::IpAddr;

use pidq_http::Fut;

/// Looks names up.
pub trait Resolver: Send + Sync {
    /// All addresses of a name. Asked once a request; the answer is checked and then used as it is.
    fn resolve<'a>(&'a self, name: &'a str) -> Fut<'a, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the system.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Fut<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|place| place.ip()).collect()) })
    }
}
