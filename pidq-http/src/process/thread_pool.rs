//! Thread pool for CPU-bound work, with a short queue.
//!
//! Workers run at a lower priority than the threads that serve connections. A job that runs for a while is demoted:
//! its thread gets the lowest priority, and another worker replaces it, so that short jobs do not wait for long ones.
//! There are as many slots for long jobs as there are threads. When all are taken, principals that hold one wait
//! until one is free, and the jobs of others run first: one caller's queries do not block the others.
//!
//! A thread cannot raise its priority without privilege, so a demoted thread ends after its job, and another replaces
//! it. A new thread inherits the priority and time slice of the thread that starts it, so a dedicated spawner thread
//! lowers its own and starts all workers.

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

use crate::problem::{Problem, codes};

/// Run time after which a job is demoted.
const DEMOTE_AFTER: Duration = Duration::from_millis(20);

/// Initial nice value of a job, below the priority of connections.
const JOB_NICE: i32 = 10;

/// Lowest priority of the system.
pub(crate) const LOWEST_NICE: i32 = 19;

/// Time slice of the workers. A thread with a shorter slice, as all others have, preempts them when it wakes; with
/// equal slices it may wait for the next tick, 4 ms on many machines. Source: Linux, "EEVDF Scheduler"
/// (`sched_runtime` of a thread with a normal policy, since 6.12).
#[cfg(target_os = "linux")]
const TIME_SLICE: Duration = Duration::from_millis(20);

/// Thread pool. Dropping the last handle ends the workers after the queued jobs.
#[derive(Clone)]
pub struct ThreadPool {
    pool: Arc<PoolHandle>,
}

struct PoolHandle {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Signals new jobs and freed slots.
    job_available: Condvar,
    /// Signals the spawner that workers are needed.
    worker_needed: Condvar,
    threads: usize,
    queue_limit: usize,
}

struct State {
    jobs: VecDeque<QueuedJob>,
    /// Keys that hold a slot for long jobs: at most as many as there are threads.
    long_jobs: Vec<Key>,
    idle_workers: usize,
    /// Number of workers to start.
    workers_needed: usize,
    closed: bool,
}

/// Principal that a job runs for. Jobs without a principal never wait for each other's slots.
type Key = Option<Arc<str>>;

type Job = Box<dyn FnOnce(&Worker) + Send>;

struct QueuedJob {
    key: Key,
    job: Job,
}

/// Worker thread that runs a job.
struct Worker {
    thread: Pid,
    /// True if the thread was demoted; it then ends after the job.
    is_demoted: AtomicBool,
    /// True if another worker replaced this one; it then ends after the job.
    is_replaced: AtomicBool,
}

/// Thread that runs a job, if any, for demotion.
#[derive(Default)]
struct RunningJob {
    thread: Option<Pid>,
    is_demoted: bool,
    is_replaced: bool,
}

/// Result of a job, with its queue time.
pub struct JobResult<T> {
    /// Return value.
    pub value: T,
    /// Time in the queue.
    pub queue_time: Duration,
}

/// Maximum of the default thread count: each thread may use the memory of a query.
const DEFAULT_THREAD_LIMIT: usize = 4;

impl ThreadPool {
    /// Returns the default number of threads: one per processor, at most four.
    pub fn default_threads() -> usize {
        thread::available_parallelism().map_or(1, usize::from).min(DEFAULT_THREAD_LIMIT)
    }

