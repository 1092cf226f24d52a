//! `/api/pipelines/{pipeline_id}/query`: a question that a model answers from what was found, with citations.

mod drawing;
mod sampling;

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Events, Head, Problem, Request, Response, Secret, uuid_v7};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tracing::Instrument;

use crate::answer::{self, Answer, Context, Event};
use crate::bodies;
use crate::connections;
use crate::egress::AllowList;
use crate::keys::Verb;
use crate::llm::{Endpoint, LlmError, Sampling};
use crate::pipelines::{self, known_members, must};
use crate::platform::Platform;
use crate::policies::Policy;
use crate::problems::{unprocessable, validation};
use crate::prompt::{Speaker, Turn};
use crate::queries;
use crate::questions::{self, Found, Wanted};
use crate::records::Pipeline;
use crate::store::{Asked as Noted, CLIENT_GONE, Counted, Told};
use crate::usage;

/// The most turns of a conversation that are taken.
const TURNS: usize = 20;
/// The longest instructions, in characters.
const INSTRUCTIONS: usize = 2000;

/// What a query has beside a search.
#[derive(Deserialize)]
struct Asked {
    llm_endpoint: Option<LlmEndpoint>,
    llm_connection: Option<String>,
    history: Option<Vec<Said>>,
    instructions: Option<String>,
    stream: Option<bool>,
    include_contexts: Option<bool>,
    timeout_ms: Option<u64>,
    graph: Option<drawing::Asked>,
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

/// The members that a query has beside those of a search, and those that go to the model.
const MEMBERS: &[&str] =
    &["llm_endpoint", "llm_connection", "history", "instructions", "stream", "include_contexts", "timeout_ms", "graph"];

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
    /// Whether the answer may be kept.
    retains: bool,
    counted: Counted,
}

/// `POST /api/pipelines/{pipeline_id}/query`.
pub(crate) async fn ask(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = pipelines::staying(platform, &request).await?;
    let body: Map<String, Value> = request.object().await?;
    known_members(&body, &[questions::MEMBERS, MEMBERS, sampling::MEMBERS].concat())?;
    let of_search = body.iter().filter(|(member, _)| questions::MEMBERS.contains(&member.as_str()));
    let of_search = of_search.map(|(member, value)| (member.clone(), value.clone())).collect();
    let sampling = sampling::read(&body)?;
    let mut asked: Asked = bodies::read(body)?;
    let wanted = questions::understood(&pipeline, of_search, platform.limits.question)?;
    must(&key, &pipeline, &wanted.classification, Verb::Query)?;
    check(&asked)?;
    let policy = Policy::of(&pipeline, &wanted.classification)?;
    let mut model = model(platform, &mut asked, policy.allowed(&pipeline)?).await?;
    model.endpoint.hand_on(&request.head);
    let counted = usage::count(platform).await?;
    let answered =
        answered(platform, request, &pipeline, wanted, Asking { asked, sampling, model, policy, counted }).await;
    if answered.is_err() {
        usage::uncount(platform, counted).await;
    }
    answered
}

/// A question that is counted, and who answers it.
struct Asking {
    asked: Asked,
    sampling: Sampling,
    model: Model,
    policy: Policy,
    counted: Counted,
}

