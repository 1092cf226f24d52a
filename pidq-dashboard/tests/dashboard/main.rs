//! Tests of the dashboard in front of a small API with real accounts.

mod api;
#[path = "../../../pidq-http/tests/collector.rs"]
mod collector;
mod pages;
#[allow(clippy::unwrap_used, dead_code, reason = "shared with the tests of identities")]
#[path = "../../../pidq-http/tests/identity/provider.rs"]
mod provider;
mod proxy;
mod remote;
mod sessions;
mod sso;
mod traces;

#[test]
fn the_page_about_the_dashboard_is_generated() {
    let page = include_str!("../../../docs/dashboard.md");
    assert!(
        page == pidq_dashboard::manual::dashboard(),
        "`pidq manual dashboard` prints another text than the page has"
    );
}
