//! Memory and disk budgets of uploads: when a caller's share of them is exhausted, its further uploads get 503.

use pidq_http::{Problem, Request, codes};
use pidq_store::spool::{BLOCK_SIZE, IncomingUpload, Spool};

use crate::shared_budget::{BudgetPermit, SharedBudget};

/// Budgets and spool directory of uploads.
pub struct UploadBudget {
    memory: SharedBudget,
    disk: SharedBudget,
    max_upload_size: u64,
    spool: Spool,
}

/// Reserved part of the budgets, released on drop.
pub(crate) struct UploadPermit {
    _permits: [Option<BudgetPermit>; 2],
}

/// `Retry-After` in seconds.
const RETRY_AFTER: u64 = 2;
/// Memory of a spooled upload: the block being written and the data that arrives meanwhile.
const SPOOL_MEMORY: u64 = 4 * BLOCK_SIZE as u64;

impl UploadBudget {
    /// Creates budgets in bytes. The largest upload always fits when no other is in progress.
    pub fn new(memory: u64, disk: u64, max_size: u64, spool: Spool) -> UploadBudget {
        let (memory, disk) = (SharedBudget::new(memory.max(max_size)), SharedBudget::new(disk.max(max_size)));
        UploadBudget { memory, disk, max_upload_size: max_size, spool }
    }

    /// Reserves the budgets for an upload and returns its sink; large uploads are spooled to a file. An upload without
    /// `Content-Length` reserves the maximum size.
    ///
    /// Returns 503 if a budget is exhausted, or the caller holds as much of it as is free.
    pub(crate) fn reserve(&self, request: &Request) -> Result<(UploadPermit, IncomingUpload), Problem> {
        let (bytes, caller) = (self.expected_size(request), request.principal()?.key());
        let reserve = |budget: &SharedBudget, bytes| budget.try_acquire(caller, bytes).ok_or_else(budget_exhausted);
        let memory = reserve(&self.memory, bytes.min(SPOOL_MEMORY))?;
        let disk = if bytes > BLOCK_SIZE as u64 { Some(reserve(&self.disk, bytes)?) } else { None };
        Ok((UploadPermit { _permits: [Some(memory), disk] }, self.spool.receive(self.max_upload_size)))
    }

    fn expected_size(&self, request: &Request) -> u64 {
        request.content_length().map_or(self.max_upload_size, |bytes| bytes.min(self.max_upload_size))
    }
}

fn budget_exhausted() -> Problem {
    let detail = "Too many uploads are in progress. Try again later.";
    Problem::new(codes::TOO_MANY_UPLOADS).detail(detail).retry_after(RETRY_AFTER)
}
