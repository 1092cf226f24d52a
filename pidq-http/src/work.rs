//! Work that keeps a processor busy: on threads of its own, few, with a short queue before them.
//!
//! Connections are served by other threads, and those go first: threads of the pool stand back from the beginning.
//! A job that has run for a while gives way to short ones as well: its thread gets
//! the lowest priority, and another thread takes its place, so that short jobs do not wait for long ones. There are
//! as many places for long jobs as there are threads. When all are taken, whoever has one of them waits until one is
//! free, and others go first: one stranger's queries do not stop everybody's.
//!
//! No thread may raise its own again without privilege, so a thread that was lowered ends
//! after its job, and another takes its place. A new thread has the priority and the slice of time of the one that
//! starts it, so that a keeper, which does nothing else, stands back and starts all of them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, setpriority_process};
use rustix::thread::gettid;
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::problem::Problem;

/// How long a job goes before those that have run for longer.
const PATIENCE: Duration = Duration::from_millis(20);

/// The priority of a job from its beginning: below that of connections.
const LOWER: i32 = 10;

/// The lowest priority that there is.
pub(crate) const LOWEST: i32 = 19;

/// The slice of time that threads of the pool ask for. Whoever asks for less, as all others do, goes before them
/// at once when it wakes; with equal slices it may wait for the next tick, 4 ms on many machines.
/// Source: Linux, "EEVDF Scheduler" (`sched_runtime` of a thread with a usual policy, from 6.12 on).
#[cfg(target_os = "linux")]
const SLICE: Duration = Duration::from_millis(20);

/// Threads for jobs. The last handle that is dropped ends them, after what is in the queue.
#[derive(Clone)]
pub struct Work {
    pool: Arc<Pool>,
}

struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Told of new jobs.
    more: Condvar,
    /// Told of threads that ended.
    fewer: Condvar,
    threads: usize,
    queue: usize,
}

struct State {
    jobs: VecDeque<Waiting>,
    /// Who has a place for long jobs: at most as many as there are threads.
    long: Vec<Key>,
    idle: usize,
    /// How many threads are to be started.
    missing: usize,
    closed: bool,
}

/// Who wants a job done. Nobody in particular never waits for themselves.
type Key = Option<Arc<str>>;

type Job = Box<dyn FnOnce(&Slot) + Send>;

struct Waiting {
    key: Key,
    job: Job,
}

/// A thread of the pool, as its jobs see it.
struct Slot {
    thread: Pid,
    /// Whether it was lowered: then it ends after the job.
    lowered: AtomicBool,
    /// Whether another has taken its place: then it ends as well.
    replaced: AtomicBool,
}

/// The thread that runs a job, if one does, for whoever lowers it.
#[derive(Default)]
struct Running {
    thread: Option<Pid>,
    lowered: bool,
    replaced: bool,
}

/// What a job gave back, and how long it waited before it ran.
pub struct Done<T> {
    /// What it gave back.
    pub value: T,
    /// How long it waited.
    pub queued: Duration,
}

/// Threads where nobody says how many: each may take the memory of a query.
const MOST_THREADS: usize = 4;

impl Work {
    /// As many threads as are good for this machine: one for each processor, four at most.
    pub fn usual_threads() -> usize {
        thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
    }

