//! License of the installation and its enforcement.
//!
//! A license is configured or set through the API; the newer one counts. The one set through the API is in the database,
//! which every process reads once a minute.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, ProblemCode, Secret, codes};
use pidq_store::domain::license::{DAY, LicenseLimits, LicenseState, TrustedKeys, VerifiedLicense};
use pidq_store::{Store, StoreError};

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

    /// Reloads the license from the database and checks the clock.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        self.apply(store.license().await?.as_deref());
        let now = Timestamp::now().seconds();
        let latest = store.latest_clock(now).await?;
        let is_set_back = latest - now > DAY;
        if is_set_back && !self.is_set_back.swap(is_set_back, Ordering::Relaxed) {
            tracing::warn!("clock moved backwards by more than a day; license checks may be wrong");
        }
        self.is_set_back.store(is_set_back, Ordering::Relaxed);
        let state = self.state();
        let id = state.license().map(|license| license.lid.as_str());
        store.record_license_state(state.as_str(), id.unwrap_or_default()).await
    }

    /// Returns true if the clock moved backwards by more than a day.
    pub(crate) fn is_clock_set_back(&self) -> bool {
        self.is_set_back.load(Ordering::Relaxed)
    }

    /// Evaluates a license for this installation.
    pub(crate) fn evaluate(&self, license: &str) -> LicenseState {
        self.trusted_keys.evaluate([license], &self.system_id, Timestamp::now())
    }
}
