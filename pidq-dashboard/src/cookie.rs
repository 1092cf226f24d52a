//! Cookies of the dashboard: names, attributes, and values in several parts, since browsers limit the size of a cookie.

use std::borrow::Cow;

use pidq_http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};

/// Cookie of a session.
pub(crate) const SESSION: &str = "__Host-pidq-session";

/// Cookie of a single sign-on that a browser has started.
pub(crate) const SSO: &str = "__Host-pidq-sso";

/// Size of a part. Browsers accept 4096 bytes together with the name and the attributes.
const PART_SIZE: usize = 3800;

/// Maximum number of parts, which together fit into a request head.
const PART_LIMIT: usize = 3;

/// The prefix `__Host-` requires `Secure`, the path `/` and no domain.
const ATTRIBUTES: &str = "; Path=/; Secure; HttpOnly; SameSite=Lax";

/// Returns the value of a cookie; `None` if it or one of its parts is missing.
pub(crate) fn read(headers: &HeaderMap, name: &str) -> Option<String> {
    let (count, first) = part(headers, name)?.split_once('.')?;
    let count: usize = count.parse().ok().filter(|count| (1..=PART_LIMIT).contains(count))?;
    let mut value = first.to_owned();
    for index in 1..count {
        value.push_str(part(headers, &part_name(name, index))?);
    }
    Some(value)
}

/// Adds `Set-Cookie` for a value, which is ASCII without separators; one that is too large is not set.
pub(crate) fn set(headers: &mut HeaderMap, name: &str, value: &str) -> bool {
    set_with(headers, name, value, ATTRIBUTES)
}

/// Adds `Set-Cookie` as [`set`] for a value that browsers delete after some seconds.
pub(crate) fn set_for(headers: &mut HeaderMap, name: &str, value: &str, seconds: u32) -> bool {
    set_with(headers, name, value, &format!("; Max-Age={seconds}{ATTRIBUTES}"))
}

fn set_with(headers: &mut HeaderMap, name: &str, value: &str, attributes: &str) -> bool {
    let count = value.len().div_ceil(PART_SIZE).max(1);
    if count > PART_LIMIT || !value.is_ascii() {
        return false;
    }
    for index in 0..count {
        let text = &value[index * PART_SIZE..value.len().min((index + 1) * PART_SIZE)];
        let count = if index == 0 { format!("{count}.") } else { String::new() };
        append(headers, format!("{}={count}{text}{attributes}", part_name(name, index)));
    }
    true
}

/// Adds `Set-Cookie` that deletes the cookie, with its parts that the request has.
pub(crate) fn clear(headers: &mut HeaderMap, request: &HeaderMap, name: &str) {
    deletions(request, name).for_each(|cookie| append(headers, cookie));
}

/// Returns the values of `Set-Cookie` that delete the cookie, with its parts that the request has.
pub(crate) fn deletions(request: &HeaderMap, name: &str) -> impl Iterator<Item = String> {
    let names = (0..PART_LIMIT).map(move |index| part_name(name, index));
    let present = names.enumerate().filter(|(index, name)| *index == 0 || part(request, name).is_some());
    present.map(|(_, name)| format!("{name}=; Max-Age=0{ATTRIBUTES}"))
}

fn append(headers: &mut HeaderMap, cookie: String) {
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        headers.append(SET_COOKIE, cookie);
    }
}

fn part_name(name: &str, index: usize) -> Cow<'_, str> {
    if index == 0 { name.into() } else { format!("{name}.{index}").into() }
}

fn part<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the request of a browser that has received these cookies.
    fn returned(response: &HeaderMap) -> HeaderMap {
        let pairs: Vec<&str> =
            response.get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok()?.split(';').next()).collect();
        HeaderMap::from_iter([(COOKIE, pairs.join("; ").parse().expect("a value"))])
    }

    #[test]
    fn a_large_value_is_set_in_parts_that_a_browser_accepts() {
        for (size, count) in [(0, 1), (1, 1), (3800, 1), (3801, 2), (11_400, 3)] {
            let (value, mut response) = ("v".repeat(size), HeaderMap::new());
            assert!(set(&mut response, SESSION, &value));
            let cookies: Vec<_> = response.get_all(SET_COOKIE).iter().collect();
            assert_eq!(cookies.len(), count, "{size}");
            assert!(cookies.iter().all(|cookie| cookie.len() <= 4096), "{size}");
            assert_eq!(read(&returned(&response), SESSION), Some(value), "{size}");
        }
        let mut response = HeaderMap::new();
        assert!(!set(&mut response, SESSION, &"v".repeat(11_401)));
        assert!(response.is_empty());
    }

    #[test]
    fn a_cookie_has_the_attributes_that_its_prefix_demands() {
        let mut response = HeaderMap::new();
        set(&mut response, SESSION, "v");
        assert_eq!(response[SET_COOKIE], "__Host-pidq-session=1.v; Path=/; Secure; HttpOnly; SameSite=Lax");
        let mut response = HeaderMap::new();
        set_for(&mut response, SSO, "v", 600);
        assert_eq!(response[SET_COOKIE], "__Host-pidq-sso=1.v; Max-Age=600; Path=/; Secure; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn parts_left_over_from_a_longer_value_are_ignored() {
        let cookies = |text: &str| HeaderMap::from_iter([(COOKIE, text.parse().expect("a value"))]);
        let read = |text: &str| read(&cookies(text), SESSION);
        assert_eq!(read("a=b; __Host-pidq-session=1.x; __Host-pidq-session.1=y"), Some("x".into()));
        assert_eq!(read("__Host-pidq-session=2.x; __Host-pidq-session.1=y"), Some("xy".into()));
        for wrong in ["", "__Host-pidq-session=2.x", "__Host-pidq-session=x", "__Host-pidq-session=9.x", "=", "; ;"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn all_parts_of_the_request_are_deleted() {
        let request = "__Host-pidq-session=2.x; __Host-pidq-session.1=y".parse().expect("a value");
        let (request, mut response) = (HeaderMap::from_iter([(COOKIE, request)]), HeaderMap::new());
        clear(&mut response, &request, SESSION);
        let deleted: Vec<_> = response.get_all(SET_COOKIE).iter().collect();
        assert_eq!(
            deleted,
            [
                "__Host-pidq-session=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax",
                "__Host-pidq-session.1=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax",
            ]
        );
    }
}
