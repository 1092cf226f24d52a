//! Permits of uploads that are converted and validated, which needs several times the memory of their content.

use tokio::sync::{Semaphore, SemaphorePermit};

use super::graph_permits::GraphPermits;

/// Permits of all uploads at a time.
pub struct UploadPermits {
    /// One import of a drawing.
    import: Semaphore,
    /// Graphs as JSON.
    pub graphs: GraphPermits,
}

impl UploadPermits {
    /// Creates the permits for graphs of a maximum size.
    pub fn new(max_graph_size: usize) -> UploadPermits {
        UploadPermits { import: Semaphore::new(1), graphs: GraphPermits::new(max_graph_size) }
    }

    /// Waits until a drawing in another format may be imported.
    pub async fn acquire_import(&self) -> Option<SemaphorePermit<'_>> {
        self.import.acquire().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Returns the permits that are granted without waiting.
    fn granted<T>(request: impl Future<Output = T>) -> Option<T> {
        match pin!(request).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    #[test]
    fn drawings_are_imported_one_at_a_time() {
        let permits = UploadPermits::new(1 << 20);
        let first = granted(permits.acquire_import());
        assert!(first.is_some() && granted(permits.acquire_import()).is_none());
        drop(first);
        assert!(granted(permits.acquire_import()).is_some());
    }
}
