//! What the platform counts for `/metrics`: how long stages and questions take, what came of them, what is waiting.

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

use crate::answer::Answer;
use crate::platform::Platform;
use crate::records::Status;
use crate::store::StoreError;

/// How often the jobs that wait are counted.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// One label with its value.
type Of = [(&'static str, &'static str); 1];
type Seconds = Family<Of, Histogram, fn() -> Histogram>;

/// What is counted in this process.
pub struct Meters {
    stages: Seconds,
    retrieval: Seconds,
    llm: Seconds,
    tokens: Family<Of, Counter>,
    queries: Family<[(&'static str, String); 1], Counter>,
    jobs: Family<Of, Gauge>,
}

impl Default for Meters {
    fn default() -> Meters {
        let seconds = || Family::new_with_constructor(seconds as fn() -> Histogram);
        Meters {
            stages: seconds(),
            retrieval: seconds(),
            llm: seconds(),
            tokens: Family::default(),
            queries: Family::default(),
            jobs: Family::default(),
        }
    }
}

/// From a millisecond to nine minutes.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 3.0, 13))
}

impl Meters {
    pub(crate) fn register(&self, registry: &mut Registry) {
        let own = registry.sub_registry_with_prefix("pidq_pipeline");
        own.register("stage_seconds", "How long documents take in a stage", self.stages.clone());
        own.register(
            "retrieval_seconds",
            "How long questions take to be embedded and searched",
            self.retrieval.clone(),
        );
        own.register("llm_seconds", "How long models take to answer", self.llm.clone());
        own.register("llm_tokens", "Tokens of questions with their contexts, and of answers", self.tokens.clone());
        own.register("queries", "Questions by what came of them", self.queries.clone());
        own.register("jobs", "Work that waits or is worked on, in all processes", self.jobs.clone());
    }

    /// Looks at the time while a document goes through its stages.
    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch { stages: &self.stages, since: Instant::now() }
    }

    /// A search: how long its question took to become a vector, and how long it took to search.
    pub(crate) fn searched(&self, [embed, search]: [Duration; 2]) {
        for (step, took) in [("embed", embed), ("search", search)] {
            self.retrieval.get_or_create(&[("step", step)]).observe(took.as_secs_f64());
        }
    }

    /// What came of a question: an answer, or the code of what was wrong.
    pub(crate) fn asked(&self, outcome: Result<&Answer, &str>) {
        let word = match outcome {
            Ok(answer) => answer.reason.map_or("answered", |reason| reason.word()),
            Err(code) => code,
        };
        self.queries.get_or_create(&[("outcome", word.to_owned())]).inc();
        let Some((answer, usage)) = outcome.ok().and_then(|answer| Some((answer, answer.usage.as_ref()?))) else {
            return;
        };
        self.llm.get_or_create(&[("step", "answer")]).observe(answer.took.as_secs_f64());
        for (kind, tokens) in [("prompt", usage.prompt_tokens), ("completion", usage.completion_tokens)] {
            self.tokens.get_or_create(&[("kind", kind)]).inc_by(tokens);
        }
    }
}

/// The time in which a document is in a stage.
pub(crate) struct Watch<'m> {
    stages: &'m Seconds,
    since: Instant,
}

impl Watch<'_> {
    /// A stage is over, and the next one begins.
    pub fn passed(&mut self, stage: Status) {
        let took = std::mem::replace(&mut self.since, Instant::now()).elapsed();
        self.stages.get_or_create(&[("stage", stage.word())]).observe(took.as_secs_f64());
    }
}

/// Counts the jobs that wait, again and again. Never ends.
pub(crate) async fn watch(platform: Arc<Platform>) {
    loop {
        if let Err(error) = look(&platform).await {
            tracing::debug!(%error, "jobs cannot be counted");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Counts the jobs that wait now.
///
/// # Errors
/// If the database does not answer.
pub async fn look(platform: &Platform) -> Result<(), StoreError> {
    for (kind, jobs) in platform.store.jobs().await? {
        platform.meters.jobs.get_or_create(&[("kind", kind)]).set(jobs);
    }
    Ok(())
}

/// The partitions that are open, as the metrics show them.
pub(crate) struct Open(pub Arc<Platform>);

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Open")
    }
}

impl Collector for Open {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let indexes = &self.0.indexes;
        for (name, help, value) in [
            ("pidq_pipeline_index_bytes", "Memory of the partitions that are open", indexes.bytes()),
            ("pidq_pipeline_index_partitions", "Partitions that are open", indexes.len()),
        ] {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, ConstGauge::<i64>::TYPE)?)?;
        }
        let Some(snapshots) = indexes.snapshots() else { return Ok(()) };
        for (name, help, count) in [
            ("pidq_pipeline_snapshots_opened", "Partitions that were opened from a file", &snapshots.opened),
            ("pidq_pipeline_snapshots_written", "Partitions that were written to a file", &snapshots.written),
            ("pidq_pipeline_snapshots_refused", "Files of partitions that did not open", &snapshots.refused),
        ] {
            let counter = ConstCounter::new(count.load(Relaxed));
            counter.encode(encoder.encode_descriptor(name, help, None, ConstCounter::<u64>::TYPE)?)?;
        }
        Ok(())
    }
}
