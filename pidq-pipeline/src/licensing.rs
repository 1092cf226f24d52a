//! What a licence means here: `GET /api/license`, and what is refused without one.

use pidq_http::auth::Moment;
use pidq_http::{Problem, Response, StatusCode};
use serde_json::{Value, json};

use crate::license::{Allowance, Given, Licence, State};
use crate::platform::Platform;
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
    /// What was given.
    pub given: Given,
    /// The name of the installation.
    pub system_id: String,
}

impl Licensing {
    /// Where the installation stands now.
    pub fn state(&self) -> State {
        self.given.stands(&self.system_id, Moment::now())
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

/// `GET /api/license`.
pub(crate) async fn show(platform: &Platform) -> Result<Response, Problem> {
    let usage = Usage::of(platform).await?;
    let licensing = &platform.licensing;
    let state = licensing.state();
    let mut shown = json!({
        "system_id": licensing.system_id, "status": state.word(), "mode": word(licensing.mode),
        "plan": null, "expires_at": null, "grace_ends_at": null, "limits": {}, "features": [],
        "usage": usage, "limits_reached": [],
    });
    if let Some(licence) = state.licence() {
        fill(&mut shown, licence);
        shown["limits_reached"] = usage.reached(&licence.limits).into();
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
