//! Fuzz target of the property in `properties/load.rs`.

#![no_main]

#[path = "../properties/load.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &[u8]| property::check(input));
