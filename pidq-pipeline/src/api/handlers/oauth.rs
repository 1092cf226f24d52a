//! Handlers of `/o/…`: issuing and revoking tokens of the master key and of users.

use pidq_http::auth::Identities;
use pidq_http::{Problem, Request, Response, codes, oauth};

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
    let none = || {
        Problem::new(codes::ACCOUNTS_DISABLED)
            .detail("This server runs without a master key and needs no token; send requests without one.")
    };
    Ok(&platform.access.accounts.as_ref().ok_or_else(none)?.identities)
}
