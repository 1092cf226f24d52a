//! Arrow C data interface: results as columns, which pandas, Polars, DuckDB and the Arrow libraries read without
//! copying.

use std::ffi::{c_char, c_int, c_void};

use serde_json::Value as Json;

use crate::arguments::write_to;
use crate::buffer::{Buffer, write_buffer};
use crate::buffer_pool::{BOOLS, BYTES, INTEGERS, OFFSETS, REALS};
use crate::columns::Table;
use crate::columns::column::{Column, Data};
use crate::error_handle::ErrorHandle;
use crate::handle::borrow;
use crate::panic_guard::{guard_error, guard_or};
use crate::result::ResultHandle;
use crate::slice::Text;

/// Type of a column, as defined by Arrow.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// Data of a column, as defined by Arrow.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// Stream of tables, as defined by Arrow. Results have one table.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// Flag of a nullable field.
const NULLABLE: i64 = 2;
/// Error code of a stream for an invalid call; `EINVAL` of errno.
const EINVAL: c_int = 22;

/// Exports a result as columns: a list of objects has one column per key, an object is one row, and any other value is
/// a column `value`. `*out` is a stream of one table; call its `release` when done. The columns stay valid after the
/// result is deleted.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_result_arrow(
    result: *const ResultHandle,
    out: *mut ArrowArrayStream,
) -> *mut ErrorHandle {
    guard_error(|| {
        // SAFETY: the rules of the header. It comes first, so that a stream is marked as released on failure.
        unsafe { write_to(out, ArrowArrayStream::RELEASED) }?;
        // SAFETY: as above.
        let table = Table::from_result(&unsafe { borrow(result) }?.view())?;
        // SAFETY: as above.
        unsafe { write_to(out, stream(table)) }
    })
}

/// Returns the names of the columns of a result, as `pidq_result_arrow` exports them: a JSON array. On success, `*out` is a
/// buffer that the caller deletes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn pidq_result_columns(result: *const ResultHandle, out: *mut *mut Buffer) -> *mut ErrorHandle {
    // SAFETY: the rules of the header.
    let names = || unsafe { borrow(result) }.map(|result| Json::from(Table::column_names(&result.view())).to_string());
    // SAFETY: as above.
    guard_error(|| unsafe { write_buffer(out, names) })
}

/// Data owned by an Arrow array.
struct ArrayData {
    _buffers: Vec<Vec<u8>>,
    data: Option<Data>,
    pointers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

impl Drop for ArrayData {
    /// Returns large buffers to the pool.
    fn drop(&mut self) {
        match self.data.take() {
            Some(Data::Integers(values)) => INTEGERS.recycle(values),
            Some(Data::Reals(values)) => REALS.recycle(values),
            Some(Data::Bools(values)) => BOOLS.recycle(values),
            Some(Data::Texts(texts)) => {
                OFFSETS.recycle(texts.offsets);
                BYTES.recycle(texts.bytes);
            }
            Some(Data::Null) | None => {}
        }
    }
}

/// Packs booleans, eight per byte.
fn bits(values: &[bool]) -> Vec<u8> {
    let byte = |chunk: &[bool]| chunk.iter().enumerate().fold(0, |byte, (at, value)| byte | u8::from(*value) << at);
    values.chunks(8).map(byte).collect()
}

/// Converts a column to an array. Numbers and strings are not copied.
fn column_array(column: Column) -> ArrowArray {
    let Column { data, valid, len, nulls, .. } = column;
    let mut buffers = Vec::new();
    let mut pointers: Vec<*const c_void> = Vec::new();
    let pointer = |bytes: &Vec<u8>| bytes.as_ptr().cast::<c_void>();
    if !matches!(data, Data::Null) {
        let valid = valid.filter(|_| nulls > 0).map(|valid| bits(&valid));
        pointers.push(valid.as_ref().map_or(std::ptr::null(), pointer));
        buffers.extend(valid);
    }
    match &data {
        Data::Null => {}
        Data::Bools(values) => {
            let packed = bits(values);
            pointers.push(pointer(&packed));
            buffers.push(packed);
        }
        Data::Integers(values) => pointers.push(values.as_ptr().cast()),
        Data::Reals(values) => pointers.push(values.as_ptr().cast()),
        Data::Texts(texts) => pointers.extend([texts.offsets.as_ptr().cast(), pointer(&texts.bytes)]),
    }
    let array_data = ArrayData { _buffers: buffers, data: Some(data), pointers, children: Vec::new() };
    array(len, nulls, array_data)
}

fn array(len: usize, nulls: usize, array_data: ArrayData) -> ArrowArray {
    let mut array_data = Box::new(array_data);
    ArrowArray {
        length: len as i64,
        null_count: nulls as i64,
        offset: 0,
        n_buffers: array_data.pointers.len() as i64,
        n_children: array_data.children.len() as i64,
        buffers: array_data.pointers.as_mut_ptr(),
        children: array_data.children.as_mut_ptr(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(array_data).cast(),
    }
}

/// Releases an array, and those of its children that were not moved out.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    guard_or((), || {
        // SAFETY: Arrow calls this once, with an array created by this module.
        let (array, array_data) = unsafe { (&mut *array, Box::from_raw((*array).private_data.cast::<ArrayData>())) };
        for child in &array_data.children {
            // SAFETY: each was boxed in `table_array`; its owner took it out if there is no release.
            let mut child = unsafe { Box::from_raw(*child) };
            if let Some(release) = child.release {
                // SAFETY: this module created it, and it was not released yet.
                unsafe { release(&raw mut *child) };
            }
        }
        array.release = None;
        Ok(())
    });
}

