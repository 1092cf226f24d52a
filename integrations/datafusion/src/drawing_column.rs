//! Column of drawings or of queries: text or bytes, in any of the layouts of Arrow.

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray,
};
use datafusion::arrow::array::{StringArray, StringViewArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, plan_err};

/// Values of a column as bytes.
pub(crate) enum DrawingColumn<'a> {
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    Bytes(&'a BinaryArray),
    LargeBytes(&'a LargeBinaryArray),
    BytesView(&'a BinaryViewArray),
}

impl<'a> DrawingColumn<'a> {
    pub(crate) fn new(array: &'a ArrayRef) -> Result<DrawingColumn<'a>> {
        Ok(match array.data_type() {
            DataType::Utf8 => DrawingColumn::Text(array.as_string()),
            DataType::LargeUtf8 => DrawingColumn::LargeText(array.as_string()),
            DataType::Utf8View => DrawingColumn::TextView(array.as_string_view()),
            DataType::Binary => DrawingColumn::Bytes(array.as_binary()),
            DataType::LargeBinary => DrawingColumn::LargeBytes(array.as_binary()),
            DataType::BinaryView => DrawingColumn::BytesView(array.as_binary_view()),
            other => return exec_err!("a drawing is text or bytes, not {other}"),
        })
    }

    /// Returns the value of a row. `None` if it is NULL.
    pub(crate) fn value(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            DrawingColumn::Text(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            DrawingColumn::LargeText(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            DrawingColumn::TextView(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            DrawingColumn::Bytes(array) => array.is_valid(row).then(|| array.value(row)),
            DrawingColumn::LargeBytes(array) => array.is_valid(row).then(|| array.value(row)),
            DrawingColumn::BytesView(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

/// Returns the type to which a column of drawings is cast: most stay as they are.
pub(crate) fn drawing_type(given: &DataType) -> Result<DataType> {
    match given {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(given.clone()),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Ok(given.clone()),
        DataType::Null => Ok(DataType::Utf8),
        DataType::Dictionary(_, values) => drawing_type(values),
        other => plan_err!("a drawing is text or bytes, not {other}"),
    }
}

/// Returns the type to which an argument that is text is cast. `position` counts from one.
pub(crate) fn text_type(function: &str, position: usize, given: &DataType) -> Result<DataType> {
    match given {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => Ok(DataType::Utf8),
        DataType::Dictionary(_, values) => text_type(function, position, values),
        other => plan_err!("argument {position} of `{function}` is text, not {other}"),
    }
}