    /// So many threads, and so many jobs that wait for them.
    pub fn new(threads: usize, queue: usize) -> Self {
        let threads = threads.max(1);
        let state = State { jobs: VecDeque::new(), long: Vec::new(), idle: 0, missing: threads, closed: false };
        let (more, fewer) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { state: Mutex::new(state), more, fewer, threads, queue });
        spawn("keeper", keep(shared.clone()));
        Work { pool: Arc::new(Pool { shared }) }
    }

    /// Runs a job. When nobody waits for it any more, `cancel` is called, so that it can stop.
    ///
    /// 503 when the queue is full, 500 when the job panics.
    pub async fn run<T: Send + 'static>(
        &self,
        cancel: impl FnOnce() + Send,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Done<T>, Problem> {
        self.run_as(None, cancel, job).await
    }

    /// The same for somebody, by name: nobody gets more than their share of the threads and of the queue.
    pub async fn run_for<T: Send + 'static>(
        &self,
        who: &str,
        cancel: impl FnOnce() + Send,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Done<T>, Problem> {
        self.run_as(Some(who.into()), cancel, job).await
    }

    async fn run_as<T: Send + 'static>(
        &self,
        key: Key,
        cancel: impl FnOnce() + Send,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Done<T>, Problem> {
        let (sender, mut result) = oneshot::channel();
        let running = Arc::new(Mutex::new(Running::default()));
        let queued = Instant::now();
        self.push(key.clone(), running.clone(), move || {
            // Whoever asked may be gone by now.
            if !sender.is_closed() {
                let waited = queued.elapsed();
                let _ = sender.send(Done { value: job(), queued: waited });
            }
        })?;
        let on_drop = Cancel(Some(cancel));
        let done = tokio::select! {
            done = &mut result => done,
            () = give_way(&self.pool.shared, &key, &running) => result.await,
        };
        on_drop.disarm();
        done.map_err(|_| Problem::internal())
    }

    /// How many jobs wait for a thread.
    pub fn waiting(&self) -> usize {
        locked(&self.pool.shared.state).jobs.len()
    }

    fn push(&self, key: Key, running: Arc<Mutex<Running>>, job: impl FnOnce() + Send + 'static) -> Result<(), Problem> {
        let shared = &self.pool.shared;
        let (owner, pool) = (key.clone(), Arc::downgrade(shared));
        let mut state = locked(&shared.state);
        if state.jobs.len() >= shared.queue + state.idle || state.waits(&key) > shared.queue / 2 {
            return Err(Problem::unavailable("overloaded", "There is more to do than can be done now.", 1));
        }
        let job: Job = Box::new(move |slot: &Slot| {
            locked(&running).thread = Some(slot.thread);
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a job panicked");
            }
            // From now on nobody may lower this thread: it runs for somebody else.
            let mut running = locked(&running);
            running.thread = None;
            slot.lowered.store(running.lowered, Relaxed);
            slot.replaced.store(running.replaced, Relaxed);
            if let Some(shared) = pool.upgrade().filter(|_| running.replaced) {
                shared.give_back(&owner);
            }
        });
        state.jobs.push_back(Waiting { key, job });
        drop(state);
        shared.more.notify_one();
        Ok(())
    }
}

impl State {
    /// How many jobs of somebody wait.
    fn waits(&self, key: &Key) -> usize {
        if key.is_none() { 0 } else { self.jobs.iter().filter(|waiting| waiting.key == *key).count() }
    }

    /// The first job whose turn it is.
    fn take(&mut self, threads: usize) -> Option<Job> {
        let is_full = self.long.len() >= threads && !self.closed;
        let waits = |key: &Key| is_full && key.is_some() && self.long.contains(key);
        let at = self.jobs.iter().position(|waiting| !waits(&waiting.key))?;
        self.jobs.remove(at).map(|waiting| waiting.job)
    }
}

impl Shared {
    /// A place for a long job, if there is one: another thread will take the place that it leaves.
    fn take_long(&self, key: &Key) -> bool {
        let mut state = locked(&self.state);
        let is_free = state.long.len() < self.threads;
        if is_free {
            state.long.push(key.clone());
            state.missing += 1;
            self.fewer.notify_one();
        }
        is_free
    }

