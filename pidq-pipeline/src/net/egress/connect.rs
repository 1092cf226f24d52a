//! Connection to a checked target: to its checked IP addresses, with TLS for the host name of its URL.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{Host, Target};

/// A connection, with or without TLS.
pub type Connection = Box<dyn Stream>;

/// A bidirectional byte stream.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Error of connecting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConnectError {
    /// The connection was refused.
    Refused,
    /// The connection timed out.
    Timeout,
    /// The TLS handshake failed, or the certificate is invalid or not trusted.
    Tls,
}

pub(super) async fn connect(
    tls: &TlsConnector,
    target: &Target,
    timeout_total: Duration,
) -> Result<Connection, ConnectError> {
    let timeout_per_address = timeout_total / target.addresses.len().max(1) as u32;
    let mut last_error = ConnectError::Refused;
    for &address in &target.addresses {
        match timeout(timeout_per_address, connect_to(tls, target, address)).await.unwrap_or(Err(ConnectError::Timeout))
        {
            Ok(connection) => return Ok(connection),
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

async fn connect_to(tls: &TlsConnector, target: &Target, address: IpAddr) -> Result<Connection, ConnectError> {
    let address = SocketAddr::new(address, target.url.port());
    let stream = TcpStream::connect(address).await.map_err(|_| ConnectError::Refused)?;
    // Small writes must not be delayed.
    let _ = stream.set_nodelay(true);
    if !target.url.is_tls() {
        return Ok(Box::new(stream));
    }
    let name = server_name(target.url.host()).ok_or(ConnectError::Tls)?;
    let stream = tls.connect(name, stream).await.map_err(|_| ConnectError::Tls)?;
    Ok(Box::new(stream))
}

fn server_name(host: &Host) -> Option<ServerName<'static>> {
    match host {
        Host::Name(name) => ServerName::try_from(name.clone()).ok(),
        Host::Ip(address) => Some(ServerName::from(*address)),
    }
}
