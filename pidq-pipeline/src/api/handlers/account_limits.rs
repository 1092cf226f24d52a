//! Limits of accounts: the pipelines, classifications and permissions (verbs) of a person, as API keys have them.

use std::collections::BTreeMap;
use std::sync::Arc;

use pidq_http::auth::{IdentityError, Timestamp};
use pidq_http::{Problem, Request, Response, StatusCode, codes};
use pidq_store::AccountLimit;
use pidq_store::domain::api_key::AccessScope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::auth::request_key;
use crate::api::json_body;
use crate::api::page_response::page_response;
use crate::api::pipeline_access::require_unrestricted;
use crate::api::problems::{require_pipelines, store_problem, validation};
use crate::api::schema::DateTime;
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform, TENANT};

/// New limit of an account.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountLimitRequest {
    /// Access by pipeline id. Other pipelines and classifications are invisible to the account.
    #[schemars(length(min = 1))]
    pipelines: BTreeMap<String, AccessScope>,
}

/// Limit of an account.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "AccountLimit")]
pub(crate) struct AccountLimitResponse<'a> {
    /// Account: `user:ID`, or `sso:ISSUER#ID` for a person of an identity provider.
    account: &'a str,
    /// Access by pipeline id.
    pipelines: &'a BTreeMap<String, AccessScope>,
    /// Last change.
    updated_at: DateTime,
}

impl<'a> From<&'a AccountLimit> for AccountLimitResponse<'a> {
    fn from(limit: &'a AccountLimit) -> AccountLimitResponse<'a> {
        AccountLimitResponse {
            account: &limit.account,
            pipelines: &limit.pipelines,
            updated_at: DateTime(limit.updated_at),
        }
    }
}

/// `GET /api/account-limits`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request_key(&request)?)?;
    let page = platform.cursors.page(&request, "account-limits", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let after = page.after.unwrap_or_default();
    let limits = platform.store.account_limits(&after, page.limit + 1).await.map_err(store_problem)?;
    let next =
        (limits.len() > page.limit).then(|| platform.cursors.sign("account-limits", &limits[page.limit - 1].account));
    let data = limits.iter().take(page.limit).map(AccountLimitResponse::from).collect();
    page_response(&request, data, next)
}

/// `PUT /api/account-limits/{account}`.
pub(crate) async fn set(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request_key(&request)?)?;
    let account = find_account(platform, &request).await?;
    if request.principal()?.id == account {
        let detail = "An account cannot limit itself, since it could not remove the limit.";
        return Err(Problem::new(codes::OWN_ACCOUNT).detail(detail));
    }
    let AccountLimitRequest { mut pipelines } = json_body::parse(&mut request).await?;
    if pipelines.is_empty() {
        return Err(validation("/pipelines", "At least one pipeline is required."));
    }
    require_pipelines(&platform.store, &pipelines).await?;
    pipelines.values_mut().for_each(AccessScope::normalize);
    let limit = AccountLimit { account, pipelines, updated_at: Timestamp::now().0 };
    platform.store.set_account_limit(&limit).await.map_err(store_problem)?;
    platform.access.account_limits.clear();
    Response::json(&AccountLimitResponse::from(&limit))
}

/// `DELETE /api/account-limits/{account}`.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request_key(&request)?)?;
    platform.store.delete_account_limit(request.path("account")?).await.map_err(store_problem)?;
    platform.access.account_limits.clear();
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// Returns the account of the path. Whether an account of an identity provider exists is not known.
async fn find_account(platform: &Platform, request: &Request) -> Result<String, Problem> {
    let account = request.path("account")?;
    let invalid = |detail: &str| Problem::new(codes::INVALID_PARAMETER).detail(detail).with("parameter", "account");
    if !account.starts_with("user:") && !account.starts_with("sso:") {
        return Err(invalid("Expected `user:ID` or `sso:ISSUER#ID`."));
    }
    let Some(identities) = platform.access.identities() else {
        return Err(Problem::new(codes::ACCOUNTS_DISABLED).detail("The service runs without accounts."));
    };
    identities.resolve_subject(TENANT, account).await.map_err(|error| match error {
        IdentityError::Unknown(_) => invalid("Unknown account."),
        IdentityError::Invalid(reason) => invalid(&reason),
        error => {
            tracing::error!(%error, "looking up an account failed");
            Problem::internal()
        }
    })
}
