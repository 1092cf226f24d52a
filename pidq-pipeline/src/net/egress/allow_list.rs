//! Allow list of URLs: every URL below an entry is permitted.

use std::str::FromStr;

use super::target_url::{TargetUrl, UrlError};

/// List of URLs, each including everything below its path.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AllowList(Vec<TargetUrl>);

/// Error for an entry that is not a valid URL.
#[derive(Clone, Debug, Eq, thiserror::Error, PartialEq)]
#[error("`{entry}` {error}")]
pub struct AllowListError {
    entry: String,
    error: UrlError,
}

impl AllowList {
    /// Parses a list. An empty list permits nothing.
    pub fn parse<T: AsRef<str>>(entries: impl IntoIterator<Item = T>) -> Result<AllowList, AllowListError> {
        let entry = |entry: T| {
            let text = entry.as_ref().trim();
            TargetUrl::parse(text).map_err(|error| AllowListError { entry: text.to_owned(), error })
        };
        entries.into_iter().map(entry).collect::<Result<_, _>>().map(AllowList)
    }

    /// Returns `true` if a URL is below an entry: same scheme, host and port, and a path that begins with the segments of
    /// the entry's path. `/v1` permits `/v1/x` but not `/v10`.
    pub fn allows(&self, url: &TargetUrl) -> bool {
        self.0.iter().any(|entry| is_below(entry, url))
    }
}

fn is_below(entry: &TargetUrl, url: &TargetUrl) -> bool {
    let suffix = url.path().strip_prefix(entry.path());
    entry.is_tls() == url.is_tls()
        && entry.host() == url.host()
        && entry.port() == url.port()
        && suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('/'))
}

/// Parses a comma-separated list.
impl FromStr for AllowList {
    type Err = AllowListError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        AllowList::parse(text.split(',').filter(|entry| !entry.trim().is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &str, url: &str, expected: bool) {
        let list: AllowList = list.parse().expect("a list");
        let url = TargetUrl::parse(url).expect("a URL");
        assert_eq!(list.allows(&url), expected, "{list:?} {url}");
    }

    #[test]
    fn an_entry_allows_all_urls_below_it() {
        check("https://api.example.com/v1", "https://api.example.com/v1", true);
        check("https://api.example.com/v1", "https://API.example.com:443/v1/", true);
        check("https://api.example.com/v1/", "https://api.example.com/v1/x", true);
        check("https://api.example.com", "https://api.example.com/any/where", true);
        check("https://a.example, http://b.example:8000/v1", "http://b.example:8000/v1", true);
    }

    #[test]
    fn an_entry_allows_no_other_urls() {
        check("https://api.example.com/v1", "https://api.example.com/v10", false);
        check("https://api.example.com/v1", "https://api.example.com/v1/../admin", false);
        check("https://api.example.com/v1", "http://api.example.com/v1", false);
        check("https://api.example.com/v1", "https://api.example.com:8443/v1", false);
        check("https://api.example.com", "https://api.example.com.evil.example", false);
        check("https://api.example.com", "https://evil.example/api.example.com", false);
        check("", "https://api.example.com", false);
    }

    #[test]
    fn the_error_contains_the_invalid_entry() {
        let error = "ftp://files.example".parse::<AllowList>().expect_err("no list");
        assert_eq!(error.to_string(), "`ftp://files.example` must begin with `http://` or `https://`");
    }
}
