//! Fuzz target of the property in `properties/parse.rs`.

#![no_main]

#[path = "../properties/parse.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &str| property::check(input));
