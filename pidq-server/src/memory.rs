//! Memory of the service: the budget of queries and unread responses, permits of graphs and uploads, and pooled buffers.

pub mod buffer_pool;
pub mod graph_permits;
pub mod memory_pool;
pub mod upload_permits;
