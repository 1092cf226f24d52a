//! SFILES 2.0 import and export: a flowsheet as one line of text, the same for every order of its nodes.
//!
//! The notation (Vogel, Hirtreiter, Schulze Balhorn and Schweidtmann, "SFILES 2.0: an extended text-based flowsheet
//! representation", 2023):
//!
//! | text | meaning |
//! |---|---|
//! | `(pp)(v)` | units in the order of the flow, by abbreviation |
//! | `(splt)[(v)](tank)` | a branch, and the continuation of the unit before it |
//! | `(mix)<&\|(raw)(v)&\|` | a branch that enters the unit before it, where its `&` is |
//! | `(mix)<1(r)1` | a recycle to the unit before `<1`; `%10` for numbers above 9 |
//! | `(C){FC}_1(v)<_1` | a control unit with its letters, and a signal |
//! | `(dist){tout}(cond)` | tags of a stream |
//! | `(hex){1}` | passes of the same heat exchanger have the same number |
//! | `n\|` | an independent part of the flowsheet |
//!
//! A stream that ends at a control unit is what it measures. The text holds units, streams and signals, not tags, sizes or positions; [`losses`] lists what is left out.

mod canonical;
mod flowsheet;
mod read;
mod text;
mod units;

use pidq_core::Value;

use crate::encoding::decode_plain;
use crate::error::Result;
use crate::import::{Diagnostic, Import, ImportBuilder};
use crate::model::Model;

use flowsheet::Flowsheet;

/// Writes the flowsheet of a drawing.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let flowsheet = Flowsheet::from_model(&Model::from_value(value)?, &mut ImportBuilder::default());
    let mut text = text::write(&flowsheet, &canonical::ranks(&flowsheet).ranks);
    text.push('\n');
    Ok(vec![text.into_bytes()])
}

/// Lists what the text does not hold.
pub fn losses(value: Value<'_>) -> Result<Vec<Diagnostic>> {
    let mut builder = ImportBuilder::default();
    let flowsheet = Flowsheet::from_model(&Model::from_value(value)?, &mut builder);
    if !canonical::ranks(&flowsheet).is_verified {
        builder.report_order_dependence();
    }
    Ok(builder.diagnostics)
}

/// Reads a flowsheet.
///
/// # Errors
/// `PQ6003` with the position of the first mistake.
pub fn read(bytes: &[u8]) -> Result<Import> {
    let text = decode_plain(bytes)?;
    Ok(read::flowsheet(&text)?.into_import())
}
