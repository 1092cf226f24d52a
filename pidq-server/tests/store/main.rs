//! What the store of graphs promises, on every kind of store, through power cuts, faults and kills.

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
