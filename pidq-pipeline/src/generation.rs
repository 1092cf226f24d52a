//! Generation of answers: prompts, the language model, citations, and the client of the graph service.

pub mod citations;
pub mod graph_client;
pub mod prompt;
pub mod rag;
