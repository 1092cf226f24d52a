//! Fuzz target of the property in `properties/parts.rs`.

#![no_main]

#[path = "../properties/parts.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &[u8]| property::check(input));
