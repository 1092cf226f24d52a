//! Fuzz target of the property in `properties/token.rs`.

#![no_main]

#[path = "../properties/fixture.rs"]
mod fixture;
#[path = "../properties/token.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|input: &str| property::check(input));
