//! Documents that were made to do harm.
