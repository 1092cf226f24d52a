//! Pagination of lists with signed cursors.

use data_encoding::HEXLOWER;
use hyper::header::LINK;
use ring::hmac;
use subtle::ConstantTimeEq;

use crate::message::percent;
use crate::message::request::Request;
use crate::message::response::Response;
use crate::problem::{Problem, codes};
use crate::process::ids::random;

/// Signer of cursors.
///
/// A cursor is the key of the last item of a page with a signature over the list it belongs to. It is readable for
/// callers who may read the item, and cannot be used for another list or another tenant.
pub struct CursorSigner {
    key: hmac::Key,
}

/// Page requested from a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageRequest {
    /// Maximum number of items.
    pub limit: usize,
    /// Key of the last item of the previous page.
    pub after: Option<String>,
}

const SIGNATURE_SIZE: usize = 16;

impl CursorSigner {
    /// Creates a signer whose cursors expire with this process.
    pub fn new() -> Self {
        CursorSigner::from_key(&random::<32>())
    }

    /// Creates a signer whose cursors are valid in all processes with the same key.
    pub fn from_key(key: &[u8]) -> Self {
        CursorSigner { key: hmac::Key::new(hmac::HMAC_SHA256, key) }
    }

    /// Parses `limit` and `cursor` of a request. `list` identifies the list with all its filters.
    pub fn page(
        &self,
        request: &Request,
        list: &str,
        default: usize,
        max_limit: usize,
    ) -> Result<PageRequest, Problem> {
        let query = request.query()?;
        let limit = query.parsed::<usize>("limit")?.unwrap_or(default);
        if !(1..=max_limit).contains(&limit) {
            return Err(Problem::new(codes::INVALID_PARAMETER)
                .detail(format!("`limit` must be from 1 to {max_limit}."))
                .with("parameter", "limit"));
        }
        let verified = |cursor| self.verify(list, cursor).ok_or_else(invalid);
        Ok(PageRequest { limit, after: query.single("cursor")?.map(verified).transpose()? })
    }

    /// Returns the cursor after an item.
    pub fn sign(&self, list: &str, last: &str) -> String {
        let mut bytes = self.signature(list, last).to_vec();
        bytes.extend_from_slice(last.as_bytes());
        HEXLOWER.encode(&bytes)
    }

    fn verify(&self, list: &str, cursor: &str) -> Option<String> {
        let bytes = HEXLOWER.decode(cursor.as_bytes()).ok()?;
        let (signature, last) = bytes.split_at_checked(SIGNATURE_SIZE)?;
        let last = std::str::from_utf8(last).ok()?;
        // Compared in constant time, so that a signature cannot be guessed byte by byte.
        bool::from(signature.ct_eq(&self.signature(list, last))).then(|| last.to_owned())
    }

    fn signature(&self, list: &str, last: &str) -> [u8; SIGNATURE_SIZE] {
        let text = [(list.len() as u64).to_be_bytes().as_slice(), list.as_bytes(), last.as_bytes()].concat();
        let mut signature = [0; SIGNATURE_SIZE];
        signature.copy_from_slice(&hmac::sign(&self.key, &text).as_ref()[..SIGNATURE_SIZE]);
        signature
    }
}

impl Default for CursorSigner {
    fn default() -> Self {
        CursorSigner::new()
    }
}

impl Response {
    /// Adds a link to the next page: the same URL with another cursor.
    pub fn next_page(self, request: &Request, cursor: &str) -> Self {
        let query = request.query().unwrap_or_default();
        let other_pairs = query.pairs().filter(|(name, _)| *name != "cursor");
        let mut pairs: Vec<String> =
            other_pairs.map(|(name, value)| format!("{}={}", percent::encode(name), percent::encode(value))).collect();
        pairs.push(format!("cursor={}", percent::encode(cursor)));
        let url = format!("{}?{}", request.head.uri.path(), pairs.join("&"));
        self.header(LINK, format!("<{url}>; rel=\"next\""))
    }
}

fn invalid() -> Problem {
    Problem::new(codes::INVALID_CURSOR).detail("The cursor does not belong to this list. Start again without it.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_valid_for_its_own_list_only() {
        let cursors = CursorSigner::from_key(b"key");
        let cursor = cursors.sign("t1/graphs", "V-1ä");
        assert_eq!(cursors.verify("t1/graphs", &cursor).as_deref(), Some("V-1ä"));
        assert_eq!(cursors.verify("t2/graphs", &cursor), None);
        assert_eq!(cursors.verify("t1/graphsV", &cursors.sign("t1/graphs", "V-1")), None);
        assert_eq!(CursorSigner::new().verify("t1/graphs", &cursor), None);
    }

    #[test]
    fn a_forged_cursor_is_rejected() {
        let cursors = CursorSigner::from_key(b"key");
        let cursor = cursors.sign("l", "a");
        for index in 0..cursor.len() {
            let mut changed = cursor.clone().into_bytes();
            changed[index] = if changed[index] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(changed).expect("hex");
            assert_eq!(cursors.verify("l", &changed), None, "{changed}");
        }
        for made_up in ["", "0", "zz", "ä", &cursor[1..], &cursor[..30]] {
            assert_eq!(cursors.verify("l", made_up), None, "{made_up}");
        }
    }
}
