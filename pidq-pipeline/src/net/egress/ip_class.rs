//! Classification of IP addresses: public, private, loopback, reserved or never permitted; one row per network.
//!
//! Sources: the IANA registries of special-purpose addresses (RFC 6890 and later additions) and the metadata addresses
//! of cloud providers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

const METADATA: IpClass = IpClass::Never("a metadata service");
const LINK_LOCAL: IpClass = IpClass::Never("a link-local address");
const THIS_NETWORK: IpClass = IpClass::Never("an unspecified address");
const MULTICAST: IpClass = IpClass::Never("a multicast address");

/// IPv4 networks; the first match counts.
const V4: &[(Ipv4Addr, u32, IpClass)] = &[
    (Ipv4Addr::new(100, 100, 100, 200), 32, METADATA), // Alibaba
    (Ipv4Addr::new(168, 63, 129, 16), 32, METADATA),   // Azure
    (Ipv4Addr::new(192, 0, 0, 192), 32, METADATA),     // Oracle
    (Ipv4Addr::new(169, 254, 0, 0), 16, LINK_LOCAL),
    (Ipv4Addr::new(0, 0, 0, 0), 8, THIS_NETWORK),
    (Ipv4Addr::new(224, 0, 0, 0), 4, MULTICAST),
    (Ipv4Addr::new(255, 255, 255, 255), 32, MULTICAST),
    (Ipv4Addr::new(127, 0, 0, 0), 8, IpClass::Loopback),
    (Ipv4Addr::new(10, 0, 0, 0), 8, IpClass::Private),
    (Ipv4Addr::new(172, 16, 0, 0), 12, IpClass::Private),
    (Ipv4Addr::new(192, 168, 0, 0), 16, IpClass::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, IpClass::Reserved), // shared address space of a provider
    (Ipv4Addr::new(192, 0, 0, 0), 24, IpClass::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, IpClass::Reserved), // documentation, and the next two as well
    (Ipv4Addr::new(198, 51, 100, 0), 24, IpClass::Reserved),
    (Ipv4Addr::new(203, 0, 113, 0), 24, IpClass::Reserved),
    (Ipv4Addr::new(192, 88, 99, 0), 24, IpClass::Reserved), // relays of 6to4
    (Ipv4Addr::new(198, 18, 0, 0), 15, IpClass::Reserved),  // measurements
    (Ipv4Addr::new(240, 0, 0, 0), 4, IpClass::Reserved),
];

/// IPv6 networks; the first match counts. Networks with embedded IPv4 addresses are checked before.
const V6: &[(Ipv6Addr, u32, IpClass)] = &[
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128, METADATA), // Amazon
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, METADATA),  // Google
    (Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42), 128, METADATA),   // Scaleway
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 128, THIS_NETWORK),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 1), 128, IpClass::Loopback),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, LINK_LOCAL),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, MULTICAST),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, IpClass::Private),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, IpClass::Reserved), // documentation
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, IpClass::Reserved),     // Teredo and other protocols
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, IpClass::Reserved),     // documentation
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, IpClass::Public),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 0, IpClass::Reserved), // not allocated
];

/// IPv6 networks with embedded IPv4 addresses, and the bit offset of these.
const EMBEDDED_IPV4: &[(Ipv6Addr, u32, u32)] = &[
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, 96),    // mapped
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, 96),    // translated
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, 96), // NAT64
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, 16),    // 6to4
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
    let row = V4.iter().find(|(net, bits, _)| leading_bits(net.to_bits() ^ address.to_bits(), *bits) == 0);
    row.map_or(IpClass::Public, |row| row.2)
}

fn leading_bits(difference: u32, bits: u32) -> u32 {
    difference.checked_shr(32 - bits).unwrap_or(0)
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
    V6.iter().find(|(net, bits, _)| is_in(address, *net, *bits)).map_or(IpClass::Reserved, |row| row.2)
}

fn is_in(address: Ipv6Addr, net: Ipv6Addr, bits: u32) -> bool {
    (net.to_bits() ^ address.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0
}

fn embedded_ipv4(address: Ipv6Addr) -> Option<(Ipv4Addr, EmbeddedIn)> {
    let ipv4_at = |bit: u32| Ipv4Addr::from_bits((address.to_bits() >> (96 - bit)) as u32);
    if let Some(row) = EMBEDDED_IPV4.iter().find(|(net, bits, _)| is_in(address, *net, *bits)) {
        return Some((ipv4_at(row.2), EmbeddedIn::Prefix));
    }
    // ISATAP: `…:0:5efe:a.b.c.d`, and its form for globally unique addresses.
    let [.., high, low, _, _] = address.segments();
    let is_isatap = low == 0x5efe && (high == 0 || high == 0x200);
    is_isatap.then(|| (ipv4_at(96), EmbeddedIn::Interface))
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
