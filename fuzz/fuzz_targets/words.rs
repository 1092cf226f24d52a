//! Fuzz target of the property in `properties/words.rs`.

#![no_main]

#[path = "../properties/words.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &[u8]| property::check(input));