/// Converts a table to a struct array.
fn table_array(table: Table) -> ArrowArray {
    let children = table.columns.into_iter().map(|column| Box::into_raw(Box::new(column_array(column)))).collect();
    let array_data = ArrayData { _buffers: Vec::new(), data: None, pointers: vec![std::ptr::null()], children };
    array(table.rows, 0, array_data)
}

/// Data owned by an Arrow schema.
struct SchemaData {
    format: Text,
    name: Text,
    children: Vec<*mut ArrowSchema>,
}

fn schema(format: &str, name: &str, children: Vec<*mut ArrowSchema>) -> ArrowSchema {
    let mut schema_data = Box::new(SchemaData { format: Text::new(format), name: Text::new(name), children });
    ArrowSchema {
        format: schema_data.format.slice().data,
        name: schema_data.name.slice().data,
        metadata: std::ptr::null(),
        flags: if format == "+s" { 0 } else { NULLABLE },
        n_children: schema_data.children.len() as i64,
        children: schema_data.children.as_mut_ptr(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(schema_data).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    guard_or((), || {
        // SAFETY: Arrow calls this once, with a schema created by this module.
        let (schema, schema_data) =
            unsafe { (&mut *schema, Box::from_raw((*schema).private_data.cast::<SchemaData>())) };
        for child in &schema_data.children {
            // SAFETY: each was boxed in `get_schema`; its owner took it out if there is no release.
            let mut child = unsafe { Box::from_raw(*child) };
            if let Some(release) = child.release {
                // SAFETY: this module created it, and it was not released yet.
                unsafe { release(&raw mut *child) };
            }
        }
        schema.release = None;
        Ok(())
    });
}

/// State of a stream.
struct StreamState {
    fields: Vec<(String, &'static str)>,
    table: Option<Table>,
}

/// Returns a stream of one table.
pub fn stream(table: Table) -> ArrowArrayStream {
    let fields = table.columns.iter().map(|column| (column.name.clone(), column.data.format())).collect();
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(StreamState { fields, table: Some(table) })).cast(),
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    guard_or(EINVAL, || {
        // SAFETY: Arrow calls this with a stream created by this module that was not released.
        let state = unsafe { &*(*stream).private_data.cast::<StreamState>() };
        let field = |(name, format): &(String, &'static str)| Box::into_raw(Box::new(schema(format, name, Vec::new())));
        // SAFETY: Arrow passes a pointer that is valid for writing a schema.
        unsafe { write_to(out, schema("+s", "", state.fields.iter().map(field).collect())) }?;
        Ok(0)
    })
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    guard_or(EINVAL, || {
        // SAFETY: Arrow calls this with a stream created by this module that was not released, one thread at a time.
        let state = unsafe { &mut *(*stream).private_data.cast::<StreamState>() };
        let next = state.table.take().map_or_else(ArrowArray::end, table_array);
        // SAFETY: Arrow passes a pointer that is valid for writing an array.
        unsafe { write_to(out, next) }?;
        Ok(0)
    })
}

impl ArrowArrayStream {
    /// A released stream.
    pub const RELEASED: ArrowArrayStream = ArrowArrayStream {
        get_schema: None,
        get_next: None,
        get_last_error: None,
        release: None,
        private_data: std::ptr::null_mut(),
    };
}

impl ArrowArray {
    /// The array after the last table.
    fn end() -> ArrowArray {
        ArrowArray {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: std::ptr::null_mut(),
            children: std::ptr::null_mut(),
            dictionary: std::ptr::null_mut(),
            release: None,
            private_data: std::ptr::null_mut(),
        }
    }
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    c"the output pointer is NULL".as_ptr()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    guard_or((), || {
        // SAFETY: Arrow calls this once, with a stream created by this module.
        unsafe {
            drop(Box::from_raw((*stream).private_data.cast::<StreamState>()));
            (*stream).release = None;
        }
        Ok(())
    });
}
