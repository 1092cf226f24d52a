//! Fuzz target of the property in `claims/load.rs`.

#![no_main]

#[path = "../claims/load.rs"]
mod claim;

libfuzzer_sys::fuzz_target!(|input: &[u8]| claim::check(input));
