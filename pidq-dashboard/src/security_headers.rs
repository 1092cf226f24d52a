//! Headers that limit what a page of the dashboard can load and who can use it.

use pidq_http::header::{CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY};

/// Policy of the dashboard's own pages: everything comes from its own origin, and no script is inline.
pub(crate) const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; font-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'";

/// Policy of responses of the API that have none: a document that a browser opens as a page can do nothing.
pub(crate) const API_POLICY: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";

/// Features of browsers that no page needs.
const PERMISSIONS: &str = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()";

/// Headers of all responses that do not have them already.
pub(crate) fn all() -> Vec<(HeaderName, &'static str)> {
    vec![
        (CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    ]
}
