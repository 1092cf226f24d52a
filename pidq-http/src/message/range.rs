//! Range requests: one byte range per response, so that a download can resume (RFC 9110, section 14).
//!
//! A response offers ranges with `Accept-Ranges: bytes`. The response to several ranges, or to a range of another
//! version, is the full body.

use std::ops::Range;

use hyper::Method;
use hyper::header::{ACCEPT_RANGES, CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, RANGE};

use crate::message::head::Head;
use crate::problem::{Problem, codes};

/// Range requested by the header `Range`.
#[derive(Debug, Eq, PartialEq)]
enum RangeRequest {
    /// The full body: no range, or an unsupported one.
    Full,
    /// This byte range.
    Part(Range<u64>),
    /// A range beyond the end.
    Unsatisfiable,
}

/// Returns whether a response offers ranges. Such a response is not compressed, since its bytes would differ.
pub(crate) fn offers_ranges(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT_RANGES).is_some_and(|unit| unit == "bytes")
}

/// Returns the requested range of a body of this length; `None` for the full body.
pub(crate) fn requested(head: &Head, headers: &HeaderMap, length: u64) -> Result<Option<Range<u64>>, Problem> {
    if head.method != Method::GET || !offers_ranges(headers) || !if_range_matches(head, headers) {
        return Ok(None);
    }
    match parse_header(&head.headers, length) {
        RangeRequest::Full => Ok(None),
        RangeRequest::Part(part) => Ok(Some(part)),
        RangeRequest::Unsatisfiable => Err(unsatisfiable(length)),
    }
}

/// Returns whether `If-Range` names exactly this content. A weak validator or a date does not.
fn if_range_matches(head: &Head, headers: &HeaderMap) -> bool {
    let Some(condition) = head.headers.get(IF_RANGE) else { return true };
    headers.get(ETAG).is_some_and(|tag| tag == condition)
}

fn unsatisfiable(length: u64) -> Problem {
    Problem::new(codes::RANGE_NOT_SATISFIABLE)
        .detail(format!("The range is beyond the end; the content has {length} bytes."))
        .header(CONTENT_RANGE, format!("bytes */{length}"))
}

fn parse_header(headers: &HeaderMap, length: u64) -> RangeRequest {
    let mut values = headers.get_all(RANGE).iter().map(|value| value.to_str().unwrap_or_default());
    match (values.next(), values.next()) {
        (Some(range), None) => parse_range(range, length).unwrap_or(RangeRequest::Full),
        _ => RangeRequest::Full,
    }
}

/// Parses a range. `None` if the unit is not bytes, or there are several ranges.
fn parse_range(range: &str, length: u64) -> Option<RangeRequest> {
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
    Some(if part.is_empty() { RangeRequest::Unsatisfiable } else { RangeRequest::Part(part) })
}

/// Parses a number. One that overflows still counts as beyond the end.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed_as_rfc_9110_defines() {
        let check = |text: &str, expected: RangeRequest| {
            assert_eq!(parse_range(text, 10).unwrap_or(RangeRequest::Full), expected, "{text}")
        };
        check("bytes=0-0", RangeRequest::Part(0..1));
        check("Bytes=2-4", RangeRequest::Part(2..5));
        check("bytes=7-", RangeRequest::Part(7..10));
        check("bytes=-3", RangeRequest::Part(7..10));
        check("bytes=-30", RangeRequest::Part(0..10));
        check("bytes=9-99999999999999999999999", RangeRequest::Part(9..10));
        for beyond in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99999999999999999999999-"] {
            check(beyond, RangeRequest::Unsatisfiable);
        }
        for full in ["bytes=4-2", "bytes=0-1,4-5", "lines=0-1", "bytes=", "bytes=-", "bytes=a-b", "bytes=+1-2", "0-1"] {
            check(full, RangeRequest::Full);
        }
        assert_eq!(parse_range("bytes=0-", 0), Some(RangeRequest::Unsatisfiable));
        assert_eq!(parse_range("bytes=-1", 0), Some(RangeRequest::Unsatisfiable));
    }
}
