//! What a licence means here: `/api/license`, and what is refused without one.
//!
//! A licence comes by a setting or over the interface, and of two the newer one counts. What came over the interface is
//! in the database; every process looks there once a minute.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use pidq_http::auth::Moment;
use pidq_http::{Problem, Request, Response, Secret, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::bodies;
use crate::keys;
use crate::license::{Allowance, DAY, Given, Licence, State, Trust};
use crate::pipelines::must_see_all;
use crate::platform::Platform;
use crate::problems::{stored, unprocessable};
use crate::store::StoreError;
use crate::usage::Usage;

/// What follows from a licence.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Nothing is looked at.
    Off,
    /// It is looked at and told of, and nothing is refused.
    #[default]
    Report,
    /// Making pipelines, sending documents and asking need one.
    Enforce,
}

/// The licence of this installation.
#[derive(Default)]
pub struct Licensing {
    /// What follows.
    pub mode: Mode,
    /// The name of the installation.
    pub system_id: String,
    /// Whose licences count.
    trust: Trust,
    /// The one of the settings.
    configured: Option<Secret>,
    /// What was given, the newest.
    given: RwLock<Given>,
    /// Whether the clock was later once, by more than a day.
    is_set_back: AtomicBool,
}

impl Licensing {
    /// With the licence of the settings, if there is one.
    pub fn new(mode: Mode, system_id: String, trust: Trust, configured: Option<Secret>) -> Licensing {
        let licensing = Licensing { mode, system_id, trust, configured, ..Licensing::default() };
        licensing.learn(None);
        licensing
    }

    /// Where the installation stands now.
    pub fn state(&self) -> State {
        let given = self.given.read().unwrap_or_else(PoisonError::into_inner);
        given.stands(&self.system_id, Moment::now())
    }

    /// Takes a licence beside that of the settings. One of another installation came with a copy of its database.
    fn learn(&self, other: Option<&str>) {
        let configured = self.configured.as_ref().map(Secret::expose);
        let is_of_another = |licence: &&str| {
            matches!(self.trust.judge([*licence], &self.system_id, Moment::now()), State::WrongSystem(_))
        };
        let newest = self.trust.newest(configured.into_iter().chain(other.filter(|other| !is_of_another(other))));
        *self.given.write().unwrap_or_else(PoisonError::into_inner) = newest;
    }

    /// 402 where a licence is needed and there is none; else how much it allows.
    pub(crate) fn admit(&self) -> Result<Allowance, Problem> {
        if self.mode != Mode::Enforce {
            return Ok(Allowance::default());
        }
        let state = self.state();
        match state.licence().filter(|_| state.is_good()) {
            Some(licence) => Ok(licence.limits),
            None => {
                let detail = format!(
                    "This needs a licence, and the one here is {}. Get one for the system {} and set PIDQ_APP_LICENSE.",
                    state.word(),
                    self.system_id
                );
                Err(self.refusal("license-required", &detail))
            }
        }
    }

    /// 402 where a licence allows no more than there is.
    pub(crate) fn admit_more(&self, what: &str, limit: u64, there: u64) -> Result<(), Problem> {
        if there < limit {
            return Ok(());
        }
        let detail = format!("The licence allows {limit} {what}, and there are {there}.");
        Err(self.refusal("license-limit", &detail).with("limit", limit))
    }

    /// 402 where all that a licence allows was used.
    pub(crate) fn used_up(&self, what: &str, limit: u64) -> Problem {
        let detail = format!("The licence allows {limit} {what}, and there were as many.");
        self.refusal("license-limit", &detail).with("limit", limit)
    }

    fn refusal(&self, code: &'static str, detail: &str) -> Problem {
        Problem::new(StatusCode::PAYMENT_REQUIRED, code).detail(detail).with("system_id", self.system_id.as_str())
    }
}

