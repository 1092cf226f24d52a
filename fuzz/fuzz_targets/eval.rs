//! Fuzz target of the property in `properties/eval.rs`.

#![no_main]

#[path = "../properties/eval.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &str| property::check(input));
