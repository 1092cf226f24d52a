//! Tests of graph storage: every kind of store, power cuts, I/O faults and killed processes.
//!
//! Longer runs: `PIDQ_TEST_CUTS=100000` power cuts, `PIDQ_TEST_KILLS=10000` kills, `PIDQ_TEST_GRAPHS` graphs at
//! startup.

mod caches;
mod conformance;
mod dir;
mod fixtures;
mod io_faults;
mod load_concurrency;
mod power_cuts;
mod process_kills;
mod read_only_dir;
mod simulated_disk;
mod sql;
mod validation;
