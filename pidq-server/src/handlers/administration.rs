//! Access of administrators to the accounts and clients of their tenant, shared by the handlers of both, and the texts in
//! their requests.

use pidq_http::auth::{Caller, Identities, IdentityError, ROLES, SCOPES};
use pidq_http::{Problem, Request, codes, sentence};
use schemars::JsonSchema;

use crate::server::Server;

/// Login, group or client id.
#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "only describes the text")]
pub(crate) struct Name(#[schemars(regex(pattern = r"^[\w.:@~+-]{1,254}$"))] String);

/// Name of a role.
#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "only describes the text")]
pub(crate) struct RoleName(#[schemars(extend("pattern" = one_of(ROLES.iter().map(|role| role.name))))] String);

/// Name of a scope.
#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "only describes the text")]
pub(crate) struct ScopeName(#[schemars(extend("pattern" = one_of(SCOPES.iter().copied())))] String);

/// Returns a pattern for these names.
fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("^({})$", names.collect::<Vec<_>>().join("|"))
}

/// Administrator of a tenant.
pub(crate) struct Administrator<'a> {
    pub identities: &'a Identities,
    /// Id of the administrator's own account, as in [`pidq_http::auth::Account::id`]. `None` for a client or a user of
    /// an identity provider.
    pub account_id: Option<String>,
    pub tenant: String,
}

impl<'a> Administrator<'a> {
    /// Identifies the administrator of a request.
    pub fn from_request(server: &'a Server, request: &Request) -> Result<Administrator<'a>, Problem> {
        let identities = server
            .identities
            .as_ref()
            .ok_or_else(|| Problem::new(codes::ACCOUNTS_DISABLED).detail("The service runs without accounts."))?;
        let principal = request.principal()?;
        let caller = principal.extension::<Caller>().ok_or_else(Problem::unauthenticated)?;
        if !caller.is_admin {
            let detail = "Only users with the role `admin` can manage accounts and clients.";
            return Err(Problem::new(codes::FORBIDDEN).detail(detail));
        }
        let account_id = caller.subject.as_str().strip_prefix("user:").map(str::to_owned);
        Ok(Administrator { identities, account_id, tenant: caller.tenant.clone() })
    }
}

/// Converts an error of a change.
pub(crate) fn change_problem(error: IdentityError) -> Problem {
    match error {
        IdentityError::Invalid(reason) => Problem::new(codes::VALIDATION).detail(sentence(&reason)),
        IdentityError::Exists(_) => Problem::new(codes::NAME_TAKEN).detail(sentence(&error.to_string())),
        error => error.to_problem("The account store is unavailable. Try again later."),
    }
}
