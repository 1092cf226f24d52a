//! Permits of uploads that are converted and validated, which needs several times the memory of their content.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::graph_permits::GraphPermits;

/// Permits of all uploads at a time.
pub struct UploadPermits {
    /// One import of a drawing.
    import: Arc<Semaphore>,
    /// Graphs as JSON.
    pub graphs: GraphPermits,
}

impl UploadPermits {
    /// Creates the permits for graphs of a maximum size.
    pub fn new(max_graph_size: usize) -> UploadPermits {
        UploadPermits { import: Arc::new(Semaphore::new(1)), graphs: GraphPermits::new(max_graph_size) }
    }

    /// Waits until a drawing in another format may be imported.
    pub async fn acquire_import(&self) -> Option<OwnedSemaphorePermit> {
        self.import.clone().acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::graph_permits::tests::granted;

    #[test]
    fn drawings_are_imported_one_at_a_time() {
        let permits = UploadPermits::new(1 << 20);
        let first = granted(permits.acquire_import());
        assert!(first.is_some() && granted(permits.acquire_import()).is_none());
        drop(first);
        assert!(granted(permits.acquire_import()).is_some());
    }
}
