//! Addresses on which this process listens: never reached on behalf of a caller, by none of their addresses.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, PoisonError, RwLock};

use super::ip_class;

/// Listen addresses of this process, shared by its guards. They are known when the listeners are bound.
#[derive(Clone, Debug, Default)]
pub struct Listeners(Arc<RwLock<Vec<SocketAddr>>>);

impl Listeners {
    /// Adds bound addresses.
    pub fn add(&self, addresses: impl IntoIterator<Item = SocketAddr>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).extend(addresses);
    }

    /// Returns whether a connection to an address reaches one of the listeners.
    pub(super) fn include(&self, address: IpAddr, port: u16) -> bool {
        let listeners = self.0.read().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().filter(|listener| listener.port() == port).any(|listener| reaches(address, listener.ip()))
    }
}

/// Returns whether a connection to an address reaches a listener on the same port.
fn reaches(address: IpAddr, listener: IpAddr) -> bool {
    let address = ip_class::with_embedded_ipv4(address);
    ip_class::is_same_host(address, listener) || (listener.to_canonical().is_unspecified() && is_local(address))
}

/// Returns whether an address is one of this machine: only those can be bound. Any port will do.
fn is_local(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listener: &str, rows: &[(&str, bool)]) {
        let listeners = Listeners::default();
        listeners.add([listener.parse().expect("an address")]);
        for (target, expected) in rows {
            let target: SocketAddr = target.parse().expect("an address");
            assert_eq!(listeners.include(target.ip(), target.port()), *expected, "{listener} {target}");
        }
    }

    #[test]
    fn a_listener_is_found_by_all_of_its_addresses() {
        check(
            "127.0.0.1:8000",
            &[
                ("127.0.0.1:8000", true),
                ("127.0.0.1:8001", false),
                ("127.8.8.8:8000", true),
                ("0.0.0.0:8000", true),
                ("[::]:8000", true),
                ("[::1]:8000", true),
                ("[::ffff:127.0.0.1]:8000", true),
                ("[::ffff:0:127.0.0.1]:8000", true),
                ("[64:ff9b::127.0.0.1]:8000", true),
                ("[2002:7f00:1::]:8000", true),
                ("192.0.2.1:8000", false),
            ],
        );
        // Of an address of no interface, nothing is reached; the machine's own are found by their bindings.
        check("0.0.0.0:8000", &[("127.0.0.1:8000", true), ("192.0.2.1:8000", false), ("[::1]:8000", true)]);
        check("[::]:8000", &[("127.0.0.1:8000", true), ("[2001:db8::1]:8000", false)]);
        check(
            "192.0.2.1:8000",
            &[("192.0.2.1:8000", true), ("[::ffff:192.0.2.1]:8000", true), ("127.0.0.1:8000", false)],
        );
    }

    #[test]
    fn a_wildcard_listener_is_found_by_the_address_of_an_interface() {
        let Some(own) = own_address() else {
            println!("skipped: this machine has no address beside loopback");
            return;
        };
        check("0.0.0.0:8000", &[(&SocketAddr::new(own, 8000).to_string(), true)]);
    }

    /// Returns the address from which this machine would reach others. Nothing is sent.
    fn own_address() -> Option<IpAddr> {
        let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
        socket.connect("192.0.2.1:9").ok()?;
        Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_loopback() && !address.is_unspecified())
    }
}
