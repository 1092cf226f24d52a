//! What kind of place an address is: one row for each network that is not simply the internet.
//!
//! After the registries of special addresses (RFC 6890 and what was added since), and what clouds put where.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Level;

/// What kind of place an address is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    /// The internet.
    Public,
    /// A network of one's own.
    Private,
    /// This machine.
    Loopback,
    /// Set aside: reached only where an administrator lists it.
    Reserved,
    /// Never called on behalf of anybody; the text says what it is.
    Never(&'static str),
}

const METADATA: Class = Class::Never("a metadata service");
const LINK: Class = Class::Never("an address of the link");
const NOWHERE: Class = Class::Never("no address of a machine");
const MANY: Class = Class::Never("an address of many machines");

/// First match counts.
const V4: &[(Ipv4Addr, u32, Class)] = &[
    (Ipv4Addr::new(100, 100, 100, 200), 32, METADATA), // Alibaba
    (Ipv4Addr::new(168, 63, 129, 16), 32, METADATA),   // Azure
    (Ipv4Addr::new(192, 0, 0, 192), 32, METADATA),     // Oracle
    (Ipv4Addr::new(169, 254, 0, 0), 16, LINK),
    (Ipv4Addr::new(0, 0, 0, 0), 8, NOWHERE),
    (Ipv4Addr::new(224, 0, 0, 0), 4, MANY),
    (Ipv4Addr::new(255, 255, 255, 255), 32, MANY),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Class::Loopback),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Class::Private),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Class::Private),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Class::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Class::Reserved), // shared by customers of a provider
    (Ipv4Addr::new(192, 0, 0, 0), 24, Class::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Class::Reserved), // documentation, and the next two as well
    (Ipv4Addr::new(198, 51, 100, 0), 24, Class::Reserved),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Class::Reserved),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Class::Reserved), // relays of 6to4
    (Ipv4Addr::new(198, 18, 0, 0), 15, Class::Reserved),  // measurements
    (Ipv4Addr::new(240, 0, 0, 0), 4, Class::Reserved),
];

/// First match counts; what carries an IPv4 address was looked at before.
const V6: &[(Ipv6Addr, u32, Class)] = &[
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128, METADATA), // Amazon
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, METADATA),  // Google
    (Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42), 128, METADATA),   // Scaleway
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 128, NOWHERE),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 1), 128, Class::Loopback),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, LINK),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, MANY),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Class::Private),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Class::Reserved), // documentation
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Class::Reserved),     // Teredo and other protocols
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Class::Reserved),     // documentation
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, Class::Public),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 0, Class::Reserved), // nothing else is given out
];

/// Networks whose addresses carry an IPv4 address, and at which bit.
const CARRIERS: &[(Ipv6Addr, u32, u32)] = &[
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, 96),    // mapped
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, 96),    // translated
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, 96), // NAT64
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, 16),    // 6to4
];

/// Names of services that tell a machine its own secrets.
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

impl Class {
    /// The class of an address; one that carries another is what it carries.
    pub fn of(address: IpAddr) -> Class {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }

    /// The level that reaches it. None: no level does.
    pub fn level(self) -> Option<Level> {
        match self {
            Class::Public => Some(Level::Public),
            Class::Private => Some(Level::Private),
            Class::Loopback => Some(Level::Local),
            Class::Reserved | Class::Never(_) => None,
        }
    }
}

fn of_v4(address: Ipv4Addr) -> Class {
    let row = V4.iter().find(|(net, bits, _)| leading(net.to_bits() ^ address.to_bits(), *bits) == 0);
    row.map_or(Class::Public, |row| row.2)
}

fn leading(difference: u32, bits: u32) -> u32 {
    difference.checked_shr(32 - bits).unwrap_or(0)
}

fn of_v6(address: Ipv6Addr) -> Class {
    match (carried(address), of_v6_itself(address)) {
        (_, own @ (Class::Never(_) | Class::Loopback)) => own,
        (Some((inner, Within::Carrier)), _) => of_v4(inner),
        // Anybody may write these last bits below a network of one's own: the nearer of both counts.
        (Some((inner, Within::Interface)), own) => nearer(of_v4(inner), own),
        (None, own) => own,
    }
}

enum Within {
    Carrier,
    Interface,
}

fn of_v6_itself(address: Ipv6Addr) -> Class {
    V6.iter().find(|(net, bits, _)| is_in(address, *net, *bits)).map_or(Class::Reserved, |row| row.2)
}

fn is_in(address: Ipv6Addr, net: Ipv6Addr, bits: u32) -> bool {
    (net.to_bits() ^ address.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0
}

fn carried(address: Ipv6Addr) -> Option<(Ipv4Addr, Within)> {
    let at = |bit: u32| Ipv4Addr::from_bits((address.to_bits() >> (96 - bit)) as u32);
    if let Some(row) = CARRIERS.iter().find(|(net, bits, _)| is_in(address, *net, *bits)) {
        return Some((at(row.2), Within::Carrier));
    }
    // ISATAP: `…:0:5efe:a.b.c.d`, and its form for addresses that are unique.
    let [.., high, low, _, _] = address.segments();
    let isatap = low == 0x5efe && (high == 0 || high == 0x200);
    isatap.then(|| (at(96), Within::Interface))
}

fn nearer(one: Class, other: Class) -> Class {
    let distance = |class: Class| match class {
        Class::Never(_) => 0,
        Class::Reserved => 1,
        Class::Loopback => 2,
        Class::Private => 3,
        Class::Public => 4,
    };
    if distance(one) <= distance(other) { one } else { other }
}

pub(super) fn is_metadata_name(name: &str) -> bool {
    METADATA_NAMES.contains(&name)
}

/// Whether two addresses are one place. All of loopback is one machine, and so is "any address" of a listener.
pub(super) fn is_same_place(ours: IpAddr, other: IpAddr) -> bool {
    let here = |address: IpAddr| address.is_unspecified() || Class::of(address) == Class::Loopback;
    ours.to_canonical() == other.to_canonical() || (here(ours) && here(other))
}
