//! Retrieval-augmented generation: an answer with citations from retrieved chunks, complete or streamed.
//!
//! Cases of a missing answer are distinguished: nothing was found, and no model is called; the model replies that the
//! passages do not answer the question; the model answers without a citation, or cites passages that do not contain what
//! it says.

mod context;
mod extractive;
mod stream_event;
mod support;

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::mpsc::Sender;

pub use context::{Citation, Context, GraphSource, Quote};
pub use extractive::{answer as extractive_answer, stream as extractive_stream};
pub use stream_event::StreamEvent;
pub use support::{CheckedSentence, ClaimDefect, RequiredSupport, SentenceStatus, UnsupportedClaim};

use support::Check;

use crate::generation::citations::{CitationParser, is_refusal, needs_citation};
use crate::generation::prompt::{
    self, Passage, Prompt, PromptError, PromptInput, REFUSAL, Speaker, Spotlighting, Turn, Warning,
};
use crate::llm::{Chat, Client, CompletionInfo, Endpoint, LlmError, LlmErrorKind, Sampling, Usage};

/// Retries with fewer contexts after a model reported that the context window is exceeded.
const MAX_CONTEXT_REDUCTIONS: usize = 3;

/// A question and the contexts retrieved for it.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Retrieved contexts, best first.
    pub contexts: Vec<Context>,
    /// `true` if there were documents to search.
    pub has_documents: bool,
    /// Minimum score of contexts.
    pub min_score: Option<f64>,
    /// Previous turns, oldest first.
    pub history: Vec<Turn>,
    /// Separation of passages from instructions.
    pub spotlighting: Spotlighting,
    /// The caller's instructions for the form of the answer.
    pub instructions: Option<String>,
    /// Context window of the model in tokens, if known.
    pub context_window: Option<usize>,
    /// Maximum number of tokens of contexts, if limited.
    pub max_context: Option<usize>,
    /// The caller's sampling parameters.
    pub sampling: Sampling,
    /// Total timeout.
    pub timeout: Option<Duration>,
    /// Support that an answer needs to count as answered.
    pub required_support: RequiredSupport,
}

impl Question {
    /// Drops the contexts below the minimum score.
    fn retain_relevant(&mut self) {
        let min_score = self.min_score.unwrap_or(f64::NEG_INFINITY);
        self.contexts.retain(|context| context.score >= min_score);
    }

    /// Returns the question with the turns before it: what the user names may be repeated without a source.
    fn asked(&self) -> String {
        let turns = self.history.iter().filter(|turn| turn.speaker == Speaker::User).map(|turn| turn.text.as_str());
        turns.chain([self.text.as_str()]).collect::<Vec<_>>().join("\n")
    }

    /// Returns the reason why there are no contexts.
    fn missing_contexts(&self) -> Reason {
        if self.has_documents { Reason::NoRelevantContext } else { Reason::NoDocuments }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The text.
    pub answer: String,
    /// `true` if the question is answered.
    pub answered: bool,
    /// Reason why it is not answered, or a defect of the answer.
    pub reason: Option<Reason>,
    /// Finish reason of the model.
    pub finish_reason: Option<String>,
    /// The model as named by its server, else as named by the caller.
    pub model: String,
    /// Cited contexts, in order of their first citation.
    pub citations: Vec<Citation>,
    /// Cited numbers that belong to no context.
    pub invalid_citations: Vec<u32>,
    /// Sentences of the answer, checked against the contexts that they cite.
    pub sentences: Vec<CheckedSentence>,
    /// Contexts in the prompt; the first is `[1]`.
    pub contexts: Vec<Context>,
    /// Number of retrieved contexts that did not fit.
    pub contexts_dropped: usize,
    /// Contexts with instruction-like text.
    pub warnings: Vec<Warning>,
    /// Token usage; `None` if no model was called.
    pub usage: Option<Usage>,
    /// Duration of the model calls.
    pub duration: Duration,
}

/// Reason why a question is not answered, or a defect of the answer.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "AnswerReason")]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// There are no documents to search.
    NoDocuments,
    /// No context reaches the minimum score. No model was called.
    NoRelevantContext,
    /// The model replied that the contexts do not answer the question.
    NotInContext,
    /// The answer, or one of its sentences with values, tags, dates or names, cites no context.
    Uncited,
    /// A sentence cites contexts that do not contain what it says.
    Unsupported,
}

