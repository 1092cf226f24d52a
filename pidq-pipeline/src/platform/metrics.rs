//! Prometheus metrics of the platform: durations of stages and questions, outcomes, queued jobs, open indexes.

use std::time::{Duration, Instant};

use pidq_extract::ErrorCode;
use pidq_http::codes;
use pidq_http::prometheus_client::metrics::counter::Counter;
use pidq_http::prometheus_client::metrics::family::Family;
use pidq_http::prometheus_client::metrics::gauge::Gauge;
use pidq_http::prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use pidq_http::prometheus_client::registry::Registry;
use pidq_store::domain::model::Status;

use crate::generation::rag::Answer;
use crate::metrics::{
    DOCUMENTS_FAILED, DurationHistogram, JOBS, LLM_SECONDS, LLM_TOKENS, Labels, OLDEST_JOB_AGE_SECONDS, QUESTIONS,
    RETRIEVAL_SECONDS, STAGE_SECONDS,
};

/// Codes of failed documents that are not codes of the extraction.
const OTHER_FAILURES: [&str; 3] =
    [codes::TOO_MANY_CHUNKS.name, codes::EMBEDDING_UNAVAILABLE.name, codes::EMBEDDING_DIMENSION_MISMATCH.name];

/// Metrics of this process.
pub struct Metrics {
    stages: DurationHistogram,
    retrieval: DurationHistogram,
    llm: DurationHistogram,
    tokens: Family<Labels<&'static str, 1>, Counter>,
    questions: Family<Labels<String, 1>, Counter>,
    jobs: Family<Labels<&'static str, 1>, Gauge>,
    oldest_job_age: Gauge,
    failed_documents: Family<Labels<String, 1>, Counter>,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let seconds = || Family::new_with_constructor(duration_histogram as fn() -> Histogram);
        Metrics {
            stages: seconds(),
            retrieval: seconds(),
            llm: seconds(),
            tokens: Family::default(),
            questions: Family::default(),
            jobs: Family::default(),
            oldest_job_age: Gauge::default(),
            failed_documents: Family::default(),
        }
    }
}

/// Returns a histogram with buckets from one millisecond to nine minutes.
fn duration_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 3.0, 13))
}

impl Metrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        STAGE_SECONDS.register(registry, self.stages.clone());
        RETRIEVAL_SECONDS.register(registry, self.retrieval.clone());
        LLM_SECONDS.register(registry, self.llm.clone());
        LLM_TOKENS.register(registry, self.tokens.clone());
        QUESTIONS.register(registry, self.questions.clone());
        JOBS.register(registry, self.jobs.clone());
        OLDEST_JOB_AGE_SECONDS.register(registry, self.oldest_job_age.clone());
        DOCUMENTS_FAILED.register(registry, self.failed_documents.clone());
        // From the start: an alert would miss documents that fail before a series is scraped for the first time.
        for code in ErrorCode::ALL.iter().map(|code| code.as_str()).chain(OTHER_FAILURES) {
            drop(self.failed_documents.get_or_create(&DOCUMENTS_FAILED.labels([code.to_owned()])));
        }
    }

    /// Sets the number of queued and running jobs of a kind.
    pub(crate) fn set_jobs(&self, kind: &'static str, jobs: i64) {
        self.jobs.get_or_create(&JOBS.labels([kind])).set(jobs);
    }

    /// Sets the time that the oldest due job has waited.
    pub(crate) fn set_oldest_job_age(&self, age: Duration) {
        self.oldest_job_age.set(i64::try_from(age.as_secs()).unwrap_or(i64::MAX));
    }

    /// Counts a document that is not retried.
    pub(crate) fn count_failed_document(&self, code: &str) {
        self.failed_documents.get_or_create(&DOCUMENTS_FAILED.labels([code.to_owned()])).inc();
    }

    /// Starts a timer for the ingestion stages of a document.
    pub(crate) fn stage_timer(&self) -> StageTimer<'_> {
        StageTimer { stages: &self.stages, since: Instant::now() }
    }

    /// Records a search: the durations of embedding and of searching.
    pub(crate) fn record_search(&self, [embed, search]: [Duration; 2]) {
        for (step, duration) in [("embed", embed), ("search", search)] {
            self.retrieval.get_or_create(&RETRIEVAL_SECONDS.labels([step])).observe(duration.as_secs_f64());
        }
    }

    /// Records the outcome of a question: an answer, or the code of an error.
    pub(crate) fn record_question(&self, outcome: Result<&Answer, &str>) {
        let outcome_label = match outcome {
            Ok(answer) => answer.reason.map_or("answered", |reason| reason.as_str()),
            Err(code) => code,
        };
        self.questions.get_or_create(&QUESTIONS.labels([outcome_label.to_owned()])).inc();
        let Some((answer, usage)) = outcome.ok().and_then(|answer| Some((answer, answer.usage.as_ref()?))) else {
            return;
        };
        self.llm.get_or_create(&LLM_SECONDS.labels(["answer"])).observe(answer.duration.as_secs_f64());
        for (kind, tokens) in [("prompt", usage.prompt_tokens), ("completion", usage.completion_tokens)] {
            self.tokens.get_or_create(&LLM_TOKENS.labels([kind])).inc_by(tokens);
        }
    }
}

/// Timer of the ingestion stages of a document.
pub(crate) struct StageTimer<'m> {
    stages: &'m DurationHistogram,
    since: Instant,
}

impl StageTimer<'_> {
    /// Records the end of a stage and starts the next one.
    pub fn stage_finished(&mut self, stage: Status) {
        let duration = std::mem::replace(&mut self.since, Instant::now()).elapsed();
        self.stages.get_or_create(&STAGE_SECONDS.labels([stage.as_str()])).observe(duration.as_secs_f64());
    }
}