    /// Creates a pool with this number of threads and queued jobs.
    pub fn new(threads: usize, queue: usize) -> Self {
        let threads = threads.max(1);
        let state = State {
            jobs: VecDeque::new(),
            long_jobs: Vec::new(),
            idle_workers: 0,
            workers_needed: threads,
            closed: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            job_available: Condvar::new(),
            worker_needed: Condvar::new(),
            threads,
            queue_limit: queue,
        });
        spawn("spawner", spawn_workers(shared.clone()));
        ThreadPool { pool: Arc::new(PoolHandle { shared }) }
    }

    /// Runs a job. If the caller stops waiting, `cancel` is called.
    ///
    /// # Errors
    ///
    /// 503 if the queue is full, 500 if the job panics.
    pub async fn run<T: Send + 'static>(
        &self,
        cancel: impl FnOnce() + Send,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JobResult<T>, Problem> {
        self.run_keyed(None, cancel, job).await
    }

    /// Runs a job for a principal, which is limited to its share of the threads and of the queue.
    pub async fn run_for<T: Send + 'static>(
        &self,
        principal: &str,
        cancel: impl FnOnce() + Send,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JobResult<T>, Problem> {
        self.run_keyed(Some(principal.into()), cancel, job).await
    }

    async fn run_keyed<T: Send + 'static>(
        &self,
        key: Key,
        cancel: impl FnOnce() + Send,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JobResult<T>, Problem> {
        let (sender, mut result) = oneshot::channel();
        let running = Arc::new(Mutex::new(RunningJob::default()));
        let queued_at = Instant::now();
        self.push(key.clone(), running.clone(), move || {
            // The caller may have stopped waiting.
            if !sender.is_closed() {
                let queue_time = queued_at.elapsed();
                let _ = sender.send(JobResult { value: job(), queue_time });
            }
        })?;
        let on_drop = CancelOnDrop(Some(cancel));
        let done = tokio::select! {
            done = &mut result => done,
            () = demote_long_job(&self.pool.shared, &key, &running) => result.await,
        };
        on_drop.disarm();
        done.map_err(|_| Problem::internal())
    }

    /// Returns the number of queued jobs.
    pub fn queue_length(&self) -> usize {
        locked(&self.pool.shared.state).jobs.len()
    }

    fn push(
        &self,
        key: Key,
        running: Arc<Mutex<RunningJob>>,
        job: impl FnOnce() + Send + 'static,
    ) -> Result<(), Problem> {
        let shared = &self.pool.shared;
        let (owner, pool) = (key.clone(), Arc::downgrade(shared));
        let mut state = locked(&shared.state);
        if state.jobs.len() >= shared.queue_limit + state.idle_workers
            || state.queued_for(&key) > shared.queue_limit / 2
        {
            return Err(Problem::new(codes::OVERLOADED).detail("The server is overloaded. Try again.").retry_after(1));
        }
        let job: Job = Box::new(move |worker: &Worker| {
            locked(&running).thread = Some(worker.thread);
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a job panicked; responding with 500");
            }
            // The thread must not be demoted from now on: it runs another job.
            let mut running = locked(&running);
            running.thread = None;
            worker.is_demoted.store(running.is_demoted, Relaxed);
            worker.is_replaced.store(running.is_replaced, Relaxed);
            if let Some(shared) = pool.upgrade().filter(|_| running.is_replaced) {
                shared.release_long_slot(&owner);
            }
        });
        state.jobs.push_back(QueuedJob { key, job });
        drop(state);
        shared.job_available.notify_one();
        Ok(())
    }
}

impl State {
    /// Returns the number of queued jobs of a key.
    fn queued_for(&self, key: &Key) -> usize {
        if key.is_none() { 0 } else { self.jobs.iter().filter(|waiting| waiting.key == *key).count() }
    }

    /// Removes the first job that may run.
    fn pop(&mut self, threads: usize) -> Option<Job> {
        let is_full = self.long_jobs.len() >= threads && !self.closed;
        let waits = |key: &Key| is_full && key.is_some() && self.long_jobs.contains(key);
        let at = self.jobs.iter().position(|waiting| !waits(&waiting.key))?;
        self.jobs.remove(at).map(|waiting| waiting.job)
    }
}

impl Shared {
    /// Reserves a slot for a long job, if one is free, and requests a replacement worker.
    fn reserve_long_slot(&self, key: &Key) -> bool {
        let mut state = locked(&self.state);
        let is_free = state.long_jobs.len() < self.threads;
        if is_free {
            state.long_jobs.push(key.clone());
            state.workers_needed += 1;
            self.worker_needed.notify_one();
        }
        is_free
    }

