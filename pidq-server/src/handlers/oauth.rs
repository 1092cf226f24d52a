//! Handlers of `/o/…` and `/.well-known/…`: OAuth tokens and their metadata.

use pidq_http::auth::{Identities, authorization_server_metadata, protected_resource_metadata};
use pidq_http::{Problem, Request, Response, codes, oauth};

use crate::server::Server;

/// Handles `POST /o/token/`.
pub(crate) async fn issue(server: &Server, request: Request) -> Result<Response, Problem> {
    let response = oauth::token(identities(server)?, request).await?;
    server.metrics.count_token_response(response.status, &response.bytes().unwrap_or_default());
    Ok(response)
}

/// Handles `POST /o/revoke_token/`.
pub(crate) async fn revoke(server: &Server, request: Request) -> Result<Response, Problem> {
    oauth::revoke(identities(server)?, request).await
}

/// Handles `POST /o/introspect/`.
pub(crate) async fn introspect(server: &Server, request: Request) -> Result<Response, Problem> {
    oauth::introspect(identities(server)?, request).await
}

/// Handles `GET /.well-known/oauth-authorization-server` (RFC 8414).
pub(crate) fn server_metadata(server: &Server) -> Result<Response, Problem> {
    Ok(Response::ok("application/json", authorization_server_metadata(identities(server)?.options())))
}

/// Handles `GET /.well-known/oauth-protected-resource` (RFC 9728).
pub(crate) fn resource_metadata(server: &Server) -> Result<Response, Problem> {
    let identities = identities(server)?;
    let metadata = protected_resource_metadata(identities.options(), &identities.issuers());
    Ok(Response::ok("application/json", metadata))
}

fn identities(server: &Server) -> Result<&Identities, Problem> {
    let none = || {
        Problem::new(codes::ACCOUNTS_DISABLED)
            .detail("This service runs without accounts; send requests without a token.")
    };
    server.identities.as_ref().ok_or_else(none)
}
