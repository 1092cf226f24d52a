//! License of the installation and its enforcement.
//!
//! A license is configured or set through the API; the newer one counts. The one set through the API is in the database,
//! which every process reads once a minute.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

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
    /// Last status in the log.
    logged_status: Mutex<&'static str>,
}

impl Licensing {
    /// Creates the state with the license of the settings.
    pub fn new(mode: Mode, system_id: String, trusted_keys: TrustedKeys, configured: Option<Secret>) -> Licensing {
        let licensing = Licensing { mode, system_id, trusted_keys, configured, ..Licensing::default() };
        licensing.apply(None);
        licensing.warn_about_configured_license();
        licensing
    }

    /// Logs why the license of the settings has no effect, if so. A stored license may have one.
    fn warn_about_configured_license(&self) {
        let state = self.state();
        *self.logged_status.lock().unwrap_or_else(PoisonError::into_inner) = state.as_str();
        if let Some(reason) = self.reason_without_effect(&state) {
            let (status, system_id) = (state.as_str(), self.system_id.as_str());
            tracing::warn!(status, reason, system_id, "the license in `PIDQ_APP_LICENSE` has no effect");
        }
    }

    /// Logs a new status that rejects requests, or soon will.
    fn log_change(&self) {
        if let Some((status, reason)) = self.new_warning() {
            tracing::warn!(status, reason, system_id = self.system_id.as_str(), "the license needs attention");
        }
    }

    /// Returns the status and the reason for a warning, once for each change of the status.
    fn new_warning(&self) -> Option<(&'static str, &'static str)> {
        let state = self.state();
        let status = state.as_str();
        let logged = std::mem::replace(&mut *self.logged_status.lock().unwrap_or_else(PoisonError::into_inner), status);
        let is_ending = self.mode != Mode::Off && matches!(state, LicenseState::Grace(_));
        let grace = is_ending.then_some("it has expired; its grace period is running");
        let reason = self.reason_without_effect(&state).or(grace);
        reason.filter(|_| logged != status).map(|reason| (status, reason))
    }

    /// Returns the reason why a license has no effect, if there is one without.
    fn reason_without_effect(&self, state: &LicenseState) -> Option<&'static str> {
        match state {
            _ if self.mode == Mode::Off => None,
            LicenseState::Invalid(reason) => Some(reason),
            LicenseState::WrongSystem(_) => Some("it was issued for another system id"),
            LicenseState::Expired(_) => Some("it has expired"),
            LicenseState::Missing | LicenseState::Valid(_) | LicenseState::Expiring(_) | LicenseState::Grace(_) => None,
        }
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
                let reason = self.reason_without_effect(&state).map(|reason| format!(" ({reason})"));
                let detail = format!(
                    "This requires a license; the license status is `{}`{}. Get one for the system {} and set PIDQ_APP_LICENSE.",
                    state.as_str(),
                    reason.unwrap_or_default(),
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

    /// Returns the 402 problem for the exhausted questions of a day.
    pub(crate) fn questions_exceeded(&self, limit: u64) -> Problem {
        let detail =
            format!("The license limit of {limit} questions per day is reached; the next day starts at 00:00 UTC.");
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
        self.log_change();
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

#[cfg(test)]
mod tests {
    use pidq_store::domain::license::{Issuer, License};

    use super::*;

    const SYSTEM: &str = "PIDQ-AAAA-BBBB-CCCC-DDDD";

    fn license(issuer: &Issuer, expires_after: i64) -> String {
        let now = Timestamp::now().seconds();
        let (sys, exp) = (SYSTEM.to_owned(), now + expires_after);
        issuer.issue(&License { v: 1, sys, exp, grace_days: 1, ..License::default() })
    }

    fn licensing_of(issuer: &Issuer, mode: Mode, configured: Option<&str>) -> Licensing {
        let trusted_keys = TrustedKeys::parse(&[issuer.public_key()]).expect("a key");
        Licensing::new(mode, SYSTEM.into(), trusted_keys, configured.map(Secret::new))
    }

    #[test]
    fn a_stored_license_that_needs_attention_is_logged_once_for_each_status() {
        let issuer = Issuer::parse(&Issuer::generate().expect("a key")).expect("a key");
        let licensing = licensing_of(&issuer, Mode::Enforce, None);
        assert_eq!(licensing.new_warning(), None, "a missing license is no change");
        for (stored, warning) in [
            (license(&issuer, 60 * DAY), None),
            (license(&issuer, -10), Some(("grace", "it has expired; its grace period is running"))),
            (license(&issuer, -2 * DAY), Some(("expired", "it has expired"))),
            ("PIDQ1.e30.e30".into(), Some(("invalid", "the license is not signed by a trusted key"))),
        ] {
            licensing.apply(Some(&stored));
            assert_eq!(licensing.new_warning(), warning);
            assert_eq!(licensing.new_warning(), None, "it is logged already");
        }
        let off = licensing_of(&issuer, Mode::Off, None);
        off.apply(Some(&license(&issuer, -2 * DAY)));
        assert_eq!(off.new_warning(), None, "licenses are not checked");
    }

    #[test]
    fn a_configured_license_without_effect_is_logged_at_the_start_only() {
        let issuer = Issuer::parse(&Issuer::generate().expect("a key")).expect("a key");
        let expired = license(&issuer, -2 * DAY);
        let licensing = licensing_of(&issuer, Mode::Enforce, Some(&expired));
        assert_eq!(licensing.new_warning(), None);
        let problem = licensing.require_license().expect_err("it has expired");
        assert!(problem.to_string().contains("`expired` (it has expired)"), "{problem}");
    }
}
