//! Metadata documents for endpoint discovery: RFC 8414 and RFC 9728.

use serde::Serialize;

use crate::auth::IdentityOptions;
use crate::auth::clients::{GRANT_TYPES, GrantType};

const CLIENT_AUTHENTICATION: [&str; 2] = ["client_secret_post", "client_secret_basic"];
const SCOPES_SUPPORTED: [&str; 2] = ["read", "write"];

#[derive(Serialize)]
struct AuthorizationServer<'a> {
    issuer: &'a str,
    token_endpoint: String,
    revocation_endpoint: String,
    introspection_endpoint: String,
    grant_types_supported: Vec<&'static str>,
    token_endpoint_auth_methods_supported: [&'static str; 2],
    revocation_endpoint_auth_methods_supported: [&'static str; 2],
    introspection_endpoint_auth_methods_supported: [&'static str; 2],
    scopes_supported: [&'static str; 2],
    response_types_supported: [&'static str; 0],
}

/// Returns the body of `GET /.well-known/oauth-authorization-server`.
pub fn authorization_server_metadata(options: &IdentityOptions) -> String {
    let issuer = options.base_url.as_str();
    let at = |path: &str| format!("{issuer}{path}");
    to_json(&AuthorizationServer {
        issuer,
        token_endpoint: at("/o/token/"),
        revocation_endpoint: at("/o/revoke_token/"),
        introspection_endpoint: at("/o/introspect/"),
        grant_types_supported: supported_grant_types(options),
        token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
        revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
        introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
        scopes_supported: SCOPES_SUPPORTED,
        response_types_supported: [],
    })
}

fn supported_grant_types(options: &IdentityOptions) -> Vec<&'static str> {
    let is_supported = |grant: GrantType| grant != GrantType::Password || options.password_grant;
    GRANT_TYPES.iter().filter(|row| is_supported(row.0)).map(|row| row.1).collect()
}

#[derive(Serialize)]
struct ProtectedResource<'a> {
    resource: &'a str,
    authorization_servers: Vec<&'a str>,
    scopes_supported: [&'static str; 2],
    bearer_methods_supported: [&'static str; 1],
}

/// Returns the body of `GET /.well-known/oauth-protected-resource`. `issuers` are the identity providers.
pub fn protected_resource_metadata(options: &IdentityOptions, issuers: &[&str]) -> String {
    let base_url = options.base_url.as_str();
    to_json(&ProtectedResource {
        resource: base_url,
        authorization_servers: std::iter::once(base_url).chain(issuers.iter().copied()).collect(),
        scopes_supported: SCOPES_SUPPORTED,
        bearer_methods_supported: ["header"],
    })
}

fn to_json(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}
