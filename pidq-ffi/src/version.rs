//! Versions of the ABI and of the library.

use std::ffi::c_char;

/// Version of this ABI. It changes with every incompatible change.
pub const ABI_VERSION: u32 = 1;

/// Returns the ABI version of the library. Compare it once, at startup, with `PIDQ_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_abi_version() -> u32 {
    ABI_VERSION
}

/// Returns the version of the library, such as "0.1.0". The string is static.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
