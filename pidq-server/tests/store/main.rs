//! What the store of graphs promises, on every kind of store, through power cuts, faults and kills.
//!
//! Longer runs: `PIDQ_TEST_CUTS=100000` power cuts, `PIDQ_TEST_KILLS=10000` kills, `PIDQ_TEST_GRAPHS` at the start.

mod cuts;
mod dir;
mod door;
mod faults;
mod graphs;
mod kill;
mod served;
mod setting;
mod sim;
mod sql;
mod suite;
