//! `/api/license` and the enforcement of licenses.
//!
//! A license is configured or set through the API; the newer one counts. The one set through the API is
//! in the database, which every process reads once a minute.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, ProblemCode, Request, Response, Secret, codes};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api_keys;
use crate::json_body;
use crate::license::{DAY, License, LicenseLimits, LicenseState, TrustedKeys, VerifiedLicense};
use crate::pipelines::require_unrestricted;
use crate::platform::Platform;
use crate::problems::{store_problem, unprocessable};
use crate::store::StoreError;
use crate::usage::Usage;

/// License mode.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// No license check.
    Off,
    /// The state is reported but not enforced.
    #[default]
    Report,
    /// Creating pipelines, uploading documents and asking questions require a license.
    Enforce,
}

/// The license of this installation.
#[derive(Default)]
pub struct Licensing {
    /// The mode.
    pub mode: Mode,
    /// System id of the installation.
    pub system_id: String,
    /// Trusted signing keys.
    trusted_keys: TrustedKeys,
    /// License from the settings.
    configured: Option<Secret>,
    /// Newest verified license.
    verified: RwLock<VerifiedLicense>,
    /// True if the clock moved backwards by more than a day.
    is_set_back: AtomicBool,
}

impl Licensing {
    /// Creates the state with the license of the settings.
    pub fn new(mode: Mode, system_id: String, trusted_keys: TrustedKeys, configured: Option<Secret>) -> Licensing {
        let licensing = Licensing { mode, system_id, trusted_keys, configured, ..Licensing::default() };
        licensing.apply(None);
        licensing
    }

    /// Returns the current license state.
    pub fn state(&self) -> LicenseState {
        let verified = self.verified.read().unwrap_or_else(PoisonError::into_inner);
        verified.state_at(&self.system_id, Timestamp::now())
    }

    /// Applies a license in addition to the configured one. A license of another system is ignored: it is from a copied
    /// database.
    fn apply(&self, stored: Option<&str>) {
        let configured = self.configured.as_ref().map(Secret::expose);
        let is_for_another_system = |license: &&str| {
            matches!(
                self.trusted_keys.evaluate([*license], &self.system_id, Timestamp::now()),
                LicenseState::WrongSystem(_)
            )
        };
        let newest = self
            .trusted_keys
            .newest(configured.into_iter().chain(stored.filter(|stored| !is_for_another_system(stored))));
        *self.verified.write().unwrap_or_else(PoisonError::into_inner) = newest;
    }

    /// Returns the limits; 402 if a required license is missing.
    pub(crate) fn require_license(&self) -> Result<LicenseLimits, Problem> {
        if self.mode != Mode::Enforce {
            return Ok(LicenseLimits::default());
        }
        let state = self.state();
        match state.license().filter(|_| state.is_active()) {
            Some(license) => Ok(license.limits),
            None => {
                let detail = format!(
                    "This requires a license; the license status is `{}`. Get one for the system {} and set PIDQ_APP_LICENSE.",
                    state.as_str(),
                    self.system_id
                );
                Err(self.license_problem(codes::LICENSE_REQUIRED, &detail))
            }
        }
    }

    /// Returns 402 if a license limit is reached.
    pub(crate) fn check_limit(&self, resources: &str, limit: u64, count: u64) -> Result<(), Problem> {
        if count < limit {
            return Ok(());
        }
        let detail = format!("The license limit of {limit} {resources} is reached; there are {count}.");
        Err(self.license_problem(codes::LICENSE_LIMIT, &detail).with("limit", limit))
    }

    /// Returns the 402 problem for an exhausted quota.
    pub(crate) fn quota_exceeded(&self, resources: &str, limit: u64) -> Problem {
        let detail = format!("The license limit of {limit} {resources} is reached.");
        self.license_problem(codes::LICENSE_LIMIT, &detail).with("limit", limit)
    }

    fn license_problem(&self, code: &'static ProblemCode, detail: &str) -> Problem {
        Problem::new(code).detail(detail).with("system_id", self.system_id.as_str())
    }
}

/// Reloads the license from the database and checks the clock.
pub(crate) async fn refresh(platform: &Platform) -> Result<(), StoreError> {
    let licensing = &platform.licensing;
    licensing.apply(platform.store.license().await?.as_deref());
    let now = Timestamp::now().seconds();
    let latest = platform.store.latest_clock(now).await?;
    let is_set_back = latest - now > DAY;
    if is_set_back && !licensing.is_set_back.swap(is_set_back, Ordering::Relaxed) {
        tracing::warn!("clock moved backwards by more than a day; license checks may be wrong");
    }
    licensing.is_set_back.store(is_set_back, Ordering::Relaxed);
    let state = licensing.state();
    let id = state.license().map(|license| license.lid.as_str());
    platform.store.record_license_state(state.as_str(), id.unwrap_or_default()).await
}

/// Request body of `PUT /api/license`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LicenseBody {
    license: String,
}

/// `PUT /api/license`: sets a signed license for this installation, unless a newer one is active.
pub(crate) async fn update(platform: &Platform, mut request: Request) -> Result<Response, Problem> {
    require_unrestricted(&api_keys::from_request(&request)?)?;
    let body: LicenseBody = json_body::parse(&mut request).await?;
    let licensing = &platform.licensing;
    let reject = |code, detail: &str| {
        let problem = unprocessable(code, "/license", detail);
        Err(problem.with("system_id", licensing.system_id.as_str()))
    };
    match licensing.trusted_keys.evaluate([body.license.as_str()], &licensing.system_id, Timestamp::now()) {
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
    refresh(platform).await.map_err(store_problem)?;
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
        "usage": usage, "limits_reached": [], "clock_set_back": licensing.is_set_back.load(Ordering::Relaxed),
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
