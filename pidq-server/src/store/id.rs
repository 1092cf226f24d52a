//! Names that are parts of paths and keys: a job, a tenant. What is not safe as such is no name.

use std::fmt;
use std::sync::Arc;

use super::error::{Error, Result};

/// Bytes of a name.
const LONGEST: usize = 128;
const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

/// The identifier of a job: 1 to 128 of `A-Z a-z 0-9 . _ : @ ~ -`, but not `.` or `..`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct JobId(Arc<str>);

/// Whose graphs they are: the namespace of an organisation. The same characters as a job.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Tenant(Arc<str>);

impl JobId {
    /// Reads an identifier, percent-decoded before.
    ///
    /// # Errors
    /// `invalid-job-id`.
    pub fn parse(text: &str) -> Result<JobId> {
        if is_name(text) { Ok(JobId(text.into())) } else { Err(Error::InvalidJobId) }
    }

    /// The identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its directory: nothing in it climbs, folds or is reserved on any system.
    pub fn to_file_name(&self) -> String {
        base32hex(&self.0)
    }

    /// The job of a directory.
    pub fn from_file_name(name: &str) -> Option<JobId> {
        from_base32hex(name).and_then(|text| JobId::parse(&text).ok())
    }
}

impl Tenant {
    /// Reads the name of a tenant.
    ///
    /// # Errors
    /// `invalid-tenant`.
    pub fn parse(text: &str) -> Result<Tenant> {
        if is_name(text) { Ok(Tenant(text.into())) } else { Err(Error::InvalidTenant) }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its directory.
    pub fn to_file_name(&self) -> String {
        base32hex(&self.0)
    }

    /// The tenant of a directory.
    pub fn from_file_name(name: &str) -> Option<Tenant> {
        from_base32hex(name).and_then(|text| Tenant::parse(&text).ok())
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text has only the characters of names.
pub(crate) fn has_name_characters(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:@~-".contains(&byte))
}

fn is_name(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text != "." && text != ".." && has_name_characters(text)
}

/// RFC 4648, section 7, in small letters and without padding. Keeps the order of the texts.
fn base32hex(text: &str) -> String {
    let mut name = String::with_capacity(text.len() * 8 / 5 + 1);
    for five in text.as_bytes().chunks(5) {
        let mut block = [0; 8];
        block[3..3 + five.len()].copy_from_slice(five);
        let bits = u64::from_be_bytes(block);
        let digits = (five.len() * 8).div_ceil(5);
        name.extend((0..digits).map(|at| char::from(DIGITS[(bits >> (35 - 5 * at)) as usize & 31])));
    }
    name
}

fn from_base32hex(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len() * 5 / 8);
    let (mut bits, mut held) = (0_u32, 0);
    for letter in name.bytes() {
        let digit = DIGITS.iter().position(|digit| *digit == letter)?;
        bits = (bits << 5 | digit as u32) & 0xfff;
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // One name, one text: stray bits and letters at the end are no second spelling.
    (base32hex(&text) == name).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_characters_of_a_length() {
        for name in ["a", "P&ID".replace('&', "-").as_str(), "..a", "a:b@c~d_e.f", &"x".repeat(128)] {
            assert!(JobId::parse(name).is_ok(), "{name}");
        }
        for name in ["", ".", "..", "a/b", "a\\b", "a b", "a\0", "ä", "%2e", &"x".repeat(129), "a\n"] {
            assert!(JobId::parse(name).is_err(), "{name:?}");
            assert!(Tenant::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn names_of_directories_read_back() {
        for text in ["f", "fo", "foo", "foob", "fooba", "foobar", "CON", "con", "~", &"Z".repeat(128)] {
            let job = JobId::parse(text).expect("a name");
            let name = job.to_file_name();
            assert!(name.len() <= 205 && name.bytes().all(|byte| DIGITS.contains(&byte)), "{name}");
            assert_eq!(JobId::from_file_name(&name), Some(job));
        }
        assert_eq!(base32hex("foobar"), "cpnmuoj1e8");
        for stray in ["CPNMUOJ1E8", "cpnmuoj1e9", "c", "cpnmuoj1e8-", "..", ""] {
            assert_eq!(JobId::from_file_name(stray), None, "{stray}");
        }
    }

    #[test]
    fn names_of_directories_sort_as_the_texts() {
        let mut texts = ["b", "a", "ab", "Z", "a.b", "~", "0", "aa:"];
        texts.sort_unstable();
        let names: Vec<String> = texts.iter().map(|text| base32hex(text)).collect();
        assert!(names.is_sorted(), "{names:?}");
    }
}
