//! Fuzz property of `form`: for a header in the first line and a form in the rest, every OAuth endpoint responds as RFC
//! 6749 requires, and no request without the secret is accepted.
//!
//! The form is also parsed with the parser of URL queries, and the response must be consistent with the result.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;

use pidq_http::Form;
use pidq_http::auth::{
    GrantType, MAX_BODY_SIZE, NewClient, OAuthReply, OAuthRequest, introspection_endpoint, revocation_endpoint,
    token_endpoint,
};
use serde_json::Value;

use super::fixture::{Fixture, NOW};

const CLIENT: &str = "desk";
const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// Maximum number of parameters of an OAuth form.
const PARAMETERS: usize = 32;

/// One client that may refresh tokens but has none, so that no request changes the accounts.
static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let fixture = Fixture::empty();
    let (id, secret) = (Some(CLIENT), Some(SECRET));
    let client =
        NewClient { id, title: CLIENT, tenant: None, secret, grant_types: &[GrantType::RefreshToken], scopes: &[] };
    fixture.runtime.block_on(fixture.identities.create_client(client, NOW)).expect("a client");
    fixture
});

/// Panics if the property is violated.
pub fn check(input: &[u8]) {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (head, body) = (&input[..at], input.get(at + 1..).unwrap_or_default());
    let Ok(header) = str::from_utf8(head) else { return };
    let authorization: &[&str] = if header.is_empty() { &[] } else { &[header] };
    let request = OAuthRequest {
        content_type: Some("application/x-www-form-urlencoded"),
        authorization,
        query: None,
        body,
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        now: NOW,
    };
    let Fixture { runtime, identities } = &*FIXTURE;
    let token = runtime.block_on(token_endpoint(identities, request));
    let revoked = runtime.block_on(revocation_endpoint(identities, request));
    let introspected = runtime.block_on(introspection_endpoint(identities, request));
    let responses = [check_response(&token), check_response(&revoked), check_response(&introspected)];
    assert!(responses[0].0 != 200, "a token without credentials");
    if let (true, Some(expected)) = (header.is_empty(), expected(body)) {
        assert_eq!(responses.each_ref().map(|(status, error)| (*status, error.as_str())), expected);
    }
}

/// Checks that a response is valid and returns its status and error.
fn check_response(reply: &OAuthReply) -> (u16, String) {
    let json: Value = serde_json::from_slice(&reply.body).expect("JSON");
    let error = json["error"].as_str().unwrap_or_default().to_owned();
    assert_eq!(error.is_empty(), reply.status == 200, "{json}");
    assert!([200, 400, 401, 413].contains(&reply.status), "{json}");
    let description = json["error_description"].as_str().unwrap_or_default();
    assert!(description.bytes().all(is_plain), "{description:?}");
    (reply.status, error)
}

/// Returns true for a character allowed in a description: RFC 6749, 5.2.
fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..=0x21 | 0x23..=0x5b | 0x5d..=0x7e)
}

type ExpectedResponses = [(u16, &'static str); 3];

/// Returns the expected responses to a form without a header; `None` if it is not UTF-8.
fn expected(body: &[u8]) -> Option<ExpectedResponses> {
    if body.len() > MAX_BODY_SIZE {
        return Some([(413, "invalid_request"); 3]);
    }
    let Some(form) = parse_valid_form(str::from_utf8(body).ok()?) else { return Some([(400, "invalid_request"); 3]) };
    let value = |name| form.single(name).ok().flatten().filter(|value| !value.is_empty());
    let is_known = value("client_id") == Some(CLIENT) && value("client_secret") == Some(SECRET);
    let if_known = |response: (u16, &'static str)| if is_known { response } else { (401, "invalid_client") };
    let token_management = if_known(if value("token").is_some() { (200, "") } else { (400, "invalid_request") });
    let token = match value("grant_type") {
        None => (400, "invalid_request"),
        Some("refresh_token") if value("refresh_token").is_some() => if_known((400, "invalid_grant")),
        Some("refresh_token") => if_known((400, "invalid_request")),
        Some("password" | "client_credentials") => if_known((400, "unauthorized_client")),
        Some(_) => (400, "unsupported_grant_type"),
    };
    Some([token, token_management, token_management])
}

/// Parses a form. Returns `None` if it has duplicate or too many parameters.
fn parse_valid_form(body: &str) -> Option<Form> {
    let form = Form::parse(body)?;
    let names: HashSet<&str> = form.pairs().map(|(name, _)| name).collect();
    (names.len() == form.len() && form.len() <= PARAMETERS).then_some(form)
}