impl Reason {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::NoDocuments => "no_documents",
            Reason::NoRelevantContext => "no_relevant_context",
            Reason::NotInContext => "not_in_context",
            Reason::Uncited => "uncited",
            Reason::Unsupported => "unsupported",
        }
    }
}

/// Generates a complete answer.
pub async fn answer(client: &Client, endpoint: &Endpoint, question: Question) -> Result<Answer, LlmError> {
    Generation { client, endpoint, events: None }.run(question).await
}

/// Streams an answer: the contexts, then text deltas and citations, finally the complete answer or an error. Ends at
/// once and closes the connection to the model when the receiver is dropped.
pub async fn stream(client: &Client, endpoint: &Endpoint, question: Question, events: Sender<StreamEvent>) {
    let generation = Generation { client, endpoint, events: Some(&events) };
    tokio::select! {
        biased;
        () = events.closed() => {}
        result = generation.run(question) => {
            generation.emit(result.map_or_else(StreamEvent::Error, |answer| StreamEvent::Done(Box::new(answer)))).await;
        }
    }
}

struct Generation<'a> {
    client: &'a Client,
    endpoint: &'a Endpoint,
    /// Receiver of events, if the answer is streamed.
    events: Option<&'a Sender<StreamEvent>>,
}

/// Reply of a model with its parsed citations.
struct ModelReply {
    text: String,
    citations: CitationParser,
    info: CompletionInfo,
}

impl Generation<'_> {
    async fn run(&self, mut question: Question) -> Result<Answer, LlmError> {
        question.retain_relevant();
        if question.contexts.is_empty() {
            self.emit(StreamEvent::Retrieval { contexts: Vec::new(), contexts_dropped: 0 }).await;
            return Ok(unanswered(self.endpoint.model.clone(), question.missing_contexts()));
        }
        self.generate(question).await
    }

    async fn generate(&self, mut question: Question) -> Result<Answer, LlmError> {
        let started = Instant::now();
        let retrieved = question.contexts.len();
        let mut window = question.context_window.unwrap_or(prompt::DEFAULT_CONTEXT_WINDOW);
        let mut prompt = compose(&question, window).map_err(|_| LlmError::window_too_small())?;
        question.contexts.truncate(prompt.used);
        let (contexts, contexts_dropped) = (question.contexts.clone(), retrieved - prompt.used);
        self.emit(StreamEvent::Retrieval { contexts, contexts_dropped }).await;
        let mut reductions = 0;
        let reply = loop {
            match self.call_model(&question, &prompt, started.elapsed()).await {
                Err(error) if error.kind() == LlmErrorKind::ContextExceeded && reductions < MAX_CONTEXT_REDUCTIONS => {
                    reductions += 1;
                    window = smaller_window(window, &question, &prompt, &error);
                    prompt = compose(&question, window).map_err(|_| error)?;
                    question.contexts.truncate(prompt.used);
                }
                reply => break reply?,
            }
        };
        Ok(self.build_answer(question, prompt, reply, retrieved, started.elapsed()))
    }

    async fn call_model(
        &self,
        question: &Question,
        prompt: &Prompt,
        elapsed: Duration,
    ) -> Result<ModelReply, LlmError> {
        let total = question.timeout.unwrap_or_else(|| self.client.total_timeout());
        let chat = chat_request(question, prompt, total.saturating_sub(elapsed));
        let mut citations = CitationParser::new(prompt.used);
        if self.events.is_none() {
            let completion = self.client.chat(self.endpoint, &chat).await?;
            let text = prompt::remove_marks(completion.text, prompt.mark);
            citations.push(&text);
            return Ok(ModelReply { text, citations, info: completion.info });
        }
        let mut deltas = self.client.stream(self.endpoint, &chat).await?;
        let mut text = String::new();
        while let Some(delta) = deltas.next().await.map_err(|error| error.after_output().with_partial_answer(&text))? {
            let delta = prompt::remove_marks(delta, prompt.mark);
            text.push_str(&delta);
            let cited = citations.push(&delta);
            self.emit(StreamEvent::Delta { text: delta }).await;
            for cited in cited {
                self.emit(StreamEvent::Citation(Box::new(Citation::new(&question.contexts, &cited)))).await;
            }
        }
        Ok(ModelReply { text, citations, info: deltas.info().clone() })
    }

    /// Sends an event. A dropped receiver is ignored here: `stream` ends then.
    async fn emit(&self, event: StreamEvent) {
        if let Some(events) = self.events {
            let _ = events.send(event).await;
        }
    }

    fn build_answer(
        &self,
        question: Question,
        prompt: Prompt,
        reply: ModelReply,
        retrieved: usize,
        duration: Duration,
    ) -> Answer {
        let is_refusal = is_refusal(&reply.text, reply.citations.cited());
        let check = match is_refusal {
            true => Check::default(),
            false => Check::new(&question.asked(), &reply.text, &question.contexts, reply.citations.cited()),
        };
        let cited = reply.citations.cited().iter();
        let citations: Vec<_> =
            cited.map(|cited| Citation::new(&question.contexts, cited).with_quotes(&check.quotes)).collect();
        let reason = if is_refusal { Some(Reason::NotInContext) } else { defect(&reply, &check) };
        let estimated = || Usage {
            prompt_tokens: prompt.tokens as u64,
            completion_tokens: prompt::estimate_tokens(&reply.text) as u64,
            estimated: true,
        };
        Answer {
            answered: question.required_support.is_met(reason, check.has_valid_citation()),
            reason,
            finish_reason: reply.info.finish_reason,
            model: reply.info.model.unwrap_or_else(|| self.endpoint.model.clone()),
            citations,
            invalid_citations: reply.citations.invalid().to_vec(),
            sentences: check.sentences,
            contexts_dropped: retrieved - question.contexts.len(),
            contexts: question.contexts,
            warnings: prompt.warnings,
            usage: Some(reply.info.usage.unwrap_or_else(estimated)),
            answer: reply.text,
            duration,
        }
    }
}

