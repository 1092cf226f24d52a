//! `pidq_buffer_t` and `pidq_files_t`: bytes that C owns.

use std::ffi::c_char;

use crate::abi_error::AbiError;
use crate::handle::{Slot, borrow, delete, handle, write_handle};
use crate::panic_guard::{guard, guard_or};
use crate::slice::{Slice, Text};

/// Text, such as a drawing or a report. Delete it with `pidq_buffer_delete`.
pub struct Buffer(Slot<Text>);

handle!(Buffer, Text, b"bufr", "buffer");

/// Files of an export; most formats have one. Delete them with `pidq_files_delete`.
pub struct Files(Slot<Vec<File>>);

handle!(Files, Vec<File>, b"file", "files");

/// Exported file.
pub struct File {
    name: Text,
    bytes: Text,
}

/// Creates a text and writes its handle to `out`.
///
/// # Safety
/// `out` is null or valid for writes.
pub unsafe fn write_buffer(
    out: *mut *mut Buffer,
    make: impl FnOnce() -> Result<String, AbiError>,
) -> Result<(), AbiError> {
    // SAFETY: the caller promises the same.
    unsafe { write_handle(out, || make().map(Text::new)) }
}

/// Creates files and writes their handle to `out`.
///
/// # Safety
/// As [`write_buffer`].
pub unsafe fn write_files(
    out: *mut *mut Files,
    make: impl FnOnce() -> Result<Vec<pidq_formats::ExportedFile>, AbiError>,
) -> Result<(), AbiError> {
    let file = |part: pidq_formats::ExportedFile| File { name: Text::new(part.name), bytes: Text::new(part.bytes) };
    // SAFETY: the caller promises the same.
    unsafe { write_handle(out, || Ok(make()?.into_iter().map(file).collect::<Vec<File>>())) }
}

/// Returns the text. The buffer owns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_buffer_bytes(buffer: *const Buffer) -> Slice {
    // SAFETY: the rules of the header.
    guard_or(Slice::NONE, || Ok(unsafe { borrow(buffer) }?.slice()))
}

/// Deletes a buffer. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_buffer_delete(buffer: *mut Buffer) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(buffer) });
}

/// Returns the number of files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_files_count(files: *const Files) -> usize {
    // SAFETY: the rules of the header.
    guard_or(0, || Ok(unsafe { borrow(files) }?.len()))
}

/// Returns the name of a file, such as "nodes.csv"; NULL if there is no such file. The files own it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_files_name(files: *const Files, index: usize) -> *const c_char {
    guard_or(std::ptr::null(), || {
        // SAFETY: the rules of the header.
        let file = unsafe { borrow(files) }?.get(index);
        Ok(file.map_or(std::ptr::null(), |file| file.name.slice().data))
    })
}

/// Returns the content of a file; `data` is NULL if there is no such file. A workbook is binary. The files own it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_files_bytes(files: *const Files, index: usize) -> Slice {
    // SAFETY: the rules of the header.
    guard_or(Slice::NONE, || Ok(unsafe { borrow(files) }?.get(index).map_or(Slice::NONE, |file| file.bytes.slice())))
}

/// Deletes files. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_files_delete(files: *mut Files) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(files) });
}
