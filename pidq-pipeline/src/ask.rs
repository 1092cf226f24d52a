//! `/api/pipelines/{pipeline_id}/query`: a question that a model answers from what was found, with citations.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Events, Head, Problem, Request, Response, Secret, uuid_v7};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::answer::{self, Answer, Event};
use crate::egress::AllowList;
use crate::keys::Verb;
use crate::llm::{Endpoint, LlmError};
use crate::pipelines::{self, known_members, must};
use crate::platform::Platform;
use crate::problems::{unprocessable, validation};
use crate::prompt::{Speaker, Turn};
use crate::questions::{self, Found};
use crate::records::Pipeline;
use crate::store::{Asked as Noted, Told};

/// The most turns of a conversation that are taken.
const TURNS: usize = 20;
/// The longest instructions, in characters.
const INSTRUCTIONS: usize = 2000;

/// What a query has beside a search.
#[derive(Deserialize)]
struct Asked {
    llm_endpoint: LlmEndpoint,
    #[serde(default)]
    history: Vec<Said>,
    instructions: Option<String>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    include_contexts: bool,
    timeout_ms: Option<u64>,
}

/// The LLM of a query, as the specification has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LlmEndpoint {
    api_key: String,
    model: String,
    base_url: String,
    provider: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    role: Role,
    content: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

/// The members that a query has beside those of a search.
const MEMBERS: &[&str] = &[
    "llm_endpoint",
    "history",
    "instructions",
    "temperature",
    "max_tokens",
    "stream",
    "include_contexts",
    "timeout_ms",
];

/// What every form of an answer has beside the answer.
struct Frame {
    id: String,
    pipeline: String,
    classification: String,
    query: String,
    with_contexts: bool,
    search: [Duration; 2],
    /// What the search did otherwise than was asked.
    warnings: Vec<Value>,
}

/// `POST /api/pipelines/{pipeline_id}/query`.
pub(crate) async fn ask(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = pipelines::of(platform, &request).await?;
    let body: Map<String, Value> = request.object().await?;
    known_members(&body, &[questions::MEMBERS, MEMBERS].concat())?;
    platform.licensing.admit()?;
    let of_search = body.iter().filter(|(member, _)| questions::MEMBERS.contains(&member.as_str()));
    let of_search = of_search.map(|(member, value)| (member.clone(), value.clone())).collect();
    let mut asked: Asked = serde_json::from_value(Value::Object(body))
        .map_err(|error| validation("", &pidq_http::sentence(&error.to_string())))?;
    let wanted = questions::understood(&pipeline, of_search)?;
    must(&key, &pipeline, &wanted.classification, Verb::Query)?;
    let endpoint = endpoint(&pipeline, &wanted.classification, &mut asked.llm_endpoint)?;
    check(&asked)?;
    let (text, classification) = (wanted.query.clone(), wanted.classification.clone());
    let found = questions::find(platform, &request.principal()?.key(), &pipeline, wanted).await?;
    let streamed = asked.stream || request.head.accepts("text/event-stream") > request.head.accepts("application/json");
    let frame = Frame {
        id: format!("qry_{}", uuid_v7()),
        pipeline: pipeline.id,
        classification,
        query: text.clone(),
        with_contexts: asked.include_contexts,
        search: found.took,
        warnings: found.warnings.clone(),
    };
    let question = question(asked, text, found);
    if streamed {
        return Ok(stream(platform, endpoint, question, frame, request.head));
    }
    let answer = answer::answer(&platform.llm, &endpoint, question).await;
    frame.note(platform, answer.as_ref().map_err(LlmError::code)).await;
    let answer = answer.map_err(told)?;
    let took = answer.took;
    let shown = serde_json::to_value(answer).map_err(|_| Problem::internal())?;
    Response::json(&frame.complete(shown, took))
}

fn endpoint(pipeline: &Pipeline, label: &str, asked: &mut LlmEndpoint) -> Result<Endpoint, Problem> {
    if let Some(provider) = asked.provider.as_deref().filter(|name| !["openai_compatible", "openai"].contains(name)) {
        let detail = format!("{provider:?} is no provider.");
        let problem = unprocessable("validation", "/llm_endpoint/provider", &detail);
        return Err(problem.with("allowed", vec!["openai_compatible", "openai"]));
    }
    let key = Secret::new(std::mem::take(&mut asked.api_key));
    let mut endpoint = Endpoint::new(asked.base_url.clone(), key, asked.model.clone());
    endpoint.allow = allowed(pipeline, label)?;
    let errors: Vec<_> = endpoint
        .faults()
        .iter()
        .map(|fault| json!({"pointer": format!("/llm_endpoint{}", fault.pointer), "detail": fault.detail}))
        .collect();
    match errors.first() {
        Some(first) => {
            let detail =
                pidq_http::sentence(&format!("`llm_endpoint`: {}", first["detail"].as_str().unwrap_or_default()));
            Err(Problem::unprocessable("validation", detail).with("errors", errors))
        }
        None => Ok(endpoint),
    }
}

