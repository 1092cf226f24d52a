//! Fuzz target of the property in `properties/office.rs`.

#![no_main]

#[path = "../properties/extraction.rs"]
mod extraction;
#[path = "../properties/office.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &[u8]| property::check(input));
