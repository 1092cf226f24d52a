//! Handler of `/api/pipelines/{pipeline_id}/query`: an LLM answers a question from retrieved passages, with citations.

mod graph_context;
mod quote_pages;
mod sampling;

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Events, Head, Problem, Request, Response, Secret, codes, uuid_v7};
use pidq_store::domain::api_key::Verb;
use pidq_store::domain::model::Pipeline;
use pidq_store::{AnswerStats, CLIENT_GONE, CountedQuestion, QuestionStats};
use pidq_text::search::Mode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tracing::Instrument;

use crate::api::handlers::answers::{self, AnswerResponse, AnswerTimings, NewAnswer};
use crate::api::handlers::llm_connections;
use crate::api::handlers::search::{self, SearchRequest, SearchResult, SearchWarning, ValidatedSearch};
use crate::api::json_body;
use crate::api::llm_problems::{ProviderName, llm_problem, parse_provider};
use crate::api::pipeline_access::{find_active_pipeline, require_access};
use crate::api::policies::Policy;
use crate::api::problems::validation;
use crate::api::quota;
use crate::api::schema::not_null;
use crate::generation::prompt::{Speaker, Turn};
use crate::generation::rag::{self, Answer, Context, StreamEvent};
use crate::llm::{Endpoint, LlmError, Sampling};
use crate::net::egress::AllowList;
use crate::platform::Platform;
use crate::shared_budget::BudgetPermit;
use sampling::{SamplingFields, StopStrings};

/// Maximum number of turns in `history`.
const MAX_HISTORY_TURNS: usize = 20;
/// Maximum length of `instructions`, in characters.
const MAX_INSTRUCTIONS_LENGTH: usize = 2000;

/// Question to be answered from passages. The LLM is either `llm_endpoint` or `llm_connection`; without both, the answer
/// consists of quotes from the passages, and its `model` is `extractive`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("not" = {"required": ["llm_endpoint", "llm_connection"]}))]
pub(crate) struct QuestionRequest {
    /// Question.
    #[schemars(length(min = 1, max = 8000), extend("$comment" = "PIDQ_QUESTION_LENGTH_LIMIT"))]
    query: String,
    /// Classification of the documents to search.
    classification: String,
    /// LLM given in the request.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "LlmEndpoint")]
    llm_endpoint: Option<LlmEndpoint>,
    /// Id of a stored LLM connection.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    llm_connection: Option<String>,
    /// Maximum number of passages. Default: that of the pipeline, or 8.
    #[schemars(range(min = 1, max = 50))]
    top_k: Option<u32>,
    /// Search mode. Default: that of the pipeline, or `hybrid`.
    #[schemars(with = "Option<Mode>")]
    mode: Option<String>,
    /// Minimum score of a passage. Default: that of the pipeline, or 0.
    min_score: Option<f64>,
    /// Condition on the metadata of the documents.
    #[schemars(with = "Option<Map<String, Value>>")]
    filter: Option<Value>,
    /// Previous turns of the conversation, oldest first.
    #[schemars(length(max = MAX_HISTORY_TURNS))]
    history: Option<Vec<HistoryTurn>>,
    /// Instructions on the form of the answer.
    #[schemars(length(max = MAX_INSTRUCTIONS_LENGTH))]
    instructions: Option<String>,
    /// Temperature, sent to the model.
    #[schemars(range(min = 0, max = 2))]
    temperature: Option<f64>,
    /// Maximum length of the answer in tokens, sent to the model.
    #[schemars(range(min = 1, max = u32::MAX))]
    max_tokens: Option<u32>,
    /// Nucleus sampling, sent to the model.
    #[schemars(range(min = 0, max = 1))]
    top_p: Option<f64>,
    /// Seed, sent to the model.
    #[schemars(range(min = i64::MIN, max = i64::MAX))]
    seed: Option<i64>,
    /// Stop strings, sent to the model.
    #[schemars(with = "Option<StopStrings>")]
    stop: Option<Value>,
    /// Streams the answer as server-sent events.
    stream: Option<bool>,
    /// Returns the passages in the prompt as `contexts`.
    include_contexts: Option<bool>,
    /// Timeout of the model, in milliseconds.
    #[schemars(range(min = 1, max = 600_000))]
    timeout_ms: Option<u64>,
    /// Graph query whose result is the first passage.
    graph: Option<graph_context::GraphRequest>,
}