/// Looks for a licence that another process was given, and at the clock.
pub(crate) async fn look(platform: &Platform) -> Result<(), StoreError> {
    let licensing = &platform.licensing;
    licensing.learn(platform.store.licence().await?.as_deref());
    let now = Moment::now().seconds();
    let latest = platform.store.latest_clock(now).await?;
    let is_set_back = latest - now > DAY;
    if is_set_back && !licensing.is_set_back.swap(is_set_back, Ordering::Relaxed) {
        tracing::warn!("the clock was later once, by more than a day: licences are looked at by a wrong time");
    }
    licensing.is_set_back.store(is_set_back, Ordering::Relaxed);
    let state = licensing.state();
    let id = state.licence().map(|licence| licence.lid.as_str());
    platform.store.note_licence(state.word(), id.unwrap_or_default()).await
}

/// What is sent to take a licence.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    license: String,
}

/// `PUT /api/license`: one that is signed and for this installation. It counts if no newer one is there.
pub(crate) async fn put(platform: &Platform, mut request: Request) -> Result<Response, Problem> {
    must_see_all(&keys::of(&request)?)?;
    let sent: Sent = bodies::of(&mut request).await?;
    let licensing = &platform.licensing;
    let refused = |code, detail: &str| {
        let problem = unprocessable(code, "/license", detail);
        Err(problem.with("system_id", licensing.system_id.as_str()))
    };
    match licensing.trust.judge([sent.license.as_str()], &licensing.system_id, Moment::now()) {
        State::Valid(sent) | State::Expiring(sent) | State::Grace(sent) => {
            if licensing.state().licence().is_some_and(|known| sent.iat < known.iat) {
                let problem = Problem::new(StatusCode::CONFLICT, "license-older");
                return Err(problem.detail("The licence that is here was given later than this one."));
            }
        }
        State::Expired(_) => return refused("license-expired", "This licence has ended."),
        State::WrongSystem(_) => return refused("license-wrong-system", "This licence is for another installation."),
        State::Invalid(why) => return refused("license-invalid", &pidq_http::sentence(why)),
        State::Missing => return refused("license-invalid", "There is none."),
    }
    platform.store.keep_licence(sent.license.trim()).await.map_err(stored)?;
    look(platform).await.map_err(stored)?;
    show(platform, &request).await
}

/// `GET /api/license`.
pub(crate) async fn show(platform: &Platform, request: &Request) -> Result<Response, Problem> {
    let usage = Usage::for_caller(platform, request).await?;
    let licensing = &platform.licensing;
    let state = licensing.state();
    let mut shown = json!({
        "system_id": licensing.system_id, "status": state.word(), "mode": word(licensing.mode),
        "plan": null, "expires_at": null, "grace_ends_at": null, "limits": {}, "features": [],
        "usage": usage, "limits_reached": [], "clock_set_back": licensing.is_set_back.load(Ordering::Relaxed),
    });
    if let Some(licence) = state.licence() {
        fill(&mut shown, licence);
        shown["limits_reached"] = usage.map(|usage| usage.reached(&licence.limits)).unwrap_or_default().into();
    }
    if let State::Invalid(why) = state {
        shown["reason"] = pidq_http::sentence(why).into();
    }
    Response::json(&shown)
}

fn fill(shown: &mut Value, licence: &Licence) {
    let moment = |seconds: i64| Value::from(Moment(seconds.saturating_mul(1000)).to_rfc3339());
    shown["plan"] = licence.plan.as_str().into();
    shown["organisation"] = licence.org.as_str().into();
    shown["expires_at"] = moment(licence.exp);
    shown["grace_ends_at"] = moment(licence.grace_ends());
    shown["limits"] = serde_json::to_value(licence.limits).unwrap_or_default();
    shown["features"] = licence.features.clone().into();
}

fn word(mode: Mode) -> &'static str {
    match mode {
        Mode::Off => "off",
        Mode::Report => "report",
        Mode::Enforce => "enforce",
    }
}
