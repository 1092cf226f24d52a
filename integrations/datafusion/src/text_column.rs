//! Text columns of results.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringBuilder};
use datafusion::common::{Result, exec_datafusion_err};

/// A text column that reports when a batch has more text than a column can have.
#[derive(Default)]
pub(crate) struct TextColumn(StringBuilder);

impl TextColumn {
    pub(crate) fn push(&mut self, text: Option<&str>) -> Result<()> {
        let added = text.map_or(0, str::len);
        if self.0.values_slice().len() + added > i32::MAX as usize {
            let advice = "lower `datafusion.execution.batch_size`";
            return Err(exec_datafusion_err!("pidq: the results of a batch are larger than 2 GiB; {advice}"));
        }
        self.0.append_option(text);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}