/// Fields of a question in addition to those of a search and of sampling.
struct AskOptions {
    llm_endpoint: Option<LlmEndpoint>,
    llm_connection: Option<String>,
    history: Option<Vec<HistoryTurn>>,
    instructions: Option<String>,
    stream: Option<bool>,
    include_contexts: Option<bool>,
    timeout_ms: Option<u64>,
    graph: Option<graph_context::GraphRequest>,
}

impl QuestionRequest {
    /// Returns the search, the sampling fields, and the rest.
    fn into_parts(self) -> (SearchRequest, SamplingFields, AskOptions) {
        let search = SearchRequest {
            query: self.query,
            classification: self.classification,
            top_k: self.top_k,
            mode: self.mode,
            min_score: self.min_score,
            filter: self.filter,
        };
        let sampling = SamplingFields {
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            top_p: self.top_p,
            seed: self.seed,
            stop: self.stop,
        };
        let options = AskOptions {
            llm_endpoint: self.llm_endpoint,
            llm_connection: self.llm_connection,
            history: self.history,
            instructions: self.instructions,
            stream: self.stream,
            include_contexts: self.include_contexts,
            timeout_ms: self.timeout_ms,
            graph: self.graph,
        };
        (search, sampling, options)
    }
}

/// LLM with an API compatible with OpenAI.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LlmEndpoint {
    /// API key.
    api_key: String,
    /// Name of the model.
    #[schemars(length(min = 1, max = 256))]
    model: String,
    /// Base URL, usually ending with `/v1`.
    base_url: String,
    /// Kind of the API. There is one, with two names.
    #[schemars(with = "Option<ProviderName>")]
    provider: Option<String>,
}

/// Turn of a conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HistoryTurn {
    /// Speaker.
    role: Role,
    /// Text.
    content: String,
}

/// Speaker of a turn.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Speaker")]
enum Role {
    /// The caller.
    User,
    /// The model.
    Assistant,
}

/// Metadata around an answer, streamed or not.
struct AnswerEnvelope {
    id: String,
    pipeline: String,
    classification: String,
    query: String,
    include_contexts: bool,
    search_durations: [Duration; 2],
    /// Warnings of the search.
    warnings: Vec<SearchWarning>,
    /// `true` if the policy allows storing the answer.
    may_store: bool,
    counted: CountedQuestion,
}

/// `POST /api/pipelines/{pipeline_id}/query`.
pub(crate) async fn ask(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_active_pipeline(platform, &request).await?;
    let body: QuestionRequest = json_body::parse(&mut request).await?;
    let (search_request, sampling, mut options) = body.into_parts();
    let sampling = sampling::validate(sampling)?;
    let search_query = search::parse_query(&pipeline, search_request, platform.limits.question_length)?;
    require_access(&key, &pipeline, &search_query.classification, Verb::Query)?;
    validate(&options)?;
    let policy = Policy::for_classification(&pipeline, &search_query.classification)?;
    let model = resolve_model(platform, &mut options, policy.llm_allow_list(&pipeline)?).await?;
    let counted = quota::count_question(platform).await?;
    let response = answer_question(
        platform,
        request,
        &pipeline,
        search_query,
        ValidatedAsk { options, sampling, model, policy, counted },
    )
    .await;
    if response.is_err() {
        quota::uncount_question(platform, counted).await;
    }
    response
}

