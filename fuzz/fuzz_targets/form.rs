//! Fuzz target of the property in `properties/form.rs`.

#![no_main]

#[path = "../properties/fixture.rs"]
mod fixture;
#[path = "../properties/form.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &[u8]| property::check(input));
