//! Memory of the service: the budget of queries and unread responses, and pooled buffers.

pub mod buffer_pool;
pub mod memory_pool;
