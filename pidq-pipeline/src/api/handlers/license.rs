//! `/api/license`: state of the license, and setting a license.

use pidq_http::{Problem, Request, Response, codes};
use pidq_store::domain::license::{LicenseLimits, LicenseState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::auth::request_key;
use crate::api::json_body;
use crate::api::pipeline_access::require_unrestricted;
use crate::api::problems::{store_problem, unprocessable};
use crate::api::quota::Usage;
use crate::api::schema::DateTime;
use crate::platform::Platform;
use crate::platform::licensing::Mode;

/// License to install.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LicenseRequest {
    /// Signed license, as issued.
    license: String,
}

/// State of the license.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "License")]
pub(crate) struct LicenseResponse<'a> {
    /// Id of this installation, for the license issuer.
    system_id: &'a str,
    /// State.
    #[schemars(extend("enum" = ["missing", "valid", "expiring", "grace", "expired", "invalid", "wrong_system"]))]
    status: &'static str,
    /// Enforcement of licenses.
    #[schemars(extend("enum" = ["off", "report", "enforce"]))]
    mode: &'static str,
    /// Name of the plan.
    plan: Option<&'a str>,
    /// Expiry.
    expires_at: Option<DateTime>,
    /// End of the grace period after the expiry.
    grace_ends_at: Option<DateTime>,
    /// Limits. Empty without a license.
    limits: LimitsOrNone,
    /// Features.
    features: &'a [String],
    /// Usage that counts toward the limits. Null for a restricted key.
    usage: Option<Usage>,
    /// Names of the limits that are reached.
    limits_reached: Vec<&'static str>,
    /// `true` if the clock was set back, so that the expiry cannot be checked.
    clock_set_back: bool,
    /// Licensee. Absent without a license.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    organization: Option<&'a str>,
    /// Reason why the license is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    reason: Option<String>,
}

/// Limits of a license, or an empty object.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
enum LimitsOrNone {
    Limits(LicenseLimits),
    None {},
}

/// `PUT /api/license`: sets a signed license for this installation, unless a newer one is active.
pub(crate) async fn update(platform: &Platform, mut request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request_key(&request)?)?;
    let body: LicenseRequest = json_body::parse(&mut request).await?;
    let licensing = &platform.licensing;
    let reject = |code, detail: &str| {
        let problem = unprocessable(code, "/license", detail);
        Err(problem.with("system_id", licensing.system_id.as_str()))
    };
    match licensing.evaluate(&body.license) {
        LicenseState::Valid(license) | LicenseState::Expiring(license) | LicenseState::Grace(license) => {
            if licensing.state().license().is_some_and(|current| license.iat < current.iat) {
                let problem = Problem::new(codes::LICENSE_OLDER);
                return Err(problem.detail("The active license was issued later than this one."));
            }
        }
        LicenseState::Expired(_) => return reject(codes::LICENSE_EXPIRED, "This license has expired."),
        LicenseState::WrongSystem(_) => {
            return reject(codes::LICENSE_WRONG_SYSTEM, "This license is for another installation.");
        }
        LicenseState::Invalid(reason) => return reject(codes::LICENSE_INVALID, &pidq_http::sentence(reason)),
        LicenseState::Missing => return reject(codes::LICENSE_INVALID, "The license is missing."),
    }
    platform.store.set_license(body.license.trim()).await.map_err(store_problem)?;
    licensing.refresh(&platform.store).await.map_err(store_problem)?;
    show(platform, &request).await
}

/// `GET /api/license`.
pub(crate) async fn show(platform: &Platform, request: &Request) -> Result<Response, Problem> {
    let usage = Usage::for_caller(platform, request).await?;
    let licensing = &platform.licensing;
    let state = licensing.state();
    let license = state.license();
    let date_time = |seconds: i64| DateTime(seconds.saturating_mul(1000));
    Response::json(&LicenseResponse {
        system_id: &licensing.system_id,
        status: state.as_str(),
        mode: mode_name(licensing.mode),
        plan: license.map(|license| license.plan.as_str()),
        expires_at: license.map(|license| date_time(license.exp)),
        grace_ends_at: license.map(|license| date_time(license.grace_end())),
        limits: license.map_or(LimitsOrNone::None {}, |license| LimitsOrNone::Limits(license.limits)),
        features: license.map_or(&[], |license| &license.features),
        usage,
        limits_reached: usage.zip(license).map(|(usage, license)| usage.reached(&license.limits)).unwrap_or_default(),
        clock_set_back: licensing.is_clock_set_back(),
        organization: license.map(|license| license.org.as_str()),
        reason: match &state {
            LicenseState::Invalid(reason) => Some(pidq_http::sentence(reason)),
            _ => None,
        },
    })
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Off => "off",
        Mode::Report => "report",
        Mode::Enforce => "enforce",
    }
}
