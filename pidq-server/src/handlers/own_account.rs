//! Handlers of the account of the caller.

use pidq_http::auth::{Caller, Identities, IdentityError, PasswordChange, PasswordChangeError, Timestamp};
use pidq_http::{Problem, Request, Response, StatusCode, codes, sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::administration::change_problem;
use crate::server::Server;

/// Account of the caller.
#[derive(JsonSchema, Serialize)]
pub(crate) struct OwnAccount<'a> {
    /// Name in grants, limits and audit logs: `user:ID`, `client:ID`, or `sso:ISSUER#ID` for a user of an identity
    /// provider.
    account: &'a str,
    /// Login, or the name of a client.
    name: &'a str,
    /// Groups, for grants.
    groups: &'a [String],
    /// Scopes of the token.
    scopes: &'a [String],
    /// `true` if the caller has the role `admin`.
    admin: bool,
    /// `true` if the caller can change the password here; `false` for clients and users of single sign-on.
    has_password: bool,
}

/// Change of the own password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasswordRequest {
    /// Current password.
    #[schemars(length(max = 1024))]
    current_password: String,
    /// New password.
    #[schemars(length(min = 8, max = 1024))]
    new_password: String,
}

/// `GET /account`.
pub(crate) async fn show(server: &Server, request: Request) -> Result<Response, Problem> {
    let (identities, caller) = authenticated(server, &request)?;
    Response::json(&OwnAccount {
        account: caller.subject.as_str(),
        name: &caller.name,
        groups: &caller.groups,
        scopes: &caller.scopes,
        admin: caller.is_admin,
        has_password: identities.has_password(&caller).await.map_err(change_problem)?,
    })
}

/// `PUT /account/password`.
pub(crate) async fn change_password(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let (identities, caller) = authenticated(server, &request)?;
    let PasswordRequest { current_password, new_password } = request.object().await?;
    let change = PasswordChange {
        current: &current_password,
        new: &new_password,
        token: request.head.bearer()?.unwrap_or_default(),
        address: request.head.client,
    };
    identities.change_own_password(&caller, change, Timestamp::now()).await.map_err(password_problem)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

fn authenticated<'a>(server: &'a Server, request: &Request) -> Result<(&'a Identities, Caller), Problem> {
    let none = || Problem::new(codes::ACCOUNTS_DISABLED).detail("The service runs without accounts.");
    let identities = server.identities.as_ref().ok_or_else(none)?;
    let principal = request.principal()?;
    let caller = principal.extension::<Caller>().ok_or_else(Problem::unauthenticated)?;
    Ok((identities, caller.clone()))
}

fn password_problem(error: PasswordChangeError) -> Problem {
    match error {
        PasswordChangeError::NoPassword => Problem::new(codes::NO_PASSWORD)
            .detail("This account has no password here: it signs in by single sign-on, or is a client."),
        PasswordChangeError::WrongPassword => {
            Problem::new(codes::WRONG_PASSWORD).detail("The current password is wrong.")
        }
        PasswordChangeError::Throttled(wait) => Problem::new(codes::RATE_LIMITED)
            .detail("There were too many attempts to enter the password. Try again later.")
            .retry_after(wait.as_secs() + 1),
        PasswordChangeError::Failed(IdentityError::Invalid(reason)) => {
            let detail = sentence(&reason);
            let errors = serde_json::json!([{"pointer": "/new_password", "detail": detail}]);
            Problem::new(codes::VALIDATION).detail(detail).with("errors", errors)
        }
        PasswordChangeError::Failed(error) => change_problem(error),
    }
}
