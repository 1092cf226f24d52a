//! Images of pages of stored documents, rendered by the sandboxed extractor.

use std::iter;

use pidq_extract::{PageRendering, StopHandle};
use tokio::sync::mpsc::channel;

use super::extract_and_split::{
    DocumentError, InputContent, MAX_BLOCKS_IN_FLIGHT, ReadError, StopOnDrop, run_blocking, send_blocks,
};
use crate::platform::Platform;
use crate::platform::programs::PageRenderer;

/// Page of a document to render.
pub(crate) struct DocumentPage<'d> {
    pub document: &'d str,
    pub revision: i64,
    /// Page, from 1.
    pub page: u32,
    /// Longer side of the image in pixels.
    pub longer_side: u32,
}

/// Renders a page as a PNG file in a separate process, to which the document is sent block by block; none if the document has
/// no page of the number. The process is stopped when the future is dropped.
pub(crate) async fn render(
    platform: &Platform,
    renderer: &PageRenderer,
    DocumentPage { document, revision, page, longer_side }: DocumentPage<'_>,
) -> Result<Option<Vec<u8>>, ReadError> {
    let sandbox = platform.ingestion.extractor.clone();
    let rendering = PageRendering { pdftoppm: renderer.path.clone(), page, longer_side };
    let stop = StopHandle::default();
    let _end = StopOnDrop(stop.clone());
    let (sender, mut receiver) = channel(MAX_BLOCKS_IN_FLIGHT);
    let rendered = run_blocking(move || {
        let blocks = Box::new(iter::from_fn(move || receiver.blocking_recv()));
        pidq_extract::render_page_in_sandbox(blocks, &rendering, &sandbox, &stop)
    });
    let content = InputContent::Stored { document: document.to_owned(), revision };
    let (sent, rendered) = tokio::join!(send_blocks(&platform.store, content, sender), rendered);
    // If sending failed, the process received an incomplete document: the sending error takes precedence.
    sent?;
    Ok(rendered?.map_err(DocumentError::from)?)
}
