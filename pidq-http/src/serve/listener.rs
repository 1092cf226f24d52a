//! Sockets that are listened on, and whether what comes over them may be plain.

use std::io;
use std::net::{SocketAddr, TcpListener};

use listenfd::ListenFd;
use socket2::{Domain, Protocol, Socket, Type};

use crate::site::Door;
use crate::tls::Tls;

/// A socket to listen on.
pub struct Listener {
    pub(super) socket: TcpListener,
    pub(super) tls: Option<Tls>,
    pub(super) door: Door,
}

/// How many connections the kernel keeps for us.
const BACKLOG: i32 = 4096;

impl Listener {
    /// Plain HTTP on loopback. Anywhere else it is an error: use `tls`, or say `insecure`.
    pub fn plain(address: SocketAddr) -> io::Result<Self> {
        only_loopback(address)?;
        Listener::insecure(address)
    }

    /// Plain HTTP on any address: for networks where something else encrypts.
    pub fn insecure(address: SocketAddr) -> io::Result<Self> {
        Ok(Listener { socket: bind(address)?, tls: None, door: Door::Public })
    }

    /// HTTPS.
    pub fn tls(address: SocketAddr, tls: Tls) -> io::Result<Self> {
        Ok(Listener { socket: bind(address)?, tls: Some(tls), door: Door::Public })
    }

    /// `/metrics`, `/livez` and `/readyz` for the administrator: plain, on loopback.
    pub fn admin(address: SocketAddr) -> io::Result<Self> {
        only_loopback(address)?;
        Ok(Listener { socket: bind(address)?, tls: None, door: Door::Admin })
    }

    /// The sockets that a service manager opened for us (`LISTEN_FDS`); none without one.
    /// Restarts refuse no connection then, since the socket outlives the process.
    ///
    /// Beyond loopback each needs TLS, or somebody who says that plain HTTP will do: `insecure`.
    pub fn activated(tls: Option<&Tls>, insecure: bool) -> io::Result<Vec<Self>> {
        let mut given = ListenFd::from_env();
        let mut listeners = Vec::new();
        for index in 0..given.len() {
            let Some(socket) = given.take_tcp_listener(index).map_err(no_socket)? else { continue };
            socket.set_nonblocking(true)?;
            if tls.is_none() && !insecure {
                only_loopback(socket.local_addr()?)?;
            }
            listeners.push(Listener { socket, tls: tls.cloned(), door: Door::Public });
        }
        Ok(listeners)
    }

    /// Whether it is for everybody, and not for the administrator alone.
    pub fn is_public(&self) -> bool {
        self.door == Door::Public
    }

    /// The first address of some listeners that other machines reach, also over the sockets of a service manager.
    ///
    /// # Errors
    /// If a socket does not say where it is.
    pub fn beyond_loopback(listeners: &[Listener]) -> io::Result<Option<SocketAddr>> {
        for listener in listeners.iter().filter(|listener| listener.is_public()) {
            let address = listener.address()?;
            if !address.ip().to_canonical().is_loopback() {
                return Ok(Some(address));
            }
        }
        Ok(None)
    }

    /// The address it is bound to: the port when 0 was asked for.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

fn no_socket(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("a socket of the service manager (`LISTEN_FDS`) cannot be used: {error}"))
}

fn only_loopback(address: SocketAddr) -> io::Result<()> {
    if address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    let advice = format!("{address} is not loopback: plain HTTP would show tokens to the network; use a certificate");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, advice))
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
