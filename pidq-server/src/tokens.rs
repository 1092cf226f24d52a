//! `/o/…` and `/.well-known/…`: tokens, and how a client finds out about them.

use pidq_http::auth::{Identities, authorization_server_metadata, protected_resource_metadata};
use pidq_http::{Problem, Request, Response, oauth};

use crate::server::Server;

/// `POST /o/token/`.
pub(crate) async fn issue(server: &Server, request: Request) -> Result<Response, Problem> {
    let response = oauth::token(identities(server)?, request).await?;
    server.meters.logged_in(response.status, &response.bytes().unwrap_or_default());
    Ok(response)
}

/// `POST /o/revoke_token/`.
pub(crate) async fn revoke(server: &Server, request: Request) -> Result<Response, Problem> {
    oauth::revoke(identities(server)?, request).await
}

/// `POST /o/introspect/`.
pub(crate) async fn introspect(server: &Server, request: Request) -> Result<Response, Problem> {
    oauth::introspect(identities(server)?, request).await
}

/// `GET /.well-known/oauth-authorization-server`, RFC 8414.
pub(crate) fn issuer(server: &Server) -> Result<Response, Problem> {
    Ok(Response::ok("application/json", authorization_server_metadata(identities(server)?.options())))
}

/// `GET /.well-known/oauth-protected-resource`, RFC 9728.
pub(crate) fn resource(server: &Server) -> Result<Response, Problem> {
    let identities = identities(server)?;
    let metadata = protected_resource_metadata(identities.options(), &identities.issuers());
    Ok(Response::ok("application/json", metadata))
}

fn identities(server: &Server) -> Result<&Identities, Problem> {
    let none = || Problem::not_found("no-accounts").detail("This service was started without accounts: send no token.");
    server.identities.as_ref().ok_or_else(none)
}