    /// Waits until a thread is to be started. False when the pool is closed.
    fn wait_for_missing(&self) -> bool {
        let mut state = locked(&self.state);
        while state.missing == 0 && !state.closed {
            state = self.fewer.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.missing = state.missing.saturating_sub(1);
        !state.closed
    }

    fn give_back(&self, key: &Key) {
        let mut state = locked(&self.state);
        if let Some(at) = state.long.iter().position(|held| held == key) {
            state.long.swap_remove(at);
        }
        // Those who waited for it may go on.
        self.more.notify_all();
    }
}

/// Lowers the thread of a job once it has run for a while.
async fn give_way(shared: &Shared, key: &Key, running: &Mutex<Running>) {
    loop {
        sleep(PATIENCE).await;
        let mut running = locked(running);
        if let Some(thread) = running.thread {
            // On Linux a thread can be named where a process is asked for. Elsewhere this fails, and nothing is lost.
            running.lowered = setpriority_process(Some(thread), LOWEST).is_ok();
            running.replaced = shared.take_long(key);
            return;
        }
    }
}

/// Has this thread, and those that it starts, go after the threads of connections, with that priority at most.
#[cfg(target_os = "linux")]
pub(crate) fn stand_back(nice: i32) {
    let stood_back = uapi::sched_getattr(0, 0).and_then(|mut own| {
        own.sched_nice = own.sched_nice.max(nice);
        own.sched_runtime = SLICE.as_nanos() as u64;
        uapi::sched_setattr(0, &own, 0)
    });
    if let Err(error) = stood_back {
        tracing::debug!(%error, "a thread for work keeps its priority");
    }
}

/// Elsewhere no thread has a priority of its own that could be set.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stand_back(_: i32) {}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) {
    if let Err(error) = thread::Builder::new().name(name.into()).spawn(body) {
        tracing::error!(%error, "a thread for work cannot be started");
    }
}

/// Starts the threads that are missing, until the pool is closed.
fn keep(shared: Arc<Shared>) -> impl FnOnce() + Send {
    move || {
        stand_back(LOWER);
        while shared.wait_for_missing() {
            spawn("work", work(shared.clone()));
        }
    }
}

fn work(shared: Arc<Shared>) -> impl FnOnce() + Send {
    move || {
        let slot = Slot { thread: gettid(), lowered: AtomicBool::new(false), replaced: AtomicBool::new(false) };
        while let Some(job) = next(&shared) {
            job(&slot);
            if slot.replaced.load(Relaxed) {
                return;
            }
            if slot.lowered.load(Relaxed) {
                locked(&shared.state).missing += 1;
                return shared.fewer.notify_one();
            }
        }
    }
}

fn next(shared: &Shared) -> Option<Job> {
    let mut state = locked(&shared.state);
    state.idle += 1;
    loop {
        let job = state.take(shared.threads);
        if job.is_some() || state.closed {
            state.idle -= 1;
            return job;
        }
        state = shared.more.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        locked(&self.shared.state).closed = true;
        self.shared.more.notify_all();
        self.shared.fewer.notify_all();
    }
}

