//! `/api/license`: state of the license, and setting a license.

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, codes};
use pidq_store::domain::license::{License, LicenseState};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::auth::request_key;
use crate::api::json_body;
use crate::api::pipeline_access::require_unrestricted;
use crate::api::problems::{store_problem, unprocessable};
use crate::api::quota::Usage;
use crate::platform::Platform;
use crate::platform::licensing::Mode;

/// Request body of `PUT /api/license`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LicenseBody {
    license: String,
}

/// `PUT /api/license`: sets a signed license for this installation, unless a newer one is active.
pub(crate) async fn update(platform: &Platform, mut request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request_key(&request)?)?;
    let body: LicenseBody = json_body::parse(&mut request).await?;
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
    let mut body = json!({
        "system_id": licensing.system_id, "status": state.as_str(), "mode": mode_name(licensing.mode),
        "plan": null, "expires_at": null, "grace_ends_at": null, "limits": {}, "features": [],
        "usage": usage, "limits_reached": [], "clock_set_back": licensing.is_clock_set_back(),
    });
    if let Some(license) = state.license() {
        add_license_fields(&mut body, license);
        body["limits_reached"] = usage.map(|usage| usage.reached(&license.limits)).unwrap_or_default().into();
    }
    if let LicenseState::Invalid(reason) = state {
        body["reason"] = pidq_http::sentence(reason).into();
    }
    Response::json(&body)
}

fn add_license_fields(body: &mut Value, license: &License) {
    let timestamp = |seconds: i64| Value::from(Timestamp(seconds.saturating_mul(1000)).to_rfc3339());
    body["plan"] = license.plan.as_str().into();
    body["organization"] = license.org.as_str().into();
    body["expires_at"] = timestamp(license.exp);
    body["grace_ends_at"] = timestamp(license.grace_end());
    body["limits"] = serde_json::to_value(license.limits).unwrap_or_default();
    body["features"] = license.features.clone().into();
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Off => "off",
        Mode::Report => "report",
        Mode::Enforce => "enforce",
    }
}
