//! An address in the one spelling that is checked, connected to and sent as `Host`.
//!
//! Numbers as hosts come in decimal, octal, hexadecimal and short forms, names in any script, and programs differ in
//! what they make of them. Here they are read as browsers read them (WHATWG URL), and nothing that was read is read
//! again by anybody else: the same value is checked and connected to.

use std::fmt;
use std::net::IpAddr;

use url::Url;

/// The longest address.
const LONGEST: usize = 2048;

/// An `http` or `https` address without a user, a password or a fragment.
#[derive(Clone, Eq, PartialEq)]
pub struct Address {
    url: Url,
    host: Host,
}

/// A name or an address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Host {
    /// A name: lower case, ASCII, without a dot at its end.
    Name(String),
    /// An address, whatever it was written as. IPv4 in IPv6 is IPv4.
    Ip(IpAddr),
}

/// What is wrong with the spelling of an address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Spelling {
    /// Longer than anybody needs.
    Long,
    /// White space, control characters or a backslash, which programs read differently.
    Characters,
    /// Neither `http://` nor `https://`.
    Scheme,
    /// A user or a password before `@`.
    User,
    /// A part after `#`.
    Fragment,
    /// No host, or one that cannot be read.
    Host,
    /// Dots or slashes in percent form, which leave the path that was checked.
    Path,
}

impl Address {
    /// Reads an address as a caller wrote it.
    pub fn parse(text: &str) -> Result<Address, Spelling> {
        plain(text)?;
        let rest = after_scheme(text).ok_or(Spelling::Scheme)?;
        let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(Spelling::User);
        }
        if authority.contains('%') || authority.is_empty() {
            return Err(Spelling::Host);
        }
        if hides_path(tail) {
            return Err(Spelling::Path);
        }
        let url = Url::parse(text).map_err(|_| Spelling::Host)?;
        let host = Host::of(&url).ok_or(Spelling::Host)?;
        // Port 0 is no place.
        if url.port() == Some(0) { Err(Spelling::Host) } else { Ok(Address { url, host }) }
    }

    /// Its host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Its port, which may be that of the scheme.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    /// Whether it is reached by TLS.
    pub fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Its path, without a slash at the end.
    pub fn path(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }

    /// What follows the path: `?api-version=1`, or nothing.
    pub fn query(&self) -> String {
        self.url.query().map(|query| format!("?{query}")).unwrap_or_default()
    }

    /// Path and query of an endpoint under it.
    pub fn endpoint(&self, tail: &str) -> String {
        format!("{}{tail}{}", self.path(), self.query())
    }

    /// Host and port as the header `Host` has them.
    pub fn authority(&self) -> String {
        let host = match &self.host {
            Host::Name(name) => name.clone(),
            Host::Ip(IpAddr::V6(address)) => format!("[{address}]"),
            Host::Ip(IpAddr::V4(address)) => address.to_string(),
        };
        self.url.port().map(|port| format!("{host}:{port}")).unwrap_or(host)
    }
}

impl Host {
    /// A host as settings name one.
    pub fn parse(text: &str) -> Option<Host> {
        Some(Address::parse(&format!("http://{text}/")).ok()?.host)
    }

    fn of(url: &Url) -> Option<Host> {
        match url.host()? {
            url::Host::Ipv4(address) => Some(Host::Ip(address.into())),
            url::Host::Ipv6(address) => Some(Host::Ip(IpAddr::from(address).to_canonical())),
            url::Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
                let whole = !name.is_empty() && name.len() <= 253 && name.split('.').all(|label| !label.is_empty());
                whole.then_some(Host::Name(name))
            }
        }
    }
}

fn plain(text: &str) -> Result<(), Spelling> {
    if text.len() > LONGEST {
        return Err(Spelling::Long);
    }
    if text.contains('#') {
        return Err(Spelling::Fragment);
    }
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if text.contains(odd) { Err(Spelling::Characters) } else { Ok(()) }
}

fn after_scheme(text: &str) -> Option<&str> {
    ["http://", "https://"].iter().find_map(|scheme| {
        let (start, rest) = text.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

fn hides_path(tail: &str) -> bool {
    let path = tail.split('?').next().unwrap_or("").to_ascii_lowercase();
    ["%2e", "%2f", "%5c", "%00"].iter().any(|code| path.contains(code))
}

/// Without the query, which may hold a key.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.url.scheme(), self.authority(), self.path())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Spelling::Long => "is longer than 2048 bytes",
            Spelling::Characters => "has white space, a control character or a backslash in it: write it plainly",
            Spelling::Scheme => "begins with neither `http://` nor `https://`",
            Spelling::User => "has a user or a password before `@`: put the key into `api_key`",
            Spelling::Fragment => "has a part after `#`: leave it out",
            Spelling::Host => "has no host that can be read: write it as `https://host:port/v1`",
            Spelling::Path => "has dots or slashes in percent form: write them plainly",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, shown: &str, endpoint: &str) {
        let address = Address::parse(text).expect("an address");
        assert_eq!((address.to_string().as_str(), address.endpoint("/x").as_str()), (shown, endpoint), "{text}");
    }

    #[test]
    fn an_address_has_one_spelling() {
        check("https://API.example.com.:443/v1/", "https://api.example.com/v1", "/v1/x");
        check("http://0x7f.1:8000", "http://127.0.0.1:8000", "/x");
        check("http://[::ffff:127.0.0.1]/", "http://127.0.0.1", "/x");
        check("http://[0:0::1]:80/a/../v1", "http://[::1]/v1", "/v1/x");
        check("https://BÜCHER.example/v1?key=k", "https://xn--bcher-kva.example/v1", "/v1/x?key=k");
    }

    proptest! {
        #[test]
        fn nothing_that_callers_write_is_a_panic_and_what_is_read_reads_the_same(
            rest in "[a-z0-9.:@/?%x\\[\\]①。\u{ad}-]{0,40}"
        ) {
            if let Ok(address) = Address::parse(&format!("http://{rest}")) {
                let again = Address::parse(&address.to_string());
                prop_assert_eq!(again.map(|again| again.host), Ok(address.host));
            }
        }
    }
}
