//! Identifiers of graphs and tenants, safe as parts of paths and keys.

use std::fmt;
use std::sync::{Arc, LazyLock};

use data_encoding::{Encoding, Specification};

use super::error::{Error, Result};
use super::name_characters::has_name_characters;

/// Maximum length of an identifier in bytes.
const MAX_NAME_LENGTH: usize = 128;

/// Id of a graph: 1 to 128 characters of `A-Z a-z 0-9 . _ : @ ~ -`, except `.` and `..`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct GraphId(Arc<str>);

/// Tenant: the namespace of an organization's graphs. Same characters as a graph id.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Tenant(Arc<str>);

/// Pattern of a graph id: an ECMAScript regular expression, for JSON Schemas.
pub const GRAPH_ID_PATTERN: &str = "^[A-Za-z0-9._:@~-]{1,128}$";

impl GraphId {
    /// Parses an identifier that is already percent-decoded.
    ///
    /// # Errors
    /// `invalid-job-id`.
    pub fn parse(text: &str) -> Result<GraphId> {
        if is_name(text) { Ok(GraphId(text.into())) } else { Err(Error::InvalidGraphId) }
    }

    /// Returns the identifier as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the directory name: case-insensitive, without path separators, and reserved on no operating system.
    pub fn to_file_name(&self) -> String {
        base32hex(&self.0)
    }

    /// Parses a directory name.
    pub fn from_file_name(name: &str) -> Option<GraphId> {
        from_base32hex(name).and_then(|text| GraphId::parse(&text).ok())
    }
}

impl Tenant {
    /// Parses the name of a tenant.
    ///
    /// # Errors
    /// `invalid-tenant`.
    pub fn parse(text: &str) -> Result<Tenant> {
        if is_name(text) { Ok(Tenant(text.into())) } else { Err(Error::InvalidTenant) }
    }

    /// Returns the name as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the directory name.
    pub fn to_file_name(&self) -> String {
        base32hex(&self.0)
    }

    /// Parses a directory name.
    pub fn from_file_name(name: &str) -> Option<Tenant> {
        from_base32hex(name).and_then(|text| Tenant::parse(&text).ok())
    }
}

impl fmt::Display for GraphId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_LENGTH).contains(&text.len()) && text != "." && text != ".." && has_name_characters(text)
}

/// Encoding of directory names: base32hex (RFC 4648, section 7), in lower case and without padding. Preserves the order,
/// and has one spelling for each text.
static BASE32HEX: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str("0123456789abcdefghijklmnopqrstuv");
    specification.encoding().expect("there are 32 different symbols")
});

fn base32hex(text: &str) -> String {
    BASE32HEX.encode(text.as_bytes())
}

fn from_base32hex(name: &str) -> Option<String> {
    String::from_utf8(BASE32HEX.decode(name.as_bytes()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_safe_characters_and_a_length_limit() {
        for name in ["a", "P&ID".replace('&', "-").as_str(), "..a", "a:b@c~d_e.f", &"x".repeat(128)] {
            assert!(GraphId::parse(name).is_ok(), "{name}");
        }
        for name in ["", ".", "..", "a/b", "a\\b", "a b", "a\0", "ä", "%2e", &"x".repeat(129), "a\n"] {
            assert!(GraphId::parse(name).is_err(), "{name:?}");
            assert!(Tenant::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn directory_names_round_trip() {
        for text in ["f", "fo", "foo", "foob", "fooba", "foobar", "CON", "con", "~", &"Z".repeat(128)] {
            let graph_id = GraphId::parse(text).expect("a name");
            let name = graph_id.to_file_name();
            assert!(name.len() <= 205 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'v')), "{name}");
            assert_eq!(GraphId::from_file_name(&name), Some(graph_id));
        }
        assert_eq!(base32hex("foobar"), "cpnmuoj1e8");
        for stray in ["CPNMUOJ1E8", "cpnmuoj1e9", "c", "cpnmuoj1e8-", "..", ""] {
            assert_eq!(GraphId::from_file_name(stray), None, "{stray}");
        }
    }

    #[test]
    fn directory_names_keep_the_order() {
        let mut texts = ["b", "a", "ab", "Z", "a.b", "~", "0", "aa:"];
        texts.sort_unstable();
        let names: Vec<String> = texts.iter().map(|text| base32hex(text)).collect();
        assert!(names.is_sorted(), "{names:?}");
    }
}
