//! Handlers of the accounts of a tenant, for its administrators.

use pidq_http::auth::{Account, NewUser, ROLES, Secret, Timestamp};
use pidq_http::{Problem, Request, Response, StatusCode, codes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::administration::{Administrator, change_problem};
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
pub(crate) struct AccountRequest {
    /// E-mail address, or any name without spaces.
    login: String,
    /// Role: `viewer`, `editor` or `admin`.
    role: String,
    /// Password. Default: a generated one, which the response shows once.
    password: Option<String>,
    /// Groups, for grants.
    #[serde(default)]
    groups: Vec<String>,
    /// Whether the user has no password and must use single sign-on.
    #[serde(default)]
    sso_only: bool,
}

/// Changes of an account. Absent fields stay unchanged.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountPatch {
    /// New password. Revokes all tokens of the user.
    password: Option<String>,
    /// New role. Revokes all tokens of the user.
    role: Option<String>,
    /// New groups.
    groups: Option<Vec<String>>,
    /// Whether the account is disabled, which revokes all tokens of the user.
    disabled: Option<bool>,
}

impl AccountEntry {
    fn new(account: Account) -> AccountEntry {
        let created_at = account.created_at.to_rfc3339();
        let Account { login, role, groups, sso_only, is_disabled, .. } = account;
        AccountEntry { login, role, groups, sso_only, disabled: is_disabled, created_at, password: None }
    }
}

/// `GET /accounts`.
pub(crate) async fn list(server: &Server, request: Request) -> Result<Response, Problem> {
    let accounts = accounts(&Administrator::from_request(server, &request)?).await?;
    Response::json(&AccountList { accounts: accounts.into_iter().map(AccountEntry::new).collect() })
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
    apply(&admin, &account, &patch).await?;
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

/// Applies a patch. What can be rejected comes first, so that a rejected patch changes nothing.
async fn apply(admin: &Administrator<'_>, account: &Account, patch: &AccountPatch) -> Result<(), Problem> {
    let (identities, login, now) = (admin.identities, &account.login, Timestamp::now());
    let role_names: Vec<&str> = ROLES.iter().map(|role| role.name).collect();
    if patch.role.as_ref().is_some_and(|role| !role_names.contains(&role.as_str())) {
        return Err(invalid("/role", "Unknown role.").with("allowed", role_names));
    }
    if let Some(groups) = &patch.groups {
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        identities.set_groups(login, &groups).await.map_err(change_problem)?;
    }
    if let Some(password) = &patch.password {
        identities.set_password(login, password, now).await.map_err(change_problem)?;
    }
    if let Some(role) = patch.role.as_ref().filter(|role| **role != account.role) {
        identities.set_role(login, role, now).await.map_err(change_problem)?;
    }
    match patch.disabled {
        Some(true) if !account.is_disabled => identities.disable_user(login, now).await.map_err(change_problem),
        Some(false) if account.is_disabled => identities.enable_user(login).await.map_err(change_problem),
        _ => Ok(()),
    }
}

async fn accounts(admin: &Administrator<'_>) -> Result<Vec<Account>, Problem> {
    let mut accounts = admin.identities.users().await.map_err(change_problem)?;
    accounts.retain(|account| account.tenant == admin.tenant);
    Ok(accounts)
}

/// Returns the account of the request path; those of other tenants do not exist.
async fn find_account(admin: &Administrator<'_>, request: &Request) -> Result<Account, Problem> {
    let login = request.path("login").unwrap_or_default().trim().to_lowercase();
    let found = accounts(admin).await?.into_iter().find(|account| account.login == login);
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
