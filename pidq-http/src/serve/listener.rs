//! Listening sockets, with or without TLS.

use std::io;
use std::net::{SocketAddr, TcpListener};

use listenfd::ListenFd;
use socket2::{Domain, Protocol, Socket, Type};

use crate::message::conn_info::ListenerKind;
use crate::tls::Tls;

/// Listening socket.
pub struct Listener {
    pub(super) socket: TcpListener,
    pub(super) tls: Option<Tls>,
    pub(super) kind: ListenerKind,
}

/// Backlog of the socket.
const BACKLOG: i32 = 4096;

impl Listener {
    /// Binds plain HTTP on loopback. Other addresses are an error: use `tls` or `insecure`.
    pub fn plain(address: SocketAddr) -> io::Result<Self> {
        require_loopback(address)?;
        Listener::insecure(address)
    }

    /// Binds plain HTTP on any address, for networks with encryption elsewhere.
    pub fn insecure(address: SocketAddr) -> io::Result<Self> {
        Ok(Listener { socket: bind(address)?, tls: None, kind: ListenerKind::Public })
    }

    /// Binds HTTPS.
    pub fn tls(address: SocketAddr, tls: Tls) -> io::Result<Self> {
        Ok(Listener { socket: bind(address)?, tls: Some(tls), kind: ListenerKind::Public })
    }

    /// Binds the admin listener: `/metrics`, `/livez` and `/readyz`, plain HTTP on loopback.
    pub fn admin(address: SocketAddr) -> io::Result<Self> {
        require_loopback(address)?;
        Listener::insecure_admin(address)
    }

    /// Binds the admin listener on any address, for networks that only operators can reach.
    pub fn insecure_admin(address: SocketAddr) -> io::Result<Self> {
        Ok(Listener { socket: bind(address)?, tls: None, kind: ListenerKind::Admin })
    }

    /// Returns the sockets passed by a service manager (`LISTEN_FDS`); none without one. Since the socket outlives
    /// the process, a restart refuses no connection.
    ///
    /// Sockets on other addresses than loopback need TLS or `insecure`.
    pub fn activated(tls: Option<&Tls>, insecure: bool) -> io::Result<Vec<Self>> {
        let mut listen_fds = ListenFd::from_env();
        let mut listeners = Vec::new();
        for index in 0..listen_fds.len() {
            let Some(socket) = listen_fds.take_tcp_listener(index).map_err(activation_error)? else { continue };
            socket.set_nonblocking(true)?;
            if tls.is_none() && !insecure {
                require_loopback(socket.local_addr()?)?;
            }
            listeners.push(Listener { socket, tls: tls.cloned(), kind: ListenerKind::Public });
        }
        Ok(listeners)
    }

    /// Returns whether the listener serves the public routes.
    pub fn is_public(&self) -> bool {
        self.kind == ListenerKind::Public
    }

    /// Returns the first public listener address that is not loopback.
    ///
    /// # Errors
    ///
    /// Fails if a socket has no local address.
    pub fn first_non_loopback(listeners: &[Listener]) -> io::Result<Option<SocketAddr>> {
        for listener in listeners.iter().filter(|listener| listener.is_public()) {
            let address = listener.address()?;
            if !address.ip().to_canonical().is_loopback() {
                return Ok(Some(address));
            }
        }
        Ok(None)
    }

    /// Returns the bound address, with the actual port if 0 was requested.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

fn activation_error(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("a socket of the service manager (`LISTEN_FDS`) cannot be used: {error}"))
}

fn require_loopback(address: SocketAddr) -> io::Result<()> {
    if address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    let hint = format!("{address} is not loopback: plain HTTP would expose tokens on the network; use a certificate");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, hint))
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
