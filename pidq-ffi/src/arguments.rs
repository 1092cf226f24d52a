//! Arguments of C functions: bytes, strings and arrays for the duration of a call, and output pointers.

use std::ffi::{CStr, c_char};

use crate::abi_error::AbiError;

/// Length of a text that ends with NUL: `PIDQ_NUL_TERMINATED`.
const NUL_TERMINATED: usize = usize::MAX;

/// Returns bytes passed by C for a call.
///
/// # Safety
/// `data` points to `len` bytes that do not change during the call, or ends with NUL if `len` says so; it may be null if
/// `len` is 0.
pub unsafe fn bytes<'a>(data: *const c_char, len: usize, name: &'static str) -> Result<&'a [u8], AbiError> {
    match (data.is_null(), len) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(AbiError::null(name)),
        // SAFETY: the caller promises that a NUL byte ends it.
        (false, NUL_TERMINATED) => Ok(unsafe { CStr::from_ptr(data) }.to_bytes()),
        _ if len > isize::MAX as usize => Err(AbiError::misuse(format!("`{name}` is longer than the address space"))),
        // SAFETY: the caller promises that the bytes are valid.
        _ => Ok(unsafe { std::slice::from_raw_parts(data.cast(), len) }),
    }
}

/// Returns an array passed by C for a call, of at most `max_count` items.
///
/// # Safety
/// `items` points to `count` items that do not change during the call; it may be null if `count` is 0.
pub unsafe fn borrow_items<'a, T>(
    items: *const T,
    count: usize,
    max_count: usize,
    name: &'static str,
) -> Result<&'a [T], AbiError> {
    match (items.is_null(), count) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(AbiError::null(name)),
        _ if count > max_count => {
            Err(AbiError::misuse(format!("`{name}` has {count} items, more than the limit of {max_count}")))
        }
        // SAFETY: the caller promises that the items are valid.
        _ => Ok(unsafe { std::slice::from_raw_parts(items, count) }),
    }
}

/// Returns a text passed by C for a call.
///
/// # Safety
/// As [`bytes`].
pub unsafe fn text<'a>(data: *const c_char, len: usize, name: &'static str) -> Result<&'a str, AbiError> {
    // SAFETY: the caller promises the same.
    let bytes = unsafe { bytes(data, len, name) }?;
    std::str::from_utf8(bytes).map_err(|error| AbiError::not_utf8(name, error.valid_up_to()))
}

/// Returns a NUL-terminated text; `None` if it is null.
///
/// # Safety
/// `data` is null or points to bytes that end with NUL and do not change during the call.
pub unsafe fn c_string<'a>(data: *const c_char, name: &'static str) -> Result<Option<&'a str>, AbiError> {
    if data.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises that a NUL byte ends it.
    let text = unsafe { CStr::from_ptr(data) };
    text.to_str().map(Some).map_err(|error| AbiError::not_utf8(name, error.valid_up_to()))
}

/// Writes a value to an output pointer passed by C.
///
/// # Safety
/// `out` is null or valid for writes.
pub unsafe fn write_to<T>(out: *mut T, value: T) -> Result<(), AbiError> {
    if out.is_null() {
        return Err(AbiError::null("out"));
    }
    // SAFETY: the caller promises that it is valid for writes.
    unsafe { out.write(value) };
    Ok(())
}
