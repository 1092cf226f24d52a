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

/// How much of everything there was under a label on a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Days since 1970, in UTC.
    pub day: i64,
    /// The pipeline.
    pub pipeline_id: String,
    /// The label; empty for what was counted before labels were told apart.
    pub classification: String,
    /// How much there was.
    pub amount: Amount,
}

impl Figures {
    /// Their place in a list. A label may have any character in it, so it is the last.
    pub fn place(&self) -> String {
        format!("{}\n{}\n{}", self.day, self.pipeline_id, self.classification)
    }
}

/// Which figures a list has.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// The first day.
    pub from: i64,
    /// The last day.
    pub to: i64,
    /// Of this pipeline only.
    pub pipeline: Option<&'a str>,
    /// Of this label only.
    pub classification: Option<&'a str>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    /// Contents that came: new documents, and other contents of old ones.
    pub documents: i64,
    /// Their bytes.
    pub bytes: i64,
    /// Chunks that were made of documents.
    pub chunks: i64,
    /// Questions that count for the licence.
    pub queries: i64,
    /// Questions that went wrong.
    pub failed_queries: i64,
    /// Of questions with their contexts, and of answers.
    pub tokens: [i64; 2],
    /// How many of these tokens were estimated.
    pub estimated_tokens: i64,
}

const ADD: &str = "insert into figures (day, pipeline_id, classification, documents, bytes, chunks, queries,
  failed_queries, prompt_tokens, completion_tokens, estimated_tokens)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (day, pipeline_id, classification) do update set
  documents = figures.documents + excluded.documents, bytes = figures.bytes + excluded.bytes,
  chunks = figures.chunks + excluded.chunks, queries = figures.queries + excluded.queries,
  failed_queries = figures.failed_queries + excluded.failed_queries,
  prompt_tokens = figures.prompt_tokens + excluded.prompt_tokens,
  completion_tokens = figures.completion_tokens + excluded.completion_tokens,
  estimated_tokens = figures.estimated_tokens + excluded.estimated_tokens";

const LIST: &str = "select day, pipeline_id, classification, documents, bytes, chunks, queries, failed_queries,
  prompt_tokens, completion_tokens, estimated_tokens from figures where day >= $1 and day <= $2
  and (cast($3 as text) is null or pipeline_id = $3) and (cast($4 as text) is null or classification = $4)
  and (cast($5 as bigint) is null or (day, pipeline_id, classification) < (cast($5 as bigint), $6, $7))
  order by day desc, pipeline_id desc, classification desc limit $8";

/// Adds to what there was under a label today.
pub(super) async fn count(
    tx: &mut Transaction,
    pipeline: &str,
    label: &str,
    amount: Amount,
) -> std::result::Result<(), DatabaseError> {
    let arguments = [
        Moment::now().day().into(),
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
    /// Figures behind a place, the newest day first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn figures(&self, wanted: Span<'_>, after: Option<&str>, limit: usize) -> Result<Vec<Figures>> {
        let mut place = after.unwrap_or_default().splitn(3, '\n');
        let day = place.next().and_then(|day| day.parse::<i64>().ok());
        let (pipeline, label) = (place.next().unwrap_or_default(), place.next().unwrap_or_default());
        let arguments = [
            wanted.from.into(),
            wanted.to.into(),
            wanted.pipeline.into(),
            wanted.classification.into(),
            day.into(),
            pipeline.into(),
            label.into(),
            (limit as i64).into(),
        ];
        Ok(self.database.rows::<Row>(LIST, &arguments).await?.into_iter().map(figures).collect())
    }

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

type Row = (i64, String, String, i64, i64, i64, i64, i64, i64, i64, i64);

fn figures(row: Row) -> Figures {
    Figures {
        day: row.0,
        pipeline_id: row.1,
        classification: row.2,
        amount: Amount {
            documents: row.3,
            bytes: row.4,
            chunks: row.5,
            queries: row.6,
            failed_queries: row.7,
            tokens: [row.8, row.9],
            estimated_tokens: row.10,
        },
    }
}
