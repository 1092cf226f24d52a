//! Listening sockets, with or without TLS.

use std::io;
use std::net::SocketAddr;

use listenfd::ListenFd;
use socket2::{Domain, Protocol, Socket, Type};

use crate::message::conn_info::ListenerKind;
use crate::tls::Tls;

/// Listening socket, or one that is bound and will listen.
pub struct Listener {
    pub(super) socket: Socket,
    pub(super) tls: Option<Tls>,
    pub(super) kind: ListenerKind,
}

/// Backlog of the socket.
const BACKLOG: i32 = 4096;

impl Listener {
    /// Binds plain HTTP on loopback. Other addresses are an error: use `tls` or `insecure`.
    pub fn plain(address: SocketAddr) -> io::Result<Self> {
        Listener::reserve(address, None, false)?.listening()
    }

    /// Binds plain HTTP on any address, for networks with encryption elsewhere.
    pub fn insecure(address: SocketAddr) -> io::Result<Self> {
        Listener::reserve(address, None, true)?.listening()
    }

    /// Binds HTTPS.
    pub fn tls(address: SocketAddr, tls: Tls) -> io::Result<Self> {
        Listener::reserve(address, Some(tls), false)?.listening()
    }

    /// Binds the admin listener: `/metrics`, `/livez` and `/readyz`, plain HTTP on loopback.
    pub fn admin(address: SocketAddr) -> io::Result<Self> {
        Listener::reserve_admin(address, false)?.listening()
    }

    /// Binds the admin listener on any address, for networks that only operators can reach.
    pub fn insecure_admin(address: SocketAddr) -> io::Result<Self> {
        Listener::reserve_admin(address, true)?.listening()
    }

    /// Binds an address without listening, so that a mistake in the address is known at once, while connections are
    /// refused until the service can serve them: load balancers try another replica then, instead of waiting for a start
    /// that may fail. Plain HTTP needs loopback or `insecure`.
    pub(crate) fn reserve(address: SocketAddr, tls: Option<Tls>, insecure: bool) -> io::Result<Self> {
        if tls.is_none() && !insecure {
            require_loopback(address)?;
        }
        Ok(Listener { socket: bind(address)?, tls, kind: ListenerKind::Public })
    }

    /// Binds an admin address without listening.
    pub(crate) fn reserve_admin(address: SocketAddr, insecure: bool) -> io::Result<Self> {
        Ok(Listener { kind: ListenerKind::Admin, ..Listener::reserve(address, None, insecure)? })
    }

    /// Listens from now on: connections wait until the service accepts them. [`serve`](crate::serve) does this too.
    ///
    /// # Errors
    ///
    /// Fails if another socket has begun to listen on the address.
    pub fn listen(&self) -> io::Result<()> {
        self.socket.listen(BACKLOG).map_err(|error| {
            let address = self.address().map_or_else(|_| "the address".to_owned(), |address| address.to_string());
            io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
        })
    }

    fn listening(self) -> io::Result<Self> {
        self.listen()?;
        Ok(self)
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
            listeners.push(Listener { socket: socket.into(), tls: tls.cloned(), kind: ListenerKind::Public });
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
        let not_an_address = || io::Error::new(io::ErrorKind::InvalidInput, "the socket has no internet address");
        self.socket.local_addr()?.as_socket().ok_or_else(not_an_address)
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

fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}
