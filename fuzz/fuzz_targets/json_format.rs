//! What libFuzzer makes up, held against the claim in `claims/json_format.rs`.

#![no_main]

#[path = "../claims/json_format.rs"]
mod claim;

libfuzzer_sys::fuzz_target!(|input: &str| claim::check(input));
