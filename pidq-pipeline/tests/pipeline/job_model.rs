//! Exhaustive model of the job lease: all reachable states of one document with two workers. The store is taken through
//! every action in each of them, and must agree with the model after every action.
//!
//! Workers crash, leases expire while their workers go on, and callers cancel, repeat, replace and delete at any time.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use pidq_http::database::Database;
use pidq_store::domain::model::{Pipeline, Progress, Status};
use pidq_store::{Job, NewContent, PublishOutcome, Store, StoreError};
use stateright::{Checker, Model, Property};

use crate::store_fixtures::{add, digest, ingested, on_each, pipeline};

const LONG: Duration = Duration::from_secs(3600);
/// Revisions of the document.
const REVISIONS: u8 = 2;

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Lease {
    /// The job is due.
    None,
    /// The job waits for a retry.
    Delayed,
    /// A worker holds it.
    Held(usize),
    /// Its worker crashed.
    Abandoned,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum DocumentStatus {
    Queued,
    Parsing,
    Ready,
    Failed,
    Cancelled,
}

impl DocumentStatus {
    fn is_terminal(self) -> bool {
        !matches!(self, DocumentStatus::Queued | DocumentStatus::Parsing)
    }
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct DocumentState {
    status: DocumentStatus,
    revision: u8,
    searchable: Option<u8>,
}

/// State of the document, of its job, and of the workers: the revision that each is ingesting, with or without a lease.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct State {
    document: Option<DocumentState>,
    job: Option<Lease>,
    workers: [Option<u8>; 2],
    /// A searchable revision was replaced by an older one, or was lost before the document was deleted.
    has_lost_revision: bool,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Action {
    Lease(usize),
    Report(usize),
    Publish(usize),
    Fail(usize, Retry),
    Crash(usize),
    ExpireLease,
    MakeDue,
    Cancel,
    Repeat,
    Replace,
    Delete,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Retry {
    Later,
    Never,
}

struct JobModel;

impl Model for JobModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let document = DocumentState { status: DocumentStatus::Queued, revision: 1, searchable: None };
        vec![State { document: Some(document), job: Some(Lease::None), workers: [None; 2], has_lost_revision: false }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for worker in 0..2 {
            match state.workers[worker] {
                None => actions.push(Action::Lease(worker)),
                Some(_) => actions.extend([
                    Action::Report(worker),
                    Action::Publish(worker),
                    Action::Fail(worker, Retry::Later),
                    Action::Fail(worker, Retry::Never),
                    Action::Crash(worker),
                ]),
            }
        }
        if let Some(document) = state.document {
            actions.extend([Action::Cancel, Action::Repeat, Action::Delete]);
            actions.extend((document.revision < REVISIONS).then_some(Action::Replace));
        }
        actions.extend([Action::ExpireLease, Action::MakeDue]);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Lease(worker) => state.lease(worker),
            Action::Report(worker) => state.end_attempt(worker, |state| state.set_status(DocumentStatus::Parsing)),
            Action::Publish(worker) => state.end_attempt(worker, State::publish),
            Action::Fail(worker, retry) => state.end_attempt(worker, |state| state.fail(retry)),
            Action::Crash(worker) => {
                state.job = state.job.map(|lease| if lease == Lease::Held(worker) { Lease::Abandoned } else { lease });
            }
            Action::ExpireLease => {
                let is_leased = matches!(state.job, Some(Lease::Held(_) | Lease::Abandoned));
                state.job = if is_leased { Some(Lease::None) } else { state.job };
            }
            Action::MakeDue => {
                state.job = state.job.map(|lease| if lease == Lease::Delayed { Lease::None } else { lease });
            }
            Action::Cancel => state.cancel(),
            Action::Repeat => state.queue(0),
            Action::Replace => state.queue(1),
            Action::Delete => (state.document, state.job) = (None, None),
        }
        if let Action::Publish(worker) | Action::Fail(worker, _) | Action::Crash(worker) = action {
            state.workers[worker] = None;
        }
        state.has_lost_revision |= state.document.is_some() && state.searchable() < last.searchable();
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<JobModel>> {
        vec![
            Property::always("an unfinished document has a job, and no other has one", |_, state: &State| {
                state.document.is_some_and(|document| !document.status.is_terminal()) == state.job.is_some()
            }),
            Property::always("a ready document is searchable in its revision", |_, state: &State| {
                state.document.is_none_or(|document| {
                    document.status != DocumentStatus::Ready || document.searchable == Some(document.revision)
                })
            }),
            Property::always("a searchable revision is replaced by newer ones only", |_, state: &State| {
                !state.has_lost_revision
            }),
            Property::always("an unfinished document can be completed", |_, state: &State| {
                state.document.is_none_or(|document| document.status.is_terminal()) || state.completed()
            }),
            Property::sometimes("a worker without a lease goes on", |_, state: &State| {
                state.workers.iter().enumerate().any(|(worker, held)| held.is_some() && !state.holds(worker))
            }),
            Property::sometimes("an old revision is searchable while a new one fails", |_, state: &State| {
                state.document
                    == Some(DocumentState { status: DocumentStatus::Failed, revision: 2, searchable: Some(1) })
            }),
        ]
    }
}

impl State {
    fn searchable(&self) -> Option<u8> {
        self.document.and_then(|document| document.searchable)
    }

    fn holds(&self, worker: usize) -> bool {
        self.job == Some(Lease::Held(worker))
    }

    fn lease(&mut self, worker: usize) {
        if self.job == Some(Lease::None) {
            self.job = Some(Lease::Held(worker));
            self.workers[worker] = self.document.map(|document| document.revision);
        }
    }

    /// Applies the result of a worker, if it still holds the lease.
    fn end_attempt(&mut self, worker: usize, apply: impl FnOnce(&mut State)) {
        if self.holds(worker) {
            apply(self);
        }
    }

    fn set_status(&mut self, status: DocumentStatus) {
        self.document = self.document.map(|document| DocumentState { status, ..document });
    }

    fn publish(&mut self) {
        self.job = None;
        self.set_status(DocumentStatus::Ready);
        self.document = self.document.map(|document| DocumentState { searchable: Some(document.revision), ..document });
    }

    fn fail(&mut self, retry: Retry) {
        (self.job, _) = match retry {
            Retry::Later => (Some(Lease::Delayed), self.set_status(DocumentStatus::Queued)),
            Retry::Never => (None, self.set_status(DocumentStatus::Failed)),
        };
    }

    fn cancel(&mut self) {
        let Some(document) = self.document.filter(|document| !document.status.is_terminal()) else { return };
        let is_searchable = document.searchable == Some(document.revision);
        self.set_status(if is_searchable { DocumentStatus::Ready } else { DocumentStatus::Cancelled });
        self.job = None;
    }

    /// Queues a finished document, in the same or the next revision.
    fn queue(&mut self, new_revisions: u8) {
        let Some(document) = self.document.filter(|document| document.status.is_terminal()) else { return };
        let revision = document.revision + new_revisions;
        self.document = Some(DocumentState { status: DocumentStatus::Queued, revision, ..document });
        self.job = Some(Lease::None);
    }

    /// Returns true if a worker completes the document after all others have crashed.
    fn completed(&self) -> bool {
        let steps = [Action::Crash(0), Action::Crash(1), Action::ExpireLease, Action::MakeDue, Action::Lease(0)];
        let after = |state: State, action| JobModel.next_state(&state, action).unwrap_or(state);
        let state = steps.into_iter().chain([Action::Publish(0)]).fold(self.clone(), after);
        state.document.is_some_and(|document| document.status == DocumentStatus::Ready)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_agrees_with_the_model_in_every_reachable_state() {
    let checker = JobModel.checker().spawn_bfs().join();
    checker.assert_properties();
    on_each(async |store, database| {
        let pipeline = pipeline(&store, &["manual"]).await;
        let mut untried = Untried::default();
        while let Some(first) = untried.path_from(&initial_state()) {
            let mut replay = Replay::start(&store, &database, &pipeline).await;
            let (mut state, mut path) = (initial_state(), Some(first));
            while let Some(actions) = path {
                for action in actions {
                    state = replay.step(&state, action, &mut untried).await;
                }
                path = untried.path_from(&state);
            }
        }
        assert_eq!(untried.visited.len(), checker.unique_state_count());
    })
    .await;
}

fn initial_state() -> State {
    JobModel.init_states().remove(0)
}

/// Pairs of a state and an action that the store was not taken through yet.
#[derive(Default)]
struct Untried {
    tried: HashSet<(State, Action)>,
    visited: HashSet<State>,
}

impl Untried {
    /// Returns the shortest sequence of actions whose last one is untried.
    fn path_from(&self, start: &State) -> Option<Vec<Action>> {
        let (mut queue, mut seen) = (VecDeque::from([(start.clone(), Vec::new())]), HashSet::from([start.clone()]));
        while let Some((state, path)) = queue.pop_front() {
            let mut actions = Vec::new();
            JobModel.actions(&state, &mut actions);
            for action in actions {
                let path = [path.as_slice(), &[action]].concat();
                if !self.tried.contains(&(state.clone(), action)) {
                    return Some(path);
                }
                if let Some(next) = JobModel.next_state(&state, action).filter(|next| seen.insert(next.clone())) {
                    queue.push_back((next, path));
                }
            }
        }
        None
    }
}

/// Document of the store that follows a sequence of actions.
struct Replay<'a> {
    store: &'a Store,
    database: &'a Database,
    pipeline: &'a Pipeline,
    id: String,
    jobs: [Option<Job>; 2],
    /// Actions since the document was added.
    actions: Vec<Action>,
}

impl<'a> Replay<'a> {
    async fn start(store: &'a Store, database: &'a Database, pipeline: &'a Pipeline) -> Replay<'a> {
        database.execute("delete from jobs", &[]).await.unwrap();
        let id = add(store, pipeline, "manual", &pidq_http::uuid_v7()).await.id;
        Replay { store, database, pipeline, id, jobs: [None, None], actions: Vec::new() }
    }

    /// Performs an action and returns the state after it, in which the store must be.
    async fn step(&mut self, state: &State, action: Action, untried: &mut Untried) -> State {
        self.actions.push(action);
        self.apply(state, action).await;
        let next = JobModel.next_state(state, action).unwrap_or_else(|| state.clone());
        self.check(&next).await;
        untried.visited.extend([state.clone(), next.clone()]);
        untried.tried.insert((state.clone(), action));
        next
    }

    async fn apply(&mut self, state: &State, action: Action) {
        match action {
            Action::Lease(worker) => {
                self.jobs[worker] = self.store.lease_job(&pidq_http::uuid_v7(), LONG).await.unwrap();
                assert_eq!(self.jobs[worker].is_some(), state.job == Some(Lease::None), "{:?}", self.actions);
            }
            Action::Report(worker) => {
                let job = self.jobs[worker].as_ref().expect("a leased job");
                let written = self.store.report_progress(job, Status::Parsing, &Progress::default()).await.unwrap();
                assert_eq!(written, state.holds(worker), "{:?}", self.actions);
            }
            Action::Publish(worker) => {
                let job = self.jobs[worker].take().expect("a leased job");
                let outcome = self.store.publish_document(&job, &ingested("a valve")).await.unwrap();
                assert_eq!(outcome == PublishOutcome::Done, state.holds(worker), "{:?}", self.actions);
            }
            Action::Fail(worker, retry) => {
                let job = self.jobs[worker].take().expect("a leased job");
                let retry_at = (retry == Retry::Later).then(|| (pidq_http::auth::Timestamp::now() + LONG / 10).0);
                let written = self.store.fail_job(&job, &Progress::default(), retry_at).await.unwrap();
                assert_eq!(written, state.holds(worker), "{:?}", self.actions);
            }
            Action::Crash(worker) => self.jobs[worker] = None,
            Action::ExpireLease => self.execute("update jobs set lease_until = 0 where lease_until is not null").await,
            Action::MakeDue => self.execute("update jobs set run_at = 0 where lease_until is null").await,
            Action::Cancel | Action::Repeat | Action::Replace | Action::Delete => self.call(action).await,
        }
    }

    /// Performs the action of a caller. The store refuses one that the model ignores.
    async fn call(&self, action: Action) {
        let document = self.store.document(&self.pipeline.id, &self.id).await.unwrap().expect("the document");
        let text = pidq_http::uuid_v7();
        let digest = digest(&text);
        let new =
            NewContent { filename: "a", content_type: "text/plain", content: text.as_bytes().into(), sha256: &digest };
        let result = match action {
            Action::Cancel => self.store.cancel_document(&document).await,
            Action::Repeat => self.store.requeue_document(&document).await,
            Action::Replace => self.store.replace_content(&document, new).await,
            _ => self.store.delete_document(&self.pipeline.id, &self.id).await.map(drop),
        };
        assert!(matches!(result, Ok(()) | Err(StoreError::Conflict)), "{action:?}: {result:?}");
    }

    async fn execute(&self, sql: &'static str) {
        self.database.execute(sql, &[]).await.unwrap();
    }

    async fn check(&self, state: &State) {
        let document = self.store.document(&self.pipeline.id, &self.id).await.unwrap();
        let number = |revision: i64| u8::try_from(revision).expect("a small revision");
        let found = document.map(|document| DocumentState {
            status: match document.status {
                Status::Queued => DocumentStatus::Queued,
                Status::Ready => DocumentStatus::Ready,
                Status::Failed => DocumentStatus::Failed,
                Status::Cancelled => DocumentStatus::Cancelled,
                _ => DocumentStatus::Parsing,
            },
            revision: number(document.revision),
            searchable: document.searchable_revision.map(number),
        });
        assert_eq!(found, state.document, "{:?}", self.actions);
        let jobs = self.store.count_jobs_by_kind().await.unwrap();
        let count: i64 = jobs.into_iter().map(|(_, count)| count).sum();
        assert_eq!(count, i64::from(state.job.is_some()), "{:?}", self.actions);
    }
}