/// A validated question, counted against the quota, with its model.
struct ValidatedAsk {
    options: AskOptions,
    sampling: Sampling,
    /// `None` for quotes.
    model: Option<ResolvedModel>,
    policy: Policy,
    counted: CountedQuestion,
}

async fn answer_question(
    platform: &Arc<Platform>,
    request: Request,
    pipeline: &Pipeline,
    search_query: ValidatedSearch,
    ValidatedAsk { options, sampling, model, policy, counted }: ValidatedAsk,
) -> Result<Response, Problem> {
    let (text, classification) = (search_query.query.clone(), search_query.classification.clone());
    let graph_result = match &options.graph {
        Some(graph) => Some(graph_context::run_query(platform, &request.head, graph).await?),
        None => None,
    };
    let mut search_result = search::run_search(platform, request.principal()?.key(), pipeline, search_query).await?;
    let graph_result = add_graph_context(platform, &request.head, &options, graph_result, &mut search_result).await;
    let streamed = options.stream == Some(true)
        || request.head.accepts("text/event-stream") > request.head.accepts("application/json");
    let envelope = AnswerEnvelope {
        id: format!("qry_{}", uuid_v7()),
        pipeline: pipeline.id.clone(),
        classification,
        query: text.clone(),
        include_contexts: options.include_contexts == Some(true),
        search_durations: search_result.durations,
        warnings: search_result.warnings.clone(),
        // Callers who may read stored answers may lack access to the graph.
        may_store: policy.retains_answers() && graph_result.is_none(),
        counted,
    };
    let mut question = rag_question(options, text, search_result, graph_result);
    question.sampling = sampling;
    question.context_window = model.as_ref().and_then(|model| model.context_window);
    question.max_context = policy.max_context_tokens();
    question.spotlighting = platform.generation.spotlighting;
    question.required_support = platform.generation.required_support;
    if streamed {
        let caller = request.principal()?.key();
        let permit = platform.generation.answer_streams.try_acquire(caller, 1).ok_or_else(too_many_streams)?;
        let endpoint = model.map(|model| model.endpoint);
        return Ok(stream_answer(platform, endpoint, question, envelope, request.head, permit));
    }
    let answer = match model {
        Some(model) => rag::answer(&platform.generation.llm, &model.endpoint, question).await,
        None => Ok(rag::extractive_answer(question)),
    };
    envelope.record(platform, answer.as_ref().map_err(LlmError::code)).await;
    let body = envelope.complete_and_store(platform, answer.map_err(llm_problem)?).await;
    Ok(policy.add_no_store(Response::json(&body)?))
}

/// The model that answers, and its context window in tokens, if known.
struct ResolvedModel {
    endpoint: Endpoint,
    context_window: Option<usize>,
}

/// Resolves the model: given inline, or stored as a connection. A stored key is never sent to an inline address. Returns
/// `None` if the question names no model.
async fn resolve_model(
    platform: &Platform,
    options: &mut AskOptions,
    allow: Option<AllowList>,
) -> Result<Option<ResolvedModel>, Problem> {
    let mut model = match (options.llm_endpoint.take(), options.llm_connection.take()) {
        (Some(inline), None) => ResolvedModel { endpoint: parse_endpoint(inline)?, context_window: None },
        (None, Some(id)) => {
            let connection = llm_connections::connection_by_id(platform, &id).await?;
            let context_window = connection.context_window.and_then(|window| usize::try_from(window).ok());
            ResolvedModel { endpoint: llm_connections::connection_endpoint(platform, &connection)?, context_window }
        }
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            return Err(validation("/llm_connection", "Only one of `llm_endpoint` and `llm_connection` is allowed."));
        }
    };
    model.endpoint.allow = allow;
    Ok(Some(model))
}

fn parse_endpoint(llm: LlmEndpoint) -> Result<Endpoint, Problem> {
    parse_provider(llm.provider.as_deref(), "/llm_endpoint/provider")?;
    let endpoint = Endpoint::new(llm.base_url, Secret::new(llm.api_key), llm.model);
    llm_connections::validate_endpoint(&endpoint, "/llm_endpoint")?;
    Ok(endpoint)
}