async fn answered(
    platform: &Arc<Platform>,
    request: Request,
    pipeline: &Pipeline,
    wanted: Wanted,
    Asking { asked, sampling, model, policy, counted }: Asking,
) -> Result<Response, Problem> {
    let (text, classification) = (wanted.query.clone(), wanted.classification.clone());
    let drawn = match &asked.graph {
        Some(graph) => Some(drawing::ask(platform, &request.head, graph).await?),
        None => None,
    };
    let mut found = questions::find(platform, request.principal()?.key(), pipeline, wanted).await?;
    let drawn = join(platform, &request.head, &asked, drawn, &mut found).await;
    let streamed = asked.stream == Some(true)
        || request.head.accepts("text/event-stream") > request.head.accepts("application/json");
    let frame = Frame {
        id: format!("qry_{}", uuid_v7()),
        pipeline: pipeline.id.clone(),
        classification,
        query: text.clone(),
        with_contexts: asked.include_contexts == Some(true),
        search: found.took,
        warnings: found.warnings.clone(),
        // Whoever may read kept answers may not be one who may see the drawing.
        retains: policy.retains() && drawn.is_none(),
        counted,
    };
    let mut question = question(asked, text, found, drawn);
    question.sampling = sampling;
    question.context_window = model.window;
    question.max_context = policy.most_context();
    question.marking = platform.marking;
    if streamed {
        let place = platform.streams.clone().try_acquire_owned().map_err(|_| too_many())?;
        return Ok(stream(platform, model.endpoint, question, frame, request.head, place));
    }
    let answer = answer::answer(&platform.llm, &model.endpoint, question).await;
    frame.note(platform, answer.as_ref().map_err(LlmError::code)).await;
    let whole = frame.finish(platform, answer.map_err(told)?).await;
    Ok(policy.unkept(Response::json(&whole)?))
}

/// Who answers, and how much it reads, if somebody said.
struct Model {
    endpoint: Endpoint,
    window: Option<usize>,
}

/// The model that comes with a query, or the one that is kept under an id: never a kept key for an address that comes.
async fn model(platform: &Platform, asked: &mut Asked, allow: Option<AllowList>) -> Result<Model, Problem> {
    let mut model = match (asked.llm_endpoint.take(), asked.llm_connection.take()) {
        (Some(given), None) => Model { endpoint: endpoint(given)?, window: None },
        (None, Some(id)) => {
            let connection = connections::named(platform, &id).await?;
            let window = connection.context_window.and_then(|window| usize::try_from(window).ok());
            Model { endpoint: connection.endpoint(platform)?, window }
        }
        (None, None) => {
            return Err(validation("/llm_endpoint", "Say who answers: by `llm_endpoint`, or by `llm_connection`."));
        }
        (Some(_), Some(_)) => {
            return Err(validation(
                "/llm_connection",
                "Say who answers by one of `llm_endpoint` and `llm_connection`.",
            ));
        }
    };
    model.endpoint.allow = allow;
    Ok(model)
}

fn endpoint(given: LlmEndpoint) -> Result<Endpoint, Problem> {
    known_provider(given.provider.as_deref(), "/llm_endpoint/provider")?;
    let endpoint = Endpoint::new(given.base_url, Secret::new(given.api_key), given.model);
    connections::sound(&endpoint, "/llm_endpoint")?;
    Ok(endpoint)
}

/// The kind of an interface; there is one, and it has two names.
pub(crate) fn known_provider(given: Option<&str>, pointer: &str) -> Result<&'static str, Problem> {
    match given {
        None | Some("openai_compatible" | "openai") => Ok("openai_compatible"),
        Some(other) => {
            let problem = unprocessable("validation", pointer, &format!("{other:?} is no provider."));
            Err(problem.with("allowed", vec!["openai_compatible", "openai"]))
        }
    }
}

fn check(asked: &Asked) -> Result<(), Problem> {
    if asked.history.as_ref().is_some_and(|turns| turns.len() > TURNS) {
        return Err(validation("/history", &format!("A history has at most {TURNS} turns.")));
    }
    if asked.instructions.as_ref().is_some_and(|text| text.chars().count() > INSTRUCTIONS) {
        return Err(validation("/instructions", &format!("Instructions have at most {INSTRUCTIONS} characters.")));
    }
    if asked.timeout_ms.is_some_and(|time| !(1..=600_000).contains(&time)) {
        return Err(validation("/timeout_ms", "`timeout_ms` is from 1 to 600000."));
    }
    Ok(())
}

/// What a drawing says beside what was found, with the nodes of the tags in both.
async fn join(
    platform: &Platform,
    head: &Head,
    asked: &Asked,
    drawn: Option<drawing::Found>,
    found: &mut Found,
) -> Option<Context> {
    let (graph, mut drawn) = (asked.graph.as_ref()?, drawn?);
    found.warnings.append(&mut drawn.warnings);
    let mut passages: Vec<&mut Context> = found.passages.iter_mut().map(|passage| &mut passage.context).collect();
    drawing::name_nodes(platform, head, graph, &mut drawn, &mut passages).await;
    Some(drawn.context)
}