/// Calls what cancels a job, unless the job was waited for to its end.
struct Cancel<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Cancel<F> {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl<F: FnOnce()> Drop for Cancel<F> {
    fn drop(&mut self) {
        if let Some(cancel) = self.0.take() {
            cancel();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_job_gives_back_its_result() {
        let work = Work::new(1, 1);
        let done = work.run(|| (), || 6 * 7).await;
        assert_eq!(done.map(|done| done.value).map_err(|p| p.status()), Ok(42));
    }

    #[tokio::test]
    async fn a_full_queue_is_503_and_not_a_longer_queue() {
        let work = Work::new(1, 1);
        let (hold, held) = mpsc::channel::<()>();
        let (start, started) = oneshot::channel();
        let first = tokio::spawn({
            let work = work.clone();
            let job = move || start.send(()).is_ok() && held.recv().is_err();
            async move { work.run(|| (), job).await.map(|d| d.value) }
        });
        tokio::time::timeout(Duration::from_secs(5), started).await.expect("it starts").expect("it says so");
        let second = tokio::spawn({
            let work = work.clone();
            async move { work.run(|| (), || ()).await.map(|d| d.value) }
        });
        while locked(&work.pool.shared.state).jobs.is_empty() {
            tokio::task::yield_now().await;
        }
        let third = work.run(|| (), || ()).await.map(|d| d.value);
        assert_eq!(third.map_err(|p| p.code().to_owned()), Err("overloaded".into()));
        drop(hold);
        assert!(matches!(first.await, Ok(Ok(true))));
        assert!(matches!(second.await, Ok(Ok(()))));
    }

    #[tokio::test]
    async fn whoever_stops_waiting_cancels_the_job() {
        let work = Work::new(1, 1);
        let cancelled = Arc::new(AtomicBool::new(false));
        let (ended, end) = oneshot::channel();
        let (flag, seen) = (cancelled.clone(), cancelled.clone());
        let running = work.run(
            move || flag.store(true, SeqCst),
            move || {
                while !seen.load(SeqCst) {
                    thread::yield_now();
                }
                ended.send(())
            },
        );
        assert!(tokio::time::timeout(Duration::from_millis(50), running).await.is_err());
        assert!(tokio::time::timeout(Duration::from_secs(5), end).await.is_ok_and(|ended| ended.is_ok()));
    }

    #[tokio::test]
    async fn a_panic_ends_its_job_and_not_the_pool() {
        let work = Work::new(1, 1);
        let panicked = work.run(|| (), || panic!("a bug, on purpose")).await.map(|d| d.value);
        assert_eq!(panicked.map_err(|p| p.status().as_u16()), Err::<(), _>(500));
        assert!(work.run(|| (), || ()).await.is_ok());
    }

    #[tokio::test]
    async fn one_who_has_long_jobs_does_not_stop_the_others() {
        let work = Work::new(2, 64);
        let (hold, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let long = (0..20).map(|_| {
            let (work, held) = (work.clone(), held.clone());
            tokio::spawn(async move { work.run_for("a", || (), move || locked(&held).recv().is_err()).await.is_ok() })
        });
        let long: Vec<_> = long.collect();
        while locked(&work.pool.shared.state).long.len() < 2 {
            sleep(Duration::from_millis(1)).await;
        }
        for _ in 0..10 {
            let short = tokio::time::timeout(Duration::from_secs(5), work.run_for("b", || (), || ())).await;
            assert!(short.is_ok_and(|done| done.is_ok()));
        }
        drop(hold);
        for job in long {
            assert!(job.await.expect("no panic"));
        }
        // A place is given back just after the answer.
        let given_back = async {
            while !locked(&work.pool.shared.state).long.is_empty() {
                sleep(Duration::from_millis(1)).await;
            }
        };
        assert!(tokio::time::timeout(Duration::from_secs(5), given_back).await.is_ok());
    }

    #[tokio::test]
    async fn nobody_fills_the_queue_alone() {
        let work = Work::new(1, 8);
        let (hold, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let jobs = (0..20).map(|_| {
            let (work, held) = (work.clone(), held.clone());
            tokio::spawn(async move { work.run_for("a", || (), move || locked(&held).recv().is_err()).await.is_ok() })
        });
        let jobs: Vec<_> = jobs.collect();
        while locked(&work.pool.shared.state).long.is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
        assert!(work.run_for("b", || (), || ()).await.is_ok());
        drop(hold);
        let mut refused = 0;
        for job in jobs {
            refused += usize::from(!job.await.expect("no panic"));
        }
        assert!(refused >= 12, "{refused}");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn jobs_stand_back_behind_connections() {
        let own = || uapi::sched_getattr(0, 0).map(|own| (own.sched_nice, own.sched_runtime)).expect("it can be asked");
        let (usual_nice, usual_slice) = own();
        let (nice, slice) = Work::new(1, 1).run(|| (), own).await.expect("it runs").value;
        assert_eq!(nice, LOWER.max(usual_nice));
        // Before Linux 6.12 no thread has a slice of its own, and all say 0.
        assert!(slice > usual_slice || usual_slice == 0, "{slice} {usual_slice}");
    }

    #[tokio::test]
    async fn a_long_job_gives_way_and_its_thread_is_replaced() {
        let work = Work::new(1, 1);
        let own = || (gettid(), rustix::process::getpriority_process(Some(gettid())).ok());
        let long = work.run(
            || (),
            move || {
                thread::sleep(PATIENCE * 4);
                own()
            },
        );
        let (lowered, priority) = long.await.expect("it runs").value;
        assert_eq!(priority, Some(LOWEST));
        let (fresh, priority) = work.run(|| (), own).await.expect("it runs").value;
        assert_ne!((fresh, priority), (lowered, Some(LOWEST)));
    }
}
