//! Fuzz property of `form`: for a header in the first line and a form in the rest, every OAuth endpoint responds as RFC
//! 6749 requires, and no request without the secret is accepted.
//!
//! The form is also parsed by the reader of URL queries, and the response must be consistent with that.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;

use pidq_http::Form;
use pidq_http::auth::{
    GrantType, MAX_BODY_SIZE, NewClient, OAuthReply, OAuthRequest, introspection_endpoint, revocation_endpoint,
    token_endpoint,
};
use serde_json::Value;

use super::world::{NOW, World};

const CLIENT: &str = "desk";
const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// Maximum number of parameters of an OAuth form.
const PARAMETERS: usize = 32;

/// One client that may refresh tokens but has none, so that nothing is ever written.
static WORLD: LazyLock<World> = LazyLock::new(|| {
    let world = World::empty();
    let (id, secret) = (Some(CLIENT), Some(SECRET));
    let client =
        NewClient { id, title: CLIENT, tenant: None, secret, grant_types: &[GrantType::RefreshToken], scopes: &[] };
    world.runtime.block_on(world.identities.create_client(client, NOW)).expect("a client");
    world
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
    let World { runtime, identities } = &*WORLD;
    let token = runtime.block_on(token_endpoint(identities, request));
    let revoked = runtime.block_on(revocation_endpoint(identities, request));
    let introspected = runtime.block_on(introspection_endpoint(identities, request));
    let answers = [seen(&token), seen(&revoked), seen(&introspected)];
    assert!(answers[0].0 != 200, "a token for nothing");
    if let (true, Some(expected)) = (header.is_empty(), expected(body)) {
        assert_eq!(answers.each_ref().map(|(status, error)| (*status, error.as_str())), expected);
    }
}

/// Returns the status and the error of a valid response.
fn seen(reply: &OAuthReply) -> (u16, String) {
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

type Answers = [(u16, &'static str); 3];

/// Returns the expected responses to a form alone; `None` if the plain reader cannot parse it as text.
fn expected(body: &[u8]) -> Option<Answers> {
    if body.len() > MAX_BODY_SIZE {
        return Some([(413, "invalid_request"); 3]);
    }
    let Some(form) = sound(str::from_utf8(body).ok()?) else { return Some([(400, "invalid_request"); 3]) };
    let value = |name| form.single(name).ok().flatten().filter(|value| !value.is_empty());
    let is_known = value("client_id") == Some(CLIENT) && value("client_secret") == Some(SECRET);
    let after = |known: (u16, &'static str)| if is_known { known } else { (401, "invalid_client") };
    let about_token = after(if value("token").is_some() { (200, "") } else { (400, "invalid_request") });
    let token = match value("grant_type") {
        None => (400, "invalid_request"),
        Some("refresh_token") if value("refresh_token").is_some() => after((400, "invalid_grant")),
        Some("refresh_token") => after((400, "invalid_request")),
        Some("password" | "client_credentials") => after((400, "unauthorized_client")),
        Some(_) => (400, "unsupported_grant_type"),
    };
    Some([token, about_token, about_token])
}

/// Parses a form with few, unique names.
fn sound(body: &str) -> Option<Form> {
    let form = Form::parse(body)?;
    let names: HashSet<&str> = form.pairs().map(|(name, _)| name).collect();
    (names.len() == form.len() && form.len() <= PARAMETERS).then_some(form)
}
