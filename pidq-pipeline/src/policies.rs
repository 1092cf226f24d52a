//! What holds for a classification alone: which models may see it, how much of it, and whether answers are kept.

use pidq_http::header::CACHE_CONTROL;
use pidq_http::{Problem, Response, pointer_step};
use serde::Deserialize;
use serde_json::Value;

use crate::bodies;
use crate::egress::AllowList;
use crate::pipelines::known_below;
use crate::problems::validation;
use crate::records::{Options, Pipeline};

/// The fewest and the most tokens of documents that a policy lets a model see.
const CONTEXT: std::ops::RangeInclusive<u32> = 256..=1_000_000;

/// The policy of a label. It narrows what the administrator allows, and never widens it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Policy {
    llm_allow: Option<Vec<String>>,
    retain_queries: Option<bool>,
    max_context: Option<u32>,
}

const MEMBERS: &[&str] = &["llm_allow", "retain_queries", "max_context"];

impl Policy {
    /// The policy of a label of a pipeline.
    pub fn of(pipeline: &Pipeline, label: &str) -> Result<Policy, Problem> {
        let Some(policy) = pipeline.options.policies.get(label) else { return Ok(Policy::default()) };
        serde_json::from_value(policy.clone()).map_err(|error| unreadable(pipeline, &error.to_string()))
    }

    /// The addresses of models; none if all that the administrator allows may be asked.
    pub fn allowed(&self, pipeline: &Pipeline) -> Result<Option<AllowList>, Problem> {
        let list = self.llm_allow.as_ref().map(AllowList::parse).transpose();
        list.map_err(|error| unreadable(pipeline, &error.to_string()))
    }

    /// Whether questions and their answers may be kept.
    pub fn retains(&self) -> bool {
        self.retain_queries.unwrap_or(true)
    }

    /// An answer, with the word that nobody stores it where the policy says so.
    pub fn unkept(&self, response: Response) -> Response {
        if self.retains() { response } else { response.header(CACHE_CONTROL, "no-store") }
    }

    /// The most tokens of documents that a model may see.
    pub fn most_context(&self) -> Option<usize> {
        self.max_context.map(|tokens| tokens as usize)
    }
}

/// What was checked when it came and cannot be read now.
fn unreadable(pipeline: &Pipeline, error: &str) -> Problem {
    tracing::error!(error, pipeline = pipeline.id, "the policy of a label cannot be read");
    Problem::internal()
}

/// Policies are of labels that there are, and say what is understood: one that nobody follows would be worse than none.
pub(crate) fn check(options: &Options, labels: &[String]) -> Result<(), Problem> {
    options.policies.iter().try_for_each(|(label, policy)| {
        if !labels.contains(label) {
            return Err(validation(&place(label), &format!("There is no classification {label:?}.")));
        }
        of_label(label, policy)
    })
}

/// Where the policy of a label stands in a body.
fn place(label: &str) -> String {
    format!("/policies{}", pointer_step(label))
}

fn of_label(label: &str, policy: &Value) -> Result<(), Problem> {
    let place = place(label);
    let wrong =
        |member: &str, why: &str| validation(&format!("{place}{member}"), &format!("The policy of {label:?}: {why}."));
    known_below(&place, policy.as_object().ok_or_else(|| wrong("", "it is an object"))?, MEMBERS)?;
    let policy: Policy = bodies::part(&place, policy.clone())?;
    if let Some(Err(error)) = policy.llm_allow.as_ref().map(AllowList::parse) {
        return Err(wrong("/llm_allow", &format!("`llm_allow`: {error}")));
    }
    match policy.max_context {
        Some(tokens) if !CONTEXT.contains(&tokens) => {
            let why = format!("`max_context` is from {} to {} tokens", CONTEXT.start(), CONTEXT.end());
            Err(wrong("/max_context", &why))
        }
        _ => Ok(()),
    }
}
