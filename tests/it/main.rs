//! The whole product, as a user meets it. One binary; one file a boundary.

mod allocations;
mod allocator;
mod check;
mod cli;
mod columns;
mod commands;
mod conformance;
mod corpus;
mod drawing;
mod drawings;
mod errors;
mod floors;
mod formats;
mod functions;
mod generator;
mod graph;
mod hostile;
mod language;
mod limits;
mod loading;
mod manual;
mod memory;
mod oracle;
mod pid;
mod properties;
mod readme;
