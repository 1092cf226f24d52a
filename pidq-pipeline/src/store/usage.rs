//! What came of questions, and how much of everything a pipeline had on a day.

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
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount {
    pub queries: i64,
    pub tokens: [i64; 2],
    pub documents: i64,
    pub bytes: i64,
}

const DAY: i64 = 86_400_000;

const ADD: &str = "insert into usage (pipeline_id, day, queries, prompt_tokens, completion_tokens, documents, bytes)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict (pipeline_id, day) do update set
  queries = usage.queries + excluded.queries, prompt_tokens = usage.prompt_tokens + excluded.prompt_tokens,
  completion_tokens = usage.completion_tokens + excluded.completion_tokens,
  documents = usage.documents + excluded.documents, bytes = usage.bytes + excluded.bytes";

/// Adds to what a pipeline had today.
pub(super) async fn count(
    tx: &mut Transaction,
    pipeline: &str,
    amount: Amount,
) -> std::result::Result<(), DatabaseError> {
    let arguments = [
        pipeline.into(),
        Moment::now().0.div_euclid(DAY).into(),
        amount.queries.into(),
        amount.tokens[0].into(),
        amount.tokens[1].into(),
        amount.documents.into(),
        amount.bytes.into(),
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
        let tokens = asked.outcome.map_or([0; 2], |told| told.tokens);
        count(&mut tx, asked.pipeline_id, Amount { queries: 1, tokens, ..Amount::default() }).await?;
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
