//! The C ABI of pidq: opaque handles, errors as values, and no panics across the boundary.
//!
//! One file per handle. C programs include `include/pidq.h`, which cbindgen generates from these files; its
//! configuration is `header.toml`. The only crate of the project with `unsafe`: each use names the promise it relies
//! on.

#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]
// The obligations of callers are at the top of the header, not at each function.
#![allow(clippy::missing_safety_doc)]

// In the order of the header.
mod version;

mod graph;

mod drawing;

mod params;
mod query;

mod dialect;

mod cancel;
mod limits;

mod result;
mod rows;
mod value;

mod arrow;
mod batch;
mod build;
mod columns;

mod buffer;

mod error_handle;

mod error;

mod slice;

mod abi_error;
mod arguments;
mod buffer_pool;
mod handle;
mod panic_guard;
mod warnings_json;

pub use abi_error::ErrorCode;
pub use arrow::{ArrowArray, ArrowArrayStream, ArrowSchema, pidq_result_arrow, pidq_result_columns};
pub use batch::{
    BatchHandle, pidq_batch_arrow, pidq_batch_count, pidq_batch_delete, pidq_batch_failures, pidq_query_run_batch,
};
pub use buffer::{
    Buffer, Files, pidq_buffer_bytes, pidq_buffer_delete, pidq_files_bytes, pidq_files_count, pidq_files_delete,
    pidq_files_name,
};
pub use build::{
    Builder, ForeignValue, SharedHandle, pidq_result_build, pidq_result_build_items, pidq_result_build_shared,
    pidq_shared_delete, pidq_shared_new,
};
pub use cancel::{CancelHandle, pidq_cancel_delete, pidq_cancel_fire, pidq_cancel_new, pidq_cancel_time_out};
pub use dialect::call::{
    CallHandle, pidq_call_argument, pidq_call_count, pidq_call_fail, pidq_call_input, pidq_call_return_bool,
    pidq_call_return_json, pidq_call_return_number, pidq_call_return_string, pidq_call_return_value,
};
pub use dialect::{
    Destroy, DialectHandle, FunctionBody, pidq_dialect_add_function, pidq_dialect_delete, pidq_dialect_new,
    pidq_dialect_parse, pidq_dialect_prepare,
};
pub use drawing::{DiffOptions, DrawOptions, pidq_graph_diff, pidq_graph_draw, pidq_graph_join, pidq_graph_join_with};
pub use error::{
    pidq_error_code, pidq_error_delete, pidq_error_help, pidq_error_json, pidq_error_location, pidq_error_message,
    pidq_error_number, pidq_error_span, pidq_error_stage, pidq_error_text,
};
pub use error_handle::ErrorHandle;
pub use graph::{
    GraphHandle, pidq_graph_delete, pidq_graph_export, pidq_graph_import, pidq_graph_open, pidq_graph_parse,
    pidq_graph_parse_with, pidq_graph_read, pidq_graph_size,
};
pub use limits::LimitsOptions;
pub use params::{
    ParamsHandle, pidq_params_delete, pidq_params_new, pidq_params_set_bool, pidq_params_set_json,
    pidq_params_set_number, pidq_params_set_string,
};
pub use query::{
    QueryHandle, pidq_query_check, pidq_query_delete, pidq_query_explain, pidq_query_from_json, pidq_query_parameters,
    pidq_query_parse, pidq_query_parse_with, pidq_query_prepare, pidq_query_run, pidq_query_run_with, pidq_query_text,
    pidq_query_tree,
};
pub use result::{
    ResultHandle, pidq_result_count, pidq_result_delete, pidq_result_export, pidq_result_fuel, pidq_result_json,
    pidq_result_type, pidq_result_warnings, pidq_result_write,
};
pub use rows::{RowsHandle, pidq_rows_delete, pidq_rows_new, pidq_rows_next};
pub use slice::Slice;
pub use value::{
    ValueType, ValueView, pidq_result_value, pidq_value_bool, pidq_value_copy, pidq_value_count, pidq_value_field,
    pidq_value_field_of_len, pidq_value_integer, pidq_value_item, pidq_value_json, pidq_value_next, pidq_value_number,
    pidq_value_string, pidq_value_type,
};
pub use version::{ABI_VERSION, pidq_abi_version, pidq_version};
