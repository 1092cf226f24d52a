//! Table of the platform's metrics, one row each.

use pidq_http::metrics;
use pidq_http::prometheus_client::metrics::counter::{ConstCounter, Counter};
use pidq_http::prometheus_client::metrics::family::Family;
use pidq_http::prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use pidq_http::prometheus_client::metrics::histogram::Histogram;

/// Labels with values of type `V`.
pub(crate) type Labels<V, const N: usize> = [(&'static str, V); N];

/// Durations by one label.
pub(crate) type DurationHistogram = Family<Labels<&'static str, 1>, Histogram, fn() -> Histogram>;

metrics! {
    /// Metrics of the platform, in addition to those of the HTTP layer.
    pub METRICS {
        pub(crate) JOBS: Family<Labels<&'static str, 1>, Gauge> = ("pidq_pipeline_jobs", ["kind"], "Queued and running jobs of all processes.");
        pub(crate) OLDEST_JOB_AGE_SECONDS: Gauge = ("pidq_pipeline_oldest_job_age_seconds", [], "Time that the oldest due job of all processes has waited for a worker; 0 if none is due.");
        pub(crate) DOCUMENTS_FAILED: Family<Labels<String, 1>, Counter> = ("pidq_pipeline_documents_failed", ["code"], "Documents whose ingestion failed for good in this process, by problem code.");
        pub(crate) STAGE_SECONDS: DurationHistogram = ("pidq_pipeline_stage_seconds", ["stage"], "Duration of the stages of ingestion in this process.");
        pub(crate) RETRIEVAL_SECONDS: DurationHistogram = ("pidq_pipeline_retrieval_seconds", ["step"], "Duration of embedding a query and of searching.");
        pub(crate) LLM_SECONDS: DurationHistogram = ("pidq_pipeline_llm_seconds", ["step"], "Duration of calls of language models.");
        pub(crate) LLM_TOKENS: Family<Labels<&'static str, 1>, Counter> = ("pidq_pipeline_llm_tokens", ["kind"], "Tokens of prompts and completions.");
        pub(crate) QUESTIONS: Family<Labels<String, 1>, Counter> = ("pidq_pipeline_questions", ["outcome"], "Questions; the outcome is `answered`, a `reason`, or a problem code.");
        pub(crate) INDEX_BYTES: ConstGauge<i64> = ("pidq_pipeline_index_bytes", [], "Memory of open indexes.");
        pub(crate) INDEX_PARTITIONS: ConstGauge<i64> = ("pidq_pipeline_index_partitions", [], "Open indexes.");
        pub(crate) SNAPSHOTS_LOADED: ConstCounter<u64> = ("pidq_pipeline_snapshots_loaded", [], "Indexes loaded from a snapshot.");
        pub(crate) SNAPSHOTS_WRITTEN: ConstCounter<u64> = ("pidq_pipeline_snapshots_written", [], "Indexes written to a snapshot.");
        pub(crate) SNAPSHOTS_INVALID: ConstCounter<u64> = ("pidq_pipeline_snapshots_invalid", [], "Snapshots ignored because they are corrupt or outdated.");
        pub(crate) CACHE_REQUESTS: Family<Labels<&'static str, 2>, Counter> = ("pidq_pipeline_cache_requests", ["cache", "result"], "Cache lookups; the result is `hit` or `miss`.");
        pub(crate) DEPENDENCY_UP: Family<Labels<&'static str, 1>, ConstGauge<i64>> = ("pidq_pipeline_dependency_up", ["dependency"], "Availability of an optional dependency: 1 up, 0 down.");
    }
}
