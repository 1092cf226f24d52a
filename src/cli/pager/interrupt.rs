//! Ctrl-C while another program, such as the pager, has the terminal: it is meant for that program only.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// Runs another program and waits for it, without ending this process when the user presses Ctrl-C. The program itself gets
/// the signal: a handler, unlike an ignored signal, does not pass on to it.
pub(super) fn with_program<T>(run: impl FnOnce() -> T) -> T {
    /// True while Ctrl-C ends this process; `None` if the handler could not be set.
    static ENDS_PROCESS: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();
    let ends_process = ENDS_PROCESS.get_or_init(|| {
        let condition = Arc::new(AtomicBool::new(true));
        flag::register_conditional_default(SIGINT, condition.clone()).is_ok().then_some(condition)
    });
    let set = |ends| {
        if let Some(condition) = ends_process {
            condition.store(ends, Ordering::SeqCst);
        }
    };
    set(false);
    let result = run();
    set(true);
    result
}