fn validate(options: &AskOptions) -> Result<(), Problem> {
    if options.history.as_ref().is_some_and(|turns| turns.len() > MAX_HISTORY_TURNS) {
        return Err(validation("/history", &format!("`history` must have at most {MAX_HISTORY_TURNS} turns.")));
    }
    if options.instructions.as_ref().is_some_and(|text| text.chars().count() > MAX_INSTRUCTIONS_LENGTH) {
        return Err(validation(
            "/instructions",
            &format!("`instructions` must have at most {MAX_INSTRUCTIONS_LENGTH} characters."),
        ));
    }
    if options.timeout_ms.is_some_and(|time| !(1..=600_000).contains(&time)) {
        return Err(validation("/timeout_ms", "`timeout_ms` must be from 1 to 600000."));
    }
    Ok(())
}

/// Builds the context of the graph query result and adds node ids for the tags of all contexts.
async fn add_graph_context(
    platform: &Platform,
    head: &Head,
    options: &AskOptions,
    graph_result: Option<graph_context::GraphResult>,
    search_result: &mut SearchResult,
) -> Option<Context> {
    let (graph, mut graph_result) = (options.graph.as_ref()?, graph_result?);
    search_result.warnings.append(&mut graph_result.warnings);
    let mut passages: Vec<&mut Context> =
        search_result.passages.iter_mut().map(|passage| &mut passage.context).collect();
    graph_context::resolve_tags(platform, head, graph, &mut graph_result, &mut passages).await;
    Some(graph_result.context)
}

fn rag_question(
    options: AskOptions,
    text: String,
    search_result: SearchResult,
    graph_result: Option<Context>,
) -> rag::Question {
    let to_turn = |turn: HistoryTurn| Turn {
        speaker: match turn.role {
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
        },
        text: turn.content,
    };
    rag::Question {
        text,
        contexts: graph_result
            .into_iter()
            .chain(search_result.passages.into_iter().map(|passage| passage.context))
            .collect(),
        has_documents: search_result.has_documents,
        history: options.history.into_iter().flatten().map(to_turn).collect(),
        instructions: options.instructions,
        timeout: options.timeout_ms.map(Duration::from_millis),
        ..rag::Question::default()
    }
}

impl AnswerEnvelope {
    /// Records the question in the metrics and the store. A failure of the store does not fail the answer.
    async fn record(&self, platform: &Platform, outcome: Result<&Answer, &str>) {
        platform.metrics.record_question(outcome);
        let outcome = outcome.map(|answer| {
            let usage = answer.usage.as_ref().map_or([0; 2], |usage| [usage.prompt_tokens, usage.completion_tokens]);
            let tokens = usage.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
            let estimated = answer.usage.as_ref().is_some_and(|usage| usage.estimated);
            AnswerStats { answered: answer.answered, model: &answer.model, tokens, estimated }
        });
        let (id, pipeline_id, classification) = (&self.id, &self.pipeline, &self.classification);
        if let Err(error) =
            platform.store.record_question(&QuestionStats { id, pipeline_id, classification, outcome }).await
        {
            tracing::warn!(%error, "recording a question failed; its event and usage are missing");
        }
    }

    /// Returns the answer as sent, and stores it if the policy allows.
    async fn complete_and_store(&self, platform: &Platform, mut answer: Answer) -> Value {
        quote_pages::set_pages(platform, &mut answer).await;
        let documents = answer.contexts.iter().filter_map(|context| context.document_id.clone()).collect();
        let body = serde_json::to_value(self.complete(answer)).unwrap_or_default();
        if self.may_store {
            let (id, pipeline_id, classification) = (&self.id, &self.pipeline, &self.classification);
            answers::save(platform, NewAnswer { id, pipeline_id, classification, answer: &body, documents }).await;
        }
        body
    }

