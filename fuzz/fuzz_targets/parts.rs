//! Fuzz target of the property in `claims/parts.rs`.

#![no_main]

#[path = "../claims/parts.rs"]
mod claim;

libfuzzer_sys::fuzz_target!(|input: &[u8]| claim::check(input));
