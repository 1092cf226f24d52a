//! Fuzz target of the property in `properties/graph.rs`.

#![no_main]

#[path = "../properties/graph.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &[u8]| property::check(input));
