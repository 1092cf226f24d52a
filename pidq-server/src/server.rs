//! The state of the service: where graphs are, who may see them, and what a query may cost.

use std::sync::Arc;
use std::time::Duration;

use pidq_core::{Cancel, Limits};
use pidq_http::auth::Identities;
use pidq_http::{Cursors, Fut, Head, Principal, PrincipalKind, Problem, Standing, Work, oauth};

use crate::buffers::Buffers;
use crate::door::Rules;
use crate::graphs::{Copies, Graphs, Queries};
use crate::memory::Memory;
use crate::meters::Meters;
use crate::rendering::Media;
use crate::results::Results;
use crate::store::{State, Store};

/// What all handlers share.
pub struct Server {
    /// The host of its public address, if it has one.
    pub name: Option<String>,
    /// Where graphs are kept.
    pub store: Arc<dyn Store>,
    /// Accounts and tokens. Without them everybody may do everything: for a laptop.
    pub identities: Option<Identities>,
    /// Graphs that were read.
    pub graphs: Arc<Graphs>,
    /// Graphs as they are sent.
    pub copies: Copies,
    /// Answers that were asked for before.
    pub results: Results,
    /// What answers are written into.
    pub buffers: Arc<Buffers>,
    /// Queries that were compiled.
    pub queries: Arc<Queries>,
    /// The threads that queries run on.
    pub work: Work,
    /// The memory that they share.
    pub memory: Arc<Memory>,
    /// The places in lists that were handed out.
    pub cursors: Cursors,
    /// What is counted.
    pub meters: Arc<Meters>,
    /// What a graph may be.
    pub rules: Rules,
    /// What a query may cost.
    pub budget: Budget,
    /// Whether a write has to name the version that it replaces.
    pub require_if_match: bool,
}

/// What a query may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Graphs of a request over many.
    pub graphs: usize,
    /// Steps.
    pub fuel: u64,
    /// Bytes of working memory.
    pub memory: usize,
    /// Bytes of a result.
    pub output: usize,
    /// Bytes of a result in lines.
    pub lines: usize,
    /// From the start of the run.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Budget {
        let limits = Limits::default();
        let (fuel, memory, lines) = (limits.fuel, limits.memory, limits.output);
        Budget { graphs: 100_000, fuel, memory, output: 16 << 20, lines, time: Duration::from_secs(10) }
    }
}

impl Budget {
    /// The bytes of a result in some form.
    pub(crate) fn output_in(self, media: Media) -> usize {
        if media.is_json() { self.output } else { self.lines }
    }

    /// The limits of a run that may print so many bytes.
    pub(crate) fn limits(self, output: usize, cancel: &Cancel) -> Limits<'_> {
        Limits { fuel: self.fuel, memory: self.memory, output, cancel: Some(cancel), ..Limits::default() }
    }
}

/// Who sends a request: the hook of the floor below.
pub(crate) fn authenticate<'a>(server: &'a Arc<Server>, head: &'a Head) -> Fut<'a, Result<Arc<Principal>, Problem>> {
    Box::pin(async move {
        match &server.identities {
            Some(identities) => oauth::bearer(identities, head).await,
            // Everybody on this machine, and nobody else.
            None => head.known_host(server.name.as_deref()).map(|()| anyone().into()),
        }
    })
}

/// Whether the store and the accounts can be reached: the hook of the floor below.
pub(crate) fn ready(server: &Arc<Server>) -> Fut<'_, Standing> {
    Box::pin(async move {
        match server.store.state().await {
            State::Writable | State::Served => {}
            State::ReadOnly(why) | State::Unavailable(why) => return Err(why),
        }
        let Some(identities) = &server.identities else { return Ok(Vec::new()) };
        match identities.takes_writes().await {
            Ok(true) => Ok(Vec::new()),
            Ok(false) => Err("the database of the accounts takes no writes".into()),
            Err(_) => Err("the database does not answer".into()),
        }
    })
}

/// Whoever asks a service without accounts.
fn anyone() -> Principal {
    let mut principal = Principal::new(PrincipalKind::Anyone, OPEN_TENANT, "anyone");
    principal.scopes = vec!["read".into(), "write".into()];
    principal
}

/// The tenant of a service without accounts, and of the first account.
pub const OPEN_TENANT: &str = "main";
