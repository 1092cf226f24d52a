//! Handlers of the accounts of a tenant, for its administrators.

use pidq_http::auth::{Account, NewUser, Secret, Timestamp, UserChanges};
use pidq_http::{Problem, Request, Response, StatusCode, codes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::administration::{Administrator, Name, RoleName, change_problem};
use crate::server::Server;

/// Accounts of the tenant.
#[derive(JsonSchema, Serialize)]
pub(crate) struct AccountList {
    /// Accounts, ordered by login.
    accounts: Vec<AccountEntry>,
}

/// Account of a user.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Account")]
pub(crate) struct AccountEntry {
    /// Id. Grants, limits and audit logs name the account `user:ID`.
    id: String,
    /// Login, in lower case.
    login: String,
    /// Role: `viewer`, `editor` or `admin`.
    role: String,
    /// Groups, for grants.
    groups: Vec<String>,
    /// `true` if the user must use single sign-on.
    sso_only: bool,
    /// `true` if the account is disabled.
    disabled: bool,
    /// Time of creation.
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    /// Generated password, shown only in the response to the creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    password: Option<String>,
}

/// Account to create.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("not" = {
    "required": ["sso_only", "password"],
    "properties": {"sso_only": {"const": true}, "password": {"type": "string"}}
}))]
pub(crate) struct AccountRequest {
    /// E-mail address, or any name without spaces.
    #[schemars(with = "Name")]
    login: String,
    /// Role: `viewer`, `editor` or `admin`.
    #[schemars(with = "RoleName")]
    role: String,
    /// Password. Default: a generated one, which the response shows once.
    #[schemars(length(min = 8, max = 1024))]
    password: Option<String>,
    /// Groups, for grants.
    #[serde(default)]
    #[schemars(with = "Vec<Name>")]
    groups: Vec<String>,
    /// `true` if the user has no password and must use single sign-on.
    #[serde(default)]
    sso_only: bool,
}

/// Changes of an account. Absent fields stay unchanged.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountPatch {
    /// New password. Revokes all tokens of the user.
    #[schemars(length(min = 8, max = 1024))]
    password: Option<String>,
    /// New role. Revokes all tokens of the user.
    #[schemars(with = "Option<RoleName>")]
    role: Option<String>,
    /// New groups.
    #[schemars(with = "Option<Vec<Name>>")]
    groups: Option<Vec<String>>,
    /// `true` disables the account and revokes all tokens of the user.
    disabled: Option<bool>,
}

impl AccountEntry {
    fn new(account: Account) -> AccountEntry {
        let created_at = account.created_at.to_rfc3339();
        let Account { id, login, role, groups, sso_only, is_disabled, .. } = account;
        AccountEntry { id, login, role, groups, sso_only, disabled: is_disabled, created_at, password: None }
    }
}

/// `GET /accounts`.
pub(crate) async fn list(server: &Server, request: Request) -> Result<Response, Problem> {
    let admin = Administrator::from_request(server, &request)?;
    let accounts = admin.identities.users().await.map_err(change_problem)?;
    let accounts = accounts.into_iter().filter(|account| account.tenant == admin.tenant);
    Response::json(&AccountList { accounts: accounts.map(AccountEntry::new).collect() })
}

/// `POST /accounts`.
pub(crate) async fn create(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let admin = Administrator::from_request(server, &request)?;
    let body: AccountRequest = request.object().await?;
    let generated = match (&body.password, body.sso_only) {
        (None, false) => Some(Secret::random().map_err(change_problem)?),
        (None, true) | (Some(_), false) => None,
        (Some(_), true) => return Err(invalid("/password", "A user of single sign-on has no password.")),
    };
    let user = NewUser {
        login: &body.login,
        password: generated.as_ref().map(Secret::expose).or(body.password.as_deref()),
        tenant: &admin.tenant,
        role: &body.role,
        groups: &body.groups.iter().map(String::as_str).collect::<Vec<_>>(),
        sso_only: body.sso_only,
    };
    let account = admin.identities.create_user(user, Timestamp::now()).await.map_err(change_problem)?;
    let mut entry = AccountEntry::new(account);
    entry.password = generated.map(|secret| secret.expose().to_owned());
    Ok(Response::json(&entry)?.status(StatusCode::CREATED))
}

/// `PATCH /accounts/{login}`.
pub(crate) async fn update(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let admin = Administrator::from_request(server, &request)?;
    let account = find_account(&admin, &request).await?;
    let patch: AccountPatch = request.object().await?;
    let is_own = admin.account_id.as_ref() == Some(&account.id);
    if is_own && (patch.disabled == Some(true) || patch.role.as_ref().is_some_and(|role| *role != account.role)) {
        return Err(own_account());
    }
    let groups: Option<Vec<&str>> = patch.groups.as_ref().map(|groups| groups.iter().map(String::as_str).collect());
    // Tokens are revoked only by what really changes.
    let changes = UserChanges {
        password: patch.password.as_deref(),
        role: patch.role.as_deref().filter(|role| *role != account.role),
        groups: groups.as_deref(),
        disabled: patch.disabled.filter(|disabled| *disabled != account.is_disabled),
    };
    admin.identities.change_user(&account.login, changes, Timestamp::now()).await.map_err(change_problem)?;
    let account = find_account(&admin, &request).await?;
    Response::json(&AccountEntry::new(account))
}

/// `DELETE /accounts/{login}`.
pub(crate) async fn delete(server: &Server, request: Request) -> Result<Response, Problem> {
    let admin = Administrator::from_request(server, &request)?;
    let account = find_account(&admin, &request).await?;
    if admin.account_id.as_ref() == Some(&account.id) {
        return Err(own_account());
    }
    admin.identities.delete_user(&account.login).await.map_err(change_problem)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// Returns the account of the request path; those of other tenants do not exist.
async fn find_account(admin: &Administrator<'_>, request: &Request) -> Result<Account, Problem> {
    let login = request.path("login").unwrap_or_default();
    let found = admin.identities.user(&admin.tenant, login).await.map_err(change_problem)?;
    found.ok_or_else(|| Problem::new(codes::ACCOUNT_NOT_FOUND))
}

fn own_account() -> Problem {
    Problem::new(codes::OWN_ACCOUNT).detail("Administrators cannot delete, disable or demote their own account.")
}

fn invalid(pointer: &str, detail: &str) -> Problem {
    Problem::new(codes::VALIDATION)
        .detail(detail)
        .with("errors", serde_json::json!([{"pointer": pointer, "detail": detail}]))
}
