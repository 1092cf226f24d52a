//! Slices: bytes and strings passed to C.

use std::ffi::c_char;

/// Borrowed bytes. Slices returned by pidq are UTF-8 (except files of binary formats), end with a NUL byte that `len`
/// does not count, and stay valid until the handle they came from is deleted. `data` is NULL if there is no value.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slice {
    /// The first byte.
    pub data: *const c_char,
    /// Number of bytes.
    pub len: usize,
}

impl Slice {
    /// No value.
    pub const NONE: Slice = Slice { data: std::ptr::null(), len: 0 };
}

/// Owned text with a terminating NUL byte.
#[derive(Debug)]
pub struct Text(Box<[u8]>);

impl Text {
    /// Creates a text from bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Text {
        let mut bytes = bytes.into();
        bytes.push(0);
        Text(bytes.into_boxed_slice())
    }

    /// Returns the bytes of the text, without the NUL byte.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.strip_suffix(b"\0").unwrap_or(&self.0)
    }

    /// Returns the text as a slice.
    pub fn slice(&self) -> Slice {
        Slice { data: self.0.as_ptr().cast(), len: self.0.len() - 1 }
    }
}
