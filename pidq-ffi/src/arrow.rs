//! Results as columns: the Arrow C data interface, which pandas, Polars, DuckDB and Arrow's own libraries read without
//! copying.

use std::ffi::{c_char, c_int, c_void};

use crate::boundary::{boundary, quiet};
use crate::columns::{Column, Data, Table};
use crate::error::ErrorHandle;
use crate::handle::lend;
use crate::result::ResultHandle;
use crate::slice::{Text, write_to};
use crate::spare::{BOOLS, BYTES, INTEGERS, OFFSETS, REALS};

/// What a column is, as Arrow defines it.
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

/// What is in a column, as Arrow defines it.
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

/// Tables one after the other, as Arrow defines it. Ours has one.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// A field may be null.
const NULLABLE: i64 = 2;
/// What a stream returns for a call that makes no sense; errno's EINVAL.
const INVALID: c_int = 22;

/// Gives a result as columns: a list of objects has a column for each key, an object is one row, anything else a column
/// `value`. `*out` is a stream of one table; call its `release` when done. The columns stay after the result is deleted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_result_arrow(
    result: *const ResultHandle,
    out: *mut ArrowArrayStream,
) -> *mut ErrorHandle {
    boundary(|| {
        // SAFETY: the rules of the header. It comes first: a stream that was not made has to look so.
        unsafe { write_to(out, ArrowArrayStream::RELEASED) }?;
        // SAFETY: as above.
        let table = Table::of(unsafe { lend(result) }?)?;
        // SAFETY: as above.
        unsafe { write_to(out, stream(table)) }
    })
}

/// What an array of Arrow holds on to.
struct Held {
    _buffers: Vec<Vec<u8>>,
    data: Option<Data>,
    pointers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

impl Drop for Held {
    /// Large memory waits for the next result.
    fn drop(&mut self) {
        match self.data.take() {
            Some(Data::Integers(values)) => INTEGERS.put_back(values),
            Some(Data::Reals(values)) => REALS.put_back(values),
            Some(Data::Bools(values)) => BOOLS.put_back(values),
            Some(Data::Texts(texts)) => {
                OFFSETS.put_back(texts.offsets);
                BYTES.put_back(texts.bytes);
            }
            Some(Data::Nothing) | None => {}
        }
    }
}

/// Truth values, eight a byte.
fn bits(values: &[bool]) -> Vec<u8> {
    let byte = |chunk: &[bool]| chunk.iter().enumerate().fold(0, |byte, (at, value)| byte | u8::from(*value) << at);
    values.chunks(8).map(byte).collect()
}

/// A column as an array. Numbers and texts stay where they are.
fn column_array(column: Column) -> ArrowArray {
    let Column { data, valid, len, nulls, .. } = column;
    let mut buffers = Vec::new();
    let mut pointers: Vec<*const c_void> = Vec::new();
    let pointer = |bytes: &Vec<u8>| bytes.as_ptr().cast::<c_void>();
    if !matches!(data, Data::Nothing) {
        let valid = valid.filter(|_| nulls > 0).map(|valid| bits(&valid));
        pointers.push(valid.as_ref().map_or(std::ptr::null(), pointer));
        buffers.extend(valid);
    }
    match &data {
        Data::Nothing => {}
        Data::Bools(values) => {
            let packed = bits(values);
            pointers.push(pointer(&packed));
            buffers.push(packed);
        }
        Data::Integers(values) => pointers.push(values.as_ptr().cast()),
        Data::Reals(values) => pointers.push(values.as_ptr().cast()),
        Data::Texts(texts) => pointers.extend([texts.offsets.as_ptr().cast(), pointer(&texts.bytes)]),
    }
    let held = Held { _buffers: buffers, data: Some(data), pointers, children: Vec::new() };
    array(len, nulls, held)
}

fn array(len: usize, nulls: usize, held: Held) -> ArrowArray {
    let mut held = Box::new(held);
    ArrowArray {
        length: len as i64,
        null_count: nulls as i64,
        offset: 0,
        n_buffers: held.pointers.len() as i64,
        n_children: held.children.len() as i64,
        buffers: held.pointers.as_mut_ptr(),
        children: held.children.as_mut_ptr(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(held).cast(),
    }
}

/// Lets an array go, and those of its columns that nobody has taken out.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    quiet((), || {
        // SAFETY: Arrow calls this once, with an array of ours.
        let (array, held) = unsafe { (&mut *array, Box::from_raw((*array).private_data.cast::<Held>())) };
        for child in &held.children {
            // SAFETY: each was boxed in `table_array`; its owner took it out if there is no release.
            let mut child = unsafe { Box::from_raw(*child) };
            if let Some(release) = child.release {
                // SAFETY: it is ours, and was not released yet.
                unsafe { release(&raw mut *child) };
            }
        }
        array.release = None;
        Ok(())
    });
}

