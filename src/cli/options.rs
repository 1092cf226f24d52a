//! Options of the command line: defaults from a file, and help for misspelled ones.

pub mod file;
pub mod hint;
