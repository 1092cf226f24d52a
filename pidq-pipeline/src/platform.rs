//! The state of the platform: where everything is kept, and what there may be of it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pidq_http::{Cursors, Fut, Standing, Work};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use crate::accounts::Accounts;
use crate::cache::{Cache, Redis};
use crate::events::Feed;
use crate::extract::{self, Isolation};
use crate::graphs::GraphService;
use crate::health::Health;
use crate::indexes::Indexes;
use crate::licensing::Licensing;
use crate::llm::Client;
use crate::messages::{Messages, Signal, Subscription};
use crate::meters::Meters;
use crate::models::Models;
use crate::near::Near;
use crate::prompt::Marking;
use crate::rates::Rates;
use crate::rerank::Reranker;
use crate::seal::Sealer;
use crate::store::Store;
use crate::uploads::Uploads;
use crate::webhooks;

/// What all handlers share.
pub struct Platform {
    /// What survives.
    pub store: Store,
    /// The host of its public address, if it has one.
    pub name: Option<String>,
    /// The master key, users and their tokens. Without them everybody may do everything: for a laptop.
    pub accounts: Option<Accounts>,
    /// The places in lists that were handed out.
    pub cursors: Cursors,
    /// What may be sent.
    pub limits: Limits,
    /// The memory of what is being sent.
    pub uploads: Uploads,
    /// Documents that are looked at beforehand, so many at once.
    pub previews: Semaphore,
    /// Answers that are sent as events, so many at once.
    pub streams: Arc<Semaphore>,
    /// Locks what has to be read again.
    pub sealer: Sealer,
    /// Whether all this may be used.
    pub licensing: Licensing,
    /// How often somebody may ask.
    pub rates: Rates,
    /// What was worked out a moment ago.
    pub cache: Cache,
    /// What is counted for the metrics.
    pub meters: Meters,
    /// What may be lost, for all processes.
    pub redis: Option<Arc<Redis>>,
    /// What processes call to each other.
    pub messages: Messages,
    /// Wakes workers.
    pub bell: Bell,
    /// The newest events, for those who listen.
    pub feed: Feed,
    /// How long is known who did what; for ever, if nothing.
    pub keep_audit: Duration,
    /// How long events are kept for those who come back.
    pub keep_events: Duration,
    /// How long a worker holds a job at once. One that lives holds it again in time.
    pub hold: Duration,
    /// The partitions that are open.
    pub indexes: Indexes,
    /// The threads that search.
    pub work: Work,
    /// The embedding models that are open.
    pub models: Models,
    /// The indexes of large partitions, if the database can have them.
    pub near: Option<Arc<Near>>,
    /// Puts what is found into a better order, if there is such a service.
    pub reranker: Option<Reranker>,
    /// What drawings say, if there is a graph query service.
    pub graphs: OnceLock<Arc<dyn GraphService>>,
    /// How passages are told from what is ours in a prompt.
    pub marking: Marking,
    /// Asks language models.
    pub llm: Client,
    /// What calls webhooks.
    pub webhooks: webhooks::Caller,
    /// What a reader of documents may spend.
    pub extraction: extract::Options,
    /// The process that reads them.
    pub isolation: Isolation,
}

impl Platform {
    /// The servers that it can do without, where they are named.
    pub fn servers(&self) -> Vec<Health> {
        let redis = self.redis.as_ref().map(|redis| redis.health());
        redis.into_iter().chain(self.messages.health()).cloned().collect()
    }
}

/// A bell: whoever waits for it wakes up. Ringing is never needed for what is right, only for what is soon.
pub struct Bell {
    notify: Arc<Notify>,
    messages: Messages,
    // Ends with the bell.
    _listener: JoinSet<()>,
}

impl Bell {
    /// A bell that is heard wherever these messages are.
    pub fn over(messages: &Messages) -> Bell {
        let notify = Arc::new(Notify::new());
        let mut listener = JoinSet::new();
        listener.spawn(listen(messages.subscribe(Signal::Work.subject()), notify.clone()));
        Bell { notify, messages: messages.clone(), _listener: listener }
    }

    /// Wakes one that waits, or the next one that will, in every process.
    pub fn ring(&self) {
        self.messages.signal(&Signal::Work);
    }

    /// The same, in this process alone.
    pub fn ring_here(&self) {
        self.notify.notify_one();
    }

    /// Waits for the bell.
    pub async fn heard(&self) {
        self.notify.notified().await;
    }
}

/// Whatever is heard wakes a worker: also that something was not heard.
async fn listen(mut rings: Subscription, notify: Arc<Notify>) {
    while rings.next().await.is_some() {
        notify.notify_one();
    }
}

/// How much of everything there may be. `GET /api/limits` tells.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a document.
    pub upload: u64,
    /// Pipelines.
    pub pipelines: u64,
    /// Labels of a pipeline.
    pub labels: usize,
    /// Characters of a question.
    pub question: usize,
    /// Bytes of the metadata of a document.
    pub metadata: usize,
    /// Chunks of a document.
    pub chunks: usize,
    /// How long answers are kept; nothing keeps none.
    pub retention: Duration,
    /// Answers that are sent as events at once.
    pub answer_streams: usize,
    /// Listeners to events at once.
    pub event_streams: usize,
    /// Those of the floor below.
    pub http: pidq_http::Limits,
}

/// The rows of a page of a list: if nobody says, and at most.
pub(crate) const PAGE: usize = 50;
pub(crate) const LONGEST_PAGE: usize = 200;

/// Whether the database can be reached, and which servers cannot: the hook of the floor below.
pub(crate) fn ready(platform: &Arc<Platform>) -> Fut<'_, Standing> {
    Box::pin(async move {
        let reachable = platform.store.is_reachable().await;
        let missing = platform.servers().iter().filter(|server| !server.is_up()).map(Health::name).collect();
        if reachable { Ok(missing) } else { Err("the database does not answer".into()) }
    })
}

/// The platform has one tenant: what somebody may see is said by keys.
pub(crate) const TENANT: &str = "main";
