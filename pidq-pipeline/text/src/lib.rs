//! Text processing of the document platform: analyzer, splitters, embedding models, ranking, and search of partitions in
//! memory.
//!
//! ```
//! use pidq_text::splitter;
//! use serde_json::json;
//!
//! let parameters = json!({"chunk_size": 30, "chunk_overlap": 0});
//! let splitter = splitter::find("character").expect("a row of the table").build(parameters.as_object().expect("an object"))?;
//! let text = "P-101A pumps kerosene.\n\nV-201 stores it.";
//! let chunks = splitter.split(text, &|_| Ok(Vec::new()))?;
//! assert_eq!(chunks.iter().map(|chunk| &*chunk.text).collect::<Vec<_>>(), ["P-101A pumps kerosene.", "V-201 stores it."]);
//! # Ok::<(), splitter::SplitError>(())
//! ```

#![forbid(unsafe_code)]

pub mod analyzer;
pub mod claims;
pub mod codec;
pub mod conformance;
pub mod embedding;
pub mod evaluation;
pub mod quotes;
pub mod ranking;
pub mod search;
pub mod splitter;
