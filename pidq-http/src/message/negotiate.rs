//! Content negotiation: quality values of `Accept` and `Accept-Encoding`.

use hyper::header::{GetAll, HeaderValue};

/// Returns the quality of a value, in thousandths; 0 means not acceptable. A value that is not listed has the quality
/// of `*`.
pub(crate) fn quality(headers: &GetAll<'_, HeaderValue>, value_name: &str) -> u16 {
    listed_quality(headers, value_name).unwrap_or(0)
}

/// Returns whether content without a coding is unacceptable. It is acceptable unless it is excluded (RFC 9110, 12.5.3).
pub(crate) fn refuses_identity(headers: &GetAll<'_, HeaderValue>) -> bool {
    listed_quality(headers, "identity") == Some(0)
}

/// Returns the quality of a value, or that of `*`. `None` if neither is listed.
fn listed_quality(headers: &GetAll<'_, HeaderValue>, value_name: &str) -> Option<u16> {
    let mut wildcard_quality = None;
    for value in headers.iter().filter_map(|header| header.to_str().ok()).flat_map(|list| list.split(',')) {
        let mut parts = value.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let q = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q="))).map_or(1000, thousandths);
        if name.eq_ignore_ascii_case(value_name) {
            return Some(q);
        }
        if name == "*" {
            wildcard_quality = Some(q);
        }
    }
    wildcard_quality
}

/// Returns the coding with the highest quality; the first one among equals. `None` if none is acceptable.
pub(crate) fn preferred_coding<'a>(
    headers: GetAll<'_, HeaderValue>,
    codings: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let mut best = (0, None);
    for coding in codings {
        let quality = quality(&headers, coding);
        if quality > best.0 {
            best = (quality, Some(coding));
        }
    }
    best.1
}

/// Returns the quality of a content type, in thousandths: by its name, else by its type, else by `*/*`. Without the
/// header everything is acceptable.
pub(crate) fn media_quality(headers: GetAll<'_, HeaderValue>, value_name: &str) -> u16 {
    let kind = value_name.split('/').next().unwrap_or_default();
    let (mut best, mut best_rank, mut has_header) = (0, 0, false);
    for range in headers.iter().filter_map(|header| header.to_str().ok()).flat_map(|list| list.split(',')) {
        has_header = true;
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let rank = match name.split_once('/') {
            _ if name.eq_ignore_ascii_case(value_name) => 3,
            Some((type_name, "*")) if type_name.eq_ignore_ascii_case(kind) => 2,
            Some(("*", "*")) => 1,
            _ => continue,
        };
        if rank > best_rank {
            best_rank = rank;
            best = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q="))).map_or(1000, thousandths);
        }
    }
    if has_header { best } else { 1000 }
}

fn thousandths(q: &str) -> u16 {
    q.parse::<f32>().map_or(0, |q| (q.clamp(0.0, 1.0) * 1000.0) as u16)
}

#[cfg(test)]
mod tests {
    use hyper::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap};

    use super::*;

    #[test]
    fn the_coding_has_the_highest_quality_and_ours_decides_among_equals() {
        for (accepted, expected) in [
            ("gzip, br", Some("br")),
            ("br;q=0.5, gzip", Some("gzip")),
            ("br;q=0, gzip;q=0.001", Some("gzip")),
            ("BR", Some("br")),
            ("*", Some("br")),
            ("br;q=0, *", Some("gzip")),
            ("*;q=0", None),
            ("zstd, identity", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, accepted.parse().expect("a value"));
            assert_eq!(preferred_coding(headers.get_all(ACCEPT_ENCODING), ["br", "gzip"]), expected, "{accepted}");
        }
    }

    #[test]
    fn content_without_a_coding_is_acceptable_unless_it_is_excluded() {
        for (accepted, expected) in [
            ("", false),
            ("gzip", false),
            ("gzip;q=0", false),
            ("*", false),
            ("*;q=0", true),
            ("identity;q=0", true),
            ("Identity; q=0.000, gzip", true),
            ("*;q=0, identity", false),
            ("identity;q=0, *", true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, accepted.parse().expect("a value"));
            assert_eq!(refuses_identity(&headers.get_all(ACCEPT_ENCODING)), expected, "{accepted}");
        }
        assert!(!refuses_identity(&HeaderMap::new().get_all(ACCEPT_ENCODING)));
    }

    #[test]
    fn the_most_specific_range_wins() {
        let check = |accept: &str, value_name: &str, quality: u16| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().expect("a value"));
            assert_eq!(media_quality(headers.get_all(ACCEPT), value_name), quality, "{accept}");
        };
        check("application/json", "application/json", 1000);
        check("*/*;q=0.5, application/json;q=0.1", "application/json", 100);
        check("text/*;q=0.3, */*", "text/csv", 300);
        check("text/html", "text/csv", 0);
        check("Text/CSV; charset=utf-8; q=0.7", "text/csv", 700);
        assert_eq!(media_quality(HeaderMap::new().get_all(ACCEPT), "text/csv"), 1000);
    }
}
