//! Entity tags: comparison without the content coding, and the suffix that names the coding.

use hyper::header::{ETAG, HeaderMap, HeaderValue};

/// Appends the coding to the entity tag. A strong validator names exact bytes (RFC 9110 8.8.3.3).
pub(crate) fn suffix_etag(headers: &mut HeaderMap, coding: &str) {
    let marked = headers.get(ETAG).and_then(|tag| tag.to_str().ok()?.strip_suffix('"').map(str::to_owned));
    if let Some(value) = marked.and_then(|tag| HeaderValue::from_str(&format!("{tag}-{coding}\"")).ok()) {
        headers.insert(ETAG, value);
    }
}

/// Returns whether `If-None-Match` contains this tag, in any coding.
pub(crate) fn matches_etag(condition: &str, tag: &str) -> bool {
    let plain = |tag: &str| {
        let tag = tag.trim().trim_start_matches("W/").trim_matches('"').to_owned();
        let suffix = ["-zstd", "-gzip", "-br"].into_iter().find_map(|suffix| tag.strip_suffix(suffix));
        suffix.map(str::to_owned).unwrap_or(tag)
    };
    condition.trim() == "*" || condition.split(',').any(|one| plain(one) == plain(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_without_their_coding() {
        assert!(matches_etag("\"7-zstd\"", "\"7\""));
        assert!(matches_etag("\"6\", W/\"7\"", "\"7-gzip\""));
        assert!(matches_etag("*", "\"7\""));
        assert!(!matches_etag("\"7-a\"", "\"7\""));
    }
}
