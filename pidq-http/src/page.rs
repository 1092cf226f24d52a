//! Pages of a list: a cursor that says where the next one begins, and that nobody can make up.

use hyper::header::LINK;
use ring::hmac;

use crate::ids::{hex, random};
use crate::percent;
use crate::problem::Problem;
use crate::request::Request;
use crate::response::Response;

/// Signs cursors, so that what comes back is what was given.
///
/// A cursor is the key of the last item of a page, readable by those who may read the item, with a signature over
/// the list it belongs to: whoever has one cannot use it on another list, or for another tenant.
pub struct Cursors {
    key: hmac::Key,
}

/// What a request asks of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// How many items at most.
    pub limit: usize,
    /// The key of the last item of the page before.
    pub after: Option<String>,
}

const SIGNATURE: usize = 16;

impl Cursors {
    /// Cursors that end with this process.
    pub fn new() -> Self {
        Cursors::from_key(&random::<32>())
    }

    /// Cursors that all processes with the same key understand.
    pub fn from_key(key: &[u8]) -> Self {
        Cursors { key: hmac::Key::new(hmac::HMAC_SHA256, key) }
    }

    /// `limit` and `cursor` of a request. `list` names the list and all that selects from it.
    pub fn page(&self, request: &Request, list: &str, default: usize, most: usize) -> Result<Page, Problem> {
        let query = request.query()?;
        let limit = query.parsed::<usize>("limit")?.unwrap_or(default);
        if !(1..=most).contains(&limit) {
            return Err(Problem::bad_request("invalid-parameter", format!("`limit` is from 1 to {most}."))
                .with("parameter", "limit"));
        }
        let open = |cursor| self.open(list, cursor).ok_or_else(invalid);
        Ok(Page { limit, after: query.one("cursor")?.map(open).transpose()? })
    }

    /// The cursor behind an item.
    pub fn seal(&self, list: &str, last: &str) -> String {
        let mut bytes = self.sign(list, last).to_vec();
        bytes.extend_from_slice(last.as_bytes());
        hex(&bytes)
    }

    fn open(&self, list: &str, cursor: &str) -> Option<String> {
        let bytes = unhex(cursor)?;
        let (signature, last) = bytes.split_at_checked(SIGNATURE)?;
        let last = std::str::from_utf8(last).ok()?;
        // Compared in constant time: a cursor must not be found byte by byte.
        let same = signature.iter().zip(self.sign(list, last)).fold(0, |differ, (a, b)| differ | (a ^ b));
        (same == 0).then(|| last.to_owned())
    }

    fn sign(&self, list: &str, last: &str) -> [u8; SIGNATURE] {
        let text = [(list.len() as u64).to_be_bytes().as_slice(), list.as_bytes(), last.as_bytes()].concat();
        let mut signature = [0; SIGNATURE];
        signature.copy_from_slice(&hmac::sign(&self.key, &text).as_ref()[..SIGNATURE]);
        signature
    }
}

impl Default for Cursors {
    fn default() -> Self {
        Cursors::new()
    }
}

impl Response {
    /// The same with a link to the next page: the same URL with another cursor.
    pub fn next_page(self, request: &Request, cursor: &str) -> Self {
        let query = request.query().unwrap_or_default();
        let kept = query.pairs().filter(|(name, _)| *name != "cursor");
        let mut pairs: Vec<String> =
            kept.map(|(name, value)| format!("{}={}", percent::encode(name), percent::encode(value))).collect();
        pairs.push(format!("cursor={}", percent::encode(cursor)));
        let url = format!("{}?{}", request.head.uri.path(), pairs.join("&"));
        self.header(LINK, format!("<{url}>; rel=\"next\""))
    }
}

fn invalid() -> Problem {
    Problem::bad_request("invalid-cursor", "The cursor is not one of this list. Begin again without it.")
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| Some(percent::hex(pair[0])? << 4 | percent::hex(*pair.get(1)?)?);
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_opens_on_its_own_list_only() {
        let cursors = Cursors::from_key(b"key");
        let cursor = cursors.seal("t1/graphs", "V-1ä");
        assert_eq!(cursors.open("t1/graphs", &cursor).as_deref(), Some("V-1ä"));
        assert_eq!(cursors.open("t2/graphs", &cursor), None);
        assert_eq!(cursors.open("t1/graphsV", &cursors.seal("t1/graphs", "V-1")), None);
        assert_eq!(Cursors::new().open("t1/graphs", &cursor), None);
    }

    #[test]
    fn what_was_changed_or_made_up_does_not_open() {
        let cursors = Cursors::from_key(b"key");
        let cursor = cursors.seal("l", "a");
        for place in 0..cursor.len() {
            let mut changed = cursor.clone().into_bytes();
            changed[place] = if changed[place] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(changed).expect("hex");
            assert_eq!(cursors.open("l", &changed), None, "{changed}");
        }
        for made_up in ["", "0", "zz", "ä", &cursor[1..], &cursor[..30]] {
            assert_eq!(cursors.open("l", made_up), None, "{made_up}");
        }
    }
}