/// Returns the answer of a model that does not answer the question.
fn unanswered(model: String, reason: Reason) -> Answer {
    Answer {
        answer: REFUSAL.to_owned(),
        answered: false,
        reason: Some(reason),
        finish_reason: None,
        model,
        citations: Vec::new(),
        invalid_citations: Vec::new(),
        sentences: Vec::new(),
        contexts: Vec::new(),
        contexts_dropped: 0,
        warnings: Vec::new(),
        usage: None,
        duration: Duration::ZERO,
    }
}

/// Returns the defect of a reply that is no refusal.
fn defect(reply: &ModelReply, check: &Check) -> Option<Reason> {
    match reply.citations.cited().is_empty() && needs_citation(&reply.text) {
        true => Some(Reason::Uncited),
        false => check.defect(),
    }
}

fn compose(question: &Question, window: usize) -> Result<Prompt, PromptError> {
    let passages: Vec<Passage<'_>> = question.contexts.iter().map(Context::passage).collect();
    Prompt::compose(&PromptInput {
        question: &question.text,
        instructions: question.instructions.as_deref(),
        history: &question.history,
        passages: &passages,
        spotlighting: question.spotlighting,
        window,
        answer_tokens: answer_reserve(question),
        max_passage_tokens: question.max_context,
    })
}

fn answer_reserve(question: &Question) -> usize {
    question.sampling.max_tokens.map_or(prompt::DEFAULT_ANSWER_TOKENS, |tokens| tokens as usize)
}

/// Returns the window reported by the server, if smaller; else one that fits half of the prompt.
fn smaller_window(window: usize, question: &Question, prompt: &Prompt, error: &LlmError) -> usize {
    let half = answer_reserve(question) + prompt.tokens / 2;
    error.window().filter(|reported| *reported < window).map_or(half, |reported| reported.max(half))
}

fn chat_request(question: &Question, prompt: &Prompt, remaining: Duration) -> Chat {
    Chat {
        system: prompt.system.clone(),
        user: prompt.user.clone(),
        sampling: question.sampling.clone(),
        total_timeout: Some(remaining),
    }
}
