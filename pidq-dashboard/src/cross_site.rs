//! Protection against requests that pages of other sites make with the cookies of a person.

use pidq_http::header::ORIGIN;
use pidq_http::{Head, Method, Problem, codes};

use crate::api::authority;

/// Rejects a request that changes something unless a page of the dashboard sends it. Browsers tell by
/// `Sec-Fetch-Site`, which pages cannot set; older ones by `Origin`.
///
/// # Errors
/// 403 for a request of another site, and for one that tells nothing.
pub(crate) fn check(head: &Head) -> Result<(), Problem> {
    if [Method::GET, Method::HEAD, Method::OPTIONS].contains(&head.method) || is_same_origin(head) {
        return Ok(());
    }
    Err(Problem::new(codes::CROSS_SITE_REQUEST).detail("The request does not come from a page of the dashboard."))
}

fn is_same_origin(head: &Head) -> bool {
    if head.headers.contains_key("sec-fetch-site") {
        return head.header("sec-fetch-site") == Some("same-origin");
    }
    let mut origins = head.headers.get_all(ORIGIN).iter();
    let (Some(origin), None) = (origins.next().and_then(|origin| origin.to_str().ok()), origins.next()) else {
        return false;
    };
    // A proxy that is not trusted may hide that the browser uses TLS.
    let own = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://").filter(|_| !head.secure));
    own.is_some_and(|own| Some(own.to_ascii_lowercase()) == authority(head))
}
