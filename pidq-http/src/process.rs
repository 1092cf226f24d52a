//! Process-wide facilities: allocator settings, random ids, log initialization, and the thread pool.

pub(crate) mod allocator;
pub(crate) mod ids;
pub(crate) mod log;
pub(crate) mod log_text;
pub(crate) mod thread_pool;
