//! URL of a target, parsed into the one form that is checked, connected to and sent as `Host`.
//!
//! IP addresses in URLs may be decimal, octal, hexadecimal or shortened, host names may use any script, and parsers
//! disagree about them. Here, URLs are parsed as browsers do (WHATWG URL), and the parsed value is never parsed again:
//! the same value is checked and connected to.

use std::fmt;
use std::net::IpAddr;

use url::Url;

/// Maximum length of a URL, in bytes.
const MAX_LENGTH: usize = 2048;

/// An `http` or `https` URL without user info and fragment.
#[derive(Clone, Eq, PartialEq)]
pub struct TargetUrl {
    url: Url,
    host: Host,
}

/// A host name or an IP address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Host {
    /// A host name: lower case, ASCII, without a trailing dot.
    Name(String),
    /// An IP address, in whatever form it was written. IPv4-mapped IPv6 becomes IPv4.
    Ip(IpAddr),
}

/// Error of parsing a URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UrlError {
    /// Too long.
    TooLong,
    /// White space, a control character or a backslash, which parsers treat differently.
    Characters,
    /// Neither `http://` nor `https://`.
    Scheme,
    /// A user or a password before `@`.
    UserInfo,
    /// A fragment.
    Fragment,
    /// No host, or an invalid one.
    Host,
    /// Percent-encoded dots or slashes, which could escape the checked path.
    Path,
}

impl TargetUrl {
    /// Parses a URL.
    pub fn parse(text: &str) -> Result<TargetUrl, UrlError> {
        check_characters(text)?;
        let after_scheme = after_scheme(text).ok_or(UrlError::Scheme)?;
        let authority_end = after_scheme.find(['/', '?']).unwrap_or(after_scheme.len());
        let (authority, tail) = after_scheme.split_at(authority_end);
        if authority.contains('@') {
            return Err(UrlError::UserInfo);
        }
        if authority.contains('%') || authority.is_empty() {
            return Err(UrlError::Host);
        }
        if has_encoded_separators(tail) {
            return Err(UrlError::Path);
        }
        let url = Url::parse(text).map_err(|_| UrlError::Host)?;
        let host = Host::from_url(&url).ok_or(UrlError::Host)?;
        // Port 0 is invalid.
        if url.port() == Some(0) { Err(UrlError::Host) } else { Ok(TargetUrl { url, host }) }
    }

    /// Returns the host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the port, by default that of the scheme.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    /// Returns `true` for `https`.
    pub fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Returns the path without a trailing slash.
    pub fn path(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }

    /// Returns the query with its `?`, such as `?api-version=1`, or an empty string.
    pub fn query(&self) -> String {
        self.url.query().map(|query| format!("?{query}")).unwrap_or_default()
    }

    /// Returns path and query of an endpoint below this URL.
    pub fn endpoint(&self, tail: &str) -> String {
        format!("{}{tail}{}", self.path(), self.query())
    }

    /// Returns host and port for the `Host` header.
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
    /// Parses a host.
    pub fn parse(text: &str) -> Option<Host> {
        Some(TargetUrl::parse(&format!("http://{text}/")).ok()?.host)
    }

    fn from_url(url: &Url) -> Option<Host> {
        match url.host()? {
            url::Host::Ipv4(address) => Some(Host::Ip(address.into())),
            url::Host::Ipv6(address) => Some(Host::Ip(IpAddr::from(address).to_canonical())),
            url::Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
                let is_valid = !name.is_empty() && name.len() <= 253 && name.split('.').all(|label| !label.is_empty());
                is_valid.then_some(Host::Name(name))
            }
        }
    }
}

fn check_characters(text: &str) -> Result<(), UrlError> {
    if text.len() > MAX_LENGTH {
        return Err(UrlError::TooLong);
    }
    if text.contains('#') {
        return Err(UrlError::Fragment);
    }
    let is_forbidden = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if text.contains(is_forbidden) { Err(UrlError::Characters) } else { Ok(()) }
}

fn after_scheme(text: &str) -> Option<&str> {
    ["http://", "https://"].iter().find_map(|scheme| {
        let (prefix, suffix) = text.split_at_checked(scheme.len())?;
        prefix.eq_ignore_ascii_case(scheme).then_some(suffix)
    })
}

fn has_encoded_separators(tail: &str) -> bool {
    let path = tail.split('?').next().unwrap_or("").to_ascii_lowercase();
    ["%2e", "%2f", "%5c", "%00"].iter().any(|code| path.contains(code))
}

/// Omits the query, which may contain a key.
impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.url.scheme(), self.authority(), self.path())
    }
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TargetUrl({self})")
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UrlError::TooLong => "is longer than 2048 bytes",
            UrlError::Characters => "contains white space, a control character or a backslash; remove it",
            UrlError::Scheme => "must begin with `http://` or `https://`",
            UrlError::UserInfo => "contains a user or password before `@`; put the key into `api_key`",
            UrlError::Fragment => "contains a fragment after `#`; remove it",
            UrlError::Host => "has no valid host; write it as `https://host:port/v1`",
            UrlError::Path => "contains percent-encoded dots or slashes; write them unencoded",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, normalized: &str, endpoint: &str) {
        let url = TargetUrl::parse(text).expect("a URL");
        assert_eq!((url.to_string().as_str(), url.endpoint("/x").as_str()), (normalized, endpoint), "{text}");
    }

    #[test]
    fn a_url_has_one_normalized_form() {
        check("https://API.example.com.:443/v1/", "https://api.example.com/v1", "/v1/x");
        check("http://0x7f.1:8000", "http://127.0.0.1:8000", "/x");
        check("http://[::ffff:127.0.0.1]/", "http://127.0.0.1", "/x");
        check("http://[0:0::1]:80/a/../v1", "http://[::1]/v1", "/v1/x");
        check("https://BÜCHER.example/v1?key=k", "https://xn--bcher-kva.example/v1", "/v1/x?key=k");
    }

    proptest! {
        #[test]
        fn parsing_does_not_panic_and_is_stable(
            tail in "[a-z0-9.:@/?%x\\[\\]①。\u{ad}-]{0,40}"
        ) {
            if let Ok(url) = TargetUrl::parse(&format!("http://{tail}")) {
                let again = TargetUrl::parse(&url.to_string());
                prop_assert_eq!(again.map(|again| again.host), Ok(url.host));
            }
        }
    }
}
