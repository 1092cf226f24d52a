//! Documents that were damaged.