    /// Adds the metadata to an answer.
    fn complete(&self, answer: Answer) -> AnswerResponse<'_> {
        let [embed, search] = self.search_durations.map(|time| time.as_millis() as u64);
        let llm = answer.duration.as_millis() as u64;
        let passage_warnings = answer.warnings.into_iter().map(|warning| SearchWarning {
            code: warning.code,
            marker: Some(warning.marker),
            detail: warning.detail.into(),
        });
        let cut = (answer.finish_reason.as_deref() == Some("length")).then(|| {
            SearchWarning::new(
                "answer-cut",
                "The model reached its token limit: the answer is incomplete. Raise `max_tokens`.",
            )
        });
        AnswerResponse {
            id: &self.id,
            pipeline_id: &self.pipeline,
            classification: &self.classification,
            query: &self.query,
            answer: answer.answer,
            answered: answer.answered,
            reason: answer.reason,
            finish_reason: answer.finish_reason,
            model: answer.model,
            citations: answer.citations,
            invalid_citations: answer.invalid_citations,
            sentences: answer.sentences,
            contexts: self.include_contexts.then_some(answer.contexts),
            contexts_dropped: answer.contexts_dropped,
            warnings: passage_warnings.chain(cut).chain(self.warnings.iter().cloned()).collect(),
            usage: answer.usage,
            timings_ms: AnswerTimings { embed, search, llm, total: embed + search + llm },
        }
    }
}

/// Streams the answer as server-sent events. When the client disconnects, the call of the model is cancelled.
fn stream_answer(
    platform: &Arc<Platform>,
    endpoint: Option<Endpoint>,
    question: rag::Question,
    envelope: AnswerEnvelope,
    head: Arc<Head>,
    permit: BudgetPermit,
) -> Response {
    let (events, response) = Response::events();
    let (platform, trace) = (platform.clone(), head.trace.clone());
    let stream = async move {
        let (sender, receiver) = mpsc::channel(16);
        let generate = async {
            match &endpoint {
                Some(endpoint) => rag::stream(&platform.generation.llm, endpoint, question, sender).await,
                None => rag::extractive_stream(question, sender).await,
            }
        };
        tokio::join!(generate, forward(&platform, receiver, events, &envelope, &head));
        drop(permit);
    };
    tokio::spawn(trace.scope(stream).in_current_span());
    response
}

fn too_many_streams() -> Problem {
    Problem::new(codes::TOO_MANY_STREAMS).detail("Too many answers are being streamed; try again.").retry_after(5)
}

/// Forwards events to the client. When the client disconnects, the channel closes and the call of the model ends.
async fn forward(
    platform: &Platform,
    mut receiver: mpsc::Receiver<StreamEvent>,
    mut events: Events,
    envelope: &AnswerEnvelope,
    head: &Head,
) {
    loop {
        // A model may be silent for long: sending alone would not detect a disconnected client.
        let event = tokio::select! {
            event = receiver.recv() => event,
            () = events.closed() => return envelope.record(platform, Err(CLIENT_GONE)).await,
        };
        let Some(event) = event else { break };
        let is_last = matches!(event, StreamEvent::Done(_) | StreamEvent::Error(_));
        match &event {
            StreamEvent::Done(answer) => envelope.record(platform, Ok(answer)).await,
            StreamEvent::Error(error) => envelope.record(platform, Err(error.code())).await,
            _ => {}
        }
        let name = event.name();
        let data = match event {
            StreamEvent::Error(error) => {
                quota::uncount_question(platform, envelope.counted).await;
                head.problem_json(&llm_problem(error))
            }
            StreamEvent::Done(answer) => envelope.complete_and_store(platform, *answer).await,
            other => other.data().unwrap_or_default(),
        };
        if events.json(name, None, &data).await.is_err() {
            if !is_last {
                envelope.record(platform, Err(CLIENT_GONE)).await;
            }
            return;
        }
    }
    let _ = events.finish().await;
}
