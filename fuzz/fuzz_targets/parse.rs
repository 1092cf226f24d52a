//! Fuzz target of the property in `claims/parse.rs`.

#![no_main]

#[path = "../claims/parse.rs"]
mod claim;

libfuzzer_sys::fuzz_target!(|input: &str| claim::check(input));
