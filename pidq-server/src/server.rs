//! Shared state of the service and the limits of a query.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pidq_core::{Cancel, Limits};
use pidq_http::auth::{CreatedCredentials, Identities};
use pidq_http::{CursorSigner, Fut, Head, Principal, PrincipalKind, Problem, Readiness, ThreadPool, oauth};

use crate::caches::result_cache::ResultCache;
use crate::caches::{BodyCache, GraphCache, QueryCache};
use crate::memory::buffer_pool::BufferPool;
use crate::memory::memory_pool::MemoryPool;
use crate::memory::upload_permits::UploadPermits;
use crate::metrics::Metrics;
use crate::response_format::ResponseFormat;
use crate::store::validation::ValidationRules;
use crate::store::{Store, StoreState};

/// State shared by all request handlers.
pub struct Server {
    /// Host name of `PIDQ_PUBLIC_URL`, if set.
    pub public_host: Option<String>,
    /// Storage backend of the graphs.
    pub store: Arc<dyn Store>,
    /// Accounts and tokens. `None` grants every caller full access (local use only).
    pub identities: Option<Identities>,
    /// True if this start has created the first account and client.
    pub is_first_start: bool,
    /// Credentials that the first start has created.
    pub first_credentials: Mutex<Option<CreatedCredentials>>,
    /// Parsed graphs.
    pub graph_cache: Arc<GraphCache>,
    /// Encoded graph bodies.
    pub body_cache: BodyCache,
    /// Cached query results.
    pub result_cache: ResultCache,
    /// Reusable buffers for response bodies.
    pub buffer_pool: Arc<BufferPool>,
    /// Compiled queries.
    pub query_cache: Arc<QueryCache>,
    /// Permits of uploads that are converted and validated.
    pub upload_permits: UploadPermits,
    /// Threads that run queries.
    pub thread_pool: ThreadPool,
    /// Memory budget shared by all queries.
    pub memory_pool: Arc<MemoryPool>,
    /// Signed pagination cursors.
    pub cursors: CursorSigner,
    /// Metrics of the service.
    pub metrics: Arc<Metrics>,
    /// Rules for uploaded graphs.
    pub validation: ValidationRules,
    /// Limits of a single query.
    pub query_limits: QueryLimits,
    /// Requires `If-Match` on writes that replace a graph.
    pub require_if_match: bool,
}

impl Server {
    /// Takes the credentials that the first start has created. Returns `None` after the first call, and if this is not
    /// the first start.
    pub fn take_first_credentials(&self) -> Option<CreatedCredentials> {
        self.first_credentials.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Limits of a single query.
#[derive(Clone, Copy, Debug)]
pub struct QueryLimits {
    /// Maximum number of graphs in a batch query.
    pub batch_graphs: usize,
    /// Maximum fuel (evaluation steps).
    pub fuel: u64,
    /// Maximum working memory in bytes.
    pub memory: usize,
    /// Maximum result size in bytes.
    pub output: usize,
    /// Maximum result size in bytes for NDJSON.
    pub ndjson_output: usize,
    /// Timeout, measured from the start of the run.
    pub timeout: Duration,
}

impl Default for QueryLimits {
    fn default() -> QueryLimits {
        let limits = Limits::default();
        let (fuel, memory, ndjson_output) = (limits.fuel, limits.memory, limits.output);
        QueryLimits {
            batch_graphs: 100_000,
            fuel,
            memory,
            output: 16 << 20,
            ndjson_output,
            timeout: Duration::from_secs(10),
        }
    }
}

impl QueryLimits {
    /// Returns the maximum result size in bytes for a response format.
    pub(crate) fn output_limit(self, format: ResponseFormat) -> usize {
        if format.is_json() { self.output } else { self.ndjson_output }
    }

    /// Returns the engine limits of a run with a maximum output size in bytes.
    pub(crate) fn limits(self, output: usize, cancel: &Cancel) -> Limits<'_> {
        Limits { fuel: self.fuel, memory: self.memory, output, cancel: Some(cancel), ..Limits::default() }
    }
}

/// Authenticates the sender of a request: the authentication hook of `pidq-http`.
pub(crate) fn authenticate<'a>(server: &'a Arc<Server>, head: &'a Head) -> Fut<'a, Result<Arc<Principal>, Problem>> {
    Box::pin(async move {
        match &server.identities {
            Some(identities) => oauth::bearer(identities, head).await,
            // Without accounts, only requests addressed to this machine are accepted.
            None => head.check_host(server.public_host.as_deref()).map(|()| anonymous().into()),
        }
    })
}

/// Checks the store and the account database: the readiness hook of `pidq-http`.
pub(crate) fn check_readiness(server: &Arc<Server>) -> Fut<'_, Readiness> {
    Box::pin(async move {
        match server.store.state().await {
            StoreState::Writable | StoreState::ReadOnlyDir => {}
            StoreState::ReadOnly(reason) | StoreState::Unavailable(reason) => return Err(reason),
        }
        let Some(identities) = &server.identities else { return Ok(Vec::new()) };
        match identities.is_writable().await {
            Ok(true) => Ok(Vec::new()),
            Ok(false) => Err("the account database is read-only, or its disk is full".into()),
            Err(_) => Err("the account database is unavailable".into()),
        }
    })
}

/// Returns the principal of every request to a service without accounts.
fn anonymous() -> Principal {
    let mut principal = Principal::new(PrincipalKind::Anonymous, DEFAULT_TENANT, "anyone");
    principal.scopes = vec!["read".into(), "write".into()];
    principal
}

/// Tenant of the first account, and of every request to a service without accounts.
pub const DEFAULT_TENANT: &str = "main";
