//! Fuzz target of the property in `claims/eval.rs`.

#![no_main]

#[path = "../claims/eval.rs"]
mod claim;

libfuzzer_sys::fuzz_target!(|input: &str| claim::check(input));
