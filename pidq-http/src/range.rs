//! A part of an answer: one range of bytes, so that a download goes on where it broke off (RFC 9110, 14).
//!
//! An answer offers ranges by `Accept-Ranges: bytes`. Several ranges at once are answered with the whole, as is a range
//! of bytes that the client has another version of.

use std::ops::Range;

use hyper::header::{ACCEPT_RANGES, CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, RANGE};
use hyper::{Method, StatusCode};

use crate::problem::Problem;
use crate::request::Head;
use crate::response::{Content, Response};

/// What a header `Range` asks for.
#[derive(Debug, Eq, PartialEq)]
enum Wanted {
    /// The whole: there is no range, or none that we serve.
    Whole,
    /// These bytes.
    Part(Range<u64>),
    /// Bytes that there are not.
    Beyond,
}

/// Whether an answer offers ranges. Such an answer is not compressed: its bytes would be others.
pub(crate) fn is_offered(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT_RANGES).is_some_and(|unit| unit == "bytes")
}

/// Cuts an answer that offers ranges to the one that was asked for; 416 if there are no such bytes.
pub(crate) fn cut(head: &Head, response: &mut Response) -> Result<(), Problem> {
    if response.status != StatusCode::OK {
        return Ok(());
    }
    let Content::Whole(bytes) = &response.body else { return Ok(()) };
    let length = bytes.len() as u64;
    if let Some(part) = of(head, &response.headers, length)? {
        let bytes = bytes.slice(part.start as usize..part.end as usize);
        let cut = std::mem::replace(response, Response::empty(StatusCode::OK)).in_part(&part, length);
        *response = Response { body: Content::Whole(bytes), ..cut };
    }
    Ok(())
}

/// The part of so many bytes that is wanted of an answer with these headers; none: the whole.
pub(crate) fn of(head: &Head, headers: &HeaderMap, length: u64) -> Result<Option<Range<u64>>, Problem> {
    if head.method != Method::GET || !is_offered(headers) || !is_same(head, headers) {
        return Ok(None);
    }
    match wanted(&head.headers, length) {
        Wanted::Whole => Ok(None),
        Wanted::Part(part) => Ok(Some(part)),
        Wanted::Beyond => Err(beyond(length)),
    }
}

/// Whether the client wants a part of these very bytes. A weak validator, or a date, does not say so.
fn is_same(head: &Head, headers: &HeaderMap) -> bool {
    let Some(condition) = head.headers.get(IF_RANGE) else { return true };
    headers.get(ETAG).is_some_and(|tag| tag == condition)
}

fn beyond(length: u64) -> Problem {
    Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, "range-not-satisfiable")
        .detail(format!("There are {length} bytes, and none in that range."))
        .header(CONTENT_RANGE, format!("bytes */{length}"))
}

fn wanted(headers: &HeaderMap, length: u64) -> Wanted {
    let mut values = headers.get_all(RANGE).iter().map(|value| value.to_str().unwrap_or_default());
    match (values.next(), values.next()) {
        (Some(range), None) => of_text(range, length).unwrap_or(Wanted::Whole),
        _ => Wanted::Whole,
    }
}

/// None: it is no range of bytes, or more than one.
fn of_text(range: &str, length: u64) -> Option<Wanted> {
    let (unit, part) = range.split_once('=')?;
    let (first, last) = part.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let part = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(length),
        (Some(first), None) if last.is_empty() => first..length,
        (None, Some(last)) if first.is_empty() => length - last.min(length)..length,
        _ => return None,
    };
    Some(if part.is_empty() { Wanted::Beyond } else { Wanted::Part(part) })
}

/// Numbers that are too large for us are still beyond the end.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_as_the_standard_has_it() {
        let check =
            |text: &str, expected: Wanted| assert_eq!(of_text(text, 10).unwrap_or(Wanted::Whole), expected, "{text}");
        check("bytes=0-0", Wanted::Part(0..1));
        check("Bytes=2-4", Wanted::Part(2..5));
        check("bytes=7-", Wanted::Part(7..10));
        check("bytes=-3", Wanted::Part(7..10));
        check("bytes=-30", Wanted::Part(0..10));
        check("bytes=9-99999999999999999999999", Wanted::Part(9..10));
        for beyond in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99999999999999999999999-"] {
            check(beyond, Wanted::Beyond);
        }
        for whole in ["bytes=4-2", "bytes=0-1,4-5", "lines=0-1", "bytes=", "bytes=-", "bytes=a-b", "bytes=+1-2", "0-1"]
        {
            check(whole, Wanted::Whole);
        }
        assert_eq!(of_text("bytes=0-", 0), Some(Wanted::Beyond));
        assert_eq!(of_text("bytes=-1", 0), Some(Wanted::Beyond));
    }
}
