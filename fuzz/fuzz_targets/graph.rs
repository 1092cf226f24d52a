//! Fuzz target of the property in `claims/graph.rs`.

#![no_main]

#[path = "../claims/graph.rs"]
mod claim;

libfuzzer_sys::fuzz_target!(|input: &[u8]| claim::check(input));
