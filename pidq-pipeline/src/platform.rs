//! Shared state of the platform: storage, caches, clients and limits.

pub mod account_limit_cache;
pub mod accounts;
pub mod licensing;
pub mod metrics;
pub mod programs;
pub mod rate_limit;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pidq_extract::{self, ReaderPool, SandboxOptions};
use pidq_http::auth::Identities;
use pidq_http::{CursorSigner, Fut, Readiness, ThreadPool, Tracer};
use pidq_store::Store;
use pidq_store::crypto::Encryptor;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::cluster::cache::{Cache, Redis};
use crate::cluster::event_feed::Feed;
use crate::cluster::health::DependencyHealth;
use crate::cluster::pubsub::{PubSub, Signal, Subscription};
use crate::embedding_registry::ModelRegistry;
use crate::fair_queue::FairQueue;
use crate::generation::graph_client::GraphService;
use crate::generation::prompt::Spotlighting;
use crate::generation::rag::RequiredSupport;
use crate::llm::Client;
use crate::net::egress::Listeners;
use crate::net::webhook_client::WebhookClient;
use crate::platform::account_limit_cache::AccountLimitCache;
use crate::platform::accounts::Accounts;
use crate::platform::licensing::Licensing;
use crate::platform::metrics::Metrics;
use crate::platform::programs::Programs;
use crate::platform::rate_limit::RateLimits;
use crate::retrieval::index_cache::IndexCache;
use crate::retrieval::pgvector::PgvectorIndex;
use crate::retrieval::reranker::Reranker;
use crate::shared_budget::SharedBudget;
use crate::upload_budget::UploadBudget;

/// State shared by all handlers and background tasks.
pub struct Platform {
    /// Persistent storage.
    pub store: Store,
    /// Request limits.
    pub limits: Limits,
    /// Signs and verifies pagination cursors.
    pub cursors: CursorSigner,
    /// Encrypts stored secrets.
    pub encryptor: Encryptor,
    /// License state.
    pub licensing: Licensing,
    /// Metrics of this process.
    pub metrics: Metrics,
    /// Recorder of the traces of requests and jobs.
    pub tracer: Tracer,
    /// Client of webhooks.
    pub webhooks: WebhookClient,
    /// Authentication and rate limits.
    pub access: Access,
    /// Connections to other processes.
    pub messaging: Messaging,
    /// Uploads and the extraction of documents.
    pub ingestion: Ingestion,
    /// Search: models, indexes and caches.
    pub search: Search,
    /// Generation of answers.
    pub generation: Generation,
    /// Retention of log-like data.
    pub retention: Retention,
    /// Addresses on which this process listens, which callers cannot name as those of models and webhooks.
    pub listeners: Listeners,
}

/// Authentication and rate limits.
pub struct Access {
    /// Host of the public URL, if one is set.
    pub public_host: Option<String>,
    /// The master key, users and their tokens. `None` turns authentication off, on loopback only.
    pub accounts: Option<Accounts>,
    /// Accounts of the process around the platform. Without authentication, they tell whose token a request has.
    pub host_accounts: Option<Identities>,
    /// Limits of accounts that were looked up a short time ago.
    pub account_limits: AccountLimitCache,
    /// Rate limits per caller.
    pub rate_limits: RateLimits,
}

impl Access {
    /// Returns the accounts whose tokens the platform knows.
    pub fn identities(&self) -> Option<&Identities> {
        self.accounts.as_ref().map(|accounts| &accounts.identities).or(self.host_accounts.as_ref())
    }
}

/// Connections to other processes.
pub struct Messaging {
    /// Redis, shared by all replicas, if configured.
    pub redis: Option<Arc<Redis>>,
    /// Messaging between processes.
    pub pubsub: PubSub,
    /// Wakes idle workers.
    pub job_notifier: JobNotifier,
    /// The newest events, for open event streams.
    pub feed: Feed,
}

/// Uploads and the extraction of documents.
pub struct Ingestion {
    /// Memory and disk budget of uploads in progress.
    pub uploads: UploadBudget,
    /// Permits for concurrent previews.
    pub previews: FairQueue,
    /// Permits for concurrently rendered pages.
    pub page_images: FairQueue,
    /// Lease of a job. A running worker renews it in time.
    pub job_lease: Duration,
    /// Limits of the extractor.
    pub extraction_limits: pidq_extract::Options,
    /// Optional programs that read documents.
    pub programs: Programs,
    /// Child process that extracts documents.
    pub extractor: SandboxOptions,
    /// Child processes that wait for further documents of a classification.
    pub readers: Arc<ReaderPool>,
}

