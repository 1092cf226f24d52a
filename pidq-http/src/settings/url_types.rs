//! Types of settings with addresses: base URLs, CORS origins, and addresses to listen on.

use std::net::SocketAddr;

use hyper::Uri;
use hyper::http::uri::Authority;

use super::setting_type::{SettingType, mismatch};
use crate::message::proxies::Network;

/// HTTP base URL without user information, query and trailing slash.
pub struct BaseUrl;

impl SettingType for BaseUrl {
    type Value = String;

    fn expected() -> String {
        "a URL such as `https://pidq.example`".to_owned()
    }

    fn parse(text: &str) -> Result<String, String> {
        let url = text.trim_end_matches('/');
        let is_valid = url.parse::<Uri>().is_ok_and(|uri| is_base_url(&uri)) && !url.contains(['?', '#']);
        // Without the text: its user information may contain a password.
        if is_valid { Ok(url.to_owned()) } else { Err(format!("expected {}", Self::expected())) }
    }
}

/// Web origin (RFC 6454) in the form that browsers send: in lower case, without a path.
pub struct Origin;

impl SettingType for Origin {
    type Value = String;

    fn expected() -> String {
        "origins such as `https://plant.example`".to_owned()
    }

    fn parse(text: &str) -> Result<String, String> {
        let origin = text.trim_end_matches('/').to_ascii_lowercase();
        let is_origin =
            origin.parse::<Uri>().is_ok_and(|uri| is_base_url(&uri) && uri.path() == "/") && !origin.contains('?');
        if is_origin { Ok(origin) } else { Err(mismatch::<Self>(text)) }
    }
}

/// Returns whether a URL is an HTTP base URL without user information.
fn is_base_url(uri: &Uri) -> bool {
    let is_plain = |authority: &Authority| !authority.host().is_empty() && !authority.as_str().contains('@');
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some_and(is_plain)
}

/// Address to listen on.
impl SettingType for SocketAddr {
    type Value = SocketAddr;

    fn expected() -> String {
        "an address with a port, such as `127.0.0.1:8080`".to_owned()
    }

    fn parse(text: &str) -> Result<SocketAddr, String> {
        text.trim().parse().map_err(|_| mismatch::<Self>(text))
    }
}

/// Network in CIDR notation.
impl SettingType for Network {
    type Value = Network;

    fn expected() -> String {
        "a network such as `10.0.0.0/8`".to_owned()
    }

    fn parse(text: &str) -> Result<Network, String> {
        text.parse().map_err(|_| mismatch::<Self>(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_validated() {
        for (url, expected) in
            [("https://a.example/", "https://a.example"), ("http://[::1]:8080/x", "http://[::1]:8080/x")]
        {
            assert_eq!(BaseUrl::parse(url).as_deref(), Ok(expected));
        }
        for url in [
            "a.example",
            "ftp://a.example",
            "https://",
            "https://a\"b",
            "https://a\nb",
            "https://u:p@a",
            "https://a?b",
            "https://\u{e4}",
        ] {
            assert_eq!(BaseUrl::parse(url), Err("expected a URL such as `https://pidq.example`".to_owned()), "{url}");
        }
    }

    #[test]
    fn origins_are_validated() {
        assert_eq!(
            <Vec<Origin>>::parse("https://A.example/, http://b:81"),
            Ok(vec!["https://a.example".to_owned(), "http://b:81".to_owned()])
        );
        for given in ["*", "null", "a.example", "https://a.example/x", "https://a.example?x"] {
            assert!(Origin::parse(given).is_err(), "{given}");
        }
    }
}
