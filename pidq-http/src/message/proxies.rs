//! Trusted proxies: client address from `X-Forwarded-For`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::header::HeaderMap;
use ipnet::{IpNet, Ipv6Net};

/// Network in CIDR notation: `10.0.0.0/8`, or one address.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Network(IpNet);

/// Error of parsing a network.
#[derive(Clone, Debug, Eq, thiserror::Error, PartialEq)]
#[error("expected a network such as `10.0.0.0/8`, found `{0}`")]
pub struct InvalidNetwork(String);

impl Network {
    /// Returns whether the network contains an address. IPv4-mapped IPv6 addresses count as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    /// Returns the first address of the network.
    pub(crate) fn address(&self) -> IpAddr {
        self.0.addr()
    }

    /// Returns the network that rate limits apply to: an IPv4 address, or the /64 of an IPv6 address.
    pub fn for_client(address: IpAddr) -> Self {
        Network(match address.to_canonical() {
            address @ IpAddr::V4(_) => address.into(),
            IpAddr::V6(address) => Ipv6Net::new_assert(address, 64).trunc().into(),
        })
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let one_address = || text.trim().parse::<IpAddr>().map(IpNet::from);
        let network = text.trim().parse().ok().or_else(|| one_address().ok());
        network.map(Network).ok_or_else(|| InvalidNetwork(text.to_owned()))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the client address: the last entry of `X-Forwarded-For` that is not a trusted proxy.
pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut client = peer.to_canonical();
    if !is_trusted(client) {
        return client;
    }
    let values: Vec<&[u8]> = headers.get_all("x-forwarded-for").iter().map(|value| value.as_bytes()).collect();
    for hop in values.iter().rev().flat_map(|value| value.rsplit(|byte| *byte == b',')) {
        if !is_trusted(client) {
            return client;
        }
        let Some(address) = hop_address(hop) else { return client };
        client = address.to_canonical();
    }
    client
}

/// Parses the address of a hop. Some proxies add the port, and brackets around IPv6.
fn hop_address(hop: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(hop).ok()?.trim();
    let in_brackets = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let with_port = || text.parse().ok().map(|socket: SocketAddr| socket.ip());
    in_brackets.unwrap_or(text).parse().ok().or_else(with_port)
}

/// Returns whether the request reached a trusted proxy over TLS.
pub(crate) fn forwarded_over_tls(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> bool {
    let is_trusted = trusted.iter().any(|network| network.contains(peer));
    is_trusted && headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https")
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn client_of(peer: &str, forwarded: &[&'static str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
        }
        let trusted = ["10.0.0.0/8", "::1"].map(|text| text.parse().expect("a network"));
        client(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn only_trusted_proxies_set_the_client_address() {
        assert_eq!(client_of("192.0.2.1", &["198.51.100.7"]), "192.0.2.1", "an untrusted client may claim anything");
        assert_eq!(client_of("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(client_of("10.0.0.1", &["1.1.1.1, 198.51.100.7, 10.2.2.2"]), "198.51.100.7");
        assert_eq!(client_of("10.0.0.1", &["1.1.1.1", "198.51.100.7"]), "198.51.100.7");
        assert_eq!(client_of("10.0.0.1", &["nonsense"]), "10.0.0.1");
        assert_eq!(client_of("::ffff:10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(client_of("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client_of("10.0.0.1", &["\u{e4}, 198.51.100.7"]), "198.51.100.7", "entries before it do not matter");
    }

    #[test]
    fn a_hop_may_have_a_port() {
        assert_eq!(client_of("10.0.0.1", &["198.51.100.7:52011"]), "198.51.100.7");
        assert_eq!(client_of("10.0.0.1", &["[2001:db8::7]:52011, 10.0.0.2:443"]), "2001:db8::7");
        assert_eq!(client_of("10.0.0.1", &["[2001:db8::7]"]), "2001:db8::7");
        for nonsense in ["198.51.100.7:x", "[198.51.100.7", "2001:db8::7]", "unknown", "", ":80"] {
            assert_eq!(client_of("10.0.0.1", &[nonsense]), "10.0.0.1", "{nonsense}");
        }
    }

    #[test]
    fn networks_are_read_strictly() {
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "a/8", "10.0.0.0/-1"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
        assert_eq!("192.0.2.7".parse::<Network>().map(|network| network.to_string()), Ok("192.0.2.7/32".to_owned()));
        let all: Network = "0.0.0.0/0".parse().expect("a network");
        assert!(all.contains(IpAddr::from([1, 2, 3, 4])));
        assert_eq!(
            Network::for_client("2001:db8:1:2:3::4".parse().expect("an address")).to_string(),
            "2001:db8:1:2::/64"
        );
    }
}