fn question(asked: Asked, text: String, found: Found, drawn: Option<Context>) -> answer::Question {
    let turn = |said: Said| Turn {
        speaker: match said.role {
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
        },
        text: said.content,
    };
    answer::Question {
        text,
        contexts: drawn.into_iter().chain(found.passages.into_iter().map(|passage| passage.context)).collect(),
        has_documents: found.has_documents,
        history: asked.history.into_iter().flatten().map(turn).collect(),
        instructions: asked.instructions,
        timeout: asked.timeout_ms.map(Duration::from_millis),
        ..answer::Question::default()
    }
}

/// What went wrong with a model; why its address was refused is for the log alone.
pub(crate) fn told(error: LlmError) -> Problem {
    if let Some(refusal) = error.refusal() {
        tracing::warn!(?refusal, "an address of a model was refused");
    }
    error.into()
}

impl Frame {
    /// Counts the question and tells of it. An answer is given all the same where that cannot be done.
    async fn note(&self, platform: &Platform, outcome: Result<&Answer, &str>) {
        platform.meters.asked(outcome);
        let outcome = outcome.map(|answer| {
            let usage = answer.usage.as_ref().map_or([0; 2], |usage| [usage.prompt_tokens, usage.completion_tokens]);
            let tokens = usage.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
            let estimated = answer.usage.as_ref().is_some_and(|usage| usage.estimated);
            Told { answered: answer.answered, model: &answer.model, tokens, estimated }
        });
        let (id, pipeline_id, classification) = (&self.id, &self.pipeline, &self.classification);
        if let Err(error) = platform.store.note_query(&Noted { id, pipeline_id, classification, outcome }).await {
            tracing::warn!(%error, "a question cannot be told of");
        }
    }

    /// The answer as it is sent, kept if it may be.
    async fn finish(&self, platform: &Platform, answer: Answer) -> Value {
        let contexts = answer.contexts.clone();
        let took = answer.took;
        let whole = self.complete(serde_json::to_value(answer).unwrap_or_default(), took);
        if self.retains {
            queries::keep(platform, &whole, &contexts).await;
        }
        whole
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
    head: Arc<Head>,
    place: OwnedSemaphorePermit,
) -> Response {
    let (events, response) = Response::events();
    let platform = platform.clone();
    let sent = async move {
        let (sender, receiver) = mpsc::channel(16);
        tokio::join!(
            answer::stream(&platform.llm, &endpoint, question, sender),
            forward(&platform, receiver, events, &frame, &head)
        );
        drop(place);
    };
    tokio::spawn(sent.in_current_span());
    response
}

fn too_many() -> Problem {
    Problem::unavailable("too-many-streams", "As many answers as may be are sent just now. Try again.", 5)
}

/// Sends events on until nobody listens; the channel closes then, and the call of the model ends.
async fn forward(
    platform: &Platform,
    mut receiver: mpsc::Receiver<Event>,
    mut events: Events,
    frame: &Frame,
    head: &Head,
) {
    loop {
        // A model may say nothing for long: who goes away meanwhile is not found out by sending.
        let event = tokio::select! {
            event = receiver.recv() => event,
            () = events.closed() => return frame.note(platform, Err("client-gone")).await,
        };
        let Some(event) = event else { break };
        let is_last = matches!(event, Event::Done(_) | Event::Error(_));
        match &event {
            Event::Done(answer) => frame.note(platform, Ok(answer)).await,
            Event::Error(error) => frame.note(platform, Err(error.code())).await,
            _ => {}
        }
        let name = event.name();
        let data = match event {
            Event::Error(error) => {
                usage::uncount(platform, frame.counted).await;
                told(error).to_json(head)
            }
            Event::Done(answer) => frame.finish(platform, *answer).await,
            other => other.data().unwrap_or_default(),
        };
        if events.json(name, None, &data).await.is_err() {
            if !is_last {
                frame.note(platform, Err(CLIENT_GONE)).await;
            }
            return;
        }
    }
    let _ = events.finish().await;
}
