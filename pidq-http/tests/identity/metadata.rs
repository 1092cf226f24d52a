//! Metadata documents for endpoint discovery.

use pidq_http::auth::{IdentityOptions, authorization_server_metadata, protected_resource_metadata};

#[test]
fn the_server_metadata_lists_the_endpoints() {
    let mut options = IdentityOptions::at("https://pidq.example/");
    let expected = concat!(
        r#"{"issuer":"https://pidq.example","token_endpoint":"https://pidq.example/o/token/","#,
        r#""revocation_endpoint":"https://pidq.example/o/revoke_token/","#,
        r#""introspection_endpoint":"https://pidq.example/o/introspect/","#,
        r#""grant_types_supported":["password","refresh_token","client_credentials"],"#,
        r#""token_endpoint_auth_methods_supported":["client_secret_post","client_secret_basic"],"#,
        r#""revocation_endpoint_auth_methods_supported":["client_secret_post","client_secret_basic"],"#,
        r#""introspection_endpoint_auth_methods_supported":["client_secret_post","client_secret_basic"],"#,
        r#""scopes_supported":["read","write"],"response_types_supported":[]}"#
    );
    assert_eq!(authorization_server_metadata(&options), expected);
    options.password_grant = false;
    assert!(!authorization_server_metadata(&options).contains(r#""password""#));
}

#[test]
fn the_resource_metadata_lists_the_authorization_servers() {
    let options = IdentityOptions::at("https://pidq.example");
    let expected = concat!(
        r#"{"resource":"https://pidq.example","#,
        r#""authorization_servers":["https://pidq.example","https://login.example/t"],"#,
        r#""scopes_supported":["read","write"],"bearer_methods_supported":["header"]}"#
    );
    assert_eq!(protected_resource_metadata(&options, &["https://login.example/t"]), expected);
}
