//! Daily usage by pipeline and classification, and the outcomes of questions.

use pidq_http::auth::Timestamp;
use pidq_http::database::{DatabaseError, Transaction};
use serde_json::{Map, Value, json};

use super::outbox::EventDraft;
use super::{Result, Store};
use crate::domain::event;

/// Statistics of a question, answered with or without a model.
#[derive(Clone, Copy, Debug)]
pub struct QuestionStats<'a> {
    /// Id of its answer.
    pub id: &'a str,
    /// The pipeline.
    pub pipeline_id: &'a str,
    /// The classification.
    pub classification: &'a str,
    /// Statistics of the answer, or the problem code.
    pub outcome: std::result::Result<AnswerStats<'a>, &'a str>,
}

/// Statistics of an answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerStats<'a> {
    /// True if the question was answered.
    pub answered: bool,
    /// The model.
    pub model: &'a str,
    /// Prompt and completion tokens.
    pub tokens: [i64; 2],
    /// True if the tokens were estimated because the model did not report them.
    pub estimated: bool,
}

impl QuestionStats<'_> {
    fn amount(&self) -> Amount {
        match self.outcome {
            Ok(AnswerStats { tokens, estimated, .. }) => {
                let estimated_tokens = if estimated { tokens[0].saturating_add(tokens[1]) } else { 0 };
                Amount { questions: 1, tokens, estimated_tokens, ..Amount::default() }
            }
            // The model was already in use, so the question counts for the license.
            Err(CLIENT_GONE) => Amount { questions: 1, ..Amount::default() },
            Err(_) => Amount { failed_questions: 1, ..Amount::default() },
        }
    }
}

/// Code of a question whose client disconnected before the answer was complete.
pub const CLIENT_GONE: &str = "client-gone";

/// Usage of a classification on one day.
#[derive(Clone, Debug, PartialEq)]
pub struct DailyUsage {
    /// Days since 1970, in UTC.
    pub day: i64,
    /// The pipeline.
    pub pipeline_id: String,
    /// The classification.
    pub classification: String,
    /// The usage.
    pub amount: Amount,
}

impl DailyUsage {
    /// Returns the cursor. A classification may contain any character, so it comes last.
    pub fn cursor(&self) -> String {
        format!("{}\n{}\n{}", self.day, self.pipeline_id, self.classification)
    }
}

/// Filter of daily usage.
#[derive(Clone, Copy, Debug)]
pub struct UsageFilter<'a> {
    /// The first day.
    pub from: i64,
    /// The last day.
    pub to: i64,
    /// Only this pipeline.
    pub pipeline: Option<&'a str>,
    /// Only this classification.
    pub classification: Option<&'a str>,
}

/// Counted amounts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    /// Uploaded contents: new documents and replaced contents.
    pub documents: i64,
    /// Their bytes.
    pub bytes: i64,
    /// Chunks created.
    pub chunks: i64,
    /// Questions counted by the license.
    pub questions: i64,
    /// Failed questions.
    pub failed_questions: i64,
    /// Prompt and completion tokens.
    pub tokens: [i64; 2],
    /// Estimated part of these tokens.
    pub estimated_tokens: i64,
}

const UPSERT: &str = "insert into daily_usage (day, pipeline_id, classification, documents, bytes, chunks, questions,
  failed_questions, prompt_tokens, completion_tokens, estimated_tokens)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (day, pipeline_id, classification) do update set
  documents = daily_usage.documents + excluded.documents, bytes = daily_usage.bytes + excluded.bytes,
  chunks = daily_usage.chunks + excluded.chunks, questions = daily_usage.questions + excluded.questions,
  failed_questions = daily_usage.failed_questions + excluded.failed_questions,
  prompt_tokens = daily_usage.prompt_tokens + excluded.prompt_tokens,
  completion_tokens = daily_usage.completion_tokens + excluded.completion_tokens,
  estimated_tokens = daily_usage.estimated_tokens + excluded.estimated_tokens";

const LIST: &str = "select day, pipeline_id, classification, documents, bytes, chunks, questions, failed_questions,
  prompt_tokens, completion_tokens, estimated_tokens from daily_usage where day >= $1 and day <= $2
  and (cast($3 as text) is null or pipeline_id = $3) and (cast($4 as text) is null or classification = $4)
  and (cast($5 as bigint) is null or (day, pipeline_id, classification) < (cast($5 as bigint), $6, $7))
  order by day desc, pipeline_id desc, classification desc limit $8";

/// Adds to the usage of today.
pub(super) async fn count(
    tx: &mut Transaction,
    pipeline: &str,
    classification: &str,
    amount: Amount,
) -> std::result::Result<(), DatabaseError> {
    let arguments = [
        Timestamp::now().day().into(),
        pipeline.into(),
        classification.into(),
        amount.documents.into(),
        amount.bytes.into(),
        amount.chunks.into(),
        amount.questions.into(),
        amount.failed_questions.into(),
        amount.tokens[0].into(),
        amount.tokens[1].into(),
        amount.estimated_tokens.into(),
    ];
    tx.execute(UPSERT, &arguments).await.map(drop)
}

impl Store {
    /// Returns the daily usage after a cursor, newest day first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn daily_usage(
        &self,
        filter: UsageFilter<'_>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<DailyUsage>> {
        let mut cursor = after.unwrap_or_default().splitn(3, '\n');
        let day = cursor.next().and_then(|day| day.parse::<i64>().ok());
        let (pipeline, classification) = (cursor.next().unwrap_or_default(), cursor.next().unwrap_or_default());
        let arguments = [
            filter.from.into(),
            filter.to.into(),
            filter.pipeline.into(),
            filter.classification.into(),
            day.into(),
            pipeline.into(),
            classification.into(),
            (limit as i64).into(),
        ];
        Ok(self.database.rows::<Row>(LIST, &arguments).await?.into_iter().map(daily_usage).collect())
    }

    /// Counts a question and emits its event.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn record_question(&self, question: &QuestionStats<'_>) -> Result<()> {
        let mut tx = self.database.begin().await?;
        count(&mut tx, question.pipeline_id, question.classification, question.amount()).await?;
        let kind = if question.outcome.is_ok() { event::QUERY_COMPLETED } else { event::QUERY_FAILED };
        let (pipeline, classification) = (Some(question.pipeline_id), Some(question.classification));
        let draft = EventDraft { pipeline, classification, details: details(question), ..EventDraft::default() };
        self.outbox.emit(&mut tx, kind, draft).await?;
        self.outbox.commit(tx).await?;
        Ok(())
    }
}

fn details(question: &QuestionStats<'_>) -> Map<String, Value> {
    let mut details = Map::from_iter([("query_id".into(), question.id.into())]);
    match question.outcome {
        Ok(answer) => {
            let [prompt, completion] = answer.tokens;
            details.insert("status".into(), "completed".into());
            details.insert("answered".into(), answer.answered.into());
            details.insert("model".into(), answer.model.into());
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

fn daily_usage(row: Row) -> DailyUsage {
    DailyUsage {
        day: row.0,
        pipeline_id: row.1,
        classification: row.2,
        amount: Amount {
            documents: row.3,
            bytes: row.4,
            chunks: row.5,
            questions: row.6,
            failed_questions: row.7,
            tokens: [row.8, row.9],
            estimated_tokens: row.10,
        },
    }
}