/// Search: models, indexes and caches.
pub struct Search {
    /// Embedding models.
    pub models: ModelRegistry,
    /// Cache of open partitions.
    pub indexes: IndexCache,
    /// ANN indexes of large partitions, if the database has pgvector.
    pub pgvector: Option<Arc<PgvectorIndex>>,
    /// Thread pool for searches.
    pub search_threads: ThreadPool,
    /// Reranker of search hits, if configured.
    pub reranker: Option<Reranker>,
    /// Cache of query vectors and search results.
    pub cache: Cache,
}

/// Generation of answers.
pub struct Generation {
    /// Client of language models.
    pub llm: Client,
    /// Separation of passages from instructions in prompts.
    pub spotlighting: Spotlighting,
    /// Support that an answer needs to count as answered.
    pub required_support: RequiredSupport,
    /// Graph query service, if configured.
    pub graph_service: OnceLock<Arc<dyn GraphService>>,
    /// Concurrently streamed answers.
    pub answer_streams: SharedBudget,
}

/// Retention of log-like data.
pub struct Retention {
    /// Retention of audit entries; zero keeps them forever.
    pub audit: Duration,
    /// Retention of events, for clients that reconnect.
    pub events: Duration,
}

impl Platform {
    /// Returns the health of the configured optional dependencies: Redis and NATS.
    pub fn dependencies(&self) -> Vec<DependencyHealth> {
        let redis = self.messaging.redis.as_ref().map(|redis| redis.health());
        redis.into_iter().chain(self.messaging.pubsub.health()).cloned().collect()
    }
}

/// Wake-up signal for workers. Only latency depends on it, never correctness: workers poll as well.
pub struct JobNotifier {
    notify: Arc<Notify>,
    pubsub: PubSub,
    // Aborted when the notifier is dropped.
    _listener: JoinSet<()>,
}

impl JobNotifier {
    /// Creates a notifier that reaches every process connected to `pubsub`.
    pub fn new(pubsub: &PubSub) -> JobNotifier {
        let notify = Arc::new(Notify::new());
        let mut listener = JoinSet::new();
        listener.spawn(forward_signals(pubsub.subscribe(Signal::JobAvailable.subject()), notify.clone()));
        JobNotifier { notify, pubsub: pubsub.clone(), _listener: listener }
    }

    /// Wakes one waiting worker, or the next one to wait, in every process.
    pub fn notify_all(&self) {
        self.pubsub.signal(&Signal::JobAvailable);
    }

    /// Wakes one waiting worker in this process only.
    pub fn notify_local(&self) {
        self.notify.notify_one();
    }

    /// Waits for a wake-up.
    pub async fn notified(&self) {
        self.notify.notified().await;
    }
}

/// Wakes a worker for every message, and also when messages were lost.
async fn forward_signals(mut signals: Subscription, notify: Arc<Notify>) {
    while signals.next().await.is_some() {
        notify.notify_one();
    }
}

/// Request limits, as reported by `GET /api/limits`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum size of a document, in bytes.
    pub upload_size: u64,
    /// Maximum number of pipelines.
    pub pipelines: u64,
    /// Maximum number of classifications of a pipeline.
    pub classifications: usize,
    /// Maximum length of a question, in characters.
    pub question_length: usize,
    /// Maximum size of a document's metadata, in bytes.
    pub metadata_size: usize,
    /// Maximum number of chunks of a document.
    pub chunks_per_document: usize,
    /// Limits of the attachments of a mail that become documents.
    pub attachments: pidq_extract::AttachmentLimits,
    /// Retention of answers; zero stores none.
    pub answer_retention: Duration,
    /// Maximum number of concurrently streamed answers.
    pub answer_streams: usize,
    /// Maximum number of open event streams.
    pub event_streams: usize,
    /// Limits of the HTTP server.
    pub http: pidq_http::Limits,
}

/// Rows per page of a list: default and maximum.
pub(crate) const DEFAULT_PAGE_SIZE: usize = 50;
pub(crate) const MAX_PAGE_SIZE: usize = 200;

/// Readiness hook: fails without the database; lists the optional dependencies that are down.
pub(crate) fn readiness(platform: &Arc<Platform>) -> Fut<'_, Readiness> {
    Box::pin(async move {
        let reachable = platform.store.is_reachable().await;
        let missing = platform
            .dependencies()
            .iter()
            .filter(|dependency| !dependency.is_up())
            .map(DependencyHealth::name)
            .collect();
        if reachable { Ok(missing) } else { Err("the database does not respond".into()) }
    })
}

/// The platform's only tenant; the scopes of keys separate callers.
pub(crate) const TENANT: &str = "main";
