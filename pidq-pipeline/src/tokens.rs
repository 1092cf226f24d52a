//! `/o/token/`: tokens for the master key.

use pidq_http::{Problem, Request, Response, oauth};

use crate::platform::Platform;

/// `POST /o/token/`.
pub(crate) async fn issue(platform: &Platform, request: Request) -> Result<Response, Problem> {
    match &platform.identities {
        Some(identities) => oauth::token(identities, request).await,
        None => {
            Err(Problem::not_found("no-accounts")
                .detail("This platform was started without a master key: send no token."))
        }
    }
}
