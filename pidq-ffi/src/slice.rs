//! Bytes that are lent to C, and texts that C lends to us.

use std::ffi::{CStr, c_char};

use crate::error::Fault;

/// Bytes that belong to somebody else. What pidq lends is UTF-8 (files of binary formats aside), ends with a NUL byte
/// that `len` does not count, and stays until the handle it came from is deleted. `data` is NULL where there is nothing.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slice {
    /// The first byte.
    pub data: *const c_char,
    /// How many bytes.
    pub len: usize,
}

impl Slice {
    /// Nothing.
    pub const NONE: Slice = Slice { data: std::ptr::null(), len: 0 };
}

/// A text with a NUL byte after it, as it is lent.
#[derive(Debug)]
pub struct Text(Box<[u8]>);

impl Text {
    /// Takes bytes over.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Text {
        let mut bytes = bytes.into();
        bytes.push(0);
        Text(bytes.into_boxed_slice())
    }

    /// The text as C sees it.
    pub fn slice(&self) -> Slice {
        Slice { data: self.0.as_ptr().cast(), len: self.0.len() - 1 }
    }
}

/// Bytes that C lends for a call.
///
/// # Safety
/// `data` points to `len` bytes that nobody changes during the call; it may be null where `len` is 0.
pub unsafe fn bytes<'a>(data: *const c_char, len: usize, name: &'static str) -> Result<&'a [u8], Fault> {
    match (data.is_null(), len) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(Fault::null(name)),
        _ if len > isize::MAX as usize => Err(Fault::misuse(format!("`{name}` is longer than memory"))),
        // SAFETY: the caller promises that the bytes are there.
        _ => Ok(unsafe { std::slice::from_raw_parts(data.cast(), len) }),
    }
}

/// Things of a kind that C lends for a call, `most` of them.
///
/// # Safety
/// `items` points to `count` of them that nobody changes during the call; it may be null where `count` is 0.
pub unsafe fn items<'a, T>(items: *const T, count: usize, most: usize, name: &'static str) -> Result<&'a [T], Fault> {
    match (items.is_null(), count) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(Fault::null(name)),
        _ if count > most => Err(Fault::misuse(format!("{count} `{name}` are more than {most}"))),
        // SAFETY: the caller promises that they are there.
        _ => Ok(unsafe { std::slice::from_raw_parts(items, count) }),
    }
}

/// A text that C lends for a call.
///
/// # Safety
/// As [`bytes`].
pub unsafe fn text<'a>(data: *const c_char, len: usize, name: &'static str) -> Result<&'a str, Fault> {
    // SAFETY: the caller promises the same.
    let bytes = unsafe { bytes(data, len, name) }?;
    std::str::from_utf8(bytes).map_err(|error| Fault::not_utf8(name, error.valid_up_to()))
}

/// A text that ends with a NUL byte; nothing where it is null.
///
/// # Safety
/// `data` is null or points to bytes that end with NUL and that nobody changes during the call.
pub unsafe fn word<'a>(data: *const c_char, name: &'static str) -> Result<Option<&'a str>, Fault> {
    if data.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises that a NUL byte ends it.
    let text = unsafe { CStr::from_ptr(data) };
    text.to_str().map(Some).map_err(|error| Fault::not_utf8(name, error.valid_up_to()))
}

/// A place that C gives for an answer.
///
/// # Safety
/// `out` is null or a place that can be written.
pub unsafe fn write_to<T>(out: *mut T, value: T) -> Result<(), Fault> {
    if out.is_null() {
        return Err(Fault::null("out"));
    }
    // SAFETY: the caller promises that it can be written.
    unsafe { out.write(value) };
    Ok(())
}
