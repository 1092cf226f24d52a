//! Fuzz target of the property in `claims/json_format.rs`.

#![no_main]

#[path = "../claims/json_format.rs"]
mod claim;

libfuzzer_sys::fuzz_target!(|input: &str| claim::check(input));
