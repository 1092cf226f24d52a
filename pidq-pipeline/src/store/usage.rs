//! What came of questions, and how much of everything there was under a classification on a day.

use pidq_http::auth::Moment;
use pidq_http::database::{DatabaseError, Transaction};
use serde_json::{Map, Value, json};

use super::outbox::Word;
use super::{Result, Store};
use crate::events;

/// A question that was put to a model, or that no model was needed for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The id that its answer has.
    pub id: &'a str,
    /// The pipeline.
    pub pipeline_id: &'a str,
    /// The label.
    pub classification: &'a str,
    /// What came of it, or the code of what was wrong.
    pub outcome: std::result::Result<Told<'a>, &'a str>,
}

/// What an answer was like.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// Whether it answers.
    pub answered: bool,
    /// The model.
    pub model: &'a str,
    /// Of the question with its contexts, and of the answer.
    pub tokens: [i64; 2],
    /// Whether these were estimated, since the model did not say.
    pub estimated: bool,
}

impl Asked<'_> {
    fn amount(&self) -> Amount {
        match self.outcome {
            Ok(Told { tokens, estimated, .. }) => {
                let estimated_tokens = if estimated { tokens[0].saturating_add(tokens[1]) } else { 0 };
                Amount { queries: 1, tokens, estimated_tokens, ..Amount::default() }
            }
            // It was being answered, and counts for the licence as well.
            Err(CLIENT_GONE) => Amount { queries: 1, ..Amount::default() },
            Err(_) => Amount { failed_queries: 1, ..Amount::default() },
        }
    }
}

/// The code of a question whose sender went away while it was answered.
pub const CLIENT_GONE: &str = "client-gone";

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount {
    pub documents: i64,
    pub bytes: i64,
    pub chunks: i64,
    pub queries: i64,
    pub failed_queries: i64,
    pub tokens: [i64; 2],
    pub estimated_tokens: i64,
}

const DAY: i64 = 86_400_000;

const ADD: &str = "insert into figures (day, pipeline_id, classification, documents, bytes, chunks, queries,
  failed_queries, prompt_tokens, completion_tokens, estimated_tokens)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (day, pipeline_id, classification) do update set
  documents = figures.documents + excluded.documents, bytes = figures.bytes + excluded.bytes,
  chunks = figures.chunks + excluded.chunks, queries = figures.queries + excluded.queries,
  failed_queries = figures.failed_queries + excluded.failed_queries,
  prompt_tokens = figures.prompt_tokens + excluded.prompt_tokens,
  completion_tokens = figures.completion_tokens + excluded.completion_tokens,
  estimated_tokens = figures.estimated_tokens + excluded.estimated_tokens";

/// Adds to what there was under a label today.
pub(super) async fn count(
    tx: &mut Transaction,
    pipeline: &str,
    label: &str,
    amount: Amount,
) -> std::result::Result<(), DatabaseError> {
    let arguments = [
        Moment::now().0.div_euclid(DAY).into(),
        pipeline.into(),
        label.into(),
        amount.documents.into(),
        amount.bytes.into(),
        amount.chunks.into(),
        amount.queries.into(),
        amount.failed_queries.into(),
        amount.tokens[0].into(),
        amount.tokens[1].into(),
        amount.estimated_tokens.into(),
    ];
    tx.execute(ADD, &arguments).await.map(drop)
}

impl Store {
    /// Counts a question and tells of it.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn note_query(&self, asked: &Asked<'_>) -> Result<()> {
        let mut tx = self.database.begin().await?;
        count(&mut tx, asked.pipeline_id, asked.classification, asked.amount()).await?;
        let kind = if asked.outcome.is_ok() { events::QUERY_COMPLETED } else { events::QUERY_FAILED };
        let (pipeline, label) = (Some(asked.pipeline_id), Some(asked.classification));
        let word = Word { pipeline, label, details: details(asked), ..Word::default() };
        self.outbox.tell(&mut tx, kind, word).await?;
        self.outbox.commit(tx).await?;
        Ok(())
    }
}

fn details(asked: &Asked<'_>) -> Map<String, Value> {
    let mut details = Map::from_iter([("query_id".into(), asked.id.into())]);
    match asked.outcome {
        Ok(told) => {
            let [prompt, completion] = told.tokens;
            details.insert("status".into(), "completed".into());
            details.insert("answered".into(), told.answered.into());
            details.insert("model".into(), told.model.into());
            details.insert("usage".into(), json!({"prompt_tokens": prompt, "completion_tokens": completion}));
        }
        Err(code) => {
            details.insert("status".into(), "failed".into());
            details.insert("code".into(), code.into());
        }
    }
    details
}
