//! From a checked target to a connection: to the checked address, with the name that was asked for.

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

/// What goes both ways.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoConnection {
    /// Nobody took it.
    Refused,
    /// Nobody answered in time.
    Late,
    /// Both sides did not agree on TLS, or the certificate is not for this name or by nobody we believe.
    Tls,
}

pub(super) async fn connect(
    tls: &TlsConnector,
    target: &Target,
    patience: Duration,
) -> Result<Connection, NoConnection> {
    let share = patience / target.places.len().max(1) as u32;
    let mut failure = NoConnection::Refused;
    for &place in &target.places {
        match timeout(share, to(tls, target, place)).await.unwrap_or(Err(NoConnection::Late)) {
            Ok(connection) => return Ok(connection),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

async fn to(tls: &TlsConnector, target: &Target, place: IpAddr) -> Result<Connection, NoConnection> {
    let place = SocketAddr::new(place, target.address.port());
    let stream = TcpStream::connect(place).await.map_err(|_| NoConnection::Refused)?;
    // Questions and small pieces of answers should not wait for each other.
    let _ = stream.set_nodelay(true);
    if !target.address.is_tls() {
        return Ok(Box::new(stream));
    }
    let name = server_name(target.address.host()).ok_or(NoConnection::Tls)?;
    let stream = tls.connect(name, stream).await.map_err(|_| NoConnection::Tls)?;
    Ok(Box::new(stream))
}

fn server_name(host: &Host) -> Option<ServerName<'static>> {
    match host {
        Host::Name(name) => ServerName::try_from(name.clone()).ok(),
        Host::Ip(address) => Some(ServerName::from(*address)),
    }
}
