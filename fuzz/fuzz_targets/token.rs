//! Fuzz target of the property in `claims/token.rs`.

#![no_main]

#[path = "../claims/token.rs"]
mod claim;
#[path = "../claims/world.rs"]
mod world;

libfuzzer_sys::fuzz_target!(|input: &str| claim::check(input));
