//! Boxed future of handlers and hooks, which tables store as function pointers.

use std::pin::Pin;

/// Boxed future, as stored in a table row.
pub type Fut<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
