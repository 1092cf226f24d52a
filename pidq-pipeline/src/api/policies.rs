//! Policies of classifications: allowed models, maximum context, and retention of answers.

use pidq_http::header::CACHE_CONTROL;
use pidq_http::{Problem, Response, pointer_step};
use pidq_store::domain::model::{Options, Pipeline};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::api::json_body;
use crate::api::problems::validation;
use crate::net::egress::AllowList;

/// Accepted range of `max_context` in tokens.
const CONTEXT_RANGE: std::ops::RangeInclusive<u32> = 256..=1_000_000;

/// Policy of a classification. It restricts the administrator's settings and never extends them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    /// Addresses of LLMs that may get the text of documents. Default: all that the administrator allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    llm_allow: Option<Vec<String>>,
    /// Permission to store answers. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    retain_answers: Option<bool>,
    /// Maximum size of the passages in a prompt, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 256, max = 1_000_000))]
    max_context: Option<u32>,
}

impl Policy {
    /// Returns the policy of a classification.
    pub fn for_classification(pipeline: &Pipeline, classification: &str) -> Result<Policy, Problem> {
        let Some(policy) = pipeline.options.policies.get(classification) else { return Ok(Policy::default()) };
        serde_json::from_value(policy.clone()).map_err(|error| invalid_stored_policy(pipeline, &error.to_string()))
    }

    /// Returns the allow list of LLM endpoints; none if the policy does not restrict them.
    pub fn llm_allow_list(&self, pipeline: &Pipeline) -> Result<Option<AllowList>, Problem> {
        let list = self.llm_allow.as_ref().map(AllowList::parse).transpose();
        list.map_err(|error| invalid_stored_policy(pipeline, &error.to_string()))
    }

    /// Returns true if answers may be stored.
    pub fn retains_answers(&self) -> bool {
        self.retain_answers.unwrap_or(true)
    }

    /// Adds `Cache-Control: no-store` where the policy forbids storing.
    pub fn add_no_store(&self, response: Response) -> Response {
        if self.retains_answers() { response } else { response.header(CACHE_CONTROL, "no-store") }
    }

    /// Returns the maximum number of context tokens.
    pub fn max_context_tokens(&self) -> Option<usize> {
        self.max_context.map(|tokens| tokens as usize)
    }
}

/// Problem of a stored policy that cannot be parsed, although it was validated.
fn invalid_stored_policy(pipeline: &Pipeline, error: &str) -> Problem {
    tracing::error!(error, pipeline = pipeline.id, "a stored classification policy is invalid; responding with 500");
    Problem::internal()
}

/// Validates policies: their classifications exist and their fields are known.
pub(crate) fn validate(options: &Options, classifications: &[String]) -> Result<(), Problem> {
    options.policies.iter().try_for_each(|(classification, policy)| {
        if !classifications.contains(classification) {
            let detail = format!("Unknown classification {classification:?}.");
            return Err(validation(&policy_pointer(classification), &detail));
        }
        validate_policy(classification, policy)
    })
}

/// Returns the JSON pointer of a policy.
fn policy_pointer(classification: &str) -> String {
    format!("/policies{}", pointer_step(classification))
}

fn validate_policy(classification: &str, policy: &Value) -> Result<(), Problem> {
    let pointer = policy_pointer(classification);
    let invalid = |field: &str, reason: &str| {
        validation(&format!("{pointer}{field}"), &format!("The policy of {classification:?}: {reason}."))
    };
    if !policy.is_object() {
        return Err(invalid("", "it must be an object"));
    }
    let policy: Policy = json_body::from_value(&pointer, policy.clone())?;
    if let Some(Err(error)) = policy.llm_allow.as_ref().map(AllowList::parse) {
        return Err(invalid("/llm_allow", &format!("`llm_allow`: {error}")));
    }
    match policy.max_context {
        Some(tokens) if !CONTEXT_RANGE.contains(&tokens) => {
            let reason =
                format!("`max_context` must be from {} to {} tokens", CONTEXT_RANGE.start(), CONTEXT_RANGE.end());
            Err(invalid("/max_context", &reason))
        }
        _ => Ok(()),
    }
}
