//! Text processing of the document platform: analyzer, splitters, embedding models, ranking, and search of partitions in
//! memory.
//!
//! ```
//! use pidq_text::splitter;
//!
//! let splitter = splitter::SPLITTERS.iter().find(|splitter| splitter.name == "CharacterTextSplitter");
//! assert!(splitter.is_some());
//! ```

#![forbid(unsafe_code)]

pub mod analyzer;
pub mod codec;
pub mod conformance;
pub mod embedding;
pub mod evaluation;
pub mod ranking;
pub mod search;
pub mod splitter;