/// The addresses that the policy of a label allows.
pub(crate) fn allowed(pipeline: &Pipeline, label: &str) -> Result<Option<AllowList>, Problem> {
    let Some(list) = pipeline.options.policies.get(label).and_then(|policy| policy.get("llm_allow")) else {
        return Ok(None);
    };
    let urls: Vec<&str> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    urls.join(",").parse().map(Some).map_err(|error| {
        tracing::error!(%error, pipeline = pipeline.id, "the policy of a label cannot be read");
        Problem::internal()
    })
}

fn check(asked: &Asked) -> Result<(), Problem> {
    if asked.history.len() > TURNS {
        return Err(validation("/history", &format!("A history has at most {TURNS} turns.")));
    }
    if asked.instructions.as_ref().is_some_and(|text| text.chars().count() > INSTRUCTIONS) {
        return Err(validation("/instructions", &format!("Instructions have at most {INSTRUCTIONS} characters.")));
    }
    if asked.timeout_ms.is_some_and(|time| !(1..=600_000).contains(&time)) {
        return Err(validation("/timeout_ms", "`timeout_ms` is from 1 to 600000."));
    }
    if asked.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        return Err(validation("/temperature", "`temperature` is from 0 to 2."));
    }
    match asked.max_tokens {
        Some(0) => Err(validation("/max_tokens", "`max_tokens` is 1 or more.")),
        _ => Ok(()),
    }
}

fn question(asked: Asked, text: String, found: Found) -> answer::Question {
    let turn = |said: Said| Turn {
        speaker: match said.role {
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
        },
        text: said.content,
    };
    answer::Question {
        text,
        contexts: found.passages.into_iter().map(|passage| passage.context).collect(),
        has_documents: found.has_documents,
        history: asked.history.into_iter().map(turn).collect(),
        instructions: asked.instructions,
        temperature: asked.temperature,
        max_tokens: asked.max_tokens,
        timeout: asked.timeout_ms.map(Duration::from_millis),
        ..answer::Question::default()
    }
}

/// What went wrong with a model; why its address was refused is for the log alone.
fn told(error: LlmError) -> Problem {
    if let Some(refusal) = error.refusal() {
        tracing::warn!(%refusal, "an address of a model was refused");
    }
    error.into()
}

impl Frame {
    /// Counts the question and tells of it. An answer is given all the same where that cannot be done.
    async fn note(&self, platform: &Platform, outcome: Result<&Answer, &str>) {
        let outcome = outcome.map(|answer| {
            let usage = answer.usage.as_ref().map_or([0; 2], |usage| [usage.prompt_tokens, usage.completion_tokens]);
            let tokens = usage.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
            Told { answered: answer.answered, model: &answer.model, tokens }
        });
        let (id, pipeline_id, classification) = (&self.id, &self.pipeline, &self.classification);
        if let Err(error) = platform.store.note_query(&Noted { id, pipeline_id, classification, outcome }).await {
            tracing::warn!(%error, "a question cannot be told of");
        }
    }

    /// An answer with all that it has.
    fn complete(&self, mut answer: Value, took: Duration) -> Value {
        if !self.with_contexts
            && let Some(members) = answer.as_object_mut()
        {
            members.shift_remove("contexts");
        }
        let mut whole = json!({
            "id": self.id, "pipeline_id": self.pipeline, "classification": self.classification, "query": self.query,
        });
        pipelines::join(&mut whole, answer);
        if let Some(warnings) = whole["warnings"].as_array_mut() {
            warnings.extend(self.warnings.iter().cloned());
        }
        let [embed, search] = self.search.map(|time| time.as_millis() as u64);
        let llm = took.as_millis() as u64;
        whole["timings_ms"] = json!({"embed": embed, "search": search, "llm": llm, "total": embed + search + llm});
        whole
    }
}

/// The answer as events. Whoever goes away ends the call of the model.
fn stream(
    platform: &Arc<Platform>,
    endpoint: Endpoint,
    question: answer::Question,
    frame: Frame,
    head: Head,
) -> Response {
    let (events, response) = Response::events();
    let platform = platform.clone();
    tokio::spawn(async move {
        let (sender, receiver) = mpsc::channel(16);
        tokio::join!(
            answer::stream(&platform.llm, &endpoint, question, sender),
            forward(&platform, receiver, events, &frame, &head)
        );
    });
    response
}

/// Sends events on until nobody listens; the channel closes then, and the call of the model ends.
async fn forward(
    platform: &Platform,
    mut receiver: mpsc::Receiver<Event>,
    mut events: Events,
    frame: &Frame,
    head: &Head,
) {
    while let Some(event) = receiver.recv().await {
        let is_last = matches!(event, Event::Done(_) | Event::Error(_));
        match &event {
            Event::Done(answer) => frame.note(platform, Ok(answer)).await,
            Event::Error(error) => frame.note(platform, Err(error.code())).await,
            _ => {}
        }
        let name = event.name();
        let data = match event {
            Event::Error(error) => told(error).to_json(head),
            Event::Done(answer) => {
                let took = answer.took;
                frame.complete(serde_json::to_value(*answer).unwrap_or_default(), took)
            }
            other => other.data().unwrap_or_default(),
        };
        if events.json(name, None, &data).await.is_err() {
            if !is_last {
                frame.note(platform, Err("client-gone")).await;
            }
            return;
        }
    }
    let _ = events.finish().await;
}
