//! Memory and disk budgets of uploads: when they are exhausted, further uploads get 503, and other requests are unaffected.

use std::sync::Arc;

use pidq_http::{Problem, Request, codes};
use pidq_store::spool::{BLOCK_SIZE, IncomingUpload, Spool};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Budgets and spool directory of uploads.
pub struct UploadBudget {
    memory: ByteBudget,
    disk: ByteBudget,
    max_upload_size: u64,
    spool: Spool,
}

/// Reserved part of the budgets, released on drop.
pub(crate) struct UploadPermit {
    _permits: [Option<OwnedSemaphorePermit>; 2],
}

/// Budget of bytes.
struct ByteBudget(Arc<Semaphore>);

/// Accounting unit in bytes.
const UNIT: u64 = 1 << 10;
/// `Retry-After` in seconds.
const RETRY_AFTER: u64 = 2;
/// Memory of a spooled upload: the block being written and the data that arrives meanwhile.
const SPOOL_MEMORY: u64 = 4 * BLOCK_SIZE as u64;

impl UploadBudget {
    /// Creates budgets in bytes. The largest upload always fits when no other is in progress.
    pub fn new(memory: u64, disk: u64, max_size: u64, spool: Spool) -> UploadBudget {
        let (memory, disk) = (ByteBudget::new(memory.max(max_size)), ByteBudget::new(disk.max(max_size)));
        UploadBudget { memory, disk, max_upload_size: max_size, spool }
    }

    /// Reserves the budgets for an upload and returns its sink; large uploads are spooled to a file. An upload without
    /// `Content-Length` reserves the maximum size.
    ///
    /// Returns 503 if a budget is exhausted.
    pub(crate) fn reserve(&self, request: &Request) -> Result<(UploadPermit, IncomingUpload), Problem> {
        let bytes = self.expected_size(request);
        let memory = self.memory.reserve(bytes.min(SPOOL_MEMORY))?;
        let disk = if bytes > BLOCK_SIZE as u64 { Some(self.disk.reserve(bytes)?) } else { None };
        Ok((UploadPermit { _permits: [Some(memory), disk] }, self.spool.receive(self.max_upload_size)))
    }

    fn expected_size(&self, request: &Request) -> u64 {
        request.content_length().map_or(self.max_upload_size, |bytes| bytes.min(self.max_upload_size))
    }
}

impl ByteBudget {
    fn new(bytes: u64) -> ByteBudget {
        let units = usize::try_from(bytes.div_ceil(UNIT)).unwrap_or(usize::MAX);
        ByteBudget(Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))))
    }

    fn reserve(&self, bytes: u64) -> Result<OwnedSemaphorePermit, Problem> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        self.0.clone().try_acquire_many_owned(units).map_err(|_| budget_exhausted())
    }
}

fn budget_exhausted() -> Problem {
    let detail = "Too many uploads are in progress. Try again later.";
    Problem::new(codes::TOO_MANY_UPLOADS).detail(detail).retry_after(RETRY_AFTER)
}
