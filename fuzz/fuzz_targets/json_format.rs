//! Fuzz target of the property in `properties/json_format.rs`.

#![no_main]

#[path = "../properties/json_format.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &str| property::check(input));
