//! Chunks that were found and a question → an answer with citations, in one piece or while it is written.
//!
//! Three ways of not knowing are told apart: nothing was found, and no model is asked; the model says that the
//! passages do not answer; the model answers and names no passage.

mod context;
mod event;

use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::mpsc::Sender;

pub use context::{Citation, Context, Drawn};
pub use event::Event;

use crate::citations::{Reading, is_refusal, needs_citation};
use crate::llm::{Chat, Client, Ending, Endpoint, Kind, LlmError, Sampling, Usage};
use crate::prompt::{self, Marking, Material, NoPrompt, Passage, Prompt, REFUSAL, Turn, Warning};

/// How often a question is asked again with fewer contexts, after a model said that they are too long.
const SMALLER: usize = 3;

/// A question, and what was found for it.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The question.
    pub text: String,
    /// What was found, the best first.
    pub contexts: Vec<Context>,
    /// Whether there was anything to search in.
    pub has_documents: bool,
    /// Contexts below are not used.
    pub min_score: Option<f64>,
    /// What was said before, the oldest first.
    pub history: Vec<Turn>,
    /// How passages are told from what is ours.
    pub marking: Marking,
    /// What the asker wishes of the answer's form.
    pub instructions: Option<String>,
    /// The window of the model in tokens, if somebody knows it.
    pub context_window: Option<usize>,
    /// The most tokens of contexts that the model may see, if somebody says.
    pub max_context: Option<usize>,
    /// What the asker sets for the model.
    pub sampling: Sampling,
    /// How long all may take.
    pub timeout: Option<Duration>,
}

/// An answer, as it is sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The text.
    pub answer: String,
    /// Whether it answers.
    pub answered: bool,
    /// Why it does not, or what is wrong with it.
    pub reason: Option<Reason>,
    /// Why the model ended it.
    pub finish_reason: Option<String>,
    /// The model, as its server names it; as the asker did, if that is silent.
    pub model: String,
    /// The contexts that it names, in the order of their first place.
    pub citations: Vec<Citation>,
    /// Numbers in it that are none of a context.
    pub invalid_citations: Vec<u32>,
    /// The contexts that the model was given; the first is `[1]`.
    pub contexts: Vec<Context>,
    /// How many more were found and did not fit.
    pub contexts_dropped: usize,
    /// Contexts that sound like orders to a model.
    pub warnings: Vec<Warning>,
    /// What it cost; nothing, if no model was asked.
    pub usage: Option<Usage>,
    /// How long the model took.
    #[serde(skip)]
    pub took: Duration,
}

/// Why an answer does not answer, or what is wrong with it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// There is nothing to search in.
    NoDocuments,
    /// Nothing was found that is good enough. No model was asked.
    NoRelevantContext,
    /// The model says that the contexts do not answer.
    NotInContext,
    /// It answers, and names no context.
    Uncited,
}

impl Reason {
    /// Its name on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Reason::NoDocuments => "no_documents",
            Reason::NoRelevantContext => "no_relevant_context",
            Reason::NotInContext => "not_in_context",
            Reason::Uncited => "uncited",
        }
    }
}

/// Answers in one piece.
pub async fn answer(client: &Client, endpoint: &Endpoint, question: Question) -> Result<Answer, LlmError> {
    Work { client, endpoint, events: None }.run(question).await
}

/// Answers while the model writes: first what was found, then pieces of text and citations, at last the whole or an
/// error. It ends at once when nobody takes the events any more, and the model's server is left.
pub async fn stream(client: &Client, endpoint: &Endpoint, question: Question, events: Sender<Event>) {
    let work = Work { client, endpoint, events: Some(&events) };
    tokio::select! {
        biased;
        () = events.closed() => {}
        result = work.run(question) => {
            work.emit(result.map_or_else(Event::Error, |answer| Event::Done(Box::new(answer)))).await;
        }
    }
}

struct Work<'a> {
    client: &'a Client,
    endpoint: &'a Endpoint,
    /// Where events go, if the answer is streamed.
    events: Option<&'a Sender<Event>>,
}

/// What a model said, and what was read from it.
struct Said {
    text: String,
    reading: Reading,
    ending: Ending,
}

