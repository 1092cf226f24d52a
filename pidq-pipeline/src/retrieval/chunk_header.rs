//! Header that is indexed with a chunk, if the pipeline asks for it.

use pidq_store::domain::model::Pipeline;
use pidq_text::search;

/// Returns the header that is indexed with a chunk: title and headings, or empty.
pub fn chunk_header(pipeline: &Pipeline, title: &str, headings: &[String]) -> String {
    match pipeline.has_chunk_header() {
        true => search::chunk_header(title, headings.iter().map(String::as_str)),
        false => String::new(),
    }
}
