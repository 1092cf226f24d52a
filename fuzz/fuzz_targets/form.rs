//! Fuzz target of the property in `claims/form.rs`.

#![no_main]

#[path = "../claims/form.rs"]
mod claim;
#[path = "../claims/world.rs"]
mod world;

libfuzzer_sys::fuzz_target!(|input: &[u8]| claim::check(input));