impl Work<'_> {
    async fn run(&self, mut question: Question) -> Result<Answer, LlmError> {
        let least = question.min_score.unwrap_or(f64::NEG_INFINITY);
        question.contexts.retain(|context| context.score >= least);
        if question.contexts.is_empty() {
            let reason = if question.has_documents { Reason::NoRelevantContext } else { Reason::NoDocuments };
            self.emit(Event::Retrieval { contexts: Vec::new(), contexts_dropped: 0 }).await;
            return Ok(self.unanswered(reason));
        }
        self.ask(question).await
    }

    async fn ask(&self, mut question: Question) -> Result<Answer, LlmError> {
        let begun = Instant::now();
        let found = question.contexts.len();
        let mut window = question.context_window.unwrap_or(prompt::WINDOW);
        let mut prompt = compose(&question, window).map_err(|_| LlmError::no_room())?;
        question.contexts.truncate(prompt.used);
        let (contexts, contexts_dropped) = (question.contexts.clone(), found - prompt.used);
        self.emit(Event::Retrieval { contexts, contexts_dropped }).await;
        let mut smaller = 0;
        let said = loop {
            match self.once(&question, &prompt, begun.elapsed()).await {
                Err(error) if error.kind() == Kind::ContextExceeded && smaller < SMALLER => {
                    smaller += 1;
                    window = narrower(window, &question, &prompt, &error);
                    prompt = compose(&question, window).map_err(|_| error)?;
                    question.contexts.truncate(prompt.used);
                }
                said => break said?,
            }
        };
        Ok(self.answered(question, prompt, said, found, begun.elapsed()))
    }

    async fn once(&self, question: &Question, prompt: &Prompt, elapsed: Duration) -> Result<Said, LlmError> {
        let total = question.timeout.unwrap_or_else(|| self.client.total());
        let chat = chat(question, prompt, total.saturating_sub(elapsed));
        let mut reading = Reading::new(prompt.used);
        if self.events.is_none() {
            let completion = self.client.chat(self.endpoint, &chat).await?;
            let text = prompt::unmarked(completion.text, prompt.mark);
            reading.push(&text);
            return Ok(Said { text, reading, ending: completion.ending });
        }
        let mut deltas = self.client.stream(self.endpoint, &chat).await?;
        let mut text = String::new();
        while let Some(delta) = deltas.next().await.map_err(LlmError::too_late_to_repeat)? {
            let delta = prompt::unmarked(delta, prompt.mark);
            text.push_str(&delta);
            let cited = reading.push(&delta);
            self.emit(Event::Delta { text: delta }).await;
            for cited in cited {
                self.emit(Event::Citation(Box::new(Citation::of(&question.contexts, &cited)))).await;
            }
        }
        Ok(Said { text, reading, ending: deltas.ending().clone() })
    }

    /// Nobody takes it: then all ends at the next breath.
    async fn emit(&self, event: Event) {
        if let Some(events) = self.events {
            let _ = events.send(event).await;
        }
    }

    fn answered(&self, question: Question, prompt: Prompt, said: Said, found: usize, took: Duration) -> Answer {
        let citations: Vec<_> =
            said.reading.cited().iter().map(|cited| Citation::of(&question.contexts, cited)).collect();
        let reason = reason(&said.text, &said.reading);
        let estimated = || Usage {
            prompt_tokens: prompt.tokens as u64,
            completion_tokens: prompt::tokens(&said.text) as u64,
            estimated: true,
        };
        Answer {
            answered: reason != Some(Reason::NotInContext),
            reason,
            finish_reason: said.ending.finish_reason,
            model: said.ending.model.unwrap_or_else(|| self.endpoint.model.clone()),
            citations,
            invalid_citations: said.reading.invalid().to_vec(),
            contexts_dropped: found - question.contexts.len(),
            contexts: question.contexts,
            warnings: prompt.warnings,
            usage: Some(said.ending.usage.unwrap_or_else(estimated)),
            answer: said.text,
            took,
        }
    }

    fn unanswered(&self, reason: Reason) -> Answer {
        Answer {
            answer: REFUSAL.to_owned(),
            answered: false,
            reason: Some(reason),
            finish_reason: None,
            model: self.endpoint.model.clone(),
            citations: Vec::new(),
            invalid_citations: Vec::new(),
            contexts: Vec::new(),
            contexts_dropped: 0,
            warnings: Vec::new(),
            usage: None,
            took: Duration::ZERO,
        }
    }
}

fn reason(text: &str, reading: &Reading) -> Option<Reason> {
    if is_refusal(text, reading.cited()) {
        return Some(Reason::NotInContext);
    }
    (reading.cited().is_empty() && needs_citation(text)).then_some(Reason::Uncited)
}

fn compose(question: &Question, window: usize) -> Result<Prompt, NoPrompt> {
    let passages: Vec<Passage<'_>> = question.contexts.iter().map(Context::passage).collect();
    Prompt::compose(&Material {
        question: &question.text,
        instructions: question.instructions.as_deref(),
        history: &question.history,
        passages: &passages,
        marking: question.marking,
        window,
        answer: reserve(question),
        most: question.max_context,
    })
}

fn reserve(question: &Question) -> usize {
    question.sampling.max_tokens.map_or(prompt::ANSWER, |tokens| tokens as usize)
}

/// The window that the server told, if that is smaller; else one with half of what was sent.
fn narrower(window: usize, question: &Question, prompt: &Prompt, error: &LlmError) -> usize {
    let half = reserve(question) + prompt.tokens / 2;
    error.window().filter(|told| *told < window).map_or(half, |told| told.max(half))
}

fn chat(question: &Question, prompt: &Prompt, left: Duration) -> Chat {
    Chat {
        system: prompt.system.clone(),
        user: prompt.user.clone(),
        sampling: question.sampling.clone(),
        total: Some(left),
    }
}
