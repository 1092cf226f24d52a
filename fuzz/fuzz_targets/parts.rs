//! What libFuzzer makes up, held against the claim in `claims/parts.rs`.

#![no_main]

#[path = "../claims/parts.rs"]
mod claim;

libfuzzer_sys::fuzz_target!(|input: &[u8]| claim::check(input));
