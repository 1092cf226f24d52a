//! Problems of LLM calls, and validation of the provider.

use pidq_http::{Problem, codes};
use schemars::JsonSchema;

use crate::api::problems::unprocessable;
use crate::llm::LlmError;

/// Name of a kind of API.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "only describes the field")]
pub(crate) enum ProviderName {
    OpenaiCompatible,
    Openai,
}

/// Parses the provider. There is one, with two names.
pub(crate) fn parse_provider(provider: Option<&str>, pointer: &str) -> Result<&'static str, Problem> {
    match provider {
        None | Some("openai_compatible" | "openai") => Ok("openai_compatible"),
        Some(other) => {
            let problem = unprocessable(codes::VALIDATION, pointer, &format!("Unknown provider {other:?}."));
            Err(problem.with("allowed", vec!["openai_compatible", "openai"]))
        }
    }
}

/// Converts an error of a model to a problem. The reason why its address was rejected goes only to the log.
pub(crate) fn llm_problem(error: LlmError) -> Problem {
    if let Some(rejection) = error.rejection() {
        tracing::warn!(?rejection, "LLM URL rejected by the egress policy");
    }
    error.into()
}
