//! Prometheus metrics of the platform: durations of stages and questions, outcomes, queued jobs, open indexes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use pidq_http::prometheus_client::collector::Collector;
use pidq_http::prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use pidq_http::prometheus_client::metrics::TypedMetric;
use pidq_http::prometheus_client::metrics::counter::{ConstCounter, Counter};
use pidq_http::prometheus_client::metrics::family::Family;
use pidq_http::prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use pidq_http::prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use pidq_http::prometheus_client::registry::Registry;

use crate::platform::Platform;
use crate::rag::Answer;
use crate::records::Status;
use crate::store::StoreError;

/// Interval of counting the queued jobs.
const JOB_COUNT_INTERVAL: Duration = Duration::from_secs(5);

/// A label and its value.
type Label = [(&'static str, &'static str); 1];
type DurationHistogram = Family<Label, Histogram, fn() -> Histogram>;

/// Metrics of this process.
pub struct Metrics {
    stages: DurationHistogram,
    retrieval: DurationHistogram,
    llm: DurationHistogram,
    tokens: Family<Label, Counter>,
    questions: Family<[(&'static str, String); 1], Counter>,
    jobs: Family<Label, Gauge>,
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
        }
    }
}

/// Returns a histogram with buckets from one millisecond to nine minutes.
fn duration_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 3.0, 13))
}

impl Metrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        let metrics = registry.sub_registry_with_prefix("pidq_pipeline");
        metrics.register("stage_seconds", "Duration of ingestion stages", self.stages.clone());
        metrics.register("retrieval_seconds", "Duration of query embedding and search", self.retrieval.clone());
        metrics.register("llm_seconds", "Duration of LLM calls", self.llm.clone());
        metrics.register("llm_tokens", "Tokens of prompts and completions", self.tokens.clone());
        metrics.register("questions", "Questions by outcome", self.questions.clone());
        metrics.register("jobs", "Queued and running jobs of all processes", self.jobs.clone());
    }

    /// Starts a timer for the ingestion stages of a document.
    pub(crate) fn stage_timer(&self) -> StageTimer<'_> {
        StageTimer { stages: &self.stages, since: Instant::now() }
    }

    /// Records a search: the durations of embedding and of searching.
    pub(crate) fn record_search(&self, [embed, search]: [Duration; 2]) {
        for (step, duration) in [("embed", embed), ("search", search)] {
            self.retrieval.get_or_create(&[("step", step)]).observe(duration.as_secs_f64());
        }
    }

    /// Records the outcome of a question: an answer, or the code of an error.
    pub(crate) fn record_question(&self, outcome: Result<&Answer, &str>) {
        let outcome_label = match outcome {
            Ok(answer) => answer.reason.map_or("answered", |reason| reason.as_str()),
            Err(code) => code,
        };
        self.questions.get_or_create(&[("outcome", outcome_label.to_owned())]).inc();
        let Some((answer, usage)) = outcome.ok().and_then(|answer| Some((answer, answer.usage.as_ref()?))) else {
            return;
        };
        self.llm.get_or_create(&[("step", "answer")]).observe(answer.duration.as_secs_f64());
        for (kind, tokens) in [("prompt", usage.prompt_tokens), ("completion", usage.completion_tokens)] {
            self.tokens.get_or_create(&[("kind", kind)]).inc_by(tokens);
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
        self.stages.get_or_create(&[("stage", stage.as_str())]).observe(duration.as_secs_f64());
    }
}

/// Counts the jobs periodically. Never returns.
pub(crate) async fn count_jobs_periodically(platform: Arc<Platform>) {
    loop {
        if let Err(error) = count_jobs(&platform).await {
            tracing::debug!(%error, "counting jobs failed");
        }
        tokio::time::sleep(JOB_COUNT_INTERVAL).await;
    }
}

/// Counts the jobs now.
///
/// # Errors
/// If the database query fails.
pub async fn count_jobs(platform: &Platform) -> Result<(), StoreError> {
    for (kind, jobs) in platform.store.count_jobs_by_kind().await? {
        platform.metrics.jobs.get_or_create(&[("kind", kind)]).set(jobs);
    }
    Ok(())
}

/// Collector of the metrics of open indexes and their snapshots.
pub(crate) struct IndexCollector(pub Arc<Platform>);

impl fmt::Debug for IndexCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexCollector")
    }
}

impl Collector for IndexCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let indexes = &self.0.indexes;
        for (name, help, value) in [
            ("pidq_pipeline_index_bytes", "Memory of open indexes", indexes.bytes()),
            ("pidq_pipeline_index_partitions", "Open indexes", indexes.len()),
        ] {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, ConstGauge::<i64>::TYPE)?)?;
        }
        let Some(snapshots) = indexes.snapshots() else { return Ok(()) };
        for (name, help, count) in [
            ("pidq_pipeline_snapshots_loaded", "Indexes loaded from a snapshot", &snapshots.loaded),
            ("pidq_pipeline_snapshots_written", "Indexes written to a snapshot", &snapshots.written),
            ("pidq_pipeline_snapshots_invalid", "Corrupt or outdated snapshots", &snapshots.invalid),
        ] {
            let counter = ConstCounter::new(count.load(Relaxed));
            counter.encode(encoder.encode_descriptor(name, help, None, ConstCounter::<u64>::TYPE)?)?;
        }
        Ok(())
    }
}
