//! Metadata documents for endpoint discovery: RFC 8414 and RFC 9728.

use schemars::JsonSchema;
use serde::Serialize;

use crate::auth::IdentityOptions;
use crate::auth::clients::{GRANT_TYPES, GrantType};

const CLIENT_AUTHENTICATION: [&str; 2] = ["client_secret_post", "client_secret_basic"];
const SCOPES_SUPPORTED: [&str; 2] = ["read", "write"];

/// Metadata of an authorization server (RFC 8414, 2).
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "AuthorizationServerMetadata")]
pub struct AuthorizationServer<'a> {
    /// URL of the service, which issues the tokens.
    issuer: &'a str,
    /// URL of the token endpoint.
    token_endpoint: String,
    /// URL of the revocation endpoint (RFC 7009).
    revocation_endpoint: String,
    /// URL of the introspection endpoint (RFC 7662).
    introspection_endpoint: String,
    /// Grants.
    grant_types_supported: Vec<&'static str>,
    /// Client authentication at the token endpoint.
    token_endpoint_auth_methods_supported: [&'static str; 2],
    /// Client authentication at the revocation endpoint.
    revocation_endpoint_auth_methods_supported: [&'static str; 2],
    /// Client authentication at the introspection endpoint.
    introspection_endpoint_auth_methods_supported: [&'static str; 2],
    /// Scopes.
    scopes_supported: [&'static str; 2],
    /// Response types: none, because there is no authorization endpoint.
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

/// Metadata of a protected resource (RFC 9728, 2).
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "ProtectedResourceMetadata")]
pub struct ProtectedResource<'a> {
    /// URL of the service.
    resource: &'a str,
    /// URLs of the services that issue tokens for it.
    authorization_servers: Vec<&'a str>,
    /// Scopes.
    scopes_supported: [&'static str; 2],
    /// Ways to send a token (RFC 6750): in the header.
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