    /// Waits until a worker must be started. Returns false if the pool is closed.
    fn wait_until_worker_needed(&self) -> bool {
        let mut state = locked(&self.state);
        while state.workers_needed == 0 && !state.closed {
            state = self.worker_needed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.workers_needed = state.workers_needed.saturating_sub(1);
        !state.closed
    }

    fn release_long_slot(&self, key: &Key) {
        let mut state = locked(&self.state);
        if let Some(at) = state.long_jobs.iter().position(|holder| holder == key) {
            state.long_jobs.swap_remove(at);
        }
        // Jobs that waited for the slot may run.
        self.job_available.notify_all();
    }
}

/// Demotes the thread of a job after [`DEMOTE_AFTER`].
async fn demote_long_job(shared: &Shared, key: &Key, running: &Mutex<RunningJob>) {
    loop {
        sleep(DEMOTE_AFTER).await;
        let mut running = locked(running);
        if let Some(thread) = running.thread {
            // On Linux a thread id is accepted where a process is expected. Elsewhere this fails without consequence.
            running.is_demoted = setpriority_process(Some(thread), LOWEST_NICE).is_ok();
            running.is_replaced = shared.reserve_long_slot(key);
            return;
        }
    }
}

/// Lowers the priority of this thread, and of the threads it starts, to at most this nice value.
#[cfg(target_os = "linux")]
pub(crate) fn lower_priority(nice: i32) {
    let result = uapi::sched_getattr(0, 0).and_then(|mut attributes| {
        attributes.sched_nice = attributes.sched_nice.max(nice);
        attributes.sched_runtime = TIME_SLICE.as_nanos() as u64;
        uapi::sched_setattr(0, &attributes, 0)
    });
    if let Err(error) = result {
        tracing::debug!(%error, "lowering the priority of a worker thread failed; it runs at normal priority");
    }
}

/// No-op: other systems have no priority per thread.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lower_priority(_: i32) {}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) {
    if let Err(error) = thread::Builder::new().name(name.into()).spawn(body) {
        tracing::error!(%error, "starting a worker thread failed; fewer threads are available");
    }
}

/// Starts needed workers until the pool is closed.
fn spawn_workers(shared: Arc<Shared>) -> impl FnOnce() + Send {
    move || {
        lower_priority(JOB_NICE);
        while shared.wait_until_worker_needed() {
            spawn("worker", run_worker(shared.clone()));
        }
    }
}

fn run_worker(shared: Arc<Shared>) -> impl FnOnce() + Send {
    move || {
        let worker =
            Worker { thread: gettid(), is_demoted: AtomicBool::new(false), is_replaced: AtomicBool::new(false) };
        while let Some(job) = next_job(&shared) {
            job(&worker);
            if worker.is_replaced.load(Relaxed) {
                return;
            }
            if worker.is_demoted.load(Relaxed) {
                locked(&shared.state).workers_needed += 1;
                return shared.worker_needed.notify_one();
            }
        }
    }
}

fn next_job(shared: &Shared) -> Option<Job> {
    let mut state = locked(&shared.state);
    state.idle_workers += 1;
    loop {
        let job = state.pop(shared.threads);
        if job.is_some() || state.closed {
            state.idle_workers -= 1;
            return job;
        }
        state = shared.job_available.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        locked(&self.shared.state).closed = true;
        self.shared.job_available.notify_all();
        self.shared.worker_needed.notify_all();
    }
}

/// Guard that calls a cancel function on drop, unless it is disarmed.
struct CancelOnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> CancelOnDrop<F> {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl<F: FnOnce()> Drop for CancelOnDrop<F> {
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
    async fn a_job_returns_its_result() {
        let pool = ThreadPool::new(1, 1);
        let done = pool.run(|| (), || 6 * 7).await;
        assert_eq!(done.map(|done| done.value).map_err(|p| p.status()), Ok(42));
    }

    #[tokio::test]
    async fn a_full_queue_is_503() {
        let pool = ThreadPool::new(1, 1);
        let (hold, held) = mpsc::channel::<()>();
        let (start, started) = oneshot::channel();
        let first = tokio::spawn({
            let pool = pool.clone();
            let job = move || start.send(()).is_ok() && held.recv().is_err();
            async move { pool.run(|| (), job).await.map(|d| d.value) }
        });
        tokio::time::timeout(Duration::from_secs(5), started).await.expect("it starts").expect("it signals its start");
        let second = tokio::spawn({
            let pool = pool.clone();
            async move { pool.run(|| (), || ()).await.map(|d| d.value) }
        });
        while locked(&pool.pool.shared.state).jobs.is_empty() {
            tokio::task::yield_now().await;
        }
        let third = pool.run(|| (), || ()).await.map(|d| d.value);
        assert_eq!(third.map_err(|p| p.code().to_owned()), Err("overloaded".into()));
        drop(hold);
        assert!(matches!(first.await, Ok(Ok(true))));
        assert!(matches!(second.await, Ok(Ok(()))));
    }

