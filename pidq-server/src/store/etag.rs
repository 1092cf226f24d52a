//! Entity tag of a version.

use std::fmt;

use data_encoding::HEXLOWER;

use super::name_characters::has_name_characters;
use super::{Coding, Version};

/// Strong ETag of a version: `<change_version>-<16 hex digits of its SHA-256>`, without quotes.
///
/// It includes the hash because a file in a read-only directory may change without a new `change_version`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ETag(String);

impl ETag {
    pub(super) fn new(version: &Version, sha256: &[u8; 32]) -> ETag {
        let [a, b, c, d, e, f, g, h, ..] = *sha256;
        ETag::from_hash(version, &[a, b, c, d, e, f, g, h])
    }

    /// Creates the tag of a version from the first bytes of its SHA-256.
    pub(super) fn from_hash(version: &Version, sha256: &[u8; 8]) -> ETag {
        // A file in a read-only directory may have a version that is no valid header value.
        let version = Some(version.as_str()).filter(|text| has_name_characters(text)).unwrap_or_default();
        ETag(format!("{version}-{}", HEXLOWER.encode(sha256)))
    }

    /// Parses a tag of `If-Match` or `If-None-Match`, with or without a coding suffix. Returns `None` for weak and
    /// malformed tags.
    pub fn parse(text: &str) -> Option<ETag> {
        let tag = text.trim().strip_prefix('"')?.strip_suffix('"')?;
        let tag = ["-zstd", "-br", "-gzip"].iter().find_map(|coding| tag.strip_suffix(coding)).unwrap_or(tag);
        (!tag.is_empty() && !tag.contains('"')).then(|| ETag(tag.into()))
    }

    /// Returns the tag as a header value for content in this coding.
    pub fn to_header(&self, coding: Coding) -> String {
        match coding {
            Coding::Identity => format!("\"{}\"", self.0),
            Coding::Zstd => format!("\"{}-zstd\"", self.0),
        }
    }

    /// Returns the tag without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_the_same_in_every_coding() {
        let tag = ETag::new(&Version::number(12), &[0xab; 32]);
        assert_eq!(tag.as_str(), "12-abababababababab");
        assert_eq!(ETag::parse(&tag.to_header(Coding::Identity)), Some(tag.clone()));
        assert_eq!(ETag::parse(&tag.to_header(Coding::Zstd)), Some(tag));
        for text in ["W/\"1-ab\"", "1-ab", "\"\"", "*", "", "\"", "\"a\"b\""] {
            assert_eq!(ETag::parse(text), None, "{text}");
        }
    }
}
