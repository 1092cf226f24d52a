//! The whole product, as a user meets it. One binary; one file a boundary.

mod conformance;
mod errors;
mod floors;
mod functions;
mod language;
mod limits;
mod properties;
