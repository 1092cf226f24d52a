//! Readers of the document formats, one module per format, and what they share.

pub(super) mod code_pages;
pub(super) mod csv;
pub(super) mod docx;
pub(super) mod docx_numbering;
pub(super) mod eml;
pub(super) mod epub;
pub(super) mod html;
pub(super) mod image;
pub(super) mod json;
pub(super) mod legacy_office;
pub(super) mod list_numbers;
pub(super) mod markdown;
pub(super) mod msg;
pub(super) mod odf;
pub(super) mod ooxml_parts;
#[cfg(feature = "pdf")]
pub(super) mod pdf;
pub(super) mod pid_graph;
pub(super) mod pptx;
pub(super) mod rtf;
pub(super) mod symbol_fonts;
pub(super) mod txt;
#[cfg(feature = "spreadsheets")]
pub(super) mod xls;
#[cfg(feature = "spreadsheets")]
mod xls_bounds;
#[cfg(feature = "spreadsheets")]
pub(super) mod xls_number_formats;
#[cfg(feature = "spreadsheets")]
pub(super) mod xlsx;
#[cfg(feature = "spreadsheets")]
pub(super) mod xlsx_number_format;