    #[tokio::test]
    async fn dropping_the_future_cancels_the_job() {
        let pool = ThreadPool::new(1, 1);
        let cancelled = Arc::new(AtomicBool::new(false));
        let (started, start) = oneshot::channel();
        let (ended, end) = oneshot::channel();
        let (flag, seen) = (cancelled.clone(), cancelled.clone());
        let running = pool.run(
            move || flag.store(true, SeqCst),
            move || {
                started.send(()).expect("the test waits for it");
                while !seen.load(SeqCst) {
                    thread::yield_now();
                }
                ended.send(())
            },
        );
        tokio::select! {
            _ = running => unreachable!("the job runs until it is cancelled"),
            started = start => started.expect("the job starts"),
        }
        assert!(tokio::time::timeout(Duration::from_secs(5), end).await.is_ok_and(|ended| ended.is_ok()));
    }

    #[tokio::test]
    async fn a_panic_ends_its_job_and_not_the_pool() {
        let pool = ThreadPool::new(1, 1);
        let panicked = pool.run(|| (), || panic!("a bug, on purpose")).await.map(|d| d.value);
        assert_eq!(panicked.map_err(|p| p.status().as_u16()), Err::<(), _>(500));
        assert!(pool.run(|| (), || ()).await.is_ok());
    }

    #[tokio::test]
    async fn long_jobs_of_one_principal_do_not_block_others() {
        let pool = ThreadPool::new(2, 64);
        let (hold, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let long = (0..20).map(|_| {
            let (pool, held) = (pool.clone(), held.clone());
            tokio::spawn(async move { pool.run_for("a", || (), move || locked(&held).recv().is_err()).await.is_ok() })
        });
        let long: Vec<_> = long.collect();
        while locked(&pool.pool.shared.state).long_jobs.len() < 2 {
            sleep(Duration::from_millis(1)).await;
        }
        for _ in 0..10 {
            let short = tokio::time::timeout(Duration::from_secs(5), pool.run_for("b", || (), || ())).await;
            assert!(short.is_ok_and(|done| done.is_ok()));
        }
        drop(hold);
        for job in long {
            assert!(job.await.expect("no panic"));
        }
        // The slot is released just after the result is sent.
        let released = async {
            while !locked(&pool.pool.shared.state).long_jobs.is_empty() {
                sleep(Duration::from_millis(1)).await;
            }
        };
        assert!(tokio::time::timeout(Duration::from_secs(5), released).await.is_ok());
    }

    #[tokio::test]
    async fn one_principal_cannot_fill_the_queue() {
        let pool = ThreadPool::new(1, 8);
        let (hold, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let jobs = (0..20).map(|_| {
            let (pool, held) = (pool.clone(), held.clone());
            tokio::spawn(async move { pool.run_for("a", || (), move || locked(&held).recv().is_err()).await.is_ok() })
        });
        let jobs: Vec<_> = jobs.collect();
        while locked(&pool.pool.shared.state).long_jobs.is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
        assert!(pool.run_for("b", || (), || ()).await.is_ok());
        drop(hold);
        let mut refused = 0;
        for job in jobs {
            refused += usize::from(!job.await.expect("no panic"));
        }
        assert!(refused >= 12, "{refused}");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn jobs_run_at_lower_priority() {
        let priority =
            || uapi::sched_getattr(0, 0).map(|own| (own.sched_nice, own.sched_runtime)).expect("scheduling attributes");
        let (default_nice, default_slice) = priority();
        let (nice, slice) = ThreadPool::new(1, 1).run(|| (), priority).await.expect("it runs").value;
        assert_eq!(nice, JOB_NICE.max(default_nice));
        // Before Linux 6.12 threads have no time slice of their own, and all report 0.
        assert!(slice > default_slice || default_slice == 0, "{slice} {default_slice}");
    }

    #[tokio::test]
    async fn a_long_job_is_demoted_and_its_worker_replaced() {
        let pool = ThreadPool::new(1, 1);
        let priority = || (gettid(), rustix::process::getpriority_process(Some(gettid())).ok());
        let long = pool.run(
            || (),
            move || {
                thread::sleep(DEMOTE_AFTER * 4);
                priority()
            },
        );
        let (demoted, nice) = long.await.expect("it runs").value;
        assert_eq!(nice, Some(LOWEST_NICE));
        let (replacement, nice) = pool.run(|| (), priority).await.expect("it runs").value;
        assert_ne!((replacement, nice), (demoted, Some(LOWEST_NICE)));
    }
}
