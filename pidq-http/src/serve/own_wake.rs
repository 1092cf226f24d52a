//! Future that is polled only after its own wake-ups.
//!
//! A connection wakes its task several times per request. Timers and the shutdown signal, which wake it rarely, would be
//! polled each time.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Future that is polled only after its own wake-ups.
pub(super) struct OnOwnWake<F> {
    future: Pin<Box<F>>,
    wake: Arc<OwnWake>,
    /// Waker of the future.
    waker: Waker,
    /// Waker of the task, as the future knows it.
    task: Option<Waker>,
}

#[derive(Default)]
struct OwnWake {
    is_woken: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Wake for OwnWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl<F> OnOwnWake<F> {
    pub fn new(future: F) -> Self {
        let wake = Arc::new(OwnWake { is_woken: AtomicBool::new(true), task: Mutex::default() });
        OnOwnWake { future: Box::pin(future), waker: wake.clone().into(), wake, task: None }
    }

    /// Passes the waker of the task on. It changes only if the future moves to another task.
    fn set_task(&mut self, task: &Waker) {
        if !self.task.as_ref().is_some_and(|known| known.will_wake(task)) {
            self.task = Some(task.clone());
            *self.wake.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.clone());
        }
    }
}

impl<F: Future> Future for OnOwnWake<F> {
    type Output = F::Output;

    /// Hot: most calls end after two comparisons. A wake-up between them wakes the task again.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        this.set_task(cx.waker());
        if !this.wake.is_woken.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        this.wake.is_woken.store(false, Ordering::Release);
        this.future.as_mut().poll(&mut Context::from_waker(&this.waker))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_future_is_polled_for_its_own_wake_ups_only() {
        let (polls, notify, other) = (AtomicUsize::new(0), Notify::new(), Notify::new());
        let mut notified = Box::pin(notify.notified());
        let mut gated = OnOwnWake::new(poll_fn(|cx| {
            polls.fetch_add(1, Ordering::Relaxed);
            notified.as_mut().poll(cx)
        }));
        for _ in 0..5 {
            tokio::select! {
                biased;
                () = Pin::new(&mut gated) => panic!("there was no notification"),
                () = async { other.notify_one(); other.notified().await } => {}
            }
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        notify.notify_one();
        Pin::new(&mut gated).await;
        assert_eq!(polls.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_future_that_moves_to_another_task_wakes_that_one() {
        let mut gated = OnOwnWake::new(tokio::time::sleep(Duration::from_millis(20)));
        let is_pending = poll_fn(|cx| Poll::Ready(Pin::new(&mut gated).poll(cx).is_pending())).await;
        assert!(is_pending);
        let waited = tokio::time::timeout(Duration::from_secs(20), tokio::spawn(gated)).await;
        assert!(matches!(waited, Ok(Ok(()))));
    }
}
