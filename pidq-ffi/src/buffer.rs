//! `pidq_buffer_t` and `pidq_files_t`: bytes that C owns.

use std::ffi::c_char;

use crate::boundary::{quiet, quietly};
use crate::error::Fault;
use crate::handle::{Slot, delete, hand_out, handle, lend};
use crate::slice::{Slice, Text};

/// A text, such as a drawing or a report. Delete it.
pub struct Buffer(Slot<Text>);

handle!(Buffer, Text, b"bufr", "buffer");

/// The files of a format; one for most formats. Delete it.
pub struct Files(Slot<Vec<File>>);

handle!(Files, Vec<File>, b"file", "files");

/// A file that an export made.
pub struct File {
    name: Text,
    bytes: Text,
}

/// Makes a text where somebody takes it.
///
/// # Safety
/// `out` is null or a place that can be written.
pub unsafe fn give_text(out: *mut *mut Buffer, make: impl FnOnce() -> Result<String, Fault>) -> Result<(), Fault> {
    // SAFETY: the caller promises the same.
    unsafe { hand_out(out, || make().map(Text::new)) }
}

/// Makes files where somebody takes them.
///
/// # Safety
/// As [`give_text`].
pub unsafe fn give_files(
    out: *mut *mut Files,
    make: impl FnOnce() -> Result<Vec<pidq_formats::Part>, Fault>,
) -> Result<(), Fault> {
    let file = |part: pidq_formats::Part| File { name: Text::new(part.name), bytes: Text::new(part.bytes) };
    // SAFETY: the caller promises the same.
    unsafe { hand_out(out, || Ok(make()?.into_iter().map(file).collect::<Vec<File>>())) }
}

/// The text. The buffer lends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_buffer_bytes(buffer: *const Buffer) -> Slice {
    // SAFETY: the rules of the header.
    quiet(Slice::NONE, || Ok(unsafe { lend(buffer) }?.slice()))
}

/// Deletes it. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_buffer_delete(buffer: *mut Buffer) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(buffer) });
}

/// How many files there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_files_count(files: *const Files) -> usize {
    // SAFETY: the rules of the header.
    quiet(0, || Ok(unsafe { lend(files) }?.len()))
}

/// What a file is called, such as "nodes.csv"; NULL where there is no such file. The files lend it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_files_name(files: *const Files, index: usize) -> *const c_char {
    quiet(std::ptr::null(), || {
        // SAFETY: the rules of the header.
        let file = unsafe { lend(files) }?.get(index);
        Ok(file.map_or(std::ptr::null(), |file| file.name.slice().data))
    })
}

/// What is in a file; `data` is NULL where there is no such file. A workbook is not text. The files lend it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_files_bytes(files: *const Files, index: usize) -> Slice {
    // SAFETY: the rules of the header.
    quiet(Slice::NONE, || Ok(unsafe { lend(files) }?.get(index).map_or(Slice::NONE, |file| file.bytes.slice())))
}

/// Deletes them. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_files_delete(files: *mut Files) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(files) });
}