/// A table as an array of structures.
fn table_array(table: Table) -> ArrowArray {
    let children = table.columns.into_iter().map(|column| Box::into_raw(Box::new(column_array(column)))).collect();
    let held = Held { _buffers: Vec::new(), data: None, pointers: vec![std::ptr::null()], children };
    array(table.rows, 0, held)
}

/// What a schema of Arrow holds on to.
struct Named {
    format: Text,
    name: Text,
    children: Vec<*mut ArrowSchema>,
}

fn schema(format: &str, name: &str, children: Vec<*mut ArrowSchema>) -> ArrowSchema {
    let mut named = Box::new(Named { format: Text::new(format), name: Text::new(name), children });
    ArrowSchema {
        format: named.format.slice().data,
        name: named.name.slice().data,
        metadata: std::ptr::null(),
        flags: if format == "+s" { 0 } else { NULLABLE },
        n_children: named.children.len() as i64,
        children: named.children.as_mut_ptr(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(named).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    quiet((), || {
        // SAFETY: Arrow calls this once, with a schema of ours.
        let (schema, named) = unsafe { (&mut *schema, Box::from_raw((*schema).private_data.cast::<Named>())) };
        for child in &named.children {
            // SAFETY: each was boxed in `get_schema`; its owner took it out if there is no release.
            let mut child = unsafe { Box::from_raw(*child) };
            if let Some(release) = child.release {
                // SAFETY: it is ours, and was not released yet.
                unsafe { release(&raw mut *child) };
            }
        }
        schema.release = None;
        Ok(())
    });
}

/// What a stream holds on to.
struct Source {
    fields: Vec<(String, &'static str)>,
    table: Option<Table>,
}

fn stream(table: Table) -> ArrowArrayStream {
    let fields = table.columns.iter().map(|column| (column.name.clone(), column.data.format())).collect();
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(Source { fields, table: Some(table) })).cast(),
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    quiet(INVALID, || {
        // SAFETY: Arrow calls this with a stream of ours that was not released.
        let source = unsafe { &*(*stream).private_data.cast::<Source>() };
        let field = |(name, format): &(String, &'static str)| Box::into_raw(Box::new(schema(format, name, Vec::new())));
        // SAFETY: Arrow gives a place for the schema.
        unsafe { write_to(out, schema("+s", "", source.fields.iter().map(field).collect())) }?;
        Ok(0)
    })
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    quiet(INVALID, || {
        // SAFETY: Arrow calls this with a stream of ours that was not released, one thread at a time.
        let source = unsafe { &mut *(*stream).private_data.cast::<Source>() };
        let next = source.table.take().map_or_else(ArrowArray::end, table_array);
        // SAFETY: Arrow gives a place for the array.
        unsafe { write_to(out, next) }?;
        Ok(0)
    })
}

impl ArrowArrayStream {
    /// None that could be read.
    const RELEASED: ArrowArrayStream = ArrowArrayStream {
        get_schema: None,
        get_next: None,
        get_last_error: None,
        release: None,
        private_data: std::ptr::null_mut(),
    };
}

impl ArrowArray {
    /// What comes after the last table.
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
    c"the place for the answer is NULL".as_ptr()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    quiet((), || {
        // SAFETY: Arrow calls this once, with a stream of ours.
        unsafe {
            drop(Box::from_raw((*stream).private_data.cast::<Source>()));
            (*stream).release = None;
        }
        Ok(())
    });
}
