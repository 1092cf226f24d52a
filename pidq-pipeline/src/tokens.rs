//! `/o/…`: tokens for the master key and for users.

use pidq_http::auth::Identities;
use pidq_http::{Problem, Request, Response, oauth};

use crate::platform::Platform;

/// `POST /o/token/`.
pub(crate) async fn issue(platform: &Platform, request: Request) -> Result<Response, Problem> {
    oauth::token(identities(platform)?, request).await
}

/// `POST /o/revoke_token/`.
pub(crate) async fn revoke(platform: &Platform, request: Request) -> Result<Response, Problem> {
    oauth::revoke(identities(platform)?, request).await
}

fn identities(platform: &Platform) -> Result<&Identities, Problem> {
    let none =
        || Problem::not_found("no-accounts").detail("This platform was started without a master key: send no token.");
    Ok(&platform.accounts.as_ref().ok_or_else(none)?.identities)
}
