//! What a client would rather have: quality values of `Accept` and `Accept-Encoding`.

use hyper::header::{GetAll, HeaderValue};

/// How much a value is wanted, in thousandths. 0: not at all. What is not named counts as `*` does.
pub(crate) fn quality(headers: GetAll<'_, HeaderValue>, wanted: &str) -> u16 {
    let mut star = 0;
    for value in headers.iter().filter_map(|header| header.to_str().ok()).flat_map(|list| list.split(',')) {
        let mut parts = value.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let q = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q="))).map_or(1000, thousandths);
        if name.eq_ignore_ascii_case(wanted) {
            return q;
        }
        if name == "*" {
            star = q;
        }
    }
    star
}

fn thousandths(q: &str) -> u16 {
    q.parse::<f32>().map_or(0, |q| (q.clamp(0.0, 1.0) * 1000.0) as u16)
}
