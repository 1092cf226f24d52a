//! Guides: the language, limits, custom functions, and use from async code.

#[doc = include_str!("../guide/language.md")]
pub mod language {}

#[doc = include_str!("../guide/limits.md")]
pub mod limits {}

#[doc = include_str!("../guide/custom_functions.md")]
pub mod custom_functions {}

#[doc = include_str!("../guide/async_code.md")]
pub mod async_code {}
