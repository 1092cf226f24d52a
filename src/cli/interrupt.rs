//! Ctrl-C while it is meant for a query of the prompt or for another program, not for this process. Except on Unix, it always
//! ends this process.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use pidq::Cancel;
#[cfg(unix)]
use signal_hook::{consts::SIGINT, flag};

/// Interval between the looks at the flag that the signal sets.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Flags of the signal handler. A handler, unlike an ignored signal, does not pass on to other programs.
struct Handler {
    /// True while Ctrl-C ends this process.
    ends_process: Arc<AtomicBool>,
    /// Set by each Ctrl-C.
    is_interrupted: Arc<AtomicBool>,
}

impl Handler {
    /// Sets the handler on the first call. Returns `None` if it could not be set.
    fn global() -> Option<&'static Handler> {
        static HANDLER: OnceLock<Option<Handler>> = OnceLock::new();
        HANDLER.get_or_init(|| Handler::register().ok()).as_ref()
    }

    #[cfg(unix)]
    fn register() -> io::Result<Handler> {
        let handler = Handler { ends_process: Arc::new(AtomicBool::new(true)), is_interrupted: Arc::default() };
        flag::register_conditional_default(SIGINT, handler.ends_process.clone())?;
        flag::register(SIGINT, handler.is_interrupted.clone())?;
        Ok(handler)
    }

    #[cfg(not(unix))]
    fn register() -> io::Result<Handler> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Runs another program and waits for it, without ending this process when the user presses Ctrl-C. The program itself gets
/// the signal.
#[cfg(unix)]
pub fn with_program<T>(run: impl FnOnce() -> T) -> T {
    with_ctrl_c(false, run)
}

/// Runs a prompt. Ctrl-C ends neither it nor this process, but only its query.
pub fn with_prompt<T>(run: impl FnOnce() -> T) -> T {
    with_ctrl_c(false, run)
}

/// Runs a part of a prompt that cannot be cancelled: Ctrl-C ends this process.
pub fn with_end<T>(run: impl FnOnce() -> T) -> T {
    with_ctrl_c(true, run)
}

fn with_ctrl_c<T>(ends_process: bool, run: impl FnOnce() -> T) -> T {
    let Some(handler) = Handler::global() else { return run() };
    let before = handler.ends_process.swap(ends_process, Ordering::SeqCst);
    let result = run();
    handler.ends_process.store(before, Ordering::SeqCst);
    result
}

/// Runs a query, which Ctrl-C cancels if it does not end this process.
pub fn with_query<T>(cancel: &Cancel, run: impl FnOnce() -> T) -> T {
    let Some(handler) = Handler::global().filter(|handler| !handler.ends_process.load(Ordering::SeqCst)) else {
        return run();
    };
    let result = thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            while is_done.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if handler.is_interrupted.load(Ordering::SeqCst) {
                    return cancel.cancel();
                }
            }
        });
        let result = run();
        drop(done);
        result
    });
    // Not before the query: Ctrl-C may come before its start.
    handler.is_interrupted.store(false, Ordering::SeqCst);
    result
}
