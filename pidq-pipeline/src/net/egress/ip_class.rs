//! Classification of IP addresses: public, private, loopback, reserved or never permitted; one row per network.
//!
//! Sources: the IANA registries of special-purpose addresses (RFC 6890 and later additions) and the metadata addresses
//! of cloud providers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

use super::Level;

/// Class of an IP address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IpClass {
    /// Public internet.
    Public,
    /// Private network.
    Private,
    /// Loopback.
    Loopback,
    /// Reserved: permitted only by an allow list.
    Reserved,
    /// Never permitted; the string describes it.
    Never(&'static str),
}

const fn v4([a, b, c, d]: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}

const METADATA: IpClass = IpClass::Never("a metadata service");
const LINK_LOCAL: IpClass = IpClass::Never("a link-local address");
const THIS_NETWORK: IpClass = IpClass::Never("an unspecified address");
const MULTICAST: IpClass = IpClass::Never("a multicast address");

/// IPv4 networks; the first match counts.
const V4: &[(Ipv4Net, IpClass)] = &[
    (v4([100, 100, 100, 200], 32), METADATA), // Alibaba
    (v4([168, 63, 129, 16], 32), METADATA),   // Azure
    (v4([192, 0, 0, 192], 32), METADATA),     // Oracle
    (v4([169, 254, 0, 0], 16), LINK_LOCAL),
    (v4([0, 0, 0, 0], 8), THIS_NETWORK),
    (v4([224, 0, 0, 0], 4), MULTICAST),
    (v4([255, 255, 255, 255], 32), MULTICAST),
    (v4([127, 0, 0, 0], 8), IpClass::Loopback),
    (v4([10, 0, 0, 0], 8), IpClass::Private),
    (v4([172, 16, 0, 0], 12), IpClass::Private),
    (v4([192, 168, 0, 0], 16), IpClass::Private),
    (v4([100, 64, 0, 0], 10), IpClass::Reserved), // shared address space of a provider
    (v4([192, 0, 0, 0], 24), IpClass::Reserved),
    (v4([192, 0, 2, 0], 24), IpClass::Reserved), // documentation, and the next two as well
    (v4([198, 51, 100, 0], 24), IpClass::Reserved),
    (v4([203, 0, 113, 0], 24), IpClass::Reserved),
    (v4([192, 88, 99, 0], 24), IpClass::Reserved), // relays of 6to4
    (v4([198, 18, 0, 0], 15), IpClass::Reserved),  // measurements
    (v4([240, 0, 0, 0], 4), IpClass::Reserved),
];

/// IPv6 networks; the first match counts. Networks with embedded IPv4 addresses are checked before.
const V6: &[(Ipv6Net, IpClass)] = &[
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128), METADATA), // Amazon
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), METADATA),  // Google
    (v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42], 128), METADATA),   // Scaleway
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), THIS_NETWORK),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), IpClass::Loopback),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), LINK_LOCAL),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), MULTICAST),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), IpClass::Private),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), IpClass::Reserved), // documentation
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), IpClass::Reserved),     // Teredo and other protocols
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), IpClass::Reserved),     // documentation
    (v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3), IpClass::Public),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 0), IpClass::Reserved), // not allocated
];

/// IPv6 networks with embedded IPv4 addresses, and the bit offset of these.
const EMBEDDED_IPV4: &[(Ipv6Net, u32)] = &[
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), 96),    // mapped
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), 96),    // translated
    (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), 96), // NAT64
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), 16),    // 6to4
];

/// Host names of cloud metadata services.
const METADATA_NAMES: &[&str] = &[
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
    "metadata.packet.net",
    "metadata.oraclecloud.com",
    "instance-data",
    "instance-data.ec2.internal",
];

impl IpClass {
    /// Classifies an address; an IPv6 address with an embedded IPv4 address has the class of the latter.
    pub fn classify(address: IpAddr) -> IpClass {
        match address {
            IpAddr::V4(address) => classify_v4(address),
            IpAddr::V6(address) => classify_v6(address),
        }
    }

    /// Returns the lowest level that permits the class; `None` if no level does.
    pub fn level(self) -> Option<Level> {
        match self {
            IpClass::Public => Some(Level::Public),
            IpClass::Private => Some(Level::Private),
            IpClass::Loopback => Some(Level::Local),
            IpClass::Reserved | IpClass::Never(_) => None,
        }
    }
}

fn classify_v4(address: Ipv4Addr) -> IpClass {
    V4.iter().find(|(net, _)| net.contains(&address)).map_or(IpClass::Public, |row| row.1)
}

fn classify_v6(address: Ipv6Addr) -> IpClass {
    match (embedded_ipv4(address), classify_v6_prefix(address)) {
        (_, class @ (IpClass::Never(_) | IpClass::Loopback)) => class,
        (Some((inner, EmbeddedIn::Prefix)), _) => classify_v4(inner),
        // These bits may be chosen freely within a private network: the stricter class counts.
        (Some((inner, EmbeddedIn::Interface)), class) => stricter(classify_v4(inner), class),
        (None, class) => class,
    }
}

enum EmbeddedIn {
    Prefix,
    Interface,
}

fn classify_v6_prefix(address: Ipv6Addr) -> IpClass {
    V6.iter().find(|(net, _)| net.contains(&address)).map_or(IpClass::Reserved, |row| row.1)
}

fn embedded_ipv4(address: Ipv6Addr) -> Option<(Ipv4Addr, EmbeddedIn)> {
    let ipv4_at = |bit: u32| Ipv4Addr::from_bits((address.to_bits() >> (96 - bit)) as u32);
    if let Some(row) = EMBEDDED_IPV4.iter().find(|(net, _)| net.contains(&address)) {
        return Some((ipv4_at(row.1), EmbeddedIn::Prefix));
    }
    // ISATAP: `…:0:5efe:a.b.c.d`, and its form for globally unique addresses.
    let [.., high, low, _, _] = address.segments();
    let is_isatap = low == 0x5efe && (high == 0 || high == 0x200);
    is_isatap.then(|| (ipv4_at(96), EmbeddedIn::Interface))
}

/// Returns the IPv4 address that an IPv6 address embeds, or the address itself.
pub(super) fn with_embedded_ipv4(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => embedded_ipv4(v6).map_or(address, |(inner, _)| IpAddr::V4(inner)),
        IpAddr::V4(_) => address,
    }
}

fn stricter(one: IpClass, other: IpClass) -> IpClass {
    let rank = |class: IpClass| match class {
        IpClass::Never(_) => 0,
        IpClass::Reserved => 1,
        IpClass::Loopback => 2,
        IpClass::Private => 3,
        IpClass::Public => 4,
    };
    if rank(one) <= rank(other) { one } else { other }
}

pub(super) fn is_metadata_name(name: &str) -> bool {
    METADATA_NAMES.contains(&name)
}

/// Returns `true` if two addresses reach the same machine: equal, or both loopback or unspecified.
pub(super) fn is_same_host(one: IpAddr, other: IpAddr) -> bool {
    let is_this_host = |address: IpAddr| address.is_unspecified() || IpClass::classify(address) == IpClass::Loopback;
    one.to_canonical() == other.to_canonical() || (is_this_host(one) && is_this_host(other))
}
